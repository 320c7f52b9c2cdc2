"""House styles: what a theme says is in page and pictures, and nothing that it says gets out of its place."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from collections.abc import Callable
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from report.browser import Browser
from report.reading import Page
from ssdlab.cli import main
from ssdlab.model.errors import LabError
from ssdlab.report import gallery, page, source
from ssdlab.report.edition import Edition
from ssdlab.report.looks import Palette, contrast, looks_of
from ssdlab.report.overview import overview_html
from ssdlab.report.theme import Theme, default_theme
from ssdlab.report.theme_file import default_text, image_kind, read_theme

Make = Callable[..., Path]
HEAD = 'schema = "ssdlab.theme/1"\n'
HOUSE = f"""{HEAD}picture_width = 800
picture_height = 500

[light]
paper = "#fffbee"
drives = ["#7a1f5c", "#c8501e"]

[dark]
paper = "#101820"
drives = ["#e07ac0", "#f0965a"]
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 20">{}</svg>'


def written(folder: Path, text: str, **others: bytes | str) -> Path:
    """A theme in a folder, with the files that it names."""
    for name, content in others.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (folder / "house.toml").write_text(text)
    return folder / "house.toml"


def themed(folder: Path, text: str, **others: bytes | str) -> Theme:
    return read_theme(written(folder, text, **others))


def font(name: str = "Vera.ttf") -> bytes:
    pytest.importorskip("reportlab")
    return files("reportlab").joinpath("fonts", name).read_bytes()


def counted(png: Path) -> dict[str, int]:
    """How many pixels each colour has."""
    image = pytest.importorskip("PIL.Image").open(png).convert("RGB")
    found = image.getcolors(image.width * image.height)
    return {"#{:02x}{:02x}{:02x}".format(*colour): count for count, colour in found}


def test_the_printed_default_is_the_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make_run: Make
) -> None:
    assert main(["theme"]) == 0
    theme = themed(tmp_path, capsys.readouterr().out)
    assert theme == default_theme() and not theme.remarks
    runs = [source.read_run(make_run())]
    assert page.render(runs, Edition(theme=theme)) == page.render(runs)


def test_every_key_of_the_printed_default_may_be_set(tmp_path: Path) -> None:
    asked = {"files": '["regular", "bold"]', "file": '"logo"', "dark_file": '"dark"', "alt": '"Lab"'}
    asked |= {"link": '"https://lab.example"', "height": "60"}
    text = default_text().replace("# [", "[")
    for key, value in asked.items():
        text = re.sub(rf"^# {key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
    images = {"logo": SVG.format(""), "dark": SVG.format("<g/>")}
    theme = themed(tmp_path, text, regular=font(), bold=font("VeraBd.ttf"), **images)
    weights = [(face.family, face.weight) for face in theme.faces]
    assert weights == [("Bitstream Vera Sans", "400"), ("Bitstream Vera Sans", "700")]
    assert theme.logo is not None and theme.logo.light != theme.logo.dark and theme.logo.height == 60


@pytest.mark.long
def test_bars_have_the_colours_of_the_palette(tmp_path: Path, make_run: Make) -> None:
    runs = [make_run(drive={"id": f"S{at}", "name": f"Elm {at}", "kind": "block"}) for at in (1, 2)]
    for mode, own in (("auto", "light"), ("light", "light"), ("dark", "dark")):
        theme = themed(tmp_path, HOUSE.replace(HEAD, f'{HEAD}mode = "{mode}"\n'))
        (picture,) = gallery.write_pictures(
            [source.read_run(run) for run in runs],
            tmp_path / mode,
            names=["peak-random-read-bars"],
            theme=theme,
        )
        pixels = counted(picture.path)
        look = theme.dark if own == "dark" else theme.light
        assert pixels[look["paper"]] > 800 * 500 / 2
        assert sum(pixels.values()) == 800 * 500, "the size is the theme's"
        # A marker of the legend has some 60 pixels.
        assert all(pixels.get(look[f"drive-{at}"], 0) > 1000 for at in (0, 1)), mode
        assert not any(default_theme().light[f"drive-{at}"] in pixels for at in range(8))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("mode", ["auto", "light", "dark"])
def test_a_page_has_the_colours_of_its_mode(
    web_browser: Browser, tmp_path: Path, make_run: Make, mode: str, scheme: str
) -> None:
    text = HOUSE.replace(HEAD, f'{HEAD}mode = "{mode}"\npage_width = 900\nchart_height = 222\n')
    theme = themed(tmp_path, text)
    drives = ({"id": f"S{at}", "name": f"Elm {at}", "kind": "block"} for at in (1, 2))
    runs = [source.read_run(make_run(drive=each)) for each in drives]
    page.write(runs, tmp_path / "page.html", Edition(theme=theme))
    web_browser.open(tmp_path / "page.html", scheme=scheme)
    web_browser.drawn()
    look = theme.dark if {"auto": scheme}.get(mode, mode) == "dark" else theme.light
    paper = "getComputedStyle(document.body).backgroundColor"
    assert web_browser.run(paper) == rgb(look["paper"])
    bars = "[...document.querySelectorAll('.bar')].map((bar) => getComputedStyle(bar).backgroundImage)"
    assert all(any(rgb(look[f"drive-{at}"]) in bar for at in (0, 1)) for bar in web_browser.run(bars))
    assert web_browser.run("document.body.clientWidth") == 900
    curve = "document.querySelector('#peak-random-read-throughput .plot').clientHeight"
    assert web_browser.run(curve) == 222
    web_browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert web_browser.run(paper) == rgb(theme.light["paper"]), "print is light"
    web_browser.run("window.dispatchEvent(new Event('afterprint'))")
    assert web_browser.run(paper) == rgb(look["paper"])
    assert web_browser.complaints == [] and web_browser.requests == []


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


def test_fonts_and_logo_are_in_page_and_saved_picture(
    web_browser: Browser, tmp_path: Path, make_run: Make
) -> None:
    text = f"""{HOUSE}
[heading_font]
files = ["house.ttf"]

[logo]
file = "logo.svg"
alt = "The <b>Lab</b>"
link = "https://lab.example/?a=1&b=2"
"""
    red = SVG.format('<rect width="100" height="20" fill="#ff0000"/>')
    theme = themed(tmp_path, text, **{"house.ttf": font(), "logo.svg": red})
    page.write([source.read_run(make_run())], tmp_path / "page.html", Edition(theme=theme))
    web_browser.open(tmp_path / "page.html")
    web_browser.drawn()
    assert web_browser.run("[...document.fonts].map((face) => face.status)") == ["loaded"]
    logo = "document.querySelector('.logo img')"
    assert web_browser.run(f"[{logo}.alt, {logo}.height, {logo}.width]") == ["The <b>Lab</b>", 40, 200]
    assert web_browser.run("document.querySelector('.logo a').href") == "https://lab.example/?a=1&b=2"
    found = web_browser.run(
        """new Promise((resolve) => {
          URL.createObjectURL = (blob) => { createImageBitmap(blob).then((image) => {
            const sheet = new OffscreenCanvas(image.width, image.height).getContext("2d");
            sheet.drawImage(image, 0, 0);
            const pixel = [...sheet.getImageData(image.width - 60, 80, 1, 1).data];
            resolve([image.width, image.height, pixel]);
          }); return "blob:none"; };
          HTMLAnchorElement.prototype.click = () => {};
          document.querySelector("#peak-random-read-throughput button[data-action=png]").click();
        })"""
    )
    assert found == [1600, 1000, [255, 0, 0, 255]]
    assert web_browser.complaints == [] and web_browser.requests == []


@pytest.mark.long
def test_pictures_are_written_in_the_theme_s_font(tmp_path: Path, make_run: Make) -> None:
    runs = [source.read_run(make_run())]
    plain = themed(tmp_path, HOUSE)
    own = themed(tmp_path, f'{HOUSE}\n[font]\nfiles = ["house.ttf"]\n', **{"house.ttf": font("VeraBd.ttf")})
    made = {}
    for kind in gallery.FORMATS:
        for name, theme in (("plain", plain), ("own", own)):
            (one,) = gallery.write_pictures(
                runs, tmp_path / name, names=["peak-random-read-bars"], kind=kind, theme=theme
            )
            made[kind, name] = one.path.read_bytes()
    assert counted(tmp_path / "own" / "peak-random-read-bars.png") != counted(
        tmp_path / "plain" / "peak-random-read-bars.png"
    )
    assert b"@font-face" in made["svg", "own"] and b"@font-face" not in made["svg", "plain"]
    assert b"BitstreamVera" in made["pdf", "own"] and b"BitstreamVera" not in made["pdf", "plain"]


@pytest.mark.parametrize("colours", range(1, 9))
def test_of_fewer_colours_drives_differ_by_marker(colours: int) -> None:
    every = frozenset(combinations(range(colours), 2))
    for near in (frozenset[tuple[int, int]](), every):
        looks = looks_of((f"S{at}" for at in range(4 * colours)), Palette(colours, near))
        assert len(set(looks.values())) == 4 * colours
        assert {colour for colour, _ in looks.values()} == set(range(colours))
    few = looks_of((f"S{at}" for at in range(min(4, colours))), Palette(colours, every))
    assert len({shape for _, shape in few.values()}) == len(few), "near colours have unlike markers"


def test_pages_beside_an_overview_and_the_overview_have_the_theme(tmp_path: Path, make_run: Make) -> None:
    theme = themed(tmp_path, HOUSE)
    assert "--paper:#fffbee" in page.render([source.read_run(make_run())], Edition(theme=theme))
    run = make_run()
    assert "--paper:#fffbee" not in overview_html([run], tmp_path / "all.html")
    line = [
        "report",
        str(run),
        "--overview",
        "-o",
        str(tmp_path / "all.html"),
        "--theme",
        str(tmp_path / "house.toml"),
    ]
    assert main(line) == 0
    pages = [tmp_path / "all.html", *(tmp_path / "all").iterdir()]
    assert len(pages) == 2 and all("--paper:#fffbee" in one.read_text() for one in pages)


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
"""One black pixel."""
LOGO = '[logo]\nfile = "logo.png"\nalt = "Lab"\n'


@pytest.mark.parametrize(
    ("text", "line", "named"),
    [
        ("palette = 3\n", 2, "palette"),
        ('mode = "drak"\n', 2, "dark"),
        ("picture_width = 20\n", 2, "320"),
        ("light = 3\n", 2, "light"),
        ("\n[colours]\n", 3, "colours"),
        ('[dark]\n\n# paper\npapre = "#fff"\n', 5, "paper"),
        ('[light]\npaper = "#ffff"\n', 3, "#ffff"),
        ('[light]\ntext = "red; } body { display: none"\n', 3, "red;"),
        ('[light]\npaper = "url(http://a.example/x)"\n', 3, "url("),
        ('[light]\ndrives = [\n  "#085ab6",\n  "#12345",\n]\n', 5, "#12345"),
        ("[light]\ndrives = []\n", 3, "drives"),
        (f"[light]\ndrives = {json.dumps(['#085ab6'] * 9)}\n", 3, "8"),
        ('[light]\ndrives = ["#085ab6"]\n[dark]\ndrives = ["#3eaaee", "#d896a6"]\n', 5, "2 drive colours"),
        ('[light]\nmuted = "#aaaaaa"\n', 3, "muted #aaaaaa"),
        ('[light]\npaper = "#000000"\n', 3, "text"),
        ('[font]\nfamily = "Mean\'; src: url(//a.example)"\n', 3, "family"),
        ('[font]\nfamily = "</style><script>"\n', 3, "family"),
        ("[font]\n", 2, "family"),
        ('[heading_font]\nfamily = "Elm"\nfiles = ["x"]\n', 2, "either"),
        ('[font]\nfiles = ["https://a.example/x.woff2"]\n', 3, "cannot read the font"),
        ('[font]\nfiles = ["logo.png"]\n', 3, "not a TrueType"),
        ('[font]\nfiles = ["named.ttf"]\n', 3, "name"),
        ('[font]\nfiles = ["cut.ttf"]\n', 3, "not a TrueType"),
        ('[font]\nfiles = [\n"house.ttf",\n"other.ttf"]\n', 5, "Another"),
        ('[font]\nfiles = ["house.ttf", "house.ttf"]\n', 3, "400"),
        ('[logo]\nfile = "house.ttf"\nalt = "Lab"\n', 3, "not a PNG"),
        ('[logo]\nfile = "page.svg"\nalt = "Lab"\n', 3, "not a PNG"),
        ('[logo]\nfile = "laughs.svg"\nalt = "Lab"\n', 3, "not a PNG"),
        ('[logo]\nfile = "wide.svg"\nalt = "Lab"\n', 3, "pixels"),
        ('[logo]\nfile = "cut.png"\nalt = "Lab"\n', 3, "cut short"),
        ('[logo]\nfile = "vast.png"\nalt = "Lab"\n', 3, "pixels"),
        ('[logo]\nfile = "huge.png"\nalt = "Lab"\n', 3, "2 MiB"),
        ('[logo]\nfile = "."\nalt = "Lab"\n', 3, "folder"),
        ('[logo]\nfile = "none.png"\nalt = "Lab"\n', 3, "none.png"),
        ('[logo]\nfile = "logo.png"\n', 2, "alt"),
        (f'{LOGO}link = "javascript:alert(1)"\n', 5, "link"),
        (f"{LOGO}link = 'https://a.example/\" onclick=\"x'\n", 5, "link"),
        (f"{LOGO}height = 2\n", 5, "12"),
    ],
)
def test_what_a_theme_must_not_say_is_refused_with_file_and_line(
    tmp_path: Path, text: str, line: int, named: str
) -> None:
    with (tmp_path / "huge.png").open("wb") as huge:
        huge.write(PNG)
        huge.truncate(50 << 20)
    others: dict[str, bytes | str] = {
        "logo.png": PNG,
        "cut.png": PNG[:-4],
        "vast.png": PNG.replace((1).to_bytes(4) * 2, (20_000).to_bytes(4) * 2),
        "wide.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="1e9" height="1"/>',
        "house.ttf": font(),
        "cut.ttf": font()[:300],
        "named.ttf": renamed(font(), "Vera'\\;}/*"),
        "other.ttf": renamed(font(), "Another"),
        "page.svg": "<html><body><svg/></body></html>",
        "laughs.svg": '<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + SVG.format("&a;"),
    }
    with pytest.raises(LabError) as refused:
        themed(tmp_path, HEAD + text, **others)
    error = refused.value
    assert f"{tmp_path / 'house.toml'}: line {line}: " in error.what
    assert named in f"{error.what}\n{error.advice}" and error.advice and error.exit_status == 2


def renamed(content: bytes, family: str) -> bytes:
    """A font with another name of at most the length of its own."""
    old = "Bitstream Vera Sans"
    return content.replace(old.encode("utf-16-be"), family.ljust(len(old)).encode("utf-16-be"))


def test_another_schema_and_what_is_no_toml_are_refused(tmp_path: Path) -> None:
    for text in ('schema = "ssdlab.theme/2"\n', "", "schema =", HEAD + 'a = "\n'):
        with pytest.raises(LabError) as refused:
            themed(tmp_path, text)
        assert "house.toml" in refused.value.what and refused.value.advice


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "png"),
        (b"\xff\xd8\xff\xe0\xff\xd9", "jpeg"),
        (b"\xff\xd8\xff\xe0", None),
        (b"RIFF\x04\x00\x00\x00WEBP", "webp"),
        (b"RIFF\x05\x00\x00\x00WEBP", None),
        (SVG.format("").encode(), "svg+xml"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>" + SVG.format("").encode(), "svg+xml"),
        (b"<svg/>", None),
        (b"GIF89a", None),
        (b"", None),
        (zlib.compress(SVG.format("").encode()), None),
    ],
)
def test_a_picture_is_known_by_its_bytes(content: bytes, kind: str | None) -> None:
    assert image_kind(content) == kind


def test_a_hostile_theme_stays_in_its_place(web_browser: Browser, tmp_path: Path, make_run: Make) -> None:
    """An image in a page runs no script and fetches nothing; a name that means another thing is text."""
    hostile = SVG.format(
        "<style>@import url(http://127.0.0.1:9/a.css);</style>"
        "<script>parent.document.title = 'taken over'; fetch('http://127.0.0.1:9/b')</script>"
        '<image href="http://127.0.0.1:9/c.png" width="9" height="9"/>'
        '<foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml"'
        ' src="http://127.0.0.1:9/d"/></foreignObject>'
        '<rect width="100" height="20" onload="parent.document.title = 1"/>'
    )
    text = f"""{HOUSE}
[font]
family = "Mean + lean"

[logo]
file = "logo.svg"
alt = "\\"><script>document.title = 'taken over'</script></style>"
link = "https://lab.example/{{{{7*7}}}}&quot;>"
""".replace("&quot;>", "&quot;")
    theme = themed(tmp_path, text, **{"logo.svg": hostile})
    page.write([source.read_run(make_run())], tmp_path / "page.html", Edition(theme=theme))
    found = Page.of((tmp_path / "page.html").read_text())
    assert all(each.startswith(("data:", "#", "https://lab.example/")) for each in found.addresses)
    assert [kind for kind, _ in found.scripts].count("") == 1
    web_browser.open(tmp_path / "page.html")
    web_browser.drawn()
    assert web_browser.run("document.title") != "taken over"
    assert web_browser.complaints == [] and web_browser.requests == []


@pytest.mark.long
def test_a_logo_brings_no_file_of_this_machine_into_a_picture(tmp_path: Path, make_run: Make) -> None:
    image = pytest.importorskip("PIL.Image").new("RGB", (100, 20), "#ff0000")
    image.save(content := io.BytesIO(), "PNG")
    (tmp_path / "private.png").write_bytes(content.getvalue())
    reaching = SVG.format(f'<image href="{tmp_path}/private.png" width="100" height="20"/>')
    theme = themed(tmp_path, HOUSE + LOGO.replace("png", "svg"), **{"logo.svg": reaching})
    run = source.read_run(make_run())
    (one,) = gallery.write_pictures([run], tmp_path / "out", names=["peak-random-read-bars"], theme=theme)
    assert "#ff0000" not in counted(one.path)
    theme = themed(tmp_path, HOUSE + LOGO, **{"logo.png": content.getvalue()})
    (one,) = gallery.write_pictures([run], tmp_path / "out", names=["peak-random-read-bars"], theme=theme)
    assert counted(one.path)["#ff0000"] == 180 * 36, "it fills its corner"


def test_who_makes_a_theme_is_told_what_hardly_stands_out(
    tmp_path: Path, make_run: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'{HEAD}[light]\ndrives = ["#ffd34d", "#085ab6", "#085ab7"]\n'
    path = written(tmp_path, text)
    assert (
        main(["report", str(make_run()), "-o", str(tmp_path / "p.html"), "--theme", str(path), "--json"]) == 0
    )
    said = capsys.readouterr()
    json.loads(said.out)
    warned = [line for line in said.err.splitlines() if f"{path}: line 3:" in line]
    assert len(warned) == 2
    assert f"contrast is {contrast('#ffd34d', '#fff'):.1f}" in warned[0]
    assert "#085ab6 and #085ab7" in warned[1]


def test_a_picture_s_own_size_comes_before_the_theme_s(
    tmp_path: Path, make_run: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, HOUSE)
    line: list[Any] = ["figures", make_run(), "-o", tmp_path / "out", "--format", "svg", "--theme", path]
    line += ["--chart", "peak-random-read-throughput"]
    for more, size in (([], (800, 500)), (["--size", "640x400"], (640, 400))):
        assert main([str(word) for word in line + more]) == 0
        svg = (tmp_path / "out" / "peak-random-read-throughput.svg").read_text()
        assert f'width="{size[0]}" height="{size[1]}"' in svg[:200]

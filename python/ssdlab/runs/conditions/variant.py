"""Variants: settings under which a drive is compared with itself, with the same names on any drive.

A simulated drive is created as its text says. A real drive is set before the first step, or the run is
refused. Less usable capacity leaves the end of its LBA range unused; this part is trimmed if the run may
write.

Spare is always (raw - usable) / raw. The raw capacity comes from the drive record or the profile. If it is
unknown, a share refers to the user capacity, and the run has a departure.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_CEILING
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from ssdlab.drives.settings.nvme_power import watts
from ssdlab.drives.spare import usable_bytes
from ssdlab.model import units
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError, Refused, UsageError
from ssdlab.model.frozen import Bytes, Metavar, NamedOptions
from ssdlab.model.options import Share
from ssdlab.model.pattern import span_unit_bytes
from ssdlab.results.schema import Usable, VariantInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ssdlab.drives.settings import Setting
    from ssdlab.drives.simulated.text import SimulatedText
    from ssdlab.host.identity import Identity
    from ssdlab.lab.lab import Lab
    from ssdlab.lab.method import Method, Params, RunData
    from ssdlab.results.schema import Manifest, ResultBase


def _watts(value: object) -> object:
    return watts(value) if isinstance(value, str) else value


Watts = Annotated[float, BeforeValidator(_watts), PlainSerializer(lambda w: f"{w:g}W"), Metavar("WATTS")]


class Variant(NamedOptions):
    """The wanted variant of the drive under test; by default the drive as it is."""

    model_config = ConfigDict(populate_by_name=True)
    noun: ClassVar[str] = "option of a variant"

    usable_bytes: Bytes | None = Field(
        None,
        alias="usable",
        gt=0,
        description="capacity to use, of a simulated drive at full size: 800GB; the rest is spare",
    )
    spare: Share | None = Field(
        None, ge=0, lt=1, description="share to leave as spare, (raw - usable) / raw: 25% or 0.25"
    )
    power_limit_w: Watts | None = Field(
        None, alias="power_limit", gt=0, description="power limit: the fastest power state within it: 10W"
    )
    write_cache: Literal["on", "off"] | None = Field(
        None, description="the drive's volatile write cache: on or off"
    )
    lba_format_bytes: Bytes | None = Field(
        None, alias="lba_format", ge=512, description="format to blocks of 512 or 4k; loses all data"
    )

    @property
    def destroys(self) -> bool:
        """Whether setting the variant may lose the drive's data."""
        return self.lba_format_bytes is not None

    @property
    def demands(self) -> dict[str, str]:
        """Wanted settings of a real drive by name, for `lab.conditions`."""
        asked = {
            "lba_format": None if self.lba_format_bytes is None else str(self.lba_format_bytes),
            "power_state": None if self.power_limit_w is None else f"{self.power_limit_w:g}W",
            "write_cache": self.write_cache,
        }
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def limits_span(self) -> bool:
        """Whether the variant uses less than the whole drive."""
        return self.usable_bytes is not None or self.spare is not None

    def words(self) -> tuple[str, ...]:
        """Return the words that follow the drive's name in a list of drives."""
        usable, block = self.usable_bytes, self.lba_format_bytes
        return tuple(
            word
            for word, given in (
                (f"{units.capacity_text(usable or 0)} usable", usable is not None),
                (f"{units.fixed_share_text(self.spare or 0)} spare", self.spare is not None),
                (f"{self.power_limit_w:g} W" if self.power_limit_w else "", self.power_limit_w is not None),
                (f"write cache {self.write_cache}", self.write_cache is not None),
                (f"{units.block_text(block or 0)} blocks", block is not None),
            )
            if given
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.usable_bytes is not None and self.spare is not None:
            raise UsageError("both --usable and --spare set the used capacity", "give one of them")
        return self


AS_IT_IS = Variant()
"""The drive as it is: no variant."""


def parted(text: str) -> tuple[str, dict[str, str]]:
    """Split a drive's text from its variant options.

    The text of a simulated drive keeps the options that belong to it.

    >>> parted("/dev/nvme0n1,spare=25%")
    ('/dev/nvme0n1', {'spare': '25%'})
    >>> parted("sim:tiny-test,spare=25%,usable=8GB")
    ('sim:tiny-test,spare=25%', {'usable': '8GB'})
    """
    simulated = text.startswith(SIMULATED_PREFIX)
    if not simulated and Path(text).exists():  # a file or device whose name contains options
        return text, {}
    options = {field.alias or name for name, field in Variant.model_fields.items()}
    known = {"usable"} if simulated else options
    kept, asked = list[str](), dict[str, str]()
    for piece in text.split(","):
        name, equals, value = piece.partition("=")
        if equals and kept and (word := name.strip().replace("-", "_")) in known:
            if word in asked:
                raise UsageError(f"{text} has {name} twice", "give it once")
            asked[word] = value
        else:
            kept.append(piece)
    return ",".join(kept), asked


def with_own(variant: Variant | None, asked: Mapping[str, str], drive: str) -> Variant:
    """Combine the variant for all drives with the options in one drive's text.

    Raises
    ------
    UsageError
        Both set the same option, or a value does not fit.
    """
    of_all = {} if variant is None else variant.model_dump(mode="json", by_alias=True, exclude_none=True)
    if twice := next((name for name in asked if name in of_all), None):
        raise UsageError(
            f"{drive} already has {twice.replace('_', '-')}, and so does the option for all drives",
            "give it once",
        )
    return Variant.model_validate({**of_all, **asked})


def usable_of(variant: Variant, identity: Identity, raw_bytes: int | None, *, writing: bool) -> Usable | None:
    """Return the usable part of a real drive under a variant; None if all is usable.

    Parameters
    ----------
    raw_bytes
        Raw capacity of the drive; None if unknown.
    writing
        Whether the run may write, and so trim the unused part.

    Raises
    ------
    UsageError
        The drive has less capacity, or more spare.
    """
    if not variant.limits_span:
        return None
    capacity = identity.capacity_bytes
    whole = capacity if raw_bytes is None else raw_bytes
    asked = variant.usable_bytes
    if asked is None:
        asked = usable_bytes(variant.spare or 0.0, capacity, raw_bytes)
    unit = span_unit_bytes(capacity, max(identity.logical_block_bytes, 4096))
    length = asked // unit * unit
    if not unit <= length <= capacity:
        # Rounded up, so that the advised spare is not refused, too.
        min_spare = float(units.significant(100 * (whole - capacity) / whole, rounding=ROUND_CEILING)) / 100
        raise UsageError(
            f"{units.capacity_text(asked)} of {identity.path} cannot be used: it has only "
            f"{units.capacity_text(capacity)}",
            f"give less --usable, or a --spare from {units.fixed_share_text(min_spare)} on",
            asked_bytes=asked,
            capacity_bytes=capacity,
        )
    return Usable(
        length=length,
        spare=(whole - length) / whole,
        of="user capacity" if raw_bytes is None else "raw capacity",
        free=writing and not identity.capabilities.on_file_system,
    )


def on_text(text: str, variant: Variant) -> str:
    """Return the text of a simulated drive with the variant; a real drive's text is unchanged.

    Raises
    ------
    UsageError, Refused
        The text already sets an option of the variant, or the profile cannot have it.
    """
    if variant == AS_IT_IS or not text.startswith(SIMULATED_PREFIX):
        return text
    from ssdlab.drives.simulated.text import SimulatedText

    own = SimulatedText.parse(text)
    if variant.lba_format_bytes is not None:
        raise Refused(
            "a simulated drive has the logical block of its profile",
            "leave out --lba-format",
            setting="lba_format",
        )
    cache = None if variant.write_cache is None else variant.write_cache == "on"
    asked: dict[str, Any] = {
        "spare": _spare_of(own, variant),
        "power": variant.power_limit_w,
        "write_cache": cache,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    if twice := next((name for name in given if getattr(own, name) is not None), None):
        word = twice.replace("_", "-")
        raise UsageError(f"{text} already has {word}, and so does a variant option", "give it once")
    return str(replace(own, **given))


def _spare_of(own: SimulatedText, variant: Variant) -> float | None:
    if variant.usable_bytes is None:
        return variant.spare
    from ssdlab.drives.simulated.profiles import check_profile

    made = check_profile(own.profile, **own.settings())
    # Capacities refer to the drive at full size; a scaled drive has proportionally less.
    raw, capacity = (int(made[name]) * own.scale for name in ("raw_bytes", "capacity_bytes"))
    usable = variant.usable_bytes
    if usable > capacity:
        asked, whole = units.capacity_text(usable), units.capacity_text(capacity)
        raise UsageError(
            f"{asked} of {own} cannot be used: at full size it has {whole}",
            "give less --usable",
            asked_bytes=usable,
            capacity_bytes=capacity,
        )
    return 1 - usable / raw


def check_able(variant: Variant, setting: Callable[[str], Setting], *, made_to_order: bool) -> None:
    """Refuse a variant that a real drive does not support, before anything is touched.

    Parameters
    ----------
    variant
        The wanted variant.
    setting
        Returns a setting by name: `Drive.setting` of an open drive, or from
        `ssdlab.drives.settings.settings_of`.
    made_to_order
        The drive's capability of that name; if True, nothing is checked.

    Raises
    ------
    Unsupported, UsageError, DriveError
        What the drive cannot do, and why.
    """
    if not made_to_order:
        for name, wanted in variant.demands.items():
            setting(name).meant(wanted)


def check_fits(variant: Variant, identity: Identity, *, writing: bool) -> None:
    """Refuse a variant that a drive cannot be; the drive was inspected but not opened.

    Raises
    ------
    Unsupported, UsageError, DriveError
        See `check_able` and `variant_info`.
    """
    if variant.demands:
        from ssdlab.drives.settings import settings_of

        check_able(variant, settings_of(identity), made_to_order=identity.capabilities.made_to_order)
    variant_info(variant, identity, writing=writing)


def misfit(variant: Variant, identity: Identity, *, writing: bool) -> LabError | None:
    """Return the error of `check_fits`; None if the drive can be the variant."""
    try:
        check_fits(variant, identity, writing=writing)
    except LabError as error:
        return error
    return None


def varied(method: Method, stored: VariantInfo | None) -> Method:
    """Return a method that first makes the drive the variant, and then sees only the usable part."""
    if stored is None or stored.made:
        return method
    usable = stored.usable

    def procedure(lab: Lab, params: Params) -> None:
        lab.variant(stored.demands, usable, f"variant: {', '.join(stored.words)}")
        method.procedure(lab, params)

    def conclude(data: RunData, params: Params) -> ResultBase:
        seen = data if usable is None else replace(data, capacity_bytes=usable.length)
        return method.conclude(seen, params)

    return replace(method, procedure=procedure, conclude=conclude)


def variant_info(variant: Variant, identity: Identity, *, writing: bool) -> VariantInfo | None:
    """Return the variant for a run's manifest, for the drive as it is now; None if there is none.

    Raises
    ------
    UsageError
        The drive has less capacity, or more spare.
    """
    if variant == AS_IT_IS:
        return None
    made = identity.capabilities.made_to_order
    return VariantInfo(
        asked=variant.model_dump(mode="json", by_alias=True, exclude_none=True),
        words=variant.words(),
        made=made,
        demands={} if made else variant.demands,
        usable=None if made else usable_of(variant, identity, _raw_bytes(identity), writing=writing),
    )


def _raw_bytes(identity: Identity) -> int | None:
    from ssdlab.drives.drive_record import find_record

    record = find_record(identity.model, identity.serial)
    return None if record is None else record.raw_bytes


def with_variant(manifest: Manifest, stored: VariantInfo | None) -> Manifest:
    """Return a manifest with the variant as its drive, also in the drive's name."""
    if stored is None:
        return manifest
    name = manifest.drive.name if stored.made else ", ".join((manifest.drive.name, *stored.words))
    drive = manifest.drive.model_copy(update={"name": name, "variant": stored})
    return manifest.model_copy(update={"drive": drive})

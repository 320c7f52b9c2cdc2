"""The kernel and the first file system of the guest, made of what the host has.

The kernel is, in this order: the folder that ``SSDLAB_GUEST_KERNEL`` names (it holds `boot/vmlinuz-*` and
`lib/modules/*`), an installed one, or Debian's and Ubuntu's
package, unpacked into a cache without installing it.
"""

from __future__ import annotations

import fcntl
import lzma
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MODULES = ("virtio_pci", "nvme", "ahci", "virtio_blk", "sd_mod", "9pnet_virtio", "9p", "overlay")
"""What the guest needs before it sees its disks and the host's files; all else is loaded later."""

_XZ_MAGIC = b"\xfd7zXZ\x00"
_INIT = Path(__file__).with_name("init.sh")


class NoKernel(Exception):
    """No kernel that a guest could boot was found, and why."""


@dataclass(frozen=True)
class Kernel:
    """A bootable kernel and the folder of its modules."""

    image: Path
    modules: Path

    @property
    def release(self) -> str:
        return self.modules.name


def cache() -> Path:
    """Where unpacked kernels and initial file systems are kept between runs."""
    folder = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(folder) / "ssdlab-guest"


def made_files() -> tuple[Kernel, tuple[Path, Path]]:
    """Return the kernel and what QEMU boots of it; of processes that ask at once one makes them."""
    with _alone():
        kernel = find_kernel()
        return kernel, boot_files(kernel)


@contextmanager
def _alone() -> Iterator[None]:
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def find_kernel() -> Kernel:
    named = os.environ.get("SSDLAB_GUEST_KERNEL")
    roots = [Path(named)] if named else [Path("/"), cache() / "kernel"]
    found = next((kernel for root in roots if (kernel := _kernel_in(root))), None)
    if found is None and not named:
        _unpack_package(cache() / "kernel")
        found = _kernel_in(cache() / "kernel")
    if found is None:
        raise NoKernel(f"no kernel with modules for a guest under {', '.join(map(str, roots))}")
    return found


def boot_files(kernel: Kernel) -> tuple[Path, Path]:
    """Return the kernel as QEMU boots it fastest, and the initial file system; both made once."""
    folder = cache() / kernel.release
    folder.mkdir(parents=True, exist_ok=True)
    image, initial = folder / "vmlinux", folder / "initrd.gz"
    if not image.exists():
        _uncompress(kernel.image, image)
    newest = max(_INIT.stat().st_mtime, Path(__file__).stat().st_mtime)
    if not initial.exists() or initial.stat().st_mtime < newest:
        _make_initial(kernel, initial)
    return image, initial


def _kernel_in(root: Path) -> Kernel | None:
    for image in sorted((root / "boot").glob("vmlinuz-*"), reverse=True):
        modules = root / "lib/modules" / image.name.removeprefix("vmlinuz-")
        if not (modules / "kernel").is_dir():
            continue
        if not (modules / "modules.dep").exists():
            subprocess.run(["busybox", "depmod", "-b", root, modules.name], check=True)
        return Kernel(image, modules)
    return None


def _unpack_package(into: Path) -> None:
    """Fetch the distribution's kernel package with its own tool."""
    if shutil.which("apt-get") is None:
        raise NoKernel("no kernel is installed, and there is no apt-get to get one with")
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent) as made:
        for wanted in ("linux-image-amd64", "linux-image-virtual"):
            shown = subprocess.run(
                ["apt-cache", "depends", wanted], capture_output=True, text=True, check=False
            )
            words = [line.split()[-1] for line in shown.stdout.splitlines() if "Depends: linux-image" in line]
            if words:
                subprocess.run(["apt-get", "download", words[0]], cwd=made, check=True, capture_output=True)
                break
        packages = list(Path(made).glob("*.deb"))
        if not packages:
            raise NoKernel("the package lists name no kernel: run apt-get update")
        subprocess.run(["dpkg", "-x", packages[0], Path(made) / "kernel"], check=True)
        (Path(made) / "kernel").rename(into)


def _uncompress(image: Path, to: Path) -> None:
    """Take the ELF kernel out of its wrapper: to unpack it under emulation takes seconds of each boot."""
    content = image.read_bytes()
    at = content.find(_XZ_MAGIC)
    plain = lzma.LZMADecompressor().decompress(content[at:]) if at >= 0 else b""
    draft = to.with_suffix(".draft")
    # Compressed otherwise (zstd): booted as it is.
    draft.write_bytes(plain if plain.startswith(b"\x7fELF") else content)
    draft.rename(to)


def _make_initial(kernel: Kernel, to: Path) -> None:
    with tempfile.TemporaryDirectory(dir=to.parent) as made:
        root = Path(made)
        (root / "bin").mkdir()
        shutil.copy(shutil.which("busybox") or "busybox", root / "bin/busybox")
        shutil.copy(_INIT, root / "init")
        (root / "init").chmod(0o755)
        order = _load_order(kernel)
        for module in order:
            shutil.copy(kernel.modules / module, root / Path(module).name)
        (root / "order").write_text("".join(f"{Path(module).name}\n" for module in order))
        listed = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        packed = subprocess.run(
            ["busybox", "cpio", "-o", "-H", "newc"],
            cwd=root,
            input=listed.encode(),
            capture_output=True,
            check=True,
        )
        draft = to.with_suffix(".draft")
        draft.write_bytes(
            subprocess.run(["gzip", "-1"], input=packed.stdout, capture_output=True, check=True).stdout
        )
        draft.rename(to)


def _load_order(kernel: Kernel) -> list[str]:
    """Return the module files of `MODULES`, each after those that it depends on; built-in ones drop out."""
    needs = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        file, _, rest = line.partition(":")
        needs[Path(file).name.partition(".")[0].replace("-", "_")] = [*reversed(rest.split()), file]
    files = [file for name in MODULES for file in needs.get(name, ())]
    return list(dict.fromkeys(files))

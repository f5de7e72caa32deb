"""A real Apptainer on this machine: Debian's, unpacked into the user's cache, and images for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from condor_pydagman.pool import Pool, apt, elf
from tests.servers import fetched as packages

# As HTCondor it comes from a newer suite, and runs with the C library of that.
PACKAGES = ("apptainer", "squashfs-tools", "busybox-static", "patchelf")
COMMANDS = ("sh", "cat", "echo")
# It is made for /usr; elsewhere it looks for its files beside its programs, in several places.
_LINKS = {"usr/etc": "../etc", "usr/var": "../var", "usr/lib/etc": "../../etc"}
_LINKS["usr/lib/var"] = "../../var"


def available() -> bool:
    """Whether it can be fetched and may be used: it needs namespaces of users."""
    may = subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False)
    return apt.available() and not may.returncode


def fetched() -> Path:
    """The directory with `usr/bin/apptainer`; fetched once.

    Raises:
        PoolError: this machine can't fetch it.
    """
    return packages.fetched("apptainer", PACKAGES, _make_runnable)


def _make_runnable(prefix: Path) -> None:
    elf.make_runnable(prefix)
    (prefix / "var/lib/apptainer/mnt/session").mkdir(parents=True, exist_ok=True)
    for name, target in _LINKS.items():
        (prefix / name).symlink_to(target)
    with (prefix / "etc/apptainer/apptainer.conf").open("a") as file:
        file.write(f"\nbinary path = {prefix}/usr/bin:$PATH:\n")


def knobs(prefix: Path) -> str:
    """Configuration of a pool whose execution point has it."""
    # Debian's HTCondor lacks the image with which HasSIF is found out.
    return f"""
SINGULARITY = {prefix}/usr/bin/apptainer
SINGULARITY_VERBOSITY = -q
HasSIF = True
STARTD_ATTRS = $(STARTD_ATTRS) HasSIF
"""


def build(prefix: Path, pool: Pool, image: Path, release: str) -> None:
    """Make a small image, with a shell and a file `/etc/release`."""
    root = image.with_suffix(".root")
    for name in ("bin", "dev", "etc", "proc", "tmp", "var/tmp"):
        (root / name).mkdir(parents=True)
    (root / "etc/release").write_text(release + "\n")
    for name in ("passwd", "group"):
        (root / "etc" / name).touch()
    busybox = shutil.copy2(prefix / "usr/bin/busybox", root / "bin/busybox")
    for name in COMMANDS:
        os.link(busybox, root / "bin" / name)
    argv = pool.command([str(prefix / "usr/bin/apptainer"), "-q", "build", str(image), str(root)])
    subprocess.run(argv, env=pool.environment(), check=True, capture_output=True)

"""Make the programs of an unpacked release run in place, with the libraries beside them.

The release comes from a newer system than the machine's.  Its programs are told to use the C
library, the loader and all other libraries that came with it; the machine's stay untouched.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

from condor_pydagman.errors import PoolError

PT_DYNAMIC, PT_INTERP = 2, 3


def segments(path: Path) -> set[int]:
    """Kinds of the program headers of a 64-bit little-endian ELF file; empty for other files."""
    with path.open("rb") as stream:
        head = stream.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            return set()
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        stream.seek(table)
        entries = stream.read(size * count)
    return {struct.unpack_from("<I", entries, size * index)[0] for index in range(count)}


def make_runnable(prefix: Path) -> None:
    """Patch programs and libraries below `prefix`, which holds an unpacked `patchelf` too.

    Raises:
        PoolError: the loader is not there, or patchelf failed on a program.
    """
    loader = _only(prefix, "usr/lib*/ld-linux*.so.*")
    libraries = _only(prefix, "usr/lib/*/libc.so.6").parent
    own = prefix / "usr/lib"
    # It can't patch its own file while it runs.
    patchelf = shutil.copy2(prefix / "usr/bin/patchelf", prefix / "patchelf")
    run = [str(loader), "--library-path", str(libraries), str(patchelf)]
    search = ["--force-rpath", "--set-rpath", f"{libraries}:{own}"]
    # A program that runs is a sign that all is done, so they come last.
    for path in _files(prefix, ["usr/lib", "usr/libexec", "usr/sbin", "usr/bin"]):
        if path.parent.name == libraries.name:
            continue
        kinds = segments(path)
        if PT_DYNAMIC not in kinds:
            continue
        _patch([*run, *search, str(path)])
        # Both at once, or in the other order, break a program at a fixed address (patchelf 0.18).
        if PT_INTERP in kinds:
            _patch([*run, "--set-interpreter", str(loader), str(path)])


def _patch(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PoolError(f"patchelf {command[-1]}: {done.stderr.strip()}", transient=False)


def _files(prefix: Path, places: list[str]) -> list[Path]:
    found = [path for place in places for path in sorted((prefix / place).rglob("*"))]
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _only(prefix: Path, pattern: str) -> Path:
    found = sorted(prefix.glob(pattern))
    if not found:
        raise PoolError(f"nothing like {pattern} in the unpacked packages", transient=False)
    return found[0]

"""Where the parts of an HTCondor release are: Debian's, the RPMs' and the tarball's layout.

A pool with a configuration file of its own must be told these places: what was compiled in holds
only for a release that its packager installed where it meant to.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from condor_pydagman.errors import PoolError

MIN_VERSION = (24, 12)
MIN_VERSION_TEXT = "24.12"
USUAL_SBIN = (
    "/usr/sbin",
    "/usr/bin",
    "/usr/local/sbin",
    "/usr/local/condor/sbin",
    "/opt/condor/sbin",
)


@dataclass(frozen=True)
class Layout:
    """The directories of one HTCondor release, named as HTCondor's own macros are."""

    release: Path
    bin: Path
    sbin: Path
    lib: Path
    libexec: Path
    share: Path

    @property
    def master(self) -> Path:
        """The daemon that starts all others."""
        return self.sbin / "condor_master"


def detect(release: Path) -> Layout:
    """The layout of the release whose `sbin/condor_master` is below `release`.

    Raises:
        PoolError: a part that a pool needs is missing.
    """
    sbin = _first(release, ["sbin", "bin"], "condor_master")
    return Layout(
        release=release,
        bin=_first(release, ["bin"], "condor_submit"),
        sbin=sbin,
        lib=_first(release, ["lib64/condor", "lib/condor", "lib64", "lib"], ""),
        libexec=_first(release, ["libexec/condor", "libexec"], "condor_shared_port"),
        share=_first(release, ["share/condor", "share"], ""),
    )


def _first(release: Path, candidates: list[str], member: str) -> Path:
    for candidate in candidates:
        if (release / candidate / member).exists():
            return release / candidate
    wanted = " or ".join(f"{candidate}/{member}".rstrip("/") for candidate in candidates)
    raise PoolError(
        f"the HTCondor under {release} is not complete: it has no {wanted}; install it again",
        transient=False,
    )


def masters(path: str) -> list[Path]:
    """Every condor_master on the search path `path` and in the usual places, links resolved."""
    found = [shutil.which("condor_master", path=path)]
    found += [shutil.which("condor_master", path=directory) for directory in USUAL_SBIN]
    return list(dict.fromkeys(Path(name).resolve() for name in found if name))


def parse_version(text: str) -> tuple[int, int, int] | None:
    """Numbers of a `$CondorVersion: 25.14.1 ... $` line; None if there is no such line."""
    match = re.search(r"\$CondorVersion:\s*(\d+)\.(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def ask_version(layout: Layout) -> tuple[int, int, int] | None:
    """What the release's own condor_version says; None if it can't be run."""
    environment = {"PATH": "/usr/bin:/bin", "CONDOR_CONFIG": "ONLY_ENV"}
    return parse_version(output_of([str(layout.bin / "condor_version")], environment))


def output_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a program prints; '' if it can't be run, or does not end."""
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout

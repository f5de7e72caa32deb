"""How to get an HTCondor, said to the user of a machine that has none and can't fetch one."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

from condor_pydagman.pool.release_tree import MIN_VERSION_TEXT

_OWN_REPOSITORY = (
    'from HTCondor\'s own repository\n    ("Getting HTCondor" on https://htcondor.readthedocs.io)'
)
WAYS = {
    "macos": "macOS: a pool of condor_pydagman needs Linux, in a virtual machine or a container",
    "conda": "conda: conda install -c conda-forge htcondor",
    "container": "container: install it when you build the image, or begin with one that has it"
    " (htcondor/mini)",
    "debian": "Debian: as root, apt-get install minicondor, from testing or " + _OWN_REPOSITORY,
    "ubuntu": "Ubuntu: as root, apt-get install minicondor " + _OWN_REPOSITORY,
    "el": "Enterprise Linux: as root, dnf install minicondor " + _OWN_REPOSITORY,
    "tarball": """without root: download a tarball, and name it:
    curl -fsSL https://get.htcondor.org | /bin/bash -s -- --download
    condor_pydagman pool start --release condor.tar.gz""",
}
_FAMILIES = {"ubuntu": "ubuntu", "debian": "debian"} | dict.fromkeys(("rhel", "fedora"), "el")


def how_to_get(system: str, release: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """The ways for one machine, that which suits it best first.

    Args:
        system: the kernel's name, as of uname(1).
        release: the assignments of os-release(5).
        environ: the environment; a container's has `container`.
    """
    lines = [WAYS[way] for way in _ways(system, release, environ)]
    return "\n  ".join([f"How to get HTCondor {MIN_VERSION_TEXT} or newer:", *lines])


def _ways(system: str, release: Mapping[str, str], environ: Mapping[str, str]) -> list[str]:
    if system != "Linux":
        return ["macos"]
    first = ["conda"] * ("CONDA_PREFIX" in environ) + ["container"] * ("container" in environ)
    names = f"{release.get('ID', '')} {release.get('ID_LIKE', '')}".split()
    own = [_FAMILIES[name] for name in names if name in _FAMILIES]
    return [*first, *own[:1], "tarball"]


def here() -> str:
    """The ways for this machine."""
    marks = ("/run/.containerenv", "/.dockerenv")
    container = {"container": "1"} if any(map(os.path.exists, marks)) else {}
    return how_to_get(platform.system(), os_release(), {**os.environ, **container})


def os_release() -> dict[str, str]:
    """What the machine says of its distribution; empty if nothing."""
    try:
        return parse_os_release(Path("/etc/os-release").read_text("utf-8", "replace"))
    except OSError:
        return {}


def parse_os_release(text: str) -> dict[str, str]:
    """The assignments of os-release(5), quotes removed."""
    pairs = [line.partition("=") for line in text.splitlines() if not line.startswith("#")]
    return {name: value.strip("\"'") for name, equals, value in pairs if equals}

"""`condor_pydagman --version --verbose`: what a bug report needs to say of an installation."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata

import condor_pydagman
from condor_pydagman.engine import FORM
from condor_pydagman.records.banner import number

NEEDED = ("cryptography",)
# The packages of setup.cfg's extras.
EXTRAS = {
    "draw": ("pygraphviz",),
    "watch": ("rich",),
    "pandas": ("pandas",),
    "web": ("aiohttp",),
    "transfer": ("pycurl", "fsspec", "paramiko", "s3fs", "fsspec-xrootd", "xrootd"),
    "pelican": ("fsspec", "pelicanfs"),
}
_WIDTH = 18  # of the first column, in characters


def text() -> str:
    """The versions and places of all that takes part, a line each."""
    return "\n".join(f"{name:<{_WIDTH}}{value}" for name, value in _rows())


def _rows() -> Iterator[tuple[str, str]]:
    yield "condor_pydagman", f"{condor_pydagman.__version__} ({FORM}){_installer()}"
    yield "  from", condor_pydagman.__path__[0]
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "  from", sys.executable
    yield "system", f"{platform.platform()}, {_distribution()}"
    yield from _htcondor()
    for package in NEEDED:
        yield package, _version(package)
    for extra, packages in EXTRAS.items():
        found = ", ".join(f"{package} {_version(package)}" for package in packages)
        yield f"extra {extra}", found


def _htcondor() -> Iterator[tuple[str, str]]:
    """The bindings, HTCondor's configuration and the schedd that it names."""
    try:
        import htcondor2
    except ImportError as error:
        yield "bindings", f"not usable: {error}"
        return
    from condor_pydagman.adapters.schedd import schedd_version

    yield "bindings", htcondor2.version().strip("$ ").partition(": ")[2]
    yield "  from", os.path.dirname(htcondor2.__file__)
    yield "configuration", os.environ.get("CONDOR_CONFIG") or "HTCondor's usual place"
    yield "schedd", number(schedd_version()) or "unknown: it tells of none on this machine"


def _installer() -> str:
    """What has installed this package, as it says so itself; '' if it does not."""
    try:
        name = (metadata.distribution("condor_pydagman").read_text("INSTALLER") or "").strip()
    except metadata.PackageNotFoundError:
        return ""
    return f", installed by {name}" if name else ""


def _distribution() -> str:
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            named = [line for line in file if line.startswith("PRETTY_NAME=")]
    except OSError:
        named = []
    return named[0].partition("=")[2].strip().strip('"') if named else "of an unknown distribution"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"

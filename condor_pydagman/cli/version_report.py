"""`condor_pydagman --version --verbose`: what a bug report needs to say of an installation."""

from __future__ import annotations

import os
import platform
import sys
import textwrap
from collections.abc import Iterator
from importlib import metadata

import condor_pydagman
from condor_pydagman import compiled
from condor_pydagman.engine import FORM
from condor_pydagman.pool.advice import os_release
from condor_pydagman.records.banner import number

# The packages of setup.cfg's extras.
EXTRAS = {
    "draw": ("pygraphviz",),
    "watch": ("rich",),
    "pandas": ("pandas",),
    "web": ("aiohttp",),
    "metrics": ("prometheus_client",),
    "transfer": ("pycurl", "fsspec", "paramiko", "s3fs", "fsspec-xrootd", "xrootd"),
    "pelican": ("fsspec", "pelicanfs"),
}
ABSENT = "not installed"
_INDENT = 18  # the width of the first column, in characters
_WIDTH = 80  # of lines that can be broken


def text() -> str:
    """The versions and places of all that takes part, by name."""
    return "\n".join(f"{name:<{_INDENT}}{value}" for name, value in _rows())


def _rows() -> Iterator[tuple[str, str]]:
    yield "condor_pydagman", f"{condor_pydagman.__version__} ({FORM}){_installer()}"
    yield "  from", condor_pydagman.__path__[0]
    yield "sleep", compiled.sleep()
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "  from", sys.executable
    system = os_release().get("PRETTY_NAME", "of an unknown distribution")
    yield "system", f"{platform.platform()}, {system}"
    yield from _htcondor()
    yield "cryptography", _version("cryptography")
    for extra, packages in EXTRAS.items():
        yield f"extra {extra}", _installed(packages)


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
    yield "schedd", number(schedd_version()) or "unknown: none has run here with this configuration"


def _installer() -> str:
    """What has installed this package, as it says so itself; '' if it does not."""
    try:
        name = (metadata.distribution("condor_pydagman").read_text("INSTALLER") or "").strip()
    except metadata.PackageNotFoundError:
        return ""
    return f", installed by {name}" if name else ""


def _installed(packages: tuple[str, ...]) -> str:
    """Which of an extra's packages there are, and which not, in lines below each other."""
    versions = {package: _version(package) for package in packages}
    found = [f"{package} {version}" for package, version in versions.items() if version != ABSENT]
    absent = [package for package, version in versions.items() if version == ABSENT]
    parts = [", ".join(found), f"not installed: {', '.join(absent)}" if absent else ""]
    lines = textwrap.wrap("; ".join(filter(None, parts)), _WIDTH - _INDENT, break_on_hyphens=False)
    return f"\n{' ' * _INDENT}".join(lines)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ABSENT

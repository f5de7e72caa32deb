"""What `.dagman.out` says at its start of the versions that DAGMan meets.

Nothing here is decided by a version: each is what the log of a DAG, sent with a question, is
first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman.named_tuple import NamedTuple

OLDEST = (24, 12, 0)  # bindings and daemons that have been tested
CALM = (25, 1, 0)  # the first bindings that don't end the process at a value of the wrong type
# The first bindings of each series that don't authenticate by FS to daemons without the same fix.
_FIXED = ((24, 0, 24), (24, 12, 24), (25, 0, 12), (25, 12, 2))
_NUMBERS = re.compile(r"\d+\.\d+\.\d+")

Numbers = tuple[int, ...]


class Versions(NamedTuple):
    """The versions that a DAGMan meets.

    Attributes:
        ours: of condor_pydagman, with how the engine runs.
        python: the version of Python.
        bindings: HTCondor's string `$CondorVersion: ... $`.
        schedd: the same of the schedd; '' if it is unknown.
    """

    ours: str
    python: str
    bindings: str
    schedd: str = ""


def number(version: str) -> str:
    """`25.14.1` of `$CondorVersion: 25.14.1 ... $`; the text itself if it has no such number."""
    found = _NUMBERS.search(version)
    return found[0] if found else version


def lines(versions: Versions) -> Iterator[str]:
    """A line with the versions, and one for each thing that is not to be had with them."""
    schedd = f", schedd {number(versions.schedd)}" if versions.schedd else ""
    yield (
        f"condor_pydagman {versions.ours}, Python {versions.python},"
        f" bindings {number(versions.bindings)}{schedd}"
    )
    bindings, daemon = _parsed(versions.bindings), _parsed(versions.schedd)
    if bindings and bindings < CALM:
        yield (
            "Note: bindings before 25.1 end DAGMan if a macro of HTCondor's configuration that they"
            " read has a value of the wrong type"
        )
    if daemon and daemon < OLDEST:
        yield "Warning: DAGMan has not been tested with an HTCondor before 24.12"
    if bindings and daemon and _is_fixed(bindings) and not _is_fixed(daemon):
        yield (
            "Warning: these bindings do not authenticate by FS to this older schedd; install"
            " bindings that are no newer than it"
        )


def _parsed(version: str) -> Numbers:
    found = _NUMBERS.search(version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _is_fixed(version: Numbers) -> bool:
    of_series = [fixed for fixed in _FIXED if fixed[:2] == version[:2]]
    return version >= (of_series or _FIXED)[-1]

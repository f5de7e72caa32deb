"""Whether a DAGMan job that another version of HTCondor prepared may run (-CsdVersion).

Stock's rule: its submit file must name a version, not older than 7.1.2; an older one is noted, a
newer one warned of.  Only the three numbers count, never the build.  Our version is that of the
bindings, which need not be the pool's: so a newer one is never refused, not even by
DAGMAN_USE_STRICT.
"""

from __future__ import annotations

import re

from condor_pydagman.named_tuple import NamedTuple

MIN_VERSION = (7, 1, 2)
_VERSION = re.compile(r"\$CondorVersion:\s+(\d+)\.(\d+)\.(\d+)\s.*\$")


class Verdict(NamedTuple):
    """What is to be said of a version: '' for nothing; and whether DAGMan must not run."""

    text: str = ""
    refused: bool = False


def check(theirs: str, ours: str, *, tolerant: bool) -> Verdict:
    """Judge the version string `theirs` of a submit file; `ours` is that of this program.

    `tolerant` is -AllowVersionMismatch.
    """
    start = f"the version ({theirs}) of this DAG's HTCondor submit file is"
    numbers = _numbers(theirs)
    if numbers is None:
        return _wrong(f"{start} invalid", "!", tolerant)
    if numbers < MIN_VERSION:
        oldest = ".".join(map(str, MIN_VERSION))
        return _wrong(f"{start} older than oldest permissible version ({oldest})", "", tolerant)
    own = _numbers(ours) or numbers
    if numbers < own:
        return Verdict(
            f"Note: the version ({theirs}) of this DAG's HTCondor submit file differs from"
            f" condor_dagman version ({ours}), but the difference is permissible"
        )
    if numbers > own:
        return Verdict(f"Warning: {start} newer than condor_dagman version ({ours})")
    return Verdict()


def _wrong(text: str, end: str, tolerant: bool) -> Verdict:
    if tolerant:
        flag = "-AllowVersionMismatch"
        return Verdict(f"Warning: {text}; continuing because of {flag} flag")
    return Verdict(f"Error: {text}{end}", refused=True)


def _numbers(version: str) -> tuple[int, ...] | None:
    match = _VERSION.match(version)
    return tuple(map(int, match.groups())) if match else None

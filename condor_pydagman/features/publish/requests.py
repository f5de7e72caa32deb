"""What the helper of conditions is asked of files, and answers."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple

HELPER = "run_if"


class ReadResult(NamedTuple):
    """Read the file with what the node publishes, a small ClassAd.  Answered by ResultRead."""

    node: int
    retry: int
    file: str


class ResultRead(NamedTuple):
    """Answer to ReadResult: names and ClassAd literals, or why there are none."""

    node: int
    retry: int
    pairs: Sequence[tuple[str, str]] = ()
    error: str = ""

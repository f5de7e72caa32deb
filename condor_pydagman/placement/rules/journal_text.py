"""The journal of a DATA node: which of its placements are done, so that none is repeated.

A line for each, as JSON.  Of a file that may not replace another one, a line before it says which
file is about to get the name: if the worker is killed then, the next one knows it for its own.  A
journal is continued by later attempts of the node, in this run and in runs from a rescue file,
until one attempt has succeeded as a whole.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.named_tuple import NamedTuple

FileId = tuple[int, int]  # device and inode
COMPLETE = "complete"  # every placement of an attempt is done


class Done(NamedTuple):
    """A placement that is done; `size` of its file, -1 if unknown."""

    key: str
    size: int


def key_of(placement: Placement) -> str:
    """What identifies a placement: all that makes it another one.

    A user or a query may name another file; of a password that can't be said.
    """
    if isinstance(placement, Transfer):
        ends = (
            (url._replace(password="") if url.password else url).with_secrets()
            for url in placement[:2]
        )
        parts = [*ends, placement.checksum]
    else:
        parts = [type(placement).__name__, *map(str, placement._replace(line=0))]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def done_line(done: Done) -> str:
    """The line of a placement that is done."""
    return json.dumps(list(done)) + "\n"


def named_line(key: str, file: FileId) -> str:
    """The line of a placement whose file is about to get its name."""
    return json.dumps([key, *file]) + "\n"


def complete_line(job: str = "") -> str:
    """The line of an attempt that succeeded; `job` is the id of its HTCondor job, '' for none."""
    return json.dumps([COMPLETE, job]) + "\n"


def read_done(text: str, job: str = "") -> dict[str, int]:
    """Sizes of what is done, by key; empty if the last attempt has succeeded as a whole.

    A line that is cut or damaged counts for nothing: its placement is done again.

    Args:
        job: whose success does not count as one: it was killed before HTCondor knew of that.
    """
    return {
        entry[0]: entry[1]
        for entry in _entries(text, job)
        if len(entry) == 2 and isinstance(entry[1], int)
    }


def read_named(text: str, job: str = "") -> dict[str, FileId]:
    """The files that were about to get their names, by key of their placements; as `read_done`."""
    return {
        entry[0]: (entry[1], entry[2])
        for entry in _entries(text, job)
        if len(entry) == 3 and all(isinstance(number, int) for number in entry[1:])
    }


def _entries(text: str, job: str) -> list[list[Any]]:
    """The entries since the last success that counts."""
    found: list[list[Any]] = []
    for line in text.split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not (isinstance(entry, list) and entry and isinstance(entry[0], str)):
            continue
        if entry[0] != COMPLETE:
            found.append(entry)
        elif entry[1:] != [job] or not job:
            found.clear()
    return found

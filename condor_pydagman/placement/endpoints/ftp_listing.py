"""Lists of directories that ftp servers give: MLSD (RFC 3659), or LIST, which no standard
describes: it is read as curl does, as `ls -l` and Windows write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.printable import printable

# mode; links, owner and group, of which servers leave some out; size; two of three: month, day,
# year or time; name
_UNIX = re.compile(
    r"([-a-z])[-rwxsStTlL]{9}[.+@]?\s+(?:\S+\s+){0,6}?(\d+)\s+"
    r"(?:[^\W\d]{3,5}\.?\s+\d{1,2}|\d{1,2}\.?\s+[^\W\d]{3,5}|\d{4}-\d\d-\d\d)\s+"
    r"(?:\d{4}|\d{1,2}:\d\d(?::\d\d)?)\s(.+)",
    re.DOTALL,
)
_WINDOWS = re.compile(
    r"\d\d-\d\d-(?:\d\d){1,2}\s+\d\d:\d\d(?:[AP]M)?\s+(?:<(\w+)>\s+|(\d+)\s)(.+)", re.DOTALL
)
_NO_ENTRY = re.compile(r"total \d+")
_TYPES = {"-": "file", "d": "dir", "l": "link"}
Facts = Mapping[str, str]  # by name: "type", "size", "modify"


def facts_of_mlsd(line: str) -> tuple[str, Facts] | None:
    """Name and facts of a line of MLSD; None if it is of the directory itself, or its parent."""
    told, _, name = line.partition(" ")
    words = (fact.partition("=") for fact in told.rstrip(";").split(";"))
    facts = {key.lower(): value for key, _, value in words}
    return None if facts.get("type", "").lower() in ("cdir", "pdir") else (name, facts)


def facts_of_list(line: str, directory: object) -> tuple[str, Facts] | None:
    """Name and facts of a line of LIST; None if it is of no file.

    Raises:
        Fault: it can't be read.
    """
    if found := _UNIX.fullmatch(line):
        kind, size, name = _TYPES.get(found[1], "other"), found[2], found[3]
        return (name.partition(" -> ")[0] if kind == "link" else name), {"type": kind, "size": size}
    if found := _WINDOWS.fullmatch(line):
        kind = {None: "file", "DIR": "dir"}.get(found[1], "link")
        return found[3], {"type": kind, "size": found[2] or ""}
    if _NO_ENTRY.fullmatch(line):
        return None
    reason = f"{directory}: no MLSD, and a line of LIST that can't be read: {printable(line)}"
    raise Fault(FaultKind.REFUSED, reason)


def entries_of(
    listing: bytearray, facts_of: Callable[[str], tuple[str, Facts] | None]
) -> Iterator[tuple[str, Facts]]:
    """Names and facts of what is in a directory; the text is decoded line by line."""
    begin = 0
    while begin < len(listing):
        end = listing.find(b"\n", begin)
        end = end if end >= 0 else len(listing)
        line = bytes(listing[begin:end]).rstrip(b"\r")
        found = facts_of(line.decode("utf-8", "surrogateescape")) if line else None
        if found is not None and found[0] not in (".", ".."):
            yield found
        begin = end + 1

"""The file beside a DAG that keeps what its nodes with a CACHE command were last done with:
`<dag>.cache`.

It is text: a head line, then a line for each thing that happened, in order; a later line of a node
counts.  BEGAN: the node was about to run, with these facts, and its earlier result counts no more.
DONE: it ended well, with these outputs.  TAKEN: a person has taken what it had made as it is, for
what these facts and outputs would make.  Each line has a checksum.  What stands before a damaged
line is not believed: that line may have said that it holds no more.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.features.cache.facts import Facts
from condor_pydagman.named_tuple import NamedTuple

_OURS = "# condor_pydagman cache, version "
HEAD = f"{_OURS}2"
BEGAN, DONE, TAKEN = "BEGAN", "DONE", "TAKEN"


class Record(NamedTuple):
    """The last run of a node."""

    result: str  # the name of what it has made, which no other run has
    facts: Facts  # what it began with; none: it could not be found out, and nothing is equal to it
    # facts of its output files when it had ended well; None if it has not
    outputs: Facts | None = None
    taken: str = ""  # who has taken its result as it is, and when; '' if nobody has


class Read(NamedTuple):
    """What a file says."""

    records: dict[str, Record]  # by name of the node
    lines: int  # how many it has, the head left out
    damage: str  # what is wrong with it, '' if nothing is
    size: int  # of the part that ends with a line's end, in bytes
    foreign: bool = False  # it is no file of this kind at all


def began_line(name: str, result: str, facts: Mapping[str, str]) -> str:
    """The node is about to run."""
    return _line(BEGAN, {"node": name, "result": result, "facts": facts})


def done_line(name: str, result: str, outputs: Mapping[str, str]) -> str:
    """The node has ended well."""
    return _line(DONE, {"node": name, "result": result, "outputs": outputs})


def taken_line(name: str, record: Record) -> str:
    """A person has taken its result as it is."""
    result, facts, outputs, taken = record
    fields = {"node": name, "result": result, "facts": facts, "outputs": outputs, "taken": taken}
    return _line(TAKEN, fields)


def _line(word: str, fields: dict[str, Any]) -> str:
    body = f"{word} {json.dumps(fields, separators=(',', ':'), ensure_ascii=True)}"
    return f"{_check(body)} {body}\n"


def _check(body: str) -> str:
    return f"{zlib.crc32(body.encode('ascii', 'replace')):08x}"


def whole_text(records: Mapping[str, Record]) -> Iterator[str]:
    """The text of a file with these records and no others."""
    yield HEAD + "\n"
    for name, record in records.items():
        yield began_line(name, record.result, record.facts)
        if record.outputs is not None:
            yield done_line(name, record.result, record.outputs)
        if record.taken:
            yield taken_line(name, record)


def read(data: bytes) -> Read:
    """What a file says; a last line without an end is passed over: nothing has followed from it."""
    size = data.rfind(b"\n") + 1
    lines = data[:size].decode("utf-8", "replace").split("\n")[:-1]
    records: dict[str, Record] = {}
    if not data.startswith(_OURS.encode()[: len(data)]):
        return Read(records, len(lines), f"it does not begin with {HEAD!r}", size, foreign=True)
    if not lines:
        return Read(records, 0, "", size)
    if lines[0] != HEAD:
        wrong = f"another version has written it ({lines[0][2:60]}): it is not used"
        return Read(records, len(lines), wrong, size)
    damage = ""
    for number, line in enumerate(lines[1:], 2):
        if not _take(line, records):
            records.clear()
            damage = f"line {number} is damaged: what stands before it counts no more"
    return Read(records, len(lines) - 1, damage, size)


def _take(line: str, records: dict[str, Record]) -> bool:
    """Apply a line; false if it is damaged."""
    check, _, body = line.partition(" ")
    word, _, text = body.partition(" ")
    if check != _check(body):
        return False
    try:
        fields = json.loads(text)
        name, result = str(fields["node"]), str(fields["result"])
        facts = _facts(fields["outputs" if word == DONE else "facts"])
        taken = word == TAKEN and Record(
            result, facts, _facts(fields["outputs"]), str(fields["taken"])
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    old = records.get(name)
    if word == BEGAN:
        records[name] = Record(result, facts)
    elif word not in (DONE, TAKEN):
        return False
    elif old is not None and old.result == result and not taken:
        records[name] = old._replace(outputs=facts)
    elif old is not None and old.result == result and taken and old.outputs is not None:
        records[name] = taken  # else it has begun to run meanwhile
    return True


def _facts(found: Any) -> Facts:
    return {str(key): str(value) for key, value in found.items()}

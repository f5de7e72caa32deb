"""Text of the events that DAGMan itself appends to the nodes log.

Stock DAGMan writes the end of a POST script, a skipped node and the whole life of a NOOP node
there.  We add journal records: decisions that nothing else records, as generic events, which stock
DAGMan ignores.  Every event is one string and must be written by one write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.feature_table import RECORDS
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import (
    CORE_RECORDS,
    NOOP_CLUSTER,
    NOOP_PROC,
    EventKind,
)

# Readers of the log take 1023 bytes of such a line, time and ids included.
MAX_RECORD_BYTES = 900

# The beginning of the text of a note that the worker of a DATA node writes.
PLACEMENT_NOTE = '[ DAGManNote = "PLACEMENT"; '

_END = "...\n"
_BYTES = ("Run Bytes Sent", "Run Bytes Received", "Total Bytes Sent", "Total Bytes Received")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
STRING = r'"((?:[^"\\]|\\["\\nrt]|\\x[89a-f][0-9a-f])*)"'
_BYTE = 0xDC00  # what Python adds to a byte that it can't decode (PEP 383)
_RECORD = re.compile(
    r'\s*\[ DAGManNote = "([A-Z_]+)"; (?:DAGNodeName|Node) = ' + STRING + r"; "
    r'(?:Job = "(\d{1,9})\.(-?\d{1,9})"; )?'
    r"DAGManNodeRetry = (\d{1,10}); Value = (-?\d{1,10}); Text = " + STRING + r" \]\s*"
)
_KNOWN = CORE_RECORDS | RECORDS


class RecordRead(NamedTuple):
    """A journal record as it was read back from the nodes log; `cluster` is -1 if it names no
    job."""

    record: str
    node: str
    retry: int
    value: int
    text: str
    cluster: int = -1
    proc: int = -1


class StampForm(NamedTuple):
    """How times are written in the pool's event logs (DEFAULT_USERLOG_FORMAT_OPTIONS)."""

    legacy: bool = False
    utc: bool = False
    sub_second: bool = False


_ISO = StampForm()


def stamp_form(options: str) -> StampForm:
    """Read DEFAULT_USERLOG_FORMAT_OPTIONS; LEGACY undoes what stands before it (stock rule).

    XML and JSON are passed over: a nodes log is text, since the schedd's events in it are.
    """
    form = StampForm()
    for word in re.split(r"[\s,]+", options.upper()):
        if word == "LEGACY":
            form = StampForm(legacy=True)
        elif word == "ISO_DATE":
            form = form._replace(legacy=False)
        elif word == "UTC":
            form = form._replace(utc=True)
        elif word == "SUB_SECOND":
            form = form._replace(sub_second=True)
    return form


def stamp(moment: Sequence[int], milliseconds: int = 0, form: StampForm = _ISO) -> str:
    """Time of an event: `2026-11-21 12:08:04`, or `2026-11-21 12:08:04.743Z` and the like.

    `moment` is broken-down local time, or UTC if `form` says so.
    """
    year, month, day, hour, minute, second = moment[:6]
    date = f"{month:02d}/{day:02d}" if form.legacy else f"{year:04d}-{month:02d}-{day:02d}"
    fraction = f".{milliseconds:03d}" if form.sub_second else ""
    return f"{date} {hour:02d}:{minute:02d}:{second:02d}{fraction}{'Z' * form.utc}"


def post_ended(when: str, node: str, status: int, *, cluster: int, proc: int, subproc: int) -> str:
    """Event 016.  `status`: exit code, negative for a signal; ids -1 if no job was submitted."""
    head = event_head(EventKind.POST_SCRIPT_TERMINATED, cluster, proc, subproc, when)
    return f"{head} POST Script terminated.\n{ending(status)}    DAG Node: {node}\n{_END}"


def pre_skip(when: str, node: str, subproc: int) -> str:
    """Event 034: the PRE script's exit code was the node's PRE_SKIP value."""
    head = event_head(EventKind.PRESKIP, NOOP_CLUSTER, NOOP_PROC, subproc, when)
    return f"{head} PRE script return value is PRE_SKIP value\n    DAG Node: {node}\n{_END}"


def noop(when: str, node: str, subproc: int) -> str:
    """Events 000 and 005 of a NOOP node, whose job never existed."""
    submit = event_head(EventKind.SUBMIT, NOOP_CLUSTER, NOOP_PROC, subproc, when)
    ended = event_head(EventKind.JOB_TERMINATED, NOOP_CLUSTER, NOOP_PROC, subproc, when)
    return (
        f"{submit} Job submitted from host: <dummy-submit-for-noop-job>\n"
        f"    DAG Node: {node}\n{_END}"
        f"{ended} Job terminated.\n{ending(0)}{usage()}{_END}"
    )


def ending(status: int) -> str:
    """The line of an event that tells how a program has ended; negative: by a signal."""
    if status < 0:
        return f"\t(0) Abnormal termination (signal {-status})\n"
    return f"\t(1) Normal termination (return value {status})\n"


def usage(user: int = 0, system: int = 0) -> str:
    """Lines of event 005: seconds of a processor, all used where the job ran; no bytes sent."""
    used = {"Remote": (user, system), "Local": (0, 0)}
    lines = [
        f"\t\tUsr {_clock(one)}, Sys {_clock(other)}  -  {span} {where} Usage\n"
        for span in ("Run", "Total")
        for where, (one, other) in used.items()
    ]
    return "".join([*lines, *(f"\t0  -  {what} By Job\n" for what in _BYTES)])


def _clock(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    return f"{days} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


def record_event(when: str, node: str, action: AppendJournalRecord) -> str:
    """Event 008 with a decision of ours; `parse_record` reads its text back.

    Whatever it is about, its head says "no job" and its text not `DAGNodeName`: tools go by these.
    A text that makes the record too long is cut.
    """
    head = event_head(EventKind.GENERIC, -1, -1, -1, when)
    return f"{head} {_record_text(node, action)}\n{_END}"


def parse_record(info: str) -> RecordRead | None:
    """Read the text of a generic event; None if it is not one of ours, or damaged."""
    found = _RECORD.fullmatch(info)
    if found is None or found[1] not in _KNOWN:
        return None
    name, node, cluster, proc, retry, value, text = found.groups()
    job = (int(cluster), int(proc)) if cluster else (-1, -1)
    return RecordRead(name, unescaped(node), int(retry), int(value), unescaped(text), *job)


def with_info(event: LogEvent, info: str) -> LogEvent:
    """A generic event with what its text says: a journal record; or its text, if that is a note of
    a DATA node's worker or a record that `unknown_record` names."""
    read = parse_record(info)
    if read is not None:
        return with_record(event, read)
    is_text = PLACEMENT_NOTE in info[:60] or (event.cluster < 0 and _RECORD.fullmatch(info))
    return event._replace(text=info) if is_text else event


def unknown_record(event: LogEvent) -> str:
    """The name of the record of a generic event if it is of a feature that is not there, or of
    another version; else ''."""
    found = _RECORD.fullmatch(event.text) if event.record is None else None
    return found[1] if found and not event.text.lstrip().startswith(PLACEMENT_NOTE) else ""


def with_record(event: LogEvent, read: RecordRead) -> LogEvent:
    """The generic event with that record: without it, if a job may have written it.

    Jobs can (condor_chirp ulog), but the shadow puts the job's own id into the head.
    """
    if event.cluster >= 0:
        return event
    return event._replace(
        cluster=read.cluster,
        proc=read.proc,
        node=read.node,
        value=read.value,
        record=read.record,
        retry=read.retry,
        text=read.text,
    )


def event_head(kind: EventKind, cluster: int, proc: int, subproc: int, when: str) -> str:
    """The beginning of an event: `when` is what `stamp` gives; an id of -1 means none."""
    return f"{int(kind):03d} ({cluster:03d}.{proc:03d}.{subproc:03d}) {when}"


def _record_text(node: str, action: AppendJournalRecord) -> str:
    job = f' Job = "{action.cluster}.{action.proc}";' if action.cluster >= 0 else ""
    front = (
        f'[ DAGManNote = "{action.record}"; Node = "{escaped(node)}";{job}'
        f" DAGManNodeRetry = {action.retry}; Value = {action.value}; Text = "
    )
    room = max(MAX_RECORD_BYTES - len(front) - len('"" ]'), 0)
    return f'{front}"{fitting(action.text, room)}" ]'


def fitting(text: str, room: int) -> str:
    """As much of `text` as has room when escaped; no escape is cut in two."""
    kept = []
    for character in text:
        one = _safe(character)
        room -= len(one.encode("utf-8", "surrogateescape"))
        if room < 0:
            break
        kept.append(one)
    return "".join(kept)


def escaped(text: str) -> str:
    """`text` inside the quotes of a string of an event."""
    return "".join(map(_safe, text))


def _safe(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8, which the bindings don't read
        return f"\\x{ord(character) - _BYTE:02x}"
    # Readers of the log take lines of C strings: no other control character may stay.
    return _ESCAPES.get(character, max(character, " "))


def unescaped(text: str) -> str:
    """The text that `escaped` was given."""
    return re.sub(r"\\(?:x(..)|(.))", _meant, text)


def _meant(found: re.Match[str]) -> str:
    return chr(_BYTE + int(found[1], 16)) if found[1] else _PLAIN[found[2]]

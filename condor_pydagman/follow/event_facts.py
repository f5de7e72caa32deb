"""What the text of an event of the nodes log says beyond what the engine needs: hosts, resources,
reasons.

Source: manual, "Job Event Log Codes".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import inf
from operator import add

from condor_pydagman.follow.run_model import Usage
from condor_pydagman.names import logged_name
from condor_pydagman.records.own_ad import unquoted

_NODE = re.compile(r'DAGNodeName = ("(?:[^"\\]|\\.)*")|DAG Node: +([^\n]*)')
_SLOT = re.compile(r"SlotName: (\S+)")
_ADDRESS = re.compile(r"<([^:?>]+)[^>]*>")
_ALIAS = re.compile(r"[?&]alias=([^&>]+)")
_VALUE = re.compile(r"\(return value (\d{1,10})\)|\(signal (\d{1,10})\)")
_CODES = re.compile(r"\n\tCode (-?\d{1,10}) Subcode (-?\d{1,10})")
_TOTAL_USAGE = "  -  Total Remote Usage"
_CPU = re.compile(r"Usr (\d+) (\d\d):(\d\d):(\d\d), Sys (\d+) (\d\d):(\d\d):(\d\d)$")
_BYTES = re.compile(r"\t(\d+)  -  Total Bytes (Sent|Received) By Job")
_TABLE = "\tPartitionable Resources :"
_ROW = re.compile(r"(?m)^\t   ([^:\n]*?) *:([^\n]*)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_EVICTED = re.compile(r"\n\tReason: ([^\n]*)")
_FLAG = re.compile(r"\([01]\) (?:CPU times$)?")  # whether there was a checkpoint
_COLUMNS = ("Usage", "Request", "Allocated")


def node_name(text: str) -> str:
    """The node that an event names, as `logged_name` gives it; '' if none."""
    found = _NODE.search(text)
    if found is None:
        return ""
    quoted, plain = found.groups()
    return logged_name(unquoted(quoted)) if quoted is not None else plain.strip()


def host(text: str) -> str:
    """Where the job of an execute event runs: slot, else the machine's name or address."""
    slot = _SLOT.search(text)
    if slot is not None:
        return slot[1]
    address = _ADDRESS.search(text)
    if address is None:
        return ""
    alias = _ALIAS.search(address[0])
    return alias[1] if alias is not None else address[1]


def end_value(text: str) -> int | None:
    """Exit code, or negative signal, of the end of a job or script; None if it has none."""
    found = _VALUE.search(text)
    if found is None:
        return None
    return int(found[1]) if found[1] is not None else -int(found[2])


def reason(text: str) -> str:
    """The reason of a hold, release or removal; '' if none."""
    lines = text.split("\n", 2)
    return lines[1].strip() if len(lines) > 1 else ""


def eviction_reason(text: str) -> str:
    """Why a job was taken from its machine (events 004, 007 and 024); '' if it is not told."""
    found = _EVICTED.search(text)
    return found[1].strip() if found is not None else _FLAG.sub("", reason(text), count=1)


def hold_codes(text: str) -> tuple[int, int]:
    """HoldReasonCode and HoldReasonSubCode of a hold event, 0 if it has none."""
    found = _CODES.search(text)
    return (int(found[1]), int(found[2])) if found is not None else (0, 0)


def cpu_s(text: str) -> float:
    """CPU time, user and system, of a terminate event; seconds."""
    end = text.find(_TOTAL_USAGE)
    return _cpu_s(text[text.rfind("\n", 0, end) + 1 : end]) if end >= 0 else 0.0


def brief_cpu_s(usage: Mapping[str, Usage], ran: float) -> float:
    """CPU time of a job that may be short, by the processors that it used on average while it ran;
    in seconds, as `ran`."""
    row = usage.get("Cpus")
    return (row.used or 0.0) * max(ran, 0.0) if row is not None else 0.0


@lru_cache(maxsize=4096)
def _cpu_s(text: str) -> float:
    """Jobs of one kind take the same time, in whole seconds."""
    found = _CPU.search(text)
    if found is None:
        return 0.0
    numbers = list(map(int, found.groups()))  # of user, then of system
    days, hours, minutes, seconds = map(add, numbers[:4], numbers[4:])
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def transferred(text: str) -> tuple[int, int]:
    """Bytes that a job of a terminate event has sent and received."""
    found = {way: int(number) for number, way in _BYTES.findall(text)}
    return found.get("Sent", 0), found.get("Received", 0)


def usage(text: str) -> Mapping[str, Usage]:
    """The table of resources of a terminate event, by their names; {} if it has none."""
    begin = text.find(_TABLE)
    if begin < 0:
        return {}
    return _table(text[begin + len(_TABLE) :])


@lru_cache(maxsize=1024)
def _table(text: str) -> Mapping[str, Usage]:
    """Jobs of one kind, if they are short, have whole tables in common."""
    header, _, rows = text.partition("\n")
    return {name: _row(values, header) for name, values in _ROW.findall(rows)}


def has_outgrown(text: str) -> bool:
    """Whether a job had used more memory than it had requested, by the table of an event."""
    row = usage(text).get("Memory (MB)")
    return row is not None and (row.used or 0.0) > (row.requested or inf)


def larger(one: Mapping[str, Usage], other: Mapping[str, Usage]) -> Mapping[str, Usage]:
    """Of the tables of two jobs, each row with the larger use."""
    if not one:
        return other
    return {
        name: max(one.get(name, row), row, key=lambda usage: usage.used or 0.0)
        for name, row in {**one, **other}.items()
    }


@lru_cache(maxsize=4096)
def _row(text: str, header: str) -> Usage:
    """The values of a row: each ends below the end of its column's name.

    Jobs of one kind have many rows in common.
    """
    ends = [header.find(column) + len(column) for column in _COLUMNS]
    values: list[float | None] = [None, None, None]
    for number in _NUMBER.finditer(text):
        column = next((n for n, end in enumerate(ends) if number.end() <= end), None)
        if column is not None:
            values[column] = float(number[0])
    return Usage(*values)

"""The common events of a nodes log, read back; everything else is left alone."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.records.event_text import CommonEvents
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests.log_samples import BYTES, COMMON, ODD, USAGE, WHEN, event, submitted

MINUTE = 1_000_000.0
STAMP = "11/21/26 11:56:29"
NAMED = '    [ DAGNodeName = "A"; JobBatchName = "b" ]\n'
FITTING = ["A", "a b", "[ ]; = ", "%s", "ö\xa0", "x" * 400]


def reader() -> CommonEvents:
    """One that knows a single minute."""
    return CommonEvents(lambda stamp: MINUTE if stamp == "2026-11-21T11:56" else None)


def read(text: str) -> list[LogEvent]:
    data = text.encode("utf-8", "surrogateescape")
    events, end = reader().read(data, 0, 1000)
    assert end == (len(data) if events else 0)
    return events


def test_a_submit_event() -> None:
    (found,) = read(event(0, submitted(NAMED)))
    assert found == LogEvent(EventKind.SUBMIT, 7, 2, 0, MINUTE + 29, STAMP, "A")
    assert type(found) is LogEvent
    assert type(found.kind) is int


@pytest.mark.parametrize(
    ("ending", "value"),
    [
        ("(1) Normal termination (return value 3)", 3),
        ("(0) Abnormal termination (signal 9)\n\t(0) No core file", -9),
        ("(0) Abnormal termination (signal 11)\n\t(1) Corefile in: /tmp/core", -11),
    ],
)
def test_the_end_of_a_job(ending: str, value: int) -> None:
    (found,) = read(event(5, f"Job terminated.\n\t{ending}\n{USAGE}{BYTES}"))
    assert found == LogEvent(5, 7, 2, 0, MINUTE + 29, STAMP, "", value)


def test_all_common_forms_are_read_in_one_go() -> None:
    events = read("".join(COMMON))
    assert [found.kind for found in events] == [int(text[:3]) for text in COMMON]
    assert {found.time for found in events} == {MINUTE + 29}
    assert {found.node for found in events} >= {"A+b.c [x]", "Bö", "B", "C", ""}
    assert {found.value for found in events} == {0, 3, 4, 13, -9, -15}
    records = [found for found in events if found.record is not None]
    assert [record.record for record in records] == [
        JournalRecord.PRE_ENDED,
        JournalRecord.JOB_LOST,
        JournalRecord.JOB_ENDED,
    ]
    assert [record[1:3] for record in records] == [(-1, -1), (7, 2), (7, -1)]
    assert records[0].text == 'it said: "no"\\ and\nmore, ö'
    reasons = [found.text for found in events if found.kind in (9, 12)]
    assert reasons == ["", "via condor_rm (by user me)", "no such file"]


@pytest.mark.parametrize("text", ODD)
def test_other_forms_are_left_alone(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", COMMON)
def test_what_is_not_whole_is_left_alone(text: str) -> None:
    assert [read(text[:end]) for end in range(len(text)) if read(text[:end])] == []


@pytest.mark.parametrize("text", COMMON)
@pytest.mark.parametrize("number", ["000", "001", "005", "008", "016", "035", "099"])
def test_a_number_that_does_not_fit_the_words_is_left_alone(text: str, number: str) -> None:
    if not text.startswith(number):
        assert read(number + text[3:]) == []


@pytest.mark.parametrize(
    "when", ["2026-11-21 11:57:29", "2026-11-21 11:56:60", "1999-11-21 11:56:29", f"{WHEN}.1"]
)
def test_a_time_that_is_not_sure_is_left_alone(when: str) -> None:
    assert read(event(0, submitted(NAMED), when=when)) == []


@pytest.mark.parametrize("name", FITTING)
def test_a_name_without_escapes_comes_as_it_is(name: str) -> None:
    (found,) = read(event(0, submitted(NAMED.replace('"A"', f'"{name}"'))))
    assert found.node == name


@pytest.mark.parametrize("name", ["caf\udce9", 'a\\"b', "a\tb", "a\rb", "\x7f", "x" * 401, ""])
def test_a_name_that_is_read_in_another_way_is_left_alone(name: str) -> None:
    assert read(event(0, submitted(NAMED.replace('"A"', f'"{name}"')))) == []


def test_reading_starts_anywhere_and_ends_after_so_many() -> None:
    block = ("junk" + COMMON[0] * 3 + ODD[0]).encode()
    size = len(COMMON[0].encode())
    events, end = reader().read(block, 4, 2)
    assert (len(events), end) == (2, 4 + 2 * size)
    events, end = reader().read(block, end, 2)
    assert (len(events), end) == (1, 4 + 3 * size)
    assert reader().read(block, end, 2) == ([], end)

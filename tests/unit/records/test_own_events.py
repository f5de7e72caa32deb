"""Events that DAGMan appends to the nodes log, and our records read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.feature_table import RECORDS
from condor_pydagman.records import own_events
from condor_pydagman.vocabulary import CORE_RECORDS, EventKind, JournalRecord

WHEN = "2026-11-21 12:08:04"


def info_of(event: str) -> str:
    """The text of a generic event, as a reader of the log gives it."""
    first, end = event.split("\n", 1)
    assert end == "...\n"
    return first.split(f"{WHEN} ", 1)[1]


MOMENT = (2026, 3, 1, 4, 5, 6, 6, 60, 0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", "2026-03-01 04:05:06"),
        ("SUB_SECOND", "2026-03-01 04:05:06.007"),
        ("iso_date, utc sub_second", "2026-03-01 04:05:06.007Z"),
        ("LEGACY", "03/01 04:05:06"),
        ("legacy utc", "03/01 04:05:06Z"),
        ("UTC SUB_SECOND LEGACY ISO_DATE", "2026-03-01 04:05:06"),
        ("XML", "2026-03-01 04:05:06"),
    ],
)
def test_stamp_as_the_pool_writes_its_events(options: str, expected: str) -> None:
    assert own_events.stamp(MOMENT, 7, own_events.stamp_form(options)) == expected


@pytest.mark.parametrize(
    ("status", "cluster", "job", "end"),
    [
        (0, 7, "007", "(1) Normal termination (return value 0)"),
        (-9, -1, "-01", "(0) Abnormal termination (signal 9)"),  # after a failed submission
    ],
)
def test_the_end_of_a_post_script(status: int, cluster: int, job: str, end: str) -> None:
    assert own_events.post_ended(WHEN, "B", status, cluster=cluster, proc=0, subproc=0) == (
        f"016 ({job}.000.000) {WHEN} POST Script terminated.\n\t{end}\n    DAG Node: B\n...\n"
    )


def test_pre_skip() -> None:
    assert own_events.pre_skip(WHEN, "S", 12) == (
        f"034 (000.2147483647.012) {WHEN} PRE script return value is PRE_SKIP value\n"
        "    DAG Node: S\n"
        "...\n"
    )


def test_noop_is_submitted_and_ends() -> None:
    assert own_events.noop(WHEN, "N", 2) == (
        f"000 (000.2147483647.002) {WHEN} Job submitted from host: <dummy-submit-for-noop-job>\n"
        "    DAG Node: N\n"
        "...\n"
        f"005 (000.2147483647.002) {WHEN} Job terminated.\n"
        "\t(1) Normal termination (return value 0)\n"
        "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
        "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage\n"
        "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Remote Usage\n"
        "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage\n"
        "\t0  -  Run Bytes Sent By Job\n"
        "\t0  -  Run Bytes Received By Job\n"
        "\t0  -  Total Bytes Sent By Job\n"
        "\t0  -  Total Bytes Received By Job\n"
        "...\n"
    )


def test_record() -> None:
    action = AppendJournalRecord(JournalRecord.PRE_ENDED, node=4, retry=2, value=-9)
    assert own_events.record_event(WHEN, "A", action) == (
        f'008 (-01.-01.-01) {WHEN} [ DAGManNote = "PRE_ENDED"; Node = "A";'
        ' DAGManNodeRetry = 2; Value = -9; Text = "" ]\n...\n'
    )


@pytest.mark.parametrize("proc", [3, -1])
def test_a_record_about_a_job_carries_its_id(proc: int) -> None:
    action = AppendJournalRecord(JournalRecord.JOB_LOST, node=4, retry=0, cluster=12, proc=proc)
    event = own_events.record_event(WHEN, "A", action)
    assert event.startswith(f"008 (-01.-01.-01) {WHEN} [ ")
    assert "DAGNodeName" not in event
    record = own_events.parse_record(info_of(event))
    assert record is not None
    assert (record.cluster, record.proc) == (12, proc)
    head = LogEvent(8, -1, -1, 0, 7.0, "stamp")
    assert own_events.with_record(head, record) == LogEvent(
        8, 12, proc, 0, 7.0, "stamp", "A", 0, JournalRecord.JOB_LOST
    )


@pytest.mark.parametrize("record", sorted(CORE_RECORDS | RECORDS))
def test_what_a_job_says_in_its_log_is_no_record(record: str) -> None:
    """Its own id is in the head: what `condor_chirp ulog` makes of a job's text."""
    action = AppendJournalRecord(record, 4, 0, cluster=13, proc=0)
    said = LogEvent(8, 12, 0, 0)
    record = own_events.parse_record(info_of(own_events.record_event(WHEN, "A", action)))
    assert record is not None
    assert own_events.with_record(said, record) == said


@given(
    st.sampled_from(sorted(CORE_RECORDS | RECORDS)),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60),
    st.integers(0, 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.text(st.sampled_from('ab"\\\n\r\t ;=[].\u00e9'), max_size=100),
)
def test_a_record_is_read_back_as_written(
    record: str, node: str, retry: int, value: int, text: str
) -> None:
    action = AppendJournalRecord(record, 0, retry, value, text=text)
    info = info_of(own_events.record_event(WHEN, node, action))
    assert own_events.parse_record(info) == (
        *(record, node, retry, value, text),
        *(-1, -1),
    )


def test_a_record_of_bytes_that_are_not_utf_8_can_be_read_by_everybody() -> None:
    action = AppendJournalRecord(JournalRecord.SUBMIT_FAILED, 0, 1, text="caf\udce9 \\xe9")
    event = own_events.record_event(WHEN, "n\udc80", action)
    assert event.isascii()
    record = own_events.parse_record(info_of(event))
    assert record is not None
    assert (record.node, record.text) == ("n\udc80", "caf\udce9 \\xe9")


@given(st.text(max_size=3000))
def test_a_record_is_one_short_line(text: str) -> None:
    action = AppendJournalRecord(JournalRecord.SUBMIT_FAILED, 0, 1, text=text)
    event = own_events.record_event(WHEN, "node", action)
    assert event.endswith(" ]\n...\n")
    assert event.count("\n") == 2
    info = info_of(event)
    assert len(info.encode()) <= own_events.MAX_RECORD_BYTES
    assert own_events.parse_record(info) is not None


@pytest.mark.parametrize("text", ['x"' * 1000, "\\" * 2000, "\u00e9" * 2000])
def test_a_long_text_keeps_its_beginning(text: str) -> None:
    info = info_of(
        own_events.record_event(
            WHEN, "A", AppendJournalRecord(JournalRecord.SUBMIT_FAILED, 0, 1, text=text)
        )
    )
    record = own_events.parse_record(info)
    assert record is not None
    assert len(record.text) > 100
    assert text.startswith(record.text)


GOOD = '[ DAGManNote = "PRE_ENDED"; Node = "A"; DAGManNodeRetry = 0; Value = 0; Text = "" ]'


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (GOOD, ""),
        (GOOD, "Job was resubmitted"),
        ("PRE_ENDED", "UNHEARD_OF"),
        ("Retry = 0", "Retry = -1"),
        ("Retry = 0", "Retry = x"),
        ("Value = 0", "Value = 99999999999"),
        ("DAGManNode", 'Job = "1234567890.0"; DAGManNode'),
        ('Text = ""', 'Text = "x'),
        ('"A"', '"A"b"'),
        ('"A"', r'"A\q"'),
        ('"A"', r'"A\x0a"'),
        ("DAGManNodeRetry = 0; ", ""),
        (" ]", " ] x"),
    ],
)
def test_foreign_and_damaged_events_are_no_records(right: str, wrong: str) -> None:
    assert own_events.parse_record(GOOD) is not None
    assert own_events.parse_record(GOOD.replace(right, wrong)) is None


def test_control_characters_become_blanks() -> None:
    action = AppendJournalRecord(JournalRecord.SUBMIT_FAILED, 0, 1, text="a\0b\x1ec")
    record = own_events.parse_record(info_of(own_events.record_event(WHEN, "A", action)))
    assert record is not None
    assert record.text == "a b c"


@pytest.mark.parametrize(
    ("name", "cluster", "found"),
    [("LET_GO", -1, "LET_GO"), ("TOMORROW", 7, ""), ("GROWN", -1, ""), ("PLACEMENT", -1, "")],
)
def test_records_that_are_not_known(name: str, cluster: int, found: str) -> None:
    note = f'[ DAGManNote = "{name}"; Node = "A"; DAGManNodeRetry = 0; Value = 0; Text = "" ]'
    event = own_events.with_info(LogEvent(EventKind.GENERIC, cluster), note)
    assert own_events.unknown_record(event) == found


def test_a_record_of_a_node_in_the_form_of_an_older_version() -> None:
    """A DAG that was left with it goes on; the job's id in the head is a job's own text."""
    note = (
        '[ DAGManNote = "PRE_ENDED"; DAGNodeName = "A"; DAGManNodeRetry = 2; Value = 1; Text = "" ]'
    )
    read = own_events.with_info(LogEvent(EventKind.GENERIC, -1), note)
    assert (read.record, read.node, read.retry, read.value) == ("PRE_ENDED", "A", 2, 1)
    assert own_events.with_info(LogEvent(EventKind.GENERIC, 7), note).record is None


def test_a_record_of_a_feature_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_events, "_KNOWN", own_events._KNOWN - {"GROWN"})
    note = '[ DAGManNote = "GROWN"; Node = "A"; DAGManNodeRetry = 0; Value = 0; Text = "" ]'
    read = own_events.with_info(LogEvent(EventKind.GENERIC, -1), note)
    of_a_job = own_events.with_info(LogEvent(EventKind.GENERIC, 7), note)
    assert (read.record, own_events.unknown_record(read)) == (None, "GROWN")
    assert own_events.unknown_record(of_a_job) == ""


def test_seconds_of_a_processor() -> None:
    first = own_events.usage(user=2 * 86400 + 3 * 3600 + 4 * 60 + 59, system=60).splitlines()[0]
    assert first == "\t\tUsr 2 03:04:59, Sys 0 00:01:00  -  Run Remote Usage"

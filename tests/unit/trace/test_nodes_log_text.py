"""Events of the nodes log as text: whole ones, damaged ones, and their details."""

from __future__ import annotations

import pytest

from condor_pydagman.trace import nodes_log_text as log_text
from condor_pydagman.trace.local_times import LocalTimes
from condor_pydagman.trace.nodes_log_text import NodesLogEvent, log_events
from condor_pydagman.trace.run_history import Usage
from tests import log_samples

TIMES = LocalTimes(lambda text, utc: 60.0, 2026)


def read(text: str, begin: int = 0) -> list[NodesLogEvent]:
    return list(log_events(text.encode("utf-8", "surrogateescape"), begin, TIMES))


def test_every_common_event_is_read() -> None:
    text = "".join(log_samples.COMMON)
    found = read(text, 100)
    assert len(found) == len(log_samples.COMMON)
    assert found[-1].end == 100 + len(text.encode())
    assert all(event.time > 60 for event in found)


def test_a_part_of_an_event_is_left_for_later() -> None:
    one = log_samples.event(1, "Job executing on host: <h>\n")
    for cut in range(1, len(one)):
        assert len(read(one + one[:cut])) == 1


def test_garbage_and_the_beginning_of_another_event_are_passed_over() -> None:
    one = log_samples.event(1, "Job executing on host: <h>\n", job="001.000.000")
    other = log_samples.event(1, "Job executing on host: <h>\n", job="002.000.000")
    assert [event.cluster for event in read(f"\0garbage\n{one}nonsense\n...\n{other}")] == [1, 2]
    assert [event.cluster for event in read(one.replace("...\n", "") + other)] == [1, 2]


def test_nodes_of_both_forms_and_with_quotes() -> None:
    submitted = log_samples.submitted
    assert log_text.node_name(submitted('    [ DAGNodeName = "a \\"b\\\\" ]\n')) == 'a "b\\'
    assert log_text.node_name(submitted("    DAG Node: Bö x\n")) == "Bö x"
    assert log_text.node_name(submitted("")) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Job was evicted. Code 45 Subcode -1000\n\t(0) CPU times\n\t\tUsr 0 00:00:00, Sys 0\n"
            "\t0  -  Run Bytes Sent By Job\n\tReason: Error from s1: Singularity test failed\n"
            "\tPartitionable Resources :    Usage  Request Allocated \n",
            "Error from s1: Singularity test failed",
        ),
        ("Job was evicted.\n\t(0) CPU times\n\t\tUsr 0 00:00:00\n", ""),
        (
            "Job was evicted.\n\t(0) Job terminated and was requeued\n\t\tUsr 0 00:00:00\n",
            "Job terminated and was requeued",
        ),
        (
            "Shadow exception!\n\tFailed to activate claim\n\t0  -  Run Bytes",
            "Failed to activate claim",
        ),
        (
            "Job reconnection failed\n    Job not found at execution machine\n",
            "Job not found at execution machine",
        ),
        ("Job was evicted.", ""),
    ],
)
def test_why_a_job_was_evicted(text: str, reason: str) -> None:
    assert log_text.eviction_reason(text) == reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"gr\303\266\303\237e", "größe"),
        (r"\303\266\\303", r"ö\303"),
        (r"\377x", "?x~8c231683"),
        (r"a\342\200\256b", "a?b~6c0baac0"),
    ],
)
def test_names_that_are_not_ascii(written: str, name: str) -> None:
    """The schedd writes them as a ClassAd's string; events of DAGMan have `logged_name`."""
    assert log_text.node_name(log_samples.submitted(f'    [ DAGNodeName = "{written}" ]\n')) == name


def test_where_a_job_runs() -> None:
    machine = f"Job executing on host: {log_samples.HOST}\n"
    assert log_text.host(machine + log_samples.SLOT) == "slot1_1@host"
    assert log_text.host(machine) == "ap.example.org"
    assert log_text.host("Job executing on host: <192.0.2.1:9618>\n") == "192.0.2.1"
    assert log_text.host("nonsense") == ""


def test_what_a_terminate_event_says() -> None:
    text = (
        "Job terminated.\n\t(0) Abnormal termination (signal 9)\n\t(0) No core file\n"
        + log_samples.USAGE.replace("00:00:01", "00:02:01")
        + log_samples.BYTES
        + log_samples.TABLE
    )
    assert log_text.end_value(text) == -9
    assert log_text.cpu_s(text) == 121.0
    assert log_text.transferred(text) == (123456789012, 41848)
    rows = log_text.usage(text)
    assert rows["Cpus"] == Usage(0.25, 1.0, 1.0)
    assert rows["GPUs"] == Usage(None, None, 0.0)
    assert rows["TimeExecute (s)"] == Usage(1.0, None, None)
    assert log_text.end_value("Job terminated.\n") is None
    assert log_text.usage("Job terminated.\n") == {}


def test_of_two_jobs_the_larger_use_of_each_resource_counts() -> None:
    one = {"Cpus": Usage(2.0, 1.0, 1.0), "Memory (MB)": Usage(5.0, 1.0, 1.0)}
    other = {"Cpus": Usage(1.0, 1.0, 1.0), "Memory (MB)": Usage(6.0, 1.0, 1.0)}
    larger = log_text.larger(one, other)
    assert larger == {"Cpus": Usage(2.0, 1.0, 1.0), "Memory (MB)": Usage(6.0, 1.0, 1.0)}
    assert log_text.larger({}, other) == other


def test_holds() -> None:
    text = "Job was held.\n\tno such file\n\tCode 13 Subcode 2\n"
    assert (log_text.reason(text), log_text.hold_codes(text)) == ("no such file", (13, 2))
    assert log_text.hold_codes("Job was held.\n\tReason unspecified\n") == (0, 0)

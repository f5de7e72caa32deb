"""What the texts of events say."""

from __future__ import annotations

import pytest

from condor_pydagman.follow import event_facts
from condor_pydagman.follow.run_model import Usage
from tests import log_samples


def test_nodes_of_both_forms_and_with_quotes() -> None:
    submitted = log_samples.submitted
    assert event_facts.node_name(submitted('    [ DAGNodeName = "a \\"b\\\\" ]\n')) == 'a "b\\'
    assert event_facts.node_name(submitted("    DAG Node: Bö x\n")) == "Bö x"
    assert event_facts.node_name(submitted("")) == ""


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
    assert event_facts.eviction_reason(text) == reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"gr\303\266\303\237e", "größe"),
        (r"\303\266\\303", r"ö\303"),
        (r"\377x", "?x~8c231683"),
        (r"a\342\200\256b", "a?b~6c0baac0"),
        (r"a\ab", "a?b~5aa9eeb6"),
        (r"a\8", "a8"),
    ],
)
def test_names_with_escapes(written: str, name: str) -> None:
    """The schedd writes them as a ClassAd's string; events of DAGMan have `logged_name`."""
    text = log_samples.submitted(f'    [ DAGNodeName = "{written}" ]\n')
    assert event_facts.node_name(text) == name


def test_the_time_of_the_cpu_is_that_of_user_and_system() -> None:
    usage = "\t\tUsr {}, Sys 0 00:00:30  -  {} Remote Usage\n"
    text = usage.format("0 00:00:01", "Run") + usage.format("2 03:04:05", "Total")
    assert event_facts.cpu_s(text) == 2 * 86400 + 3 * 3600 + 4 * 60 + 35
    assert event_facts.cpu_s(usage.format("0 00:00:01", "Run")) == 0.0


def test_where_a_job_runs() -> None:
    machine = f"Job executing on host: {log_samples.HOST}\n"
    assert event_facts.host(machine + log_samples.SLOT) == "slot1_1@host"
    assert event_facts.host(machine) == "ap.example.org"
    assert event_facts.host("Job executing on host: <192.0.2.1:9618>\n") == "192.0.2.1"
    assert event_facts.host("nonsense") == ""


def test_of_two_jobs_the_larger_use_of_each_resource_counts() -> None:
    one = {"Cpus": Usage(2.0, 1.0, 1.0), "Memory (MB)": Usage(5.0, 1.0, 1.0)}
    other = {"Cpus": Usage(1.0, 1.0, 1.0), "Memory (MB)": Usage(6.0, 1.0, 1.0)}
    larger = event_facts.larger(one, other)
    assert larger == {"Cpus": Usage(2.0, 1.0, 1.0), "Memory (MB)": Usage(6.0, 1.0, 1.0)}
    unknown, little = Usage(None, 1.0, 1.0), Usage(0.5, 1.0, 1.0)
    assert event_facts.larger({"Cpus": unknown}, {"Cpus": little}) == {"Cpus": little}
    assert event_facts.larger({}, other) == event_facts.larger(other, {}) == other

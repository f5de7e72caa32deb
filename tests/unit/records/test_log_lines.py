"""Levels of the lines of `.dagman.out`, and what stands before each."""

from __future__ import annotations

import pytest

from condor_pydagman.records.log_lines import Header, header, level_of, wants_tests

# As the stock program says them, run at each level.
LEVELS = {
    "** condor_dagman (CONDOR_DAGMAN) STARTING UP": 0,
    "**** condor_dagman (condor_DAGMAN) pid 1 EXITING WITH STATUS 0": 0,
    "DAGMAN_USE_STRICT setting: 1": 0,
    'argv[0] == "condor_dagman"': 0,
    "Workflow batch-id: <1.0>": 0,
    "      Node Name: A": 0,
    "PARENTS:  WAITING: 0 CHILDREN: B": 0,
    "ERROR: the following job(s) failed:": 1,
    "Aborting DAG...": 1,
    "Aborting DAG because we got the ABORT exit value from a job": 1,
    "PRE Script of Node A failed with status 3": 1,
    "Node A job proc (1.0.0) failed with status 3.": 1,
    "Node submit failed after 1 try.": 1,
    "Starting final node...": 1,
    "Node A job proc (1.0.0) completed successfully.": 2,
    "Running in RECOVERY mode... >>>": 2,
    "Got SIGTERM. Performing graceful shutdown.": 0,
    "...done with RECOVERY mode <<<": 2,
    "1 nodes claim to have jobs submitted to queue. Verifying...": 2,
    "       HTCondor Recovery Complete": 3,
    "Querying local schedd for associated jobs in queue": 3,
    "Job submit try 1/3 failed, will try again in >= 1 second.": 2,
    "Node A job(s) have exited the queue": 2,
    "POST Script of node A failed with status 1": 2,
    "PRE Script of node A completed successfully.": 2,
    "Running PRE script of Node A...": 2,
    "Submitting HTCondor Node A job(s)...": 2,
    "Aborting further retries of node A (last attempt returned 1)": 2,
    "Writing Rescue DAG to t.dag.rescue001...": 2,
    "\tMaximum Idle Jobs-------------: 1000": 2,
    "All jobs Completed!": 2,
    "Wrote metrics file t.dag.metrics.": 2,
    "\tassigned HTCondor ID (1.0.0)": 3,
    "Event: ULOG_SUBMIT for HTCondor Node A (1.0.0) {}": 3,
    "Number of idle job procs: 1": 3,
    "DAG status: 0 (DAG_STATUS_OK)": 3,
    "    1       0        0       1       0          1        0        0": 3,
    "Retrying node A (retry #1 of 1)...": 3,
    "Just submitted 1 job this cycle...": 3,
    "Parsing t.dag ...": 3,
    "Bootstrapping...": 3,
}


@pytest.mark.parametrize("line", LEVELS)
def test_levels_are_stock_s(line: str) -> None:
    assert level_of(line) == LEVELS[line]


def test_what_goes_wrong_is_said_even_where_stock_has_no_such_line() -> None:
    assert level_of("ERROR: something new") == 1
    assert level_of("Warning: something new") == 2
    assert level_of("something new") == 3


def test_nothing_asked_for() -> None:
    assert header([]) == Header("%m/%d/%y %H:%M:%S")
    assert header(["", "D_FULLDEBUG D_NETWORK:2"]) == Header()
    assert Header().words(12, 3) == ""


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("D_PID", "(pid:12) "),
        ("d_pid", "(pid:12) "),
        ("D_CAT", "(D_ALWAYS) "),
        ("D_CATEGORY", "(D_ALWAYS) "),
        ("D_IDENT", "(cid:0) "),
        ("D_FDS", "(fd:3) "),
        ("D_CAT,D_PID|D_TEST  D_FDS", "(fd:3) (pid:12) (D_ALWAYS) "),
    ],
)
def test_words_before_the_text(flags: str, words: str) -> None:
    assert header([flags]).words(12, 3) == words


def test_a_later_word_takes_an_earlier_one_back() -> None:
    assert header(["D_PID D_CAT", "-D_PID"]).words(12, 3) == "(D_ALWAYS) "


def test_times() -> None:
    assert header(["D_SUB_SECOND"]).milliseconds
    assert header(["D_TIMESTAMP"]).time_format == ""
    assert header([], epoch=True).time_format == ""
    assert header([], "%H:%M").time_format == "%H:%M"
    assert header([], "%H:%M", epoch=True).time_format == ""
    assert header(["D_TIMESTAMP", "-D_TIMESTAMP"]).time_format == Header().time_format


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        (["", "D_TEST D_CAT"], True),
        (["d_pid|d_test", ""], True),
        (["D_TEST", "-D_TEST"], True),
        (["", "D_TEST:2"], True),
        (["D_ALL"], True),
        (["D_ANY"], True),
        (["D_TEST:0", "D_FULLDEBUG"], False),
        (["", ""], False),
    ],
)
def test_lines_for_tests(flags: list[str], wanted: bool) -> None:
    """What stock 25.14.1 made of each."""
    assert wants_tests(flags) is wanted

"""jobstate.log: lines, and what an existing file says."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.actions import JobState
from condor_pydagman.graph.model import Dag
from condor_pydagman.records import jobstate

FILE = """\
100 INTERNAL *** DAGMAN_STARTED 6.0 ***
101 A SUBMIT 7.0 local - 1
102 A EXECUTE 7.0 local - 1
102 B PRE_SCRIPT_STARTED - - - 4
101 A JOB_SUCCESS 0 local - 1
190 INTERNAL *** DAGMAN_FINISHED 0 ***
103 A JOB_TERM"""


def dag() -> Dag:
    made = Dag()
    made.add_node("A", "a.sub")
    return made


@pytest.mark.parametrize(
    ("state", "tag", "line"),
    [
        (JobState(101.9, 0, "SUBMIT", "7.0", 1), "local", "101 A SUBMIT 7.0 local - 1\n"),
        (JobState(101, 0, "JOB_SUCCESS", "0", 1), "", "101 A JOB_SUCCESS 0 - - 1\n"),
        (JobState(101, 0, "SUBMIT_FAILURE", "", 2), "", "101 A SUBMIT_FAILURE - - - 2\n"),
    ],
)
def test_node_line(state: JobState, tag: str, line: str) -> None:
    assert jobstate.node_line(dag(), state, tag) == line


def test_internal_lines() -> None:
    assert jobstate.started(5.5, 33, 0) == "5 INTERNAL *** DAGMAN_STARTED 33.0 ***\n"
    assert jobstate.finished(5.5, 3) == "5 INTERNAL *** DAGMAN_FINISHED 3 ***\n"
    assert jobstate.recovery_started(5) == "5 INTERNAL *** RECOVERY_STARTED ***\n"
    assert jobstate.recovery_finished(5) == "5 INTERNAL *** RECOVERY_FINISHED ***\n"


def test_history_passes_over_internal_and_torn_lines() -> None:
    history = jobstate.read(FILE.splitlines(keepends=True))
    assert (history.sequence, history.newest) == (4, 102)


def test_history_of_nothing() -> None:
    assert jobstate.read([]) == jobstate.History()
    assert not jobstate.read([]).has("1 A SUBMIT 7.0 - - 1\n")


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("101 A ANYTHING 7.0 local - 1\n", True),  # older than the newest
        ("102 A EXECUTE 7.0 local - 1\n", True),
        ("102 A EXECUTE 8.0 local - 1\n", False),
        ("103 A EXECUTE 7.0 local - 1\n", False),
    ],
)
def test_lines_that_recovery_need_not_write(line: str, there: bool) -> None:
    assert jobstate.read(FILE.splitlines()).has(line) is there


@pytest.mark.parametrize("garbage", ["", "x y z u v w", "12 A B C - - x", "-1 A B C - - 3", "5"])
def test_history_survives_garbage(garbage: str) -> None:
    assert jobstate.read([garbage]) == jobstate.History()


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("executable = x\nqueue\n", ""),
        ('+pegasus_site = "local"\nqueue\n', "local"),
        ("+Pegasus_Site=local\n", "local"),
        ('+job_tag_name = "+place"\n+place = "here"\n+pegasus_site = "local"\n', "here"),
        ('# +pegasus_site = "local"\n', ""),
        ('+pegasus_site = "$(site)"\n', ""),
        ('+job_tag_name = $(name)\n+pegasus_site = "local"\n', "local"),
        ("+job_tag_name = my_tag\nmy_tag = mine two\n", "mine two"),
        ('+pegasus_site=\\\n"cont"\nqueue\n', "cont"),
        ("+pegasus_site=one\n+pegasus_site=two\nqueue\n+pegasus_site=three\n", "three"),
        ("My.pegasus_site = one\n", ""),
    ],
)
def test_job_tag(text: str, tag: str) -> None:
    assert jobstate.job_tag(text) == tag


def test_each_description_is_read_once() -> None:
    dag = Dag()
    for name, file in (("A", "a.sub"), ("B", "a.sub"), ("C", "c.sub")):
        dag.add_node(name, file)
    dag.directories = {1: "elsewhere"}
    dag.finish()
    asked: list[int] = []

    def submit_text(node: int) -> str:
        asked.append(node)
        return f"+pegasus_site = site{node}"

    tags = jobstate.Tags(dag, submit_text)
    assert " ".join(map(tags.of, (0, 1, 2, 1, 0))) == "site0 site1 site2 site1 site0"
    assert asked == [0, 1, 2]


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000, "-1"])
def test_what_is_no_number_of_ours_is_passed_over(number: str) -> None:
    """Somebody's program may have written into the file; Python calls some more things digits."""
    lines = [f"{number} A JOB_SUCCESS 1.0 - - 4", f"7 A JOB_SUCCESS 1.0 - - {number}"]
    assert jobstate.read([*lines, "8 A JOB_SUCCESS 1.0 - - 5"]).sequence == 5

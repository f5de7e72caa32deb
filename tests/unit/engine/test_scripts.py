"""SCRIPT: macros, the queue of scripts, and what many scripts cost."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, queues
from condor_pydagman.engine.inputs import LogEvent, ScriptEnded
from condor_pydagman.engine.queues import ScriptQueue
from condor_pydagman.engine.script_words import (
    NOT_IN_PRE,
    MacroError,
    before_post,
    exit_code_macros,
    expand,
    script_ended,
)
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.brake.run import HOLD_WORDS
from condor_pydagman.vocabulary import (
    RETURN_JOB_ABORTED,
    RETURN_NO_RESULT,
    RETURN_PRE_FAILED,
    RETURN_SUBMIT_FAILED,
    EventKind,
    ScriptKind,
)
from tests import make
from tests.make import QUIET

PRE, POST = ScriptKind.PRE, ScriptKind.POST


# Macros in script lines.


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("a.sh $NODE", ("a.sh", "N")),
        ("a.sh\t$node  $Node ", ("a.sh", "N", "N")),
        ("a.sh x$NODE $NODE. '$NODE", None),
        ("a.sh x$NODE 'q q'", ("a.sh", "x$NODE", "'q", "q'")),
        ("$NODE", ("N",)),
    ],
)
def test_whole_words_in_any_case_are_put_in(command: str, words: tuple[str, ...] | None) -> None:
    if words is None:
        with pytest.raises(MacroError, match=r"unrecognized macro \$NODE\. in node n POST"):
            expand(command, {"NODE": "N"}, POST, "n")
    else:
        assert expand(command, {"NODE": "N"}, POST, "n") == words


@pytest.mark.parametrize("name", sorted(NOT_IN_PRE))
def test_what_only_a_post_script_can_know(name: str) -> None:
    values = {name: "1"}
    assert expand(f"a ${name}", values, POST, "n") == ("a", "1")
    with pytest.raises(MacroError, match=f"{name} macro should not be used as a PRE script"):
        expand(f"a ${name}", values, PRE, "n")


def test_a_value_is_not_looked_at_again() -> None:
    assert expand("a $NODE", {"NODE": "$X b"}, POST, "n") == ("a", "$X b")


@pytest.mark.parametrize(
    ("codes", "want"),
    [
        ({}, ("", "", "", "0")),
        ({0: 0}, ("0", "0:1", "0", "0")),
        ({1: 3, 0: 0, 2: 0}, ("0,3", "0:2,3:1", "0,3,0", "0")),
        ({0: -9, 1: -11, 2: None}, ("-1", "-1:2", "-1,-1,", "1")),
    ],
)
def test_exit_code_macros(codes: dict[int, int | None], want: tuple[str, ...]) -> None:
    got = exit_code_macros(codes)
    assert tuple(got.values()) == want
    assert list(got) == ["EXIT_CODES", "EXIT_CODE_COUNTS", "EXIT_CODE_LIST", "JOB_ABORT_COUNT"]


# Scripts that wait for a place, and those put off: a list of what has happened, as `add 1`,
# `defer 1 50`, `discard 1` or `clear`, and as `pop 60 1` which node starts then, `-` for none.


@pytest.mark.parametrize(
    ("happened", "next_time", "length"),
    [
        ("add 2, add 1, pop 0 2, pop 0 1, pop 0 -", None, 0),
        ("defer 1 10, add 2", 10.0, 1),
        ("defer 1 10, add 2, pop 9.9 2, pop 9.9 -, pop 10 1", None, 0),
        ("add 1, defer 2 5, discard 1, discard 2", None, 0),
        ("add 1, defer 2 5, discard 1, discard 2, pop 99 -", None, 0),
        ("add 1, discard 1, add 1, pop 0 1, pop 0 -", None, 0),
        ("add 1, defer 2 1, clear, pop 2 -", None, 0),
        ("add 1, defer 2 5, pop 5 1", None, 1),
        ("add 1, defer 2 5, pop 5 1, discard 2", None, 0),
        ("defer 1 50, defer 2 60, clear, add 3", None, 1),
        ("defer 1 50, defer 2 60, clear, add 3, pop 100 3, defer 1 150, discard 1, add 4", None, 1),
        # an old log showed its job; now its retry
        ("defer 1 50, discard 1, defer 1 90", 90.0, 0),
        ("defer 1 50, discard 1, defer 1 90, pop 60 -, pop 90 1, pop 99 -", None, 0),
        # a place of an earlier time starts no script that is put off
        ("add 1, discard 1, add 1, pop 0 1, defer 1 50, pop 10 -", 50.0, 0),
        ("add 1, discard 1, add 1, pop 0 1, defer 1 50, pop 10 -, pop 50 1", None, 0),
    ],
)
def test_the_queue_of_scripts(happened: str, next_time: float | None, length: int) -> None:
    queue = ScriptQueue()
    for step in happened.split(", "):
        what, *words = step.split()
        if what == "pop":
            assert queue.pop(float(words[0])) == (None if words[1] == "-" else int(words[1])), step
        else:
            numbers: list[Any] = [int(word) for word in words]
            getattr(queue, what)(*numbers)
    assert (queue.next_time(), len(queue)) == (next_time, length)


# HOLD scripts: one for each time a proc goes on hold, and no part of the node's life.


HOLD = ScriptKind.HOLD


def held(cluster: int, proc: int = 0, text: str = "why") -> LogEvent:
    return make.of_job(EventKind.JOB_HELD, cluster, proc, text=text)


def released(cluster: int, proc: int = 0) -> LogEvent:
    return make.of_job(EventKind.JOB_RELEASED, cluster, proc)


def with_hold_script(
    script: str = "h", *, defer: str = "", procs: int = 1, limit: int = 0
) -> make.EngineHarness:
    """A has the script, and the schedd has taken its jobs."""
    text = f"A -> B\nSCRIPT {defer} HOLD A {script}"
    return make.harness_of(text, QUIET, Throttles(hold=limit), procs=procs)


def of_hold(proc: int = 0, number: int = 1) -> inputs.HeldProc:
    return inputs.HeldProc(0, 5, proc, number)


def ended(status: int = 0, proc: int = 0, number: int = 1) -> ScriptEnded:
    return ScriptEnded(0, HOLD, status, held=of_hold(proc, number))


def test_the_number_of_waiting_hold_scripts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MAX_HOLD_SCRIPTS", 3)
    harness = with_hold_script(limit=1)
    for _ in range(20):
        harness.tell(held(5), released(5))
    assert len([say for say in harness.ever(do.Say) if "HOLD scripts wait" in say.text]) == 1
    for _ in range(20):
        harness.tell(ended())
    assert len(harness.ever(do.RunScript)) == 4


def test_the_limit_of_holds_goes_by_no_reason_of_a_job() -> None:
    """A job may hold itself with the words of a BRAKE, which the DAG has not got."""
    harness = make.harness_of("A", Config(max_job_holds=1), procs=1)
    harness.tell(make.of_job(EventKind.JOB_HELD, 5, text=HOLD_WORDS))
    assert harness.ever(do.RemoveJobs)


class Watched(dict[int, int]):
    """Flags of procs, which count how many of them are looked at one after the other."""

    looked = 0

    def values(self) -> Any:
        self.looked += len(self)
        return super().values()

    def items(self) -> Any:
        self.looked += len(self)
        return super().items()


def test_the_limit_of_holds_is_no_reason_to_look_at_all_procs() -> None:
    harness = make.harness_of("A", Config(max_job_holds=50), procs=40)
    jobs = harness.engine.run.job_table.by_node[0]
    harness.engine.check = None
    jobs.procs = watched = Watched(jobs.procs)
    harness.tell(*(held(5, proc) for proc in range(40)))
    assert (jobs.held, watched.looked) == (40, 0)


# How the end of a script, and what came before it, is told.


@pytest.mark.parametrize(
    ("kind", "status", "told"),
    [
        (PRE, 0, "PRE Script of node A completed successfully."),
        (PRE, 1, "PRE Script of Node A failed with status 1"),
        (POST, 1, "POST Script of node A failed with status 1"),
        (POST, -1, "POST Script of node A died on signal 1"),
    ],
)
def test_the_end_of_a_script_in_words(kind: ScriptKind, status: int, told: str) -> None:
    assert script_ended(kind, "A", status) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "Job succeeded (DAGMAN error 0)"),
        (1, "Job exited with status 1"),
        (-1, "Job died on signal 1"),
        (RETURN_SUBMIT_FAILED + 1, "Job died on signal 1000"),
        (RETURN_SUBMIT_FAILED, "Job submit failed"),
        (RETURN_JOB_ABORTED, "Job was removed"),
        (RETURN_NO_RESULT, "Job failed due to DAGMAN error -1005"),
        (RETURN_PRE_FAILED, "PRE Script or submission failed"),
    ],
)
def test_what_came_before_a_post_script_in_words(value: int, told: str) -> None:
    assert before_post(value, 0) == told


@pytest.mark.parametrize("ahead", [0.0, 1e8])
def test_a_script_that_was_put_off_by_a_clock_that_was_ahead_runs_in_time(ahead: float) -> None:
    harness = make.EngineHarness("A\nSCRIPT DEFER 2 30 TIMES 3 PRE A p").begin(recovering=True)
    put_off = make.record("DEFERRED", "A", value=1)
    put_off = put_off._replace(text="PRE", time=harness.now + ahead)
    harness.tell(put_off, inputs.LogCaughtUp(), inputs.QueueListed(()))
    assert not harness.asked(do.RunScript)
    harness.wait(30.0)
    assert [script.node for script in harness.asked(do.RunScript)] == [0]


def test_the_end_of_defer_comes_though_the_clock_was_set_back() -> None:
    harness = make.EngineHarness("A\nSCRIPT DEFER 2 30 FOR 70 PRE A p").begin(recovering=True)
    for value, ahead in ((1, 1e8), (2, -60.0)):
        put_off = make.record("DEFERRED", "A", value=value)
        harness.tell(put_off._replace(text="PRE", time=harness.now + ahead))
    harness.tell(inputs.LogCaughtUp(), inputs.QueueListed(()), inputs.Wake())
    harness.tell(ScriptEnded(0, PRE, 2))
    assert harness.said("Deferring PRE script of node A for 10 seconds")

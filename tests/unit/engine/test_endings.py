"""How runs end: exit codes, and what happens in which order."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from condor_pydagman import engine
from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.halting import GRACE
from condor_pydagman.vocabulary import DagStatus, NodeKind
from tests import make

CLOSING = (do.WriteRescue, do.RemoveJobs, do.KillScripts, do.Publish, do.Exit)


def order(bench: make.Bench) -> list[str]:
    """The closing actions of the last input, in order."""
    return [type(action).__name__ for action in bench.last if isinstance(action, CLOSING)]


FULL = ["WriteRescue", "RemoveJobs", "KillScripts", "Publish", "Exit"]


def test_success() -> None:
    bench = make.Bench("A -> B").begin()
    bench.run_node("A", 1)
    bench.run_node("B", 2)
    assert order(bench) == ["Publish", "Exit"]
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert bench.asked(do.Publish) == [do.Publish(final=True, note="success")]
    assert bench.engine.status is DagStatus.OK
    assert bench.said("All jobs Completed!")


def test_a_failed_node_ends_the_dag_when_nothing_can_go_on() -> None:
    bench = make.Bench("A -> B; C").begin()
    bench.take("A", 1)
    bench.take("C", 2)
    bench.tell(make.terminated(1, value=1))
    assert not bench.asked(do.Exit)
    bench.tell(make.terminated(2))
    assert order(bench) == FULL
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.engine.status is DagStatus.NODE_FAILED
    assert do.SayFailed() in bench.last


@pytest.mark.parametrize(
    ("abort", "value", "code"),
    [((3,), 3, 3), ((3, 9), 3, 9), ((-9,), -9, 247), ((0, 4), 0, 4)],
)
def test_abort_dag_on(abort: tuple[int, ...], value: int, code: int) -> None:
    status = abort[0] if len(abort) == 1 else (abort[0], abort[1])
    bench = make.Bench(make.dag("A B", aborts={"A": status}, retries={"A": 2})).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(make.terminated(1, value=value))
    assert order(bench) == FULL
    assert bench.asked(do.Exit) == [do.Exit(code)]
    assert bench.asked(do.RemoveJobs)[0].cluster == 0
    assert bench.engine.status is DagStatus.ABORT
    assert not bench.submits()


def test_abort_with_return_0_is_a_success_without_rescue_file() -> None:
    bench = make.Bench(make.dag("A B", aborts={"A": (3, 0)})).begin()
    bench.take("A", 1)
    bench.tell(make.terminated(1, value=3))
    assert order(bench) == FULL[1:]
    assert bench.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize(("nodes", "note"), [("A -> B", "success"), ("A B", "aborted")])
def test_an_abort_with_return_0_is_called_a_success_if_no_node_was_left(
    nodes: str, note: str
) -> None:
    bench = make.Bench(make.dag(nodes, aborts={"A": (3, 0)})).begin()
    bench.take("A", 1)
    bench.tell(make.terminated(1, value=3))
    assert bench.asked(do.Publish)[-1] == do.Publish(final=True, note=note)


def test_abort_dag_on_looks_at_the_post_script_where_there_is_one() -> None:
    bench = make.Bench(make.dag("A B", post={"A": "q"}, aborts={"A": 3})).begin()
    bench.run_node("A", 1, 3)
    assert not bench.asked(do.Exit)
    bench.post_ends("A", 3)
    assert bench.asked(do.Exit) == [do.Exit(3)]


def test_abort_dag_on_looks_at_the_pre_script() -> None:
    bench = make.Bench(make.dag("A B", pre={"A": "p"}, aborts={"A": 3})).begin()
    bench.pre_ends("A", 3)
    assert bench.asked(do.Exit) == [do.Exit(3)]


def test_condor_rm() -> None:
    bench = make.Bench("A B").begin()
    bench.take("A", 1)
    bench.tell(inputs.Stop())
    assert order(bench) == FULL
    assert bench.asked(do.Exit) == [do.Exit(2)]
    assert bench.engine.status is DagStatus.RM


def test_condor_rm_may_leave_the_jobs() -> None:
    bench = make.Bench("A", Config(remove_node_jobs=False)).begin()
    bench.tell(inputs.Stop())
    assert order(bench) == ["WriteRescue", "KillScripts", "Publish", "Exit"]


def test_no_rescue_file_where_none_is_allowed() -> None:
    bench = make.Bench("A", Config(max_rescue_num=0)).begin()
    bench.tell(inputs.Stop())
    assert order(bench) == FULL[1:]


def test_condor_hold_leaves_everything_as_it_is() -> None:
    bench = make.Bench("A B").begin()
    bench.take("A", 1)
    bench.tell(inputs.Leave("Received SIGTERM"))
    assert order(bench) == ["Publish", "Exit"]
    assert bench.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
    assert bench.asked(do.Publish) == [do.Publish(final=True, note="held")]
    assert bench.engine.phase is Phase.ENDED


def test_a_cycle_is_told_when_nothing_can_go_on() -> None:
    bench = make.Bench("A -> B -> C -> B").begin()
    bench.run_node("A", 1)
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert order(bench) == FULL
    assert bench.engine.status is DagStatus.CYCLE
    assert do.SayFailed(unfinished=True) in bench.last
    assert bench.said("a cycle exists in the dag")


def test_a_dag_that_is_all_cycle_ends_at_once() -> None:
    bench = make.Bench("A -> B -> A").begin()
    assert bench.asked(do.Exit) == [do.Exit(1)]


@pytest.mark.parametrize("made", [make.dag("A B", done="A B"), make.dag("A -> B", done="B A")])
def test_nothing_to_do(made: object) -> None:
    bench = make.Bench(made).begin()  # type: ignore[arg-type]
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_log_that_can_not_be_followed() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 1)
    bench.tell(inputs.LogBroken("it is gone"))
    assert order(bench) == FULL
    assert bench.asked(do.Exit) == [do.Exit(2)]
    assert bench.engine.status is DagStatus.ERROR


def test_a_log_that_breaks_in_recovery() -> None:
    bench = make.Bench("A").begin(recovering=True)
    bench.tell(inputs.LogBroken("it is gone"))
    assert bench.asked(do.Exit) == [do.Exit(2)]


def test_a_log_that_can_not_be_written() -> None:
    bench = make.Bench(make.dag("A", pre={"A": "p"})).begin()
    bench.tell(inputs.AppendFailed("disk full"))
    assert order(bench) == FULL
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.said("can't write to the nodes log: disk full")


@pytest.mark.parametrize("removes", [True, False])
def test_what_is_said_of_what_is_removed(removes: bool) -> None:
    made = make.dag("A B", pre={"B": "p"})
    bench = make.Bench(made, Config(remove_node_jobs=removes)).begin()
    bench.take("A", 1)
    bench.tell(inputs.Stop())
    bench.tell(inputs.RescueWritten())
    said = [line for line in bench.ever(do.Say) if line.text.startswith("Removing")]
    jobs = ["Removing any/all submitted HTCondor jobs..."] * removes
    assert [line.text for line in said] == [
        "Removing submitted jobs...",
        *jobs,
        "Removing running scripts...",
    ]
    assert {line.level for line in said} == {2}


def test_the_first_abort_wins() -> None:
    bench = make.Bench(make.dag("A B", aborts={"A": 3, "B": 4})).begin(recovering=True)
    bench.tell(make.submit("A", 1), make.submit("B", 2))
    bench.tell(make.terminated(1, value=3), make.terminated(2, value=4), inputs.LogCaughtUp())
    assert bench.asked(do.Exit) == [do.Exit(3)]


def test_an_abort_in_an_old_log_takes_effect_when_all_of_it_is_read() -> None:
    bench = make.Bench(make.dag("A B", aborts={"A": 3})).begin(recovering=True)
    bench.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=3))
    assert order(bench) == []
    bench.tell(make.terminated(2))
    assert order(bench) == []
    bench.tell(inputs.LogCaughtUp())
    assert order(bench) == FULL
    assert bench.states() == "A=FAILED B=DONE"


# A rescue file that can't be written.


@pytest.mark.parametrize("how", ["failure", "abort", "rm", "halt", "log broken"])
def test_a_rescue_file_that_can_not_be_written_leaves_everything(how: str) -> None:
    bench = make.Bench(make.dag("A -> B; C", aborts={"A": 7}, pre={"C": "p"})).begin()
    bench.rescue_error = "can't write t.dag.rescue001: No space left on device"
    bench.take("A", 1)
    if how == "failure":
        bench.pre_ends("C", 1)
        bench.tell(make.terminated(1, value=1))
    elif how == "abort":
        bench.tell(make.terminated(1, value=7))
    elif how == "rm":
        bench.tell(inputs.Stop())
    elif how == "halt":
        bench.tell(inputs.Halt())
        bench.pre_ends("C")
        bench.tell(make.terminated(1))
        bench.wait(GRACE)
    else:
        bench.tell(inputs.LogBroken("it is gone"))
    assert bench.said("ERROR: can't write t.dag.rescue001: No space left on device. DAGMan leaves")
    assert bench.ever(do.Exit) == [do.Exit(3, keep_lock=True)]
    assert not bench.ever(do.RemoveJobs)
    assert order(bench)[-2:] == ["Publish", "Exit"]
    assert bench.engine.phase is Phase.ENDED
    assert not bench.tell(make.terminated(1))


def test_the_next_start_ends_as_it_was_to_end() -> None:
    bench = make.Bench(make.dag("A; C", aborts={"A": 7})).begin()
    bench.rescue_error = "disk full"
    bench.take("A", 1)
    bench.take("C", 2)
    bench.tell(make.terminated(1, value=7))
    other = bench.restart()
    assert order(other) == FULL
    assert other.ever(do.Exit) == [do.Exit(7)]


def test_an_answer_that_nobody_waits_for() -> None:
    bench = make.Bench("A").begin()
    assert not bench.tell(inputs.RescueWritten("disk full"))


def test_inputs_between_rescue_file_and_its_answer_start_nothing() -> None:
    made = make.dag("A; B; C -> D", aborts={"A": 7})
    bench = make.Bench(made).begin()
    for cluster, name in enumerate("ABC", 1):
        bench.take(name, cluster)
    engine = bench.engine
    assert do.WriteRescue() in engine.handle(make.terminated(1, value=7), bench.now)
    for told in (make.terminated(3), inputs.Wake(), inputs.Resume(), inputs.LogCaughtUp()):
        actions = engine.handle(told, bench.now + 1000)
        assert not [a for a in actions if not isinstance(a, do.Say)], told
    last = engine.handle(inputs.RescueWritten(), bench.now)
    assert do.Exit(7) in last


@pytest.mark.parametrize("submitted", [False, True])
def test_condor_rm_while_the_schedd_is_asked_after_a_restart_with_final_begun(
    submitted: bool,
) -> None:
    bench = make.Bench(make.dag("A; F", kinds={"F": NodeKind.FINAL})).begin()
    bench.run_node("A", 1)
    bench.read_back()
    if submitted:
        bench.take("F", 2)
    other = bench.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueUnknown("down"))
    other.tell(inputs.Stop())
    assert order(other) == FULL
    assert other.ever(do.Exit) == [do.Exit(2)]
    assert not other.ever(do.SubmitNode)
    assert not other.wait(5.0)


def test_condor_rm_while_the_schedd_is_asked_lets_final_run_if_it_has_not_begun() -> None:
    bench = make.Bench(make.dag("A; F", kinds={"F": NodeKind.FINAL})).begin()
    bench.take("A", 1)
    other = bench.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueUnknown("down"), inputs.Stop())
    other.tell(inputs.QueueListed(other.queue()))
    assert other.asked(do.RemoveJobs)
    other.read_back()
    assert other.submits() == ["F"]


# Who decides which of several endings counts.


def test_a_broken_log_ends_a_run_that_waits_to_end_otherwise() -> None:
    made = make.dag("A B; F", kinds={"F": NodeKind.FINAL}, aborts={"A": 3})
    bench = make.Bench(made).begin(recovering=True)
    bench.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=3))
    bench.tell(inputs.LogCaughtUp())
    assert not bench.ever(do.Exit)  # the FINAL node must know what the schedd has
    bench.tell(inputs.LogBroken("it is gone"))
    assert bench.asked(do.Exit) == [do.Exit(2)]
    assert not bench.ever(do.SubmitNode)


def test_a_bad_log_is_not_put_off_by_an_abort_that_came_before() -> None:
    bench = make.Bench(make.dag("A -> B; F", kinds={"F": NodeKind.FINAL}, aborts={"A": 3}))
    bench.begin(recovering=True)
    bench.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=3))
    bench.tell(inputs.LogCaughtUp())
    assert bench.ever(do.Exit) == [do.Exit(1, keep_lock=True, concluded=False)]
    assert not bench.ever(do.WriteRescue)
    assert bench.state("F").name == "WAITING"


def test_one_function_decides() -> None:
    """Whoever wants an end says so to `endings.want`; only the end itself sets it aside."""
    writers = set()
    for path in Path(engine.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and _sets_ending(node):
                writers.add(f"{path.stem}.{node.name}")
    assert writers == {
        "endings.want",
        "endings.end",
        "final_node.on_started",
        "engine._forget_everything",
    }


def _sets_ending(function: ast.FunctionDef) -> bool:
    names = (part for part in ast.walk(function) if isinstance(part, ast.Attribute))
    return any(name.attr == "ending" and isinstance(name.ctx, ast.Store) for name in names)

"""What nodes publish: in force before the node is done, by content, live and in a replay."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_results import read_pairs
from condor_pydagman.engine.node_settings import NodeSettings, settings_text
from condor_pydagman.engine.node_states import State
from condor_pydagman.graph.model import Brake, Published, Retry, Variable
from condor_pydagman.vocabulary import RETURN_NO_RESULT, EventKind, NodeCommand
from tests import make
from tests.make import QUIET
from tests.unit.engine.decided import Decided

FILE, ATTRIBUTES = Published("a.ad"), Published("", ("Memory", "Host"))


def dag(
    published: Published = FILE, expression: str = "Parents.A.n > 3", **more: object
) -> Decided:
    made = make.dag("A -> X; C", conditions={"X": expression}, published={"A": published}, **more)
    harness = Decided(made, QUIET)
    harness.files = {"a.ad": [("n", "5"), ("s", '"x"')]}
    harness.begin()
    harness.settle()
    return harness


def job_ad(cluster: int, text: str, trigger: int = EventKind.JOB_TERMINATED) -> LogEvent:
    """Event 028."""
    return LogEvent(EventKind.JOB_AD_INFORMATION, cluster, 0, 0, value=trigger, text=text)


def test_a_file_is_read_and_written_into_the_log_before_the_node_is_done() -> None:
    harness = dag()
    harness.run_node("A", 1)
    assert harness.asked(do.ReadResult) == [do.ReadResult(0, 0, "a.ad")]
    assert harness.state("A") == State.RESULT
    harness.tell(inputs.ResultRead(0, 0, [("n", "5")]))
    assert harness.state("A") == State.RESULT
    harness.settle()
    assert harness.state("A") == State.DONE
    assert harness.state("X") == State.READY
    assert harness.said("is true: Parents.A.n is 5")


def named(file: str) -> Decided:
    made = make.dag("P -> A; A -> X", published={"A": Published(file)}, retries={"A": Retry(1)})
    made.variables[made.ids["A"]] = (Variable("Key", "v$(JOB)", False),)
    harness = Decided(made, QUIET)
    harness.files = {"A-vA-0.ad": "no", "A-vA-1.ad": [("n", "5")], "A-w-0.ad": [("n", "5")]}
    harness.begin()
    harness.settle()
    return harness


def test_the_name_of_a_file_has_macros() -> None:
    harness = named("$(JOB)-$(key)-$(RETRY).ad")
    harness.run("P", 1)
    harness.run("A", 2)
    harness.run("A", 3)
    asked = [one.file for one in harness.ever(do.ReadResult)]
    assert asked == ["A-vA-0.ad", "A-vA-1.ad"]
    assert harness.state("A") == State.DONE


def test_a_macro_that_a_person_has_set() -> None:
    harness = named("$(JOB)-$(key)-$(RETRY).ad")
    harness.ask(NodeCommand.SET, "A", settings_text(NodeSettings(variables=(("Key", "w"),))))
    harness.run("P", 1)
    harness.run("A", 2)
    assert [one.file for one in harness.ever(do.ReadResult)] == ["A-w-0.ad"]


def test_a_macro_that_nothing_sets() -> None:
    harness = named("$(typo)-$(JOB).ad")
    harness.files = {"$(typo)-A.ad": "No such file or directory"}
    harness.run("P", 1)
    harness.run("A", 2)
    harness.run("A", 3)
    why = "what it publishes can't be read: $(typo)-A.ad: no VARS of the node sets $(typo)"
    why += " (after 1 node retries)"
    assert harness.why("A") == why


def test_many_values_take_several_records() -> None:
    harness = dag()
    harness.files["a.ad"] = [(f"n{number}", '"' + "x" * 300 + '"') for number in range(5)]
    harness.files["a.ad"].append(("n", "7"))
    harness.run("A", 1)
    records = [
        one for one in harness.ever(do.AppendJournalRecord) if one.record.value == "NODE_RESULT"
    ]
    assert [record.value for record in records] == [103, 203, 303]
    assert harness.said("is true: Parents.A.n is 7")


def test_too_many_values_are_refused() -> None:
    harness = dag()
    harness.files["a.ad"] = [(f"n{number}", '"' + "x" * 400 + '"') for number in range(200)]
    harness.run("A", 1)
    assert "there is too much in it: 200 values" in harness.why("A")


def test_a_lost_record_is_written_again_with_the_others() -> None:
    harness = dag()
    harness.run_node("A", 1)
    harness.tell(inputs.ResultRead(0, 0, [(f"n{n}", '"' + "x" * 400 + '"') for n in range(2)]))
    first, second = harness.asked(do.AppendJournalRecord)
    harness.tell(*harness.echo([second]))
    again = harness.wait(61)
    assert [one for one in again if isinstance(one, do.AppendJournalRecord)] == [first, second]


def test_a_file_that_cannot_be_read_makes_the_run_fail() -> None:
    harness = dag(retries={"A": Retry(1)})
    harness.files["a.ad"] = "No such file or directory"
    harness.run("A", 1)
    assert harness.state("A") == State.READY  # its retry
    harness.run("A", 2)
    assert harness.state("A") == State.FAILED
    assert harness.why("A") == (
        "what it publishes can't be read: a.ad: No such file or directory (after 1 node retries)"
    )
    assert harness.engine.run.nodes.values[0] == RETURN_NO_RESULT
    assert harness.state("X") == State.FAILED  # Parents.A.n is undefined


def test_a_brake_counts_once_a_run_whose_result_can_not_be_read() -> None:
    made = make.dag("A; B", published={"A": FILE})
    made.brakes = [Brake("b", 40, percent=True, last=2, alike="EXIT_CODE")]
    harness = Decided(made, QUIET)
    harness.files = {"a.ad": "No such file or directory"}
    harness.begin()
    harness.run("A", 1)
    assert harness.state("A") == State.FAILED
    assert not harness.engine.run.brakes.due
    harness.run_node("B", 2)
    assert harness.engine.run.brakes.due == {
        0: (
            1,
            "1 node published nothing that could be read in the last 2 runs, more than 40% OF 2: A",
        )
    }


def test_what_a_person_has_run_again_publishes_anew() -> None:
    harness = dag(expression="Parents.A.n > 9")
    harness.take("C", 9)
    harness.run("A", 1)
    assert harness.state("X") == State.DONE
    harness.files["a.ad"] = [("n", "10")]
    harness.ask(NodeCommand.RERUN, "A", "descendants")
    harness.run("A", 2)
    assert harness.state("X") == State.SUBMITTING


def test_attributes_of_the_job_come_after_its_end() -> None:
    harness = dag(ATTRIBUTES, "Parents.A.Memory > 3")
    harness.take("A", 1)
    harness.tell(job_ad(1, "Memory=1\nOther=2\n", EventKind.EXECUTE))
    harness.tell(make.terminated(1))
    harness.settle()
    assert harness.state("A") == State.RESULT
    harness.tell(job_ad(1, 'memory=4\nHost="h"\n'))
    harness.settle()
    assert harness.state("A") == State.DONE
    assert harness.engine.run.results.values == {0: {"Memory": "4", "Host": '"h"'}}
    assert harness.state("X") == State.READY


def test_attributes_that_do_not_come_are_not_waited_for_for_ever() -> None:
    harness = dag(ATTRIBUTES, "Parents.A.Memory =?= undefined")
    harness.run("A", 1)
    assert harness.state("A") == State.RESULT
    harness.wait(61)
    assert harness.said("the nodes log has no attributes of the last job of node A")
    harness.settle()
    assert harness.state("X") == State.READY


def test_a_node_without_a_job_has_no_attributes() -> None:
    harness = dag(ATTRIBUTES, "true", noop="A")
    harness.settle()
    assert harness.state("A") == State.DONE


@pytest.mark.parametrize("recovered", ["before", "after"])
def test_a_restart_while_a_file_is_read(recovered: str) -> None:
    harness = dag()
    harness.run_node("A", 1)
    if recovered == "after":
        harness.tell(inputs.ResultRead(0, 0, [("n", "5")]))
    again = harness.restart()
    assert again.asked(do.ReadResult) == [do.ReadResult(0, 0, "a.ad")]


def test_a_node_that_its_pre_script_skips_publishes_nothing() -> None:
    harness = dag(FILE, "Parents.A.n =?= undefined", pre={"A": "x"}, pre_skips={"A": 3})
    harness.last = harness.pre_ends("A", 3)
    harness.settle()
    assert harness.state("A") == State.DONE


def test_pairs_of_a_text() -> None:
    assert read_pairs('a=1\nb="x=y"\n\nrubbish\n') == [("a", "1"), ("b", '"x=y"')]

"""What a person sets for nodes that have not begun: in force at their next start."""

from __future__ import annotations

import json
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_settings import MAX_BYTES
from condor_pydagman.graph.model import Retry, Timeout
from condor_pydagman.vocabulary import NodeCommand
from tests.unit.engine.steered import Steered, steered

SET = NodeCommand.SET


def text(**fields: Any) -> str:
    return json.dumps(fields)


def halted(of: str, **more: Any) -> Steered:
    harness = steered(of, **more)
    harness.tell(inputs.Halt())
    return harness


def test_variables_are_submitted_with_the_next_run() -> None:
    harness = halted("A; B")
    harness.take("A", 1)
    harness.ask(SET, "B", text(variables=[["x", "1"]]))
    harness.ask(SET, "B", text(variables=[["y", "2"]]))
    harness.tell(inputs.Resume())
    (action,) = harness.asked(do.SubmitNode)
    assert action.variables == (("x", "1"), ("y", "2"))


def test_retries_and_limits_in_time() -> None:
    harness = halted("A -> B", retries={"B": Retry(1, delay=5)}, timeouts={"B": Timeout(1, 2, 3)})
    harness.ask(SET, "B", text(retries=7, timeout=[None, 0, 60]))
    run = harness.engine.run
    assert run.retry(1) == Retry(7, delay=5)
    assert run.timeout(1) == Timeout(1, 0, 60)
    assert run.retry(0) is None
    assert harness.replay().engine.run.retry(1) == Retry(7, delay=5)
    settings = [report.settings for report in harness.engine.node_reports()]
    assert [one and one.retries for one in settings] == [None, 7]


def test_a_node_leaves_a_full_category() -> None:
    harness = steered("A; B; C", categories={"A": "a", "B": "a", "C": "b"}, limits={"a": 1})
    assert harness.submits() == ["A"]
    harness.take("A", 1)
    harness.take("C", 3)
    assert harness.submits() == []
    harness.ask(SET, "B", text(category="b"))
    assert harness.submits() == ["B"]
    assert harness.engine.chosen("category", "b") == [1, 2]


def test_a_node_enters_a_full_category() -> None:
    harness = steered("A; B", categories={"A": "a"}, limits={"a": 1})
    harness.tell(inputs.Halt())
    harness.take("A", 1)
    harness.ask(SET, "B", text(category="a"))
    harness.tell(inputs.Resume())
    assert harness.submits() == []


def test_what_is_refused() -> None:
    harness = halted("A; B", categories={"A": "a"})
    assert "no category 'x'; the categories are a" in harness.refusal(SET, "B", text(category="x"))
    long = text(variables=[["x", "1" * MAX_BYTES]])
    assert "set fewer at once" in harness.refusal(SET, "B", long)


def test_a_setting_of_a_later_version_is_passed_over() -> None:
    harness = halted("A; B")
    harness.ask(SET, "B", text(retries=7))
    (record,) = harness.echo(harness.last)
    harness.tell(record._replace(text='ann set {"color":"red"}'))
    assert harness.said("is not known to this version")

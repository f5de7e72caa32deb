"""What `condor_pydagman steer` prints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters.request_client import SteeringAnswer
from condor_pydagman.cli import pydagman, steer, which_dag
from condor_pydagman.follow.run_model import DagState


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "1 node is run again"),
        ({"descendants": 1}, "1 node is run again, and 1 more that depends on it"),
        ({"descendants": 3}, "1 node is run again, and 3 more that depend on it"),
    ],
)
def test_descendants_are_counted(
    fields: dict[str, Any],
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steer, "running_dag", lambda dag: dag)
    monkeypatch.setattr(steer, "steer", lambda *_, **__: SteeringAnswer(1, (), 0, fields))
    assert pydagman.main(["steer", "rerun", "x.dag", "A", "--descendants"]) == 0
    assert capsys.readouterr().out == line + "\n"


def test_a_halt_file_that_keeps_the_dag_halted_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"halted": True, "halt_file": "/my d/x.dag.halt", "limits": {}, "priority": 0}
    monkeypatch.setattr(steer, "running_dag", lambda dag: dag)
    monkeypatch.setattr(steer, "steer", lambda *_, **__: SteeringAnswer(1, (), 0, fields))
    assert pydagman.main(["steer", "resume", "x.dag"]) == 0
    assert "halted; to resume it: rm '/my d/x.dag.halt'\n" in capsys.readouterr().out


def test_a_dag_on_hold_takes_no_commands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    held = SimpleNamespace(state=DagState.HELD, cluster=7)
    monkeypatch.setattr(which_dag, "find_dag", lambda *_, **__: held)
    assert pydagman.main(["steer", "resume", "x.dag"]) == 1
    assert "and takes no commands; to continue: condor_release 7" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("limits x.dag --jobs 0", {"jobs": 0}),
        ("set x.dag A --retries 0", {"retries": 0}),
        ("set x.dag A --var a=b=c --new-category c", {"vars": {"a": "b=c"}, "new_category": "c"}),
        ("priority x.dag -3", {"value": -3}),
        ("names x.dag", {}),
        ("cancel x.dag A", {}),
        ("cancel x.dag A --retry", {"retry": True}),
    ],
)
def test_options_are_those_of_the_request(
    words: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def answer(*_: Any, **given: Any) -> SteeringAnswer:
        asked.update(given)
        return SteeringAnswer(0, (), 0, {})

    which = ("names", *steer._SELECTORS, "dry")
    monkeypatch.setattr(steer, "running_dag", lambda dag: dag)
    monkeypatch.setattr(steer, "steer", answer)
    assert pydagman.main(["steer", *words.split(), "--json"]) == 0
    assert {name: value for name, value in asked.items() if name not in which} == options

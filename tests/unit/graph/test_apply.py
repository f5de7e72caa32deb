"""Every command of the language is applied by something."""

from __future__ import annotations

import inspect

import pytest

from condor_pydagman.graph.apply import apply
from condor_pydagman.graph.build import BuildOptions, ProcessingError
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag
from condor_pydagman.language import commands
from condor_pydagman.language.keywords import SUBMIT_ONLY, WORDS
from condor_pydagman.language.syntax import SYNTAX
from condor_pydagman.vocabulary import NodeKind
from tests.examples import EXAMPLES, IN_NO_DAG_FILE, SPLICE
from tests.unit.graph.texts import JOBS, build_text, seen

IN_A_DAG_FILE = sorted(WORDS - SUBMIT_ONLY - IN_NO_DAG_FILE)


def test_no_command_is_forgotten() -> None:
    assert set(EXAMPLES) == WORDS
    known = {
        kind
        for _, kind in inspect.getmembers(commands, inspect.isclass)
        if issubclass(kind, tuple) and "line" in kind.__annotations__
    }
    assert known == {row.command for row in SYNTAX.values()}


@pytest.mark.parametrize("word", [word for word in IN_A_DAG_FILE if not word.startswith("PIN")])
def test_a_command_leaves_something_in_the_dag(word: str) -> None:
    assert seen(build_text(JOBS + EXAMPLES[word], SPLICE)) != seen(build_text(JOBS))


@pytest.mark.parametrize("word", sorted(SUBMIT_ONLY))
def test_commands_for_condor_submit_dag_change_nothing(word: str) -> None:
    assert seen(build_text(JOBS + EXAMPLES[word])) == seen(build_text(JOBS))


def test_one_command() -> None:
    building = Building(Dag(), BuildOptions())
    apply(building, commands.Job(3, "A", "a.sub", kind=NodeKind.SERVICE))
    assert building.dag.names == ["A"]
    assert building.special == {0}


def test_an_error_has_no_place_yet() -> None:
    building = Building(Dag(), BuildOptions())
    with pytest.raises(ProcessingError) as caught:
        apply(building, commands.RetryLine(3, "A", 1))
    assert (caught.value.file, caught.value.line) == ("", 0)

"""What the commands share: names, values kept once, warnings."""

from __future__ import annotations

import pytest

from condor_pydagman.graph import building as module
from condor_pydagman.graph.build import BuildOptions, ProcessingError
from condor_pydagman.graph.building import NEVER, STRICT_HIGH, Building, fail
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import JOBS, build_text, error


def building_with(*names: str, **options: object) -> Building:
    building = Building(Dag(), BuildOptions(**options))  # type: ignore[arg-type]
    for name in names:
        building.add_node(name, "x.sub", NodeKind.JOB, 0, 1)
    return building


def test_a_plus_in_a_name_means_nothing_without_splices() -> None:
    dag = build_text(
        "JOB a+b x\nJOB c x\nPARENT a+b CHILD c\n", allow_any_node_name_characters=True
    )
    assert list(dag.children(0)) == [1]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("analyze", "did you mean analyse?"),
        ("Analyse", "did you mean analyse? Upper and lower case are not the same in names"),
        ("entirely-different", ""),
    ],
)
def test_a_misspelt_node_is_guessed(name: str, hint: str) -> None:
    found = error(f"JOB analyse x\nJOB B x\nPARENT B CHILD {name}")
    assert found.hint == hint


def test_nodes_are_guessed_by_the_names_of_their_file() -> None:
    splice = "JOB analyse x\nRETRY analyze 1\n"
    assert error("SPLICE S s\n", {"s": splice}).hint == "did you mean analyse?"


def test_no_guess_among_very_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COMPARED", 1)
    assert error("JOB analyse x\nJOB B x\nPARENT B CHILD analyze").hint == ""


def test_equal_values_share_their_memory() -> None:
    building = building_with()
    first, second = "".join(["x", ".sub"]), "".join(["x", ".sub"])
    assert first is not second
    assert building.text(first) is building.text(second)
    one, other = (building.share(tuple(map(int, "12"))) for _ in range(2))
    assert one is other
    told = [list(building.texts(["".join(["y", ".sub"])])) for _ in range(2)]
    assert told[0][0] is told[1][0]


def test_very_many_values_are_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SHARED", 3)
    building = building_with()
    numbers = [str(number) for number in range(20)]
    assert [building.text(number) for number in numbers] == numbers
    assert list(building.texts(numbers)) == numbers
    assert [building.share((number,)) for number in numbers] == [(number,) for number in numbers]
    assert list(building.texts(numbers)) == numbers


@pytest.mark.parametrize("strict", [0, 1, 2, 3])
def test_warnings(strict: int) -> None:
    building = building_with(strict=strict)
    building.warn("never", NEVER)
    if strict == 3:
        with pytest.raises(ProcessingError):
            building.warn("high", STRICT_HIGH)
    else:
        building.warn("high", STRICT_HIGH)
    assert building.dag.warnings == ["never", "high"]


def test_warnings_are_limited() -> None:
    jobs = "".join(f"JOB n{i} x\n" for i in range(1100))
    dag = build_text(jobs + "PRIORITY ALL_NODES 1\nPRIORITY ALL_NODES 2\n")
    assert len(dag.warnings) == 1001
    assert dag.warnings[-1] == "Warning: 100 more warnings not shown"


def test_a_dag_that_is_complete_can_be_built_on() -> None:
    dag = build_text(JOBS + "FINAL F x\nSERVICE S x\n")
    building = Building.of(dag, BuildOptions())
    assert building.special == {3, 4}
    assert list(building.nodes("ALL_NODES")) == [0, 1, 2]
    assert building.find("F") == 3


def test_a_failure_has_its_hint_and_its_word() -> None:
    with pytest.raises(ProcessingError) as caught:
        fail("no", "do this", also="and more", at="word")
    found = caught.value
    assert (str(found), found.hint, found.also, found.at) == (
        "ERROR: no",
        "do this",
        "and more",
        "word",
    )

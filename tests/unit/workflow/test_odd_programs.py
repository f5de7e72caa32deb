"""What programs hand to a Workflow and should not: it is refused with words, or does no harm."""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Callable, Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman import DagError, FileError, read_dag
from condor_pydagman.workflow.workflow import Workflow


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def in_another() -> Workflow:
    flow, inner = Workflow(), Workflow()
    flow.splice("S", inner)
    inner.splice("T", flow)
    return flow


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: f.splice("S", f), "A Workflow can't hold itself"),
        (lambda f: f.subdag("S", f), "A Workflow can't hold itself"),
        (lambda f: in_another(), "A Workflow can't hold itself"),
        (lambda f: f.job("a b", "x.sub"), "'a b' can't be the name of a node: it has blanks"),
        (lambda f: f.job("", "x.sub"), "'' can't be the name of a node"),
        (lambda f: f.job("A", "x.sub\nSCRIPT PRE A rm"), "must be one line"),
        (lambda f: f.subdag("A", "x.dag\nSCRIPT PRE A rm"), "must be one line"),
        (lambda f: f.description("a b", {}), "'a b' can't be the name of a description"),
        (lambda f: f.description("{", {}), "can't be the name of a description"),
        (lambda f: f.layer("A", "x.sub", -1), "-1 nodes"),
        (lambda f: f.layer("A{x.no}", "x.sub", [{"x": 1}]), "A row gives no name"),
        (lambda f: exec("f.job('PARENT', 'x.sub')", {"f": f}), "reserved word"),
    ],
)
def test_what_is_refused(make: Callable[[Workflow], Any], message: str) -> None:
    with pytest.raises(DagError, match=message):
        make(Workflow())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: f.job("A", None), "a submit description is a file, a dict"),
        (lambda f: f.job("A", Workflow()), "a submit description is a file, a dict"),
        (lambda f: f.splice("A", {"executable": "x"}), "dag must be a text"),
        (lambda f: f.splice("A", None), "dag must be a text"),
        (lambda f: f.job(5, "x.sub"), "the name of a node must be a text, not 5"),
        (lambda f: f.job("A", "x.sub", 5), "vars must be a mapping, not 5"),
        (lambda f: f.job("A", "x.sub", {"x": b"1"}), "is bytes"),
        (lambda f: f.job("A", {"transfer_input_files": ["a", "b"]}), "can't be a list"),
        (lambda f: f.job("A", {"executable": b"x"}), "can't be a bytes"),
        (lambda f: f.description(5, {}), "the name of a description must be a text, not 5"),
    ],
)
def test_what_is_of_the_wrong_type(make: Callable[[Workflow], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make(Workflow())


def written(flow: Workflow) -> list[str]:
    return sorted(read_dag(flow.write("my.dag")))


def holding(name: str) -> Workflow:
    flow = Workflow()
    flow.job(name, "x.sub")
    return flow


def test_two_inner_workflows_never_share_a_file() -> None:
    middle, flow = Workflow(), Workflow()
    middle.splice("T", holding("A"))
    flow.splice("S", middle)
    flow.splice("S.T", holding("B"))
    with pytest.raises(DagError, match=r"Two inner Workflows .* my\.S\.T\.dag"):
        flow.write("my.dag")
    assert list(Path().iterdir()) == []


def test_the_file_of_an_inner_workflow_stands_beside_the_outer() -> None:
    flow = Workflow()
    flow.subdag("../up/A", holding("A"))
    assert written(flow) == ["../up/A"]
    assert sorted(os.listdir()) == ["my...-up-A.dag", "my.dag"]


def test_descriptions_without_lines() -> None:
    flow = Workflow()
    flow.job("A", {}, noop=True)
    flow.layer("B", {}, 1)
    assert written(flow) == ["A", "B0"]


def test_short_names_of_attributes() -> None:
    node = Workflow().job("A", {"+Big": "true"}, {"+Small": 1})
    node.vars({"+Less": 2})
    assert node.variables == {"My.Small": "1", "My.Less": "2"}


def failing() -> Iterator[dict[str, int]]:
    yield {"x": 1}
    raise ValueError("of the program")


@pytest.mark.parametrize("rows", [[{"x": 1}, {"y": 1}], [{"x": 1}, {"x": 1}], failing()])
def test_a_layer_that_fails_leaves_nothing(rows: Any) -> None:
    """So that a cell of a notebook can be mended and run again."""
    flow = Workflow()
    flow.job("Z", "z.sub")
    with pytest.raises((DagError, ValueError)) as caught:
        flow.layer("A{x}", {"executable": "x"}, rows)
    assert isinstance(caught.value, DagError) or str(caught.value) == "of the program"
    assert flow.layer("A{x}", {"executable": "y"}, [{"x": 1}])[0].name == "A1"
    assert written(flow) == ["A1", "Z"]
    assert "executable = x" not in flow.text()


def test_layers_of_one_name() -> None:
    flow = Workflow()
    flow.layer("{x}", {"executable": "x"}, [{"x": "A"}])
    flow.layer("{x}", {"executable": "x"}, [{"x": "B"}])
    flow.layer("{x}", {"executable": "y"}, [{"x": "C"}])
    assert written(flow) == ["A", "B", "C"]
    submits = [read_dag("my.dag")[name].submit for name in "ABC"]
    assert submits == ["layer", "layer", "layer_2"]


@Integral.register
class Int64:
    """As numpy has them."""

    def __int__(self) -> int:
        return 2

    def __str__(self) -> str:
        return "2"


def test_numbers_of_other_kinds() -> None:
    two: Any = Int64()
    flow = Workflow()
    assert len(flow.layer("A", {"request_cpus": two}, two)) == 2
    assert "request_cpus = 2\n" in flow.text()
    assert flow.check() == ()


@pytest.mark.parametrize("path", ["", "a\0b", "a\nb", "directory", "file/my.dag", "x" * 300])
def test_paths_that_can_not_be_written(path: str) -> None:
    Path("directory").mkdir()
    Path("file").touch()
    flow = holding("A")
    with pytest.raises(FileError):
        flow.write(path, overwrite=True)
    assert sorted(os.listdir()) == ["directory", "file"]
    assert flow.file == ""


def test_a_device_is_not_replaced() -> None:
    os.mkfifo("pipe")
    with pytest.raises(FileError, match="no file"):
        holding("A").write("pipe", overwrite=True)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


def test_a_workflow_is_pickled() -> None:
    flow = Workflow()
    flow.job("A", {"executable": "x"}, {"x": 1}) >> flow.layer("B", "x.sub", 2)
    again = pickle.loads(pickle.dumps(flow))
    again["A"] >> again.job("C", "c.sub")
    assert written(again) == ["A", "B0", "B1", "C"]
    assert len(flow) == 3

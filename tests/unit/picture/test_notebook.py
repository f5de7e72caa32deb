"""A DAG in a cell of a notebook: its picture, or words."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from condor_pydagman import parse_dag
from condor_pydagman.errors import PydagmanError
from condor_pydagman.picture import notebook
from condor_pydagman.picture.notebook import dag_mimebundle
from tests.unit.picture import dag_of, dot

EVIL = "<script>alert('&quot;')</script>"


@pytest.fixture
def graphviz() -> None:
    dot()


@pytest.mark.usefixtures("graphviz")
def test_the_picture_and_the_words() -> None:
    bundle = parse_dag("JOB A a\nJOB B b\nPARENT A CHILD B\n", name="t.dag")._repr_mimebundle_()
    assert bundle["text/plain"] == "t.dag: 2 nodes, 1 edge"
    assert ElementTree.fromstring(bundle["image/svg+xml"]).tag.endswith("svg")


@pytest.mark.usefixtures("graphviz")
def test_names_stay_text() -> None:
    bundle = dag_mimebundle(dag_of([EVIL, "b"], [([0], [1])]), f"my {EVIL}")
    tree = ElementTree.fromstring(bundle["image/svg+xml"])
    assert not [one for one in tree.iter() if one.tag.endswith("script")]
    assert EVIL in "".join(tree.itertext())
    assert bundle["text/plain"].startswith("my <script>")


def test_a_dag_without_nodes() -> None:
    assert dag_mimebundle(dag_of([], []), "new") == {"text/plain": "new: 0 nodes, 0 edges"}


@pytest.mark.usefixtures("graphviz")
def test_many_nodes_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"work_{n}" for n in range(5000)]
    bundle = dag_mimebundle(dag_of([*names, "join"], [(range(5000), [5000])]))
    assert len(bundle["image/svg+xml"]) < 20_000
    monkeypatch.setattr(notebook, "MAX_NODES", 3)
    bundle = dag_mimebundle(dag_of("ABCD", []))
    assert set(bundle) == {"text/plain"}
    assert bundle["text/plain"].endswith(notebook.NO_PICTURE)


def test_without_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise PydagmanError("draw needs Graphviz, which is not installed")

    monkeypatch.setattr(notebook, "find_dot", missing)
    bundle = dag_mimebundle(dag_of("AB", []))
    assert set(bundle) == {"text/plain"}
    assert bundle["text/plain"].endswith("2 nodes, 0 edges\ndraw needs Graphviz, which is not installed")  # fmt: skip  # noqa: E501

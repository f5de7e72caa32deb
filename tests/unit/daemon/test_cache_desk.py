"""What DAGMan does about nodes with a CACHE command."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters.cache_process import Answer, Keep, LookUp
from condor_pydagman.daemon import helpers
from condor_pydagman.daemon.cache_desk import CacheDesk
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths
from condor_pydagman.records.cache_store import HEAD, began_line
from tests import make

DAG = make.dag("""
    A B C
    CACHE A
    CACHE B CHECKSUM INPUTS x
    CACHE C
""")


class Schedd:
    """Keeps what it is asked, and answers at once."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def ask(self, request: Any, then: Any) -> None:
        self.asked.append(request)
        if isinstance(request, LookUp):
            then(Answer([(False, "r", one.node.name) for one in request.questions], ["w"]))
        else:
            then(Answer((), ["w"]))


def told(*actions: Any) -> tuple[list[Any], list[Any], list[str]]:
    schedd, inbox, said = Schedd(), list[Any](), list[str]()
    out = SimpleNamespace(say=lambda text, level: said.append(text))
    desk = CacheDesk(SimpleNamespace(dag=DAG, schedd=schedd, out=out))  # type: ignore[arg-type]
    for action in actions:
        desk.take(action, inbox.append)
    return schedd.asked, inbox, said


def test_nodes_whose_files_are_read_are_asked_for_alone() -> None:
    wanted = tuple(do.CachedWanted(node, node + 5, "p", "why", node > 1) for node in range(3))
    asked, inbox, said = told(do.LookUpCached(wanted), do.LookUpCached(wanted))
    assert [[one.node.name for one in request.questions] for request in asked[:2]] == [
        ["A", "C"],
        ["B"],
    ]
    assert asked[0].questions[1][1:] == ("p", "why", True)
    assert inbox[0] == inputs.CachedFound(
        [inputs.CachedResult(0, 5, False, "r", "A"), inputs.CachedResult(2, 7, False, "r", "C")]
    )
    assert said == ["w"]


def test_ends_are_kept() -> None:
    asked, inbox, said = told(do.KeepCached(((0, "r"), (2, "s"))))
    (request,) = asked
    assert isinstance(request, Keep)
    assert [(node.name, result) for node, result in request.ended] == [("A", "r"), ("C", "s")]
    assert inbox == [inputs.CachedKept([0, 2])]
    assert said == ["w"]


def test_what_is_known_at_the_start(tmp_path: Path) -> None:
    paths = DagPaths(str(tmp_path / "x.dag"))
    file = Path(paths.cache)
    file.write_text(f"{HEAD}\n{began_line('A', 'r', {})}")
    for more in ("DONE A", "RUN_IF B true"):
        dag = make.dag(f"A B\nCACHE A\n{more}")
        known = helpers.known_results(dag, paths)
        assert type(known) is dict  # read already
        assert known == {"A": "r"}


@pytest.mark.parametrize("dag", [DAG, make.dag("A")])
def test_what_perhaps_nobody_asks_for_is_read_late(tmp_path: Path, dag: Dag) -> None:
    paths = DagPaths(str(tmp_path / "x.dag"))
    known = helpers.known_results(dag, paths)
    Path(paths.cache).write_text(f"{HEAD}\n{began_line('A', 'r', {})}")
    assert (known.get("A"), known.get("B")) == ("r", None)
    assert dict(known) == {"A": "r"}

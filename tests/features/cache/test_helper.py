"""Nodes with a CACHE command are looked up in a process: answers, deaths, and what is too slow."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.features.cache import helper
from condor_pydagman.features.cache.adapters.lookup import Question
from condor_pydagman.features.cache.adapters.store_file import read_records
from condor_pydagman.features.cache.helper import CacheHelper, Keep, LookUp, given
from condor_pydagman.features.cache.run import (
    CachedFound,
    CachedKept,
    CachedResult,
    CachedWanted,
    KeepCached,
    LookUpCached,
)
from condor_pydagman.features.cache.store import HEAD, Record, began_line
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths
from tests import make
from tests.helping import Asker

DAG = make.dag("""
    A B C D
    CACHE A
    CACHE B CHECKSUM INPUTS x
    CACHE C
    CACHE D OUTPUTS y
""")
DAG.descriptions["n.sub"] = "queue\n"
TIMEOUT_S = CacheHelper.timeout_s


class Side:
    """A helper in its process."""

    def __init__(self, directory: Path) -> None:
        self.path = str(directory / "x.dag.cache")
        self.hangs = directory / "hangs"
        self.said: list[str] = []
        self.asker = Asker(CacheHelper(DAG, self.path, self.said.append), self.hangs)

    def look_up(self, *names: str, parents: str = "p") -> list[CachedResult]:
        why = "its parent X has run"
        wanted = [CachedWanted(DAG.ids[name], 7, parents, why, False) for name in names]
        found = self.asker.ask(LookUpCached(tuple(wanted)))
        assert isinstance(found, CachedFound)
        assert [one[:2] for one in found.results] == [one[:2] for one in wanted]
        return [*found.results]

    def keep(self, **results: str) -> None:
        kept = tuple((DAG.ids[name], result) for name, result in results.items())
        assert self.asker.ask(KeepCached(kept)) == CachedKept([node for node, _ in kept])


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    made = Side(tmp_path)
    yield made
    made.asker.process.end()


def test_a_node_is_looked_up_kept_and_found(side: Side) -> None:
    first = side.look_up("A", "C")
    assert [one[2::2] for one in first] == [(False, "it has never been done")] * 2
    assert len({one.result for one in first}) == 2
    assert read_records(side.path)["A"].outputs is None
    assert side.look_up("A")[0].why == "it did not end well when it last ran"
    (again,) = side.look_up("A")
    side.keep(A=again.result, C=first[1].result)
    assert side.look_up("A")[0][2:] == (True, again.result, "")
    side.keep(A=first[0].result)  # which counts no more
    assert side.look_up("A")[0][2:] == (True, again.result, "")
    assert not side.said


def test_an_output_that_is_missing_is_told_once(side: Side) -> None:
    for _ in range(2):
        side.keep(D=side.look_up("D")[0].result)
    assert side.said == ["Warning: CACHE: node D will run again: its output y is not there"]


def test_a_file_that_cannot_be_used_is_told(side: Side) -> None:
    os.mkdir(side.path)
    assert side.look_up("A")[0].why == "it has never been done"
    assert side.said[0].startswith(f"Warning: {side.path}: can't be read: ")


def test_an_error_is_told_and_the_node_runs(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("this went wrong")

    monkeypatch.setattr(helper, "look_up", fail)
    assert side.look_up("A")[0][2::2] == (False, "this went wrong")
    assert side.said == ["Warning: CACHE: this went wrong"]


def test_what_takes_too_long_runs_and_the_store_knows(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(question: Question, *rest: Any) -> Any:
        if question.parents:
            side.hangs.touch()
            time.sleep(600)
        return real(question, *rest)

    real = helper.look_up
    monkeypatch.setattr(helper, "look_up", hang)
    (found,) = side.look_up("A")
    assert found[2::2] == (False, "to look at its files took too long")
    assert read_records(side.path) == {"A": Record(found.result, {})}


def test_a_process_that_dies_keeps_nothing(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "look_up", lambda *_: os._exit(1))
    monkeypatch.setattr(helper, "outputs_of", lambda *_: os._exit(1))
    died = "the process that looked at its files has died"
    assert side.look_up("A")[0][2::2] == (False, died)
    assert side.said == [f"Warning: CACHE: {died}"]


def test_a_process_that_dies_while_it_keeps(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = side.look_up("A")
    monkeypatch.setattr(helper, "outputs_of", lambda *_: os._exit(1))
    side.asker.process.end()  # it has the code of before
    side.keep(A=found.result)
    died = "the process that looked at its files has died"
    assert side.said == [f"Warning: CACHE: nodes are not kept: {died}"]


def test_nodes_whose_files_are_read_are_asked_for_alone_and_may_take_long(side: Side) -> None:
    helper = side.asker.process.helper
    wanted = tuple(CachedWanted(node, node + 5, "p", "why", node > 1) for node in range(3))
    quick, slow = helper.orders(LookUpCached(wanted))
    assert [[one.node.name for one in order.questions] for order in (quick, slow)] == [
        ["A", "C"],
        ["B"],
    ]
    assert quick.questions[1][1:] == ("p", "why", True)
    assert [helper.time_limit(order, TIMEOUT_S) for order in (quick, slow)] == [TIMEOUT_S, 14_400.0]
    blind = LookUp(slow.nodes, slow.questions, "blind")
    assert helper.time_limit(blind, TIMEOUT_S) == TIMEOUT_S
    (keep,) = helper.orders(KeepCached(((0, "r"), (2, "s"))))
    assert [(node.name, result) for node, result in keep.ended] == [("A", "r"), ("C", "s")]
    assert helper.time_limit(keep, TIMEOUT_S) == TIMEOUT_S
    long = Keep([1], [(slow.questions[0].node, "r")])
    assert helper.time_limit(long, TIMEOUT_S) == 14_400.0


def test_what_is_known_at_the_start(tmp_path: Path) -> None:
    paths = DagPaths(str(tmp_path / "x.dag"))
    file = Path(paths.cache)
    file.write_text(f"{HEAD}\n{began_line('A', 'r', {})}")
    for more in ("DONE A", "RUN_IF B true"):
        dag = make.dag(f"A B\nCACHE A\n{more}")
        known = given(dag, paths)
        assert type(known) is dict  # read already
        assert known == {"A": "r"}


@pytest.mark.parametrize("dag", [DAG, make.dag("A")])
def test_what_perhaps_nobody_asks_for_is_read_late(tmp_path: Path, dag: Dag) -> None:
    paths = DagPaths(str(tmp_path / "x.dag"))
    known = given(dag, paths)
    Path(paths.cache).write_text(f"{HEAD}\n{began_line('A', 'r', {})}")
    assert (known.get("A"), known.get("B")) == ("r", None)
    assert dict(known) == {"A": "r"}

"""A DAG that is grown piece by piece decides as the DAG that is read whole does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.node_states import State
from condor_pydagman.graph.problems import DagFileErrors
from tests.features.cache.cached import Store
from tests.make import LOGGED
from tests.unit.engine.grown import GrownRun

MOST = 8  # nodes
# Of features, what a replay must come to as well.
KEPT = (("enough", "reached"), ("enough", "unwanted"), ("publish", "values"), ("cache", "made"))
SECTIONS = 3  # the DAG file, and two pieces


class Drawn(NamedTuple):
    """A DAG in sections: the DAG file and pieces; and what becomes of its jobs."""

    texts: list[str]
    fails: set[str]
    numbers: dict[str, int]


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """Nodes N0 and so on, with edges from lower numbers to higher ones."""
    count = draw(st.integers(2, MOST))
    section = [draw(st.integers(0, SECTIONS - 1)) for _ in range(count)]
    section[draw(st.integers(0, count - 1))] = 0
    lines: list[list[str]] = [[] for _ in range(SECTIONS)]
    for node in range(count):
        lines[section[node]].append(f"JOB N{node} n.sub")
    parents: dict[int, list[int]] = {node: [] for node in range(count)}
    for child in range(1, count):
        for parent in draw(st.sets(st.integers(0, child - 1), max_size=3)):
            where = max(section[parent], section[child])
            lines[where].append(f"PARENT N{parent} CHILD N{child}")
            if where == section[child]:
                parents[child].append(parent)
    for node in range(count):
        lines[section[node]] += draw(_decisions(node, parents[node]))
    fails = draw(st.sets(st.integers(0, count - 1), max_size=2))
    numbers = {f"N{node}.ad": node % 3 for node in range(count) if draw(st.integers(0, 9))}
    lines[0].append("JOB last n.sub")  # for the DAG not to end before all has been added
    return Drawn(["".join(f"{line}\n" for line in one) for one in lines], _names(fails), numbers)


def _names(nodes: set[int]) -> set[str]:
    return {f"N{node}" for node in nodes}


@st.composite
def _decisions(draw: st.DrawFn, node: int, parents: Sequence[int]) -> list[str]:
    """What is said of a node beyond its JOB line."""
    lines = [draw(st.sampled_from((f"PUBLISH N{node} FILE N{node}.ad", f"CACHE N{node}")))]
    simple = ["true", "false", "Done >= 1", "Skipped > 0", "Failed == 0"]
    for parent in parents:
        simple += [f'Parents.N{parent}.Outcome == "DONE"', f"Parents.N{parent}.n > 0"]
    if draw(st.integers(0, 2)) == 0:
        how = draw(st.sampled_from(("", "ELSE DONE ")))
        lines.append(f"RUN_IF N{node} {how}{draw(st.sampled_from(simple))}")
    elif parents and draw(st.integers(0, 2)) == 0:
        limit = draw(st.sampled_from(("1", "50%", str(len(parents)))))
        lines.append(f"ENOUGH PARENTS N{node} {limit} {draw(st.sampled_from(('REMOVE', 'WAIT')))}")
    return lines


def _run(texts: Sequence[str], how: Drawn, store: Store | None = None) -> GrownRun:
    run = GrownRun(texts[0], fails=how.fails, numbers=how.numbers, store=store, halted=True)
    for text in texts[1:]:
        assert not run.add(text)
    run.resume()
    run.finish()
    return run


@given(drawn(), st.sets(st.integers(0, MOST - 1), max_size=2))
def test_grown_piece_by_piece_it_decides_as_read_whole(how: Drawn, changed: set[int]) -> None:
    found = []
    for texts in (["".join(how.texts)], how.texts):
        store = Store()
        first = _run(texts, how, store)
        store.changed = _names(changed) & store.kept.keys()
        again = _run(texts, how._replace(fails=set()), store)  # what has not changed is cached
        found.append([_seen(run) for run in (first, again)])
    assert found[0] == found[1]


def _seen(run: GrownRun) -> object:
    return sorted(run.submitted), run.outcomes(), run.ever(do.Exit)


@given(drawn(), st.integers(0, MOST))
def test_a_replay_decides_as_the_run_has(how: Drawn, ends: int) -> None:
    run = GrownRun(how.texts[0], fails=how.fails, numbers=how.numbers)
    for text in how.texts[1:]:
        try:
            run.add(text)
        except DagFileErrors as error:
            assert "has begun" in error.detail()
            break
        for _ in range(ends // 2):
            if len(run.running) > 1:
                run.end_one()
    live, again = run.engine.run, run.recovered().run
    wanted = [LOGGED.get(State(state), State(state)) for state in live.nodes.states]
    assert wanted == [State(state) for state in again.nodes.states]
    assert live.nodes.marks == again.nodes.marks
    assert set(live.features) - {"growth"} == set(again.features) - {"growth"}
    for name, kept in KEPT:
        if name in live.features:
            assert getattr(live.features[name], kept) == getattr(again.features[name], kept)
    assert live.nodes.gated.opened == again.nodes.gated.opened
    assert live.nodes.gated.unfinished == again.nodes.gated.unfinished


def test_a_node_behind_a_join_node_waits_for_its_new_parents() -> None:
    run = GrownRun("JOB A a\nJOB B b\nJOB X x\nJOB Y y\nPARENT A B CHILD X Y\nRUN_IF X Done == 3\n")
    assert not run.add("JOB N n\nPARENT N CHILD _condor_join_node0\n")
    for _ in "AB":
        run.end_one()
    assert run.outcomes()["X"] == "WAITING"
    run.finish()
    assert set(run.outcomes().values()) == {"DONE"}

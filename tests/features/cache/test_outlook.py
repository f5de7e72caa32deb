"""Which nodes with a CACHE command would run now, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.features.cache.adapters.file_states import CachedFiles
from condor_pydagman.features.cache.adapters.lookup import Question, cached_node, look_up
from condor_pydagman.features.cache.adapters.outlook import outlook, take, told
from condor_pydagman.features.cache.adapters.store_file import CacheFile, read_records
from condor_pydagman.features.cache.commands import Cache, CachedOfDag
from condor_pydagman.features.cache.result_sums import ResultSums
from condor_pydagman.features.cache.store import began_line, done_line
from condor_pydagman.graph.model import DONE, USER_DONE, Dag
from tests import make
from tests.features.cache.cached import all_cached

TEXT = "A -> B; B C -> D E"


def dag(text: str = TEXT, but: str = "") -> Dag:
    made = all_cached(text, but=but)
    made.descriptions["n.sub"] = "queue\n"
    return made


@pytest.fixture
def filled_cache(tmp_path: Path) -> str:
    """A store in which all nodes are done."""
    made, store, results = dag(), CacheFile(str(tmp_path / "x.cache")), dict[int, str]()
    sums = ResultSums(made, lambda node: results[node])
    for node in range(len(made)):
        question = Question(cached_node(made, node), f"{sums.of(node).number:032x}", "")
        found = look_up(question, None, CachedFiles())
        results[node] = found.result
        lines = began_line(made.names[node], found.result, found.facts)
        lines += done_line(made.names[node], found.result, {})
        store.append([lines], {}, sync=False)
    return store.path


def shown(of: Dag, path: str) -> dict[str, str]:
    return {of.names[node]: why for node, why in outlook(of, path).items()}


def test_nothing_would_run(filled_cache: str) -> None:
    assert shown(dag(), filled_cache) == dict.fromkeys("ABCDE", "")
    assert list(told(dag(), outlook(dag(), filled_cache))) == [
        "CACHE: A B C D E: done already: nothing has changed since the last run"
    ]


def test_what_has_changed_and_what_depends_on_it(filled_cache: str) -> None:
    of = dag()
    of.scripts[of.ids["B"]] = make.dag("B\nSCRIPT PRE B x").scripts[0]
    why = {"A": "", "B": "its PRE script has changed", "C": ""}
    assert shown(of, filled_cache) == {**why, **dict.fromkeys("DE", "its parent B runs")}
    assert list(told(of, outlook(of, filled_cache)))[1:] == [
        "CACHE: B: to run: its PRE script has changed",
        "CACHE: D E: to run: its parent B runs",
    ]


def test_a_parent_that_a_run_of_chosen_nodes_has_run(filled_cache: str) -> None:
    """Its children were left out then."""
    kept = read_records(filled_cache)["B"].facts
    lines = began_line("B", "new", kept) + done_line("B", "new", {})
    CacheFile(filled_cache).append([lines], {}, sync=False)
    told_of = shown(dag(), filled_cache)
    assert told_of["B"] == ""
    assert told_of["D"] == "its parents have run since it was last done, or are others"


def test_parents_that_have_no_cache_and_nodes_that_were_never_done(filled_cache: str) -> None:
    assert shown(dag(but="C"), filled_cache)["D"] == "its parent C has no CACHE"
    assert shown(dag("X -> A"), filled_cache) == {
        "X": "it has never been done",
        "A": "its parent X runs",
    }
    assert shown(dag("X; A"), filled_cache + ".no")["A"] == "it has never been done"


def test_nodes_that_are_done(filled_cache: str) -> None:
    of = dag()
    of.flags[of.ids["A"]] |= DONE
    assert shown(of, filled_cache) == dict.fromkeys("BCDE", "")
    of.flags[of.ids["A"]] |= USER_DONE
    assert shown(of, filled_cache)["B"] == "its parent A has an unknown result"


def test_a_cycle_and_a_dag_without_it(filled_cache: str) -> None:
    assert outlook(dag("A -> B; B -> A"), filled_cache) == {}
    assert outlook(make.dag("A"), filled_cache) == {}


def test_results_that_a_person_takes_as_they_are(filled_cache: str) -> None:
    of = dag()
    of.scripts[of.ids["B"]] = make.dag("B\nSCRIPT PRE B x").scripts[0]
    runs = "its parent B runs"
    assert take(of, filled_cache, [of.ids["D"]], "ann", is_live=False) == {
        of.ids["D"]: (runs, runs)
    }
    found = take(of, filled_cache, [of.ids["B"], of.ids["C"]], "ann on a day", is_live=False)
    changed = "its PRE script has changed", ""
    assert found == {of.ids["B"]: changed, of.ids["C"]: ("", "")}
    assert read_records(filled_cache)["B"].taken == "ann on a day"
    assert shown(of, filled_cache) == dict.fromkeys("ABCDE", "")  # its result has the same name


def test_results_of_which_nothing_is_kept(tmp_path: Path) -> None:
    """The nodes ran before they had a CACHE command."""
    of, path = dag("A -> B"), str(tmp_path / "x.cache")
    (tmp_path / "o").write_text("made")
    for node in range(2):
        CachedOfDag.put(of).cached[node] = Cache(0, "", outputs=(str(tmp_path / "o"),))
    assert {one for _, one in take(of, path, [0, 1], "ann", is_live=False).values()} == {""}
    assert shown(of, path) == {"A": "", "B": ""}
    assert read_records(path)["B"].taken == "ann"
    (tmp_path / "o").write_text("made again")
    assert "has changed" in shown(of, path)["A"]


def test_results_that_nobody_can_take(filled_cache: str) -> None:
    of = dag("A; B; X")
    of.scripts[0] = make.dag("A\nSCRIPT PRE A x").scripts[0]
    CacheFile(filled_cache).append([began_line("A", "new", {"text": "t"})], {}, sync=False)
    (refused,) = {one for _, one in take(of, filled_cache, [0], "ann", is_live=False).values()}
    assert refused == "it did not end well when it last ran, or runs now"
    assert take(of, filled_cache, [2], "ann", is_live=False)[2][1] == "it has never been done"
    CachedOfDag.put(of).cached[1] = Cache(0, "", outputs=("missing",))
    assert (
        take(of, filled_cache, [1], "ann", is_live=False)[1][1] == "its output missing is not there"
    )
    CachedOfDag.put(of).cached[1] = Cache(0, "", inputs=("missing",))
    assert (
        take(of, filled_cache, [1], "ann", is_live=False)[1][1] == "its input missing is not there"
    )
    with pytest.raises(FileError, match="cycle"):
        take(dag("A -> B; B -> A"), filled_cache, [0], "ann", is_live=False)
    Path(filled_cache).write_text("mine\n")
    with pytest.raises(FileError, match="another file"):
        take(of, filled_cache, [0], "ann", is_live=False)


def test_many_nodes_are_not_all_named(filled_cache: str) -> None:
    of = dag("; ".join(f"N{number}" for number in range(40)))
    (line,) = told(of, outlook(of, filled_cache))
    assert line.startswith("CACHE: N0 N1 ")
    assert line.endswith(" N9 and 30 more: to run: it has never been done")

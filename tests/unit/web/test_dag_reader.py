"""States of nodes as the page has them, look after look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.follow.shown_states import KEYS
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.web.dag_reader import NOWHERE, DagReader, SitesOfGroups
from condor_pydagman.web.picture_boxes import PictureBoxes, shares
from tests.dag_logs import DagLogs
from tests.unit.graph.texts import build_text

MERGED = "".join(f"JOB {name} a.sub\n" for name in "ABCDMN")
MERGED += "PARENT A B C D CHILD M\nPARENT M CHILD N\nENOUGH PARENTS M 3\n"
MERGED += "CATEGORY A c\nCATEGORY B c\nENOUGH CATEGORY c 1\n"


def no_ad(cluster: int) -> Mapping[str, Any]:
    return {}


class Seen:
    """A DAG of which all jobs are in the queue."""

    def __init__(self, logs: DagLogs) -> None:
        self.logs = logs
        for number, name in enumerate("ABCD"):
            logs.submit(name, number)
        self.reader = DagReader(find_dag(str(logs.log.with_name("t.dag")), ask=False), no_ad)
        self.reader.look()

    def states(self) -> str:
        """A letter for each node, by what has changed and by what another reader finds."""
        known = bytearray(self.reader.states)
        found = self.reader.look()
        for number, state in found.changes:
            known[number] = state
        assert found.states is None
        anew = DagReader(find_dag(str(self.logs.log.with_name("t.dag")), ask=False), no_ad)
        anew.look()
        assert self.reader.states == anew.states
        counts = found.overview["states"]
        assert counts == {word: anew.states.count(n) for n, word in enumerate(KEYS)}
        return "".join(KEYS[state][:2] for state in self.reader.states)


@pytest.fixture
def seen_dag(work_directory: Path) -> Seen:
    (work_directory / "t.dag").write_text(MERGED)
    logs = DagLogs(work_directory).start()
    return Seen(logs)


def enough(seen_dag: Seen, number: int, text: str) -> None:
    """DAGMan writes that an ENOUGH is reached."""
    seen_dag.logs.record("ENOUGH", number, text=text)


def test_enough_parents_that_can_not_be_done_any_more(seen_dag: Seen) -> None:
    seen_dag.logs.terminate(0, value=1)
    assert seen_dag.states() == "faidididwawa"
    seen_dag.logs.terminate(1, value=1)
    assert seen_dag.states() == "fafaididfufu"


def test_a_parent_whose_job_is_removed_because_it_is_not_needed(seen_dag: Seen) -> None:
    seen_dag.logs.terminate(0)
    enough(seen_dag, 1, "ENOUGH CATEGORY c 1: 1 of 2 nodes is done")
    assert seen_dag.states() == "doidididwawa"
    reason = "DAG Enough: the node is not needed: ENOUGH CATEGORY c 1 (by user a)"
    seen_dag.logs.abort(1, reason=reason)
    assert seen_dag.states() == "donoididwawa"


def test_enough_parents_are_done(seen_dag: Seen) -> None:
    for cluster in (0, 1, 2):
        seen_dag.logs.terminate(cluster)
    assert seen_dag.states() == "dododoidwawa"
    enough(seen_dag, 0, "ENOUGH PARENTS M 3: 3 of 4 nodes are done")
    assert seen_dag.states() == "dododoidrewa"


DAG = (
    "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\nJOB D a.sub\n"
    "SITE_GROUP g NODES A B\nSITE_GROUP h NODES D\n"
)


def places(names: Sequence[str], of: Sequence[int]) -> SitesOfGroups:
    return SitesOfGroups(tuple(names), list(of), [0] * len(names))


def test_a_client_is_told_what_it_does_not_know() -> None:
    was, now = places("n", [1, 0, 1]), places("ns", [1, 2, 0])
    assert now.news(None)["of"] == [1, 2, 0]
    told = now.news(was)
    assert (told["changes"], told["names"]) == ([[1, 2], [2, 0]], ("n", "s"))
    assert "of" not in told
    assert places("n", [1]).news(was)["of"] == [1], "another number of groups: another DAG"
    assert places("x", [1, 0, 1]).news(was)["of"] == [1, 0, 1], "other sites: another run"
    assert NOWHERE.news(was) == {"names": (), "nodes": (), "of": ()}


def test_a_dag_without_groups_has_none_of_it() -> None:
    dag = build_text("JOB A a.sub\n")
    assert shares(dag, [0]) == {}
    (box,) = PictureBoxes(dag).picture([], bytes(1), 1, None)["boxes"]
    assert not {"sites", "site_group"} & set(box)

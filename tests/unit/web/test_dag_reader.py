"""States of nodes as the page has them, look after look."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.records.own_events import record_event
from condor_pydagman.vocabulary import JournalRecord
from tests.dag_logs import DagLogs

pytest.importorskip("aiohttp")
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.shown_states import LEGEND

MERGED = "".join(f"JOB {name} a.sub\n" for name in "ABCDMN")
MERGED += "PARENT A B C D CHILD M\nPARENT M CHILD N\nENOUGH PARENTS M 3\n"


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
        assert counts == {word: anew.states.count(n) for n, word in enumerate(LEGEND)}
        return "".join(LEGEND[state][:2] for state in self.reader.states)


@pytest.fixture
def seen_dag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Seen:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.dag").write_text(MERGED)
    logs = DagLogs(tmp_path)
    logs.start()
    return Seen(logs)


def test_enough_parents_that_can_not_be_done_any_more(seen_dag: Seen) -> None:
    seen_dag.logs.terminate(0, value=1)
    assert seen_dag.states() == "faidididwawa"
    seen_dag.logs.terminate(1, value=1)
    assert seen_dag.states() == "fafaididfufu"
    seen_dag.logs.say("Node A is not needed: ENOUGH CATEGORY c 1; it had failed: exit code 1")
    assert seen_dag.states() == "dofaididfufu"
    seen_dag.logs.say("Node B is not needed: ENOUGH CATEGORY c 1; it had failed: exit code 1")
    assert seen_dag.states() == "dodoididwawa"


def test_parents_that_are_not_needed(seen_dag: Seen) -> None:
    seen_dag.logs.terminate(0, value=1)
    assert seen_dag.states() == "faidididwawa"
    seen_dag.logs.abort(
        1, reason="DAG Enough: the node is not needed: ENOUGH CATEGORY c 1 (by user a)"
    )
    assert seen_dag.states() == "fadoididfufu"


def test_enough_parents_are_done(seen_dag: Seen) -> None:
    for cluster in (0, 1, 2):
        seen_dag.logs.terminate(cluster)
    assert seen_dag.states() == "dododoidwawa"
    text = "ENOUGH PARENTS M 3: 3 of 4 nodes are done"
    record = AppendJournalRecord(JournalRecord.ENOUGH, 4, 0, 0, text=text)
    with open(seen_dag.logs.log, "a") as log:
        log.write(record_event("2026-11-18 05:46:40", "M", record))
    seen_dag.logs.say(f"{text}: no other is left")
    assert seen_dag.states() == "dododoidrewa"


def test_nodes_that_were_let_go_count_as_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.dag").write_text("JOB A a.sub\nFEEDER BELOW 9 PROGRAM feed\n")
    (tmp_path / "t.dag.rescue001").write_text("LET_GO 3 40 3 40\n")
    DagLogs(tmp_path).start(rescue="t.dag.rescue001")
    overview = DagReader(find_dag(str(tmp_path / "t.dag"), ask=False), no_ad).look().overview
    assert overview["states"]["done"] == overview["counts"]["done"] == 40

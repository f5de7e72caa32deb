"""What the page shows of nodes in bundles."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.follow.shown_states import KEYS
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.web.dag_answers import details_of
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.node_rows import row_of
from tests.features.bundle.bundle_logs import FOUR, BundleLogs


class Page:
    """A page that looks again and again."""

    def __init__(self, logs: BundleLogs) -> None:
        self.logs = logs
        self.reader = DagReader(find_dag("t.dag", ask=False), lambda _cluster: {})
        self.reader.look()

    def changed(self) -> dict[str, str]:
        """By name, the states of nodes that have changed since the last look."""
        changes = self.reader.look().changes
        return {self.reader.names[number]: KEYS[state] for number, state in changes}

    def row(self, number: int = 0) -> tuple[str, str]:
        row = row_of(self.reader, number, self.logs.now)
        return row["state"], row["reason"]


@pytest.fixture
def page(work_directory: Path) -> Page:
    (work_directory / "t.dag").write_text(FOUR)
    logs = BundleLogs(work_directory)
    logs.start()
    return Page(logs)


def test_states_change_with_the_job_of_the_bundle(page: Page) -> None:
    page.logs.made("A B")
    assert page.changed() == {"A": "idle", "B": "idle"}
    assert page.row() == ("idle", "in bundle 7")
    page.logs.runs()
    assert page.changed() == {"A": "running", "B": "running"}
    page.logs.hold(211)
    assert page.changed() == {"A": "held", "B": "held"}
    assert page.row() == ("held", "no such file")


def test_the_card_of_a_node_tells_of_its_bundle(page: Page) -> None:
    page.logs.made()
    assert page.changed()
    assert details_of(page.reader, 0, "running")["job"]["hosts"] == []
    page.logs.runs()
    page.logs.task("A", 1)
    page.changed()
    running = details_of(page.reader, 1, "running")
    job = running["job"]
    assert (job["job"], job["bundle"], job["nodes"]) == ("211.0", "7", 4)
    assert (job["hosts"], job["running"]) == (["slot1_2@one"], 1)
    assert running["started"] is None, "its own program may not have begun"
    ended = details_of(page.reader, 0, "running")
    assert (ended["job"]["bundle"], ended["job"]["cpu_s"], ended["runtime_s"]) == ("7", 0.5, 2.0)

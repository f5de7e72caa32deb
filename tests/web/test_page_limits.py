"""What the page shows of limits that DAGs share."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.server import Open, Serve
from tests.web.study import Study
from tests.web.test_page_link import CONTRAST

TAPE = {
    "name": "tape", "kind": "JOBS", "most": 1000, "what": "jobs", "taken": 950, "own": 120,
    "waiting": 43, "waits": "node", "ahead": 4,
}  # fmt: skip
SCRIPTS = {
    "name": "tape", "kind": "PRE", "most": 5, "what": "PRE scripts", "taken": 0, "own": 0,
    "waiting": 0, "waits": "PRE script", "ahead": 0,
}  # fmt: skip


def widths(page: Any, place: int) -> list[float]:
    """Of the parts of a limit's bar, in pixels."""
    bar = page.locator(".shared-limit").nth(place).locator(".share-bar > span")
    return [float(part.bounding_box()["width"]) for part in bar.all()]


def test_a_dag_that_shares_none_shows_nothing(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "")
    page.locator(".numbers").wait_for()
    assert not page.locator(".shared-limits").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_taken_and_what_waits(
    serve: Serve, open_page: Open, dag: Study, scheme: str
) -> None:
    dag.more = {"shared_limits": [TAPE, SCRIPTS]}
    page = open_page(serve(dag), "", color_scheme=scheme)
    limits = page.locator(".shared-limit")
    limits.nth(1).wait_for()
    assert limits.nth(0).inner_text().split("\n") == [
        "tape", "950 of 1,000 jobs in use, 120 by this DAG, 4 kept for nodes to come",
        "43 nodes are waiting"
    ]  # fmt: skip
    assert limits.nth(1).inner_text().split("\n") == [
        "tape", "0 of 5 PRE scripts in use, 0 by this DAG"
    ]  # fmt: skip
    own, others = widths(page, 0)
    assert 6 < others / own < 8
    assert widths(page, 1) == [0, 0]
    assert page.evaluate(CONTRAST) == []
    changed = {**TAPE, "name": "<b>x</b>", "taken": 2000, "waiting": 1}
    dag.more = {"shared_limits": [changed]}
    page.locator(".shared-limit", has_text="<b>x</b>").wait_for()
    assert limits.count() == 1
    assert "1 node is waiting" in limits.inner_text()
    bar = limits.locator(".share-bar").bounding_box()
    assert sum(widths(page, 0)) <= bar["width"] + 1
    dag.more = {"shared_limits": []}
    page.locator(".shared-limits").wait_for(state="hidden")

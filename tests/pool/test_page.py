"""The buttons of the page, pressed in a real browser on a DAG that really runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.scenes import FIRST, Scene, Stage
from tests.pool.test_sites import dag_text, lines, pair, with_jobs
from tests.web import browsers

pytestmark = [pytest.mark.pool, browsers.needed]

STAGE = Stage()
DAG = (
    "JOB A told.sub\nJOB B told.sub\nPARENT A CHILD B\nJOB K told.sub\nJOB S told.sub\n"
    'PARENT K CHILD S\nJOB F first.sub\nVARS F code="3"\nJOB G job.sub\nPARENT F CHILD G\n'
    "JOB M told.sub\nJOB C told.sub\nPARENT K CHILD C\nCATEGORY C big\nMAXJOBS big 3\n" + FIRST
)


@contextmanager
def opened(s: Scene) -> Iterator[Any]:
    """The page of the scene's DAG, in a browser."""
    words = ["condor_pydagman", "web", "--no-browser", "t.dag"]
    with subprocess.Popen(
        s.access_point.pool.command(words),
        cwd=s.work,
        env=s.access_point.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            with browsers.browser() as browser:
                page = browser.new_page()
                page.set_default_timeout(browsers.PATIENCE_MS)
                page.goto(server.stdout.readline().strip())
                page.locator("h1", has_text="t.dag").wait_for()
                yield page
        finally:
            server.terminate()


def press(page: Any, node: str, button: str, *, asks: bool = False) -> None:
    """A button of a node, which is found in the table; the dialog is agreed to."""
    page.get_by_role("tab", name="Nodes").click()
    page.get_by_label("Search").fill(node)
    page.locator(".rows .row:visible").first.wait_for()
    row = page.locator(".rows .row:visible", has_text=node).first
    row.get_by_text(node, exact=True).first.click()
    details = page.locator("aside")
    details.get_by_role("heading", name=node).first.wait_for()
    details.get_by_role("button", name=button, exact=True).click()
    if asks:
        agree(page)


def agree(page: Any) -> None:
    """Press the button of a dialog, which is gone when DAGMan has done what was asked for."""
    dialog = page.get_by_role("dialog")
    dialog.locator("button.confirm").click()
    try:
        dialog.wait_for(state="detached")
    except Exception as error:
        raise AssertionError(f"the dialog stays: {dialog.inner_text()}") from error


@STAGE.scene
def buttons_of_nodes(s: Scene) -> None:
    s.submit(DAG)
    s.says("Node F job proc .* failed with status 3")
    s.started(*(f"{node} 0" for node in ("A", "K", "M")))
    with opened(s) as page:
        press(page, "F", "Run again", asks=True)
        s.ran("G 0")
        press(page, "A", "Hold", asks=True)
        s.has(DAG_JobsHeld=1)
        press(page, "A", "Release")
        s.has(DAG_JobsHeld=0)
        press(page, "M", "Cancel", asks=True)
        s.says("Node M: cancelled by ")
        s.has(DAG_NodesFailed=1)
        press(page, "M", "Mark done", asks=True)
        s.says("Node M: marked done by ")
        press(page, "S", "Skip", asks=True)
        s.says("Node S: skipped by ")
        press(page, "C", "Set…")
        dialog = page.get_by_role("dialog")
        for label, value in (("Priority", "4"), ("Retries", "2"), ("Timeout", "RUNNING 2h")):
            dialog.get_by_label(label).fill(value)
        dialog.get_by_label("Category").fill("big")
        dialog.get_by_label("Vars").fill('+Colour="red"')
        agree(page)
        s.says(
            "Node C: priority 4, retries 2, category big, timeout running 7200 s, VARS My.Colour"
        )
    s.touch("go.A", "go.B", "go.K", "go.C")
    assert s.ends() == 0
    assert dags.runs(s.work)["F 1"] == 1
    assert "S 0" not in dags.starts(s.work)


@STAGE.scene
def a_group_and_its_sites(s: Scene) -> None:
    sites = with_jobs(s, north=1)
    s.submit(
        dag_text(
            s,
            pair("A", second='bad="none" wait="go.A"') + pair("B"),
            "SITE_POLICY A OLD_SITE NEVER\n",
        )
    )
    s.until(lambda: lines(s.work, "ended.txt"), "A1 to end")
    with sites.monitored() as next_round, opened(s) as page:
        page.get_by_label(re.compile("A2: running, .*at north")).wait_for(state="attached")
        page.get_by_role("tab", name="Sites").click()
        rows = page.locator(".groups .rows .row:visible")
        rows.filter(has_text="1 is full").filter(has_text="waiting for a site").wait_for()
        rows.filter(has_text="at its site").get_by_role("button", name="Rematch").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("including those that are done").wait_for()
        dialog.locator("button.confirm").click()
        s.says("Group A has to leave site")
        s.touch("go.A")
        s.says("Group B is matched to site north-")  # as long as there is no other
        sites.write("south", 9)
        next_round()
        rows.filter(has_text="ended").filter(has_text=sites.full("north")).wait_for()
        assert s.ends() == 0
        rows.filter(has_text=sites.full("south")).filter(has_text="2 of 2").wait_for()
    assert [line.split("-")[0] for line in lines(s.work, "at.txt") if line.startswith("A1")] == [
        "A1 north",
        "A1 south",
    ]


test_page = STAGE.tests()

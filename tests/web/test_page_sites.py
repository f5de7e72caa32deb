"""What the page shows of groups and their sites: marks in the picture, the table, the button."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.features.sites.commands import GroupsOfDag
from condor_pydagman.features.sites.states import GroupState
from tests.web.server import Open, Serve
from tests.web.study import Study, example
from tests.web.test_page import HOSTILE, box_of
from tests.web.test_page_link import CONTRAST

ROWS = ".groups .rows .row:not([hidden]):not(.on-its-way)"
FULL = "of 3 sites, 1 is full (north); 2 are not what the group requires (east, south)"


PAIRS = "".join(f"SITE_GROUP unit{n} NODES simulate_{n:02} reconstruct_{n:02}\n" for n in range(40))


@pytest.fixture
def grouped(tmp_path: Path) -> Study:
    """Pairs of nodes are groups; those of `check` are in none."""
    dag = example(tmp_path / "grouped", PAIRS)
    for number in range(30):
        dag.at(number, "north" if number < 20 else "south")
    dag.leave(30, FULL)
    dag.set(dag.layers["reconstruct"][0], "running")
    return dag


def layer(page: Any, name: str) -> Any:
    """Its folded box."""
    return page.locator(".box", has_text=name)


def strips(box: Any) -> list[str]:
    """The classes of its pieces, from the left to the right."""
    return [str(piece.get_attribute("class")) for piece in box.locator(".strip rect").all()]


def test_a_dag_without_groups_shows_nothing_of_it(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    server = serve(dag)
    page = open_page(server, "sites/1")
    page.locator(".box").first.wait_for()
    page.locator("aside dl").first.wait_for()
    assert page.locator("#view-picture").is_visible(), "there is no such view"
    assert page.get_by_role("tab", name="Sites").count() == 0
    assert page.locator(".strip").count() == 0
    assert not page.locator(".site-legend").first.is_visible()
    assert page.get_by_role("button", name="Rematch").count() == 0
    assert not [path for path in server.asked if path.endswith("/groups")]


def test_boxes_are_marked_and_follow_their_groups(
    serve: Serve, open_page: Open, grouped: Study
) -> None:
    node = grouped.layers["reconstruct"][5]
    grouped.set(grouped.layers["reconstruct"][1], "done")  # a failed one would be beside its stack
    page = open_page(serve(grouped), "")
    stack = layer(page, "reconstruct")
    stack.locator(".strip rect").nth(1).wait_for(state="attached")
    assert strips(stack) == ["site-1", "site-2", "unplaced"]
    assert "20 at north, 10 at south" in stack.get_attribute("aria-label")
    assert strips(layer(page, "merge")) == []
    legend = page.locator("#view-picture .site-legend")
    assert legend.inner_text().split() == ["40", "at", "north", "20", "at", "south"]
    stack.click()
    box = page.locator(f"[data-box=n{node}]")
    box.locator(".site-1").wait_for(state="attached")
    assert box.get_attribute("aria-label").endswith(", at north")
    assert box.locator("title").text_content().endswith(", at north")
    grouped.at(5, "east")
    box.locator(".site-3").wait_for(state="attached")
    assert strips(box) == ["site-3"]
    grouped.leave(5, FULL)
    box.locator(".unplaced").wait_for(state="attached")
    assert "at " not in box.get_attribute("aria-label")
    page.wait_for_function(
        "box => {const told = document.querySelector(box).getAttribute('aria-label');"
        " return told.includes('19 at north') && !told.includes('east')}",
        arg=box_of(layer(page, "simulate")),
    )


def test_the_legend_leaves_one_site_clear(serve: Serve, open_page: Open, grouped: Study) -> None:
    page = open_page(serve(grouped), "")
    layer(page, "reconstruct").locator(".strip rect").first.wait_for(state="attached")
    south = page.locator("#view-picture .site-legend").get_by_role("button", name="south")
    south.click()
    assert south.get_attribute("aria-pressed") == "true"
    assert page.locator(".boxes.one-site .box.at-site").count() == 2
    south.click()
    assert page.locator(".boxes.one-site").count() == 0


def test_more_sites_than_colours(serve: Serve, open_page: Open, grouped: Study) -> None:
    page = open_page(serve(grouped), "")
    legend = page.locator("#view-picture .site-legend")
    legend.get_by_text("south").wait_for()
    for number in range(12):
        grouped.at(number, f"s{number}")
    legend.get_by_text("other sites").wait_for()
    assert legend.get_by_role("button").count() == 9
    page.locator(".box[aria-label*='1 at s0']", has_text="simulate").wait_for()
    label = layer(page, "simulate").get_attribute("aria-label")
    assert "8 at north, 10 at south, 1 at s0" in label and "and 6 more sites" in label


def test_the_table_of_groups(serve: Serve, open_page: Open, grouped: Study) -> None:
    page = open_page(serve(grouped), "sites")
    page.locator(ROWS).first.wait_for()
    assert page.locator(".groups .found").inner_text() == "40 groups"
    page.get_by_label("State of the groups").select_option("waiting")
    page.locator(".groups .found", has_text="1 of 40").wait_for()
    row = page.locator(ROWS)
    for words in ("unit30", "waiting for a site", "1 of 2", FULL):
        assert words in row.inner_text()
    grouped.at(30, "east")
    page.locator(".groups .found", has_text="0 of 40").wait_for()
    page.get_by_label("State of the groups").select_option("")
    page.locator(".groups .site-part", has_text="east").click()
    page.locator(".groups .found", has_text="1 of 40").wait_for()
    assert "at its site" in row.inner_text() and "east" in row.inner_text()


def test_the_card_of_a_group_and_the_way_from_a_node(
    serve: Serve, open_page: Open, grouped: Study
) -> None:
    node = grouped.layers["reconstruct"][30]
    page = open_page(serve(grouped), f"nodes/{node}")
    page.locator("aside .group-of-node").get_by_role("button", name="unit30").click()
    card = page.locator(".group-card")
    card.get_by_role("heading", name="unit30").wait_for()
    card.get_by_text(FULL).wait_for()
    assert card.get_by_role("button", name="Rematch").is_disabled()
    grouped.at(30, "east")
    card.locator(".facts", has_text="east").wait_for()
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    page.locator(ROWS).first.locator(".c-name").click()
    card.get_by_role("button", name="simulate_00").click()
    page.locator("aside").get_by_role("heading", name="simulate_00").wait_for()


@pytest.mark.parametrize("place", ["row", "card", "node"])
def test_rematch(serve: Serve, open_page: Open, grouped: Study, place: str) -> None:
    server, node = serve(grouped), grouped.layers["reconstruct"][0]
    page = open_page(server, f"sites/{node}" if place == "node" else "sites")
    row = page.locator(ROWS).first
    row.wait_for()
    if place == "card":
        row.locator(".c-name").click()
    where = {"row": row, "card": page.locator(".group-card"), "node": page.locator("aside")}[place]
    button = where.get_by_role("button", name=re.compile("^Rematch"))  # no path of a file
    button.click()
    dialog = page.get_by_role("dialog")
    assert "group unit0 at north, 1 of 2 nodes done" in dialog.inner_text()
    assert "Its jobs are removed" in dialog.inner_text()
    assert grouped.requests[-1].dry and grouped.group_states[0] is GroupState.MATCHED
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert len(grouped.requests) == 1
    button.click()
    dialog.locator("button.confirm").click()
    row.get_by_text("leaving its site").wait_for()
    request = grouped.requests[-1]
    assert (request[:2], request.dry) == (("rematch", {"group": "unit0"}), False)
    assert row.get_by_role("button", name="Rematch").is_disabled()


def test_who_may_not_steer(serve: Serve, open_page: Open, grouped: Study) -> None:
    grouped.can, grouped.why_not = False, "the DAG is another user's"
    page = open_page(serve(grouped), "sites")
    button = page.locator(ROWS).first.get_by_role("button", name="Rematch")
    assert button.is_disabled() and button.get_attribute("title") == grouped.why_not


def test_hostile_names_stay_text(serve: Serve, open_page: Open, grouped: Study) -> None:
    groups = GroupsOfDag.of(grouped.dag).site_groups
    for number, text in enumerate(HOSTILE):
        groups[number] = groups[number]._replace(name=f"{text}{number}")
        grouped.at(number, f"{text} site")
    server = serve(grouped)
    page = open_page(server, "")
    layer(page, "simulate").locator(".strip rect").first.wait_for(state="attached")
    assert page.locator("img[src=x], main script").count() == 0
    label = layer(page, "simulate").get_attribute("aria-label")
    assert HOSTILE[0] in label and "\u202e" not in label and "\\u202e" in label
    page.get_by_role("tab", name="Sites").click()
    page.get_by_label("Find").fill("site")
    page.locator(".groups .found", has_text=f"{len(HOSTILE)} of 40").wait_for()
    for row in page.locator(ROWS).all():
        assert not set("\u202e\x1b\n") & set(row.locator(".c-name").text_content())
    page.locator(ROWS, has_text=HOSTILE[0]).get_by_role("button", name="Rematch").click()
    page.get_by_role("dialog", name=HOSTILE[0]).locator("button.confirm").click()
    page.wait_for_selector(".notice")
    assert grouped.requests[-1].nodes == {"group": f"{HOSTILE[0]}0"}
    assert page.locator("img[src=x], main script, dialog img").count() == 0
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_thousands_of_groups(serve: Serve, open_page: Open, tmp_path: Path) -> None:
    count = 20_000
    more = "".join(f"SITE_GROUP unit{n} NODES work_{n:05}\n" for n in range(count))
    dag = Study(tmp_path / "study", [("work", count)], more=more)
    for number in range(count):
        dag.at(number, f"site{number % 30:02}")
    page = open_page(serve(dag), "sites")
    page.locator(ROWS).first.wait_for()
    assert page.locator(".groups .found").inner_text() == "20,000 groups"
    page.locator(ROWS).first.focus()
    page.keyboard.press("End")
    page.locator(ROWS, has_text="unit19999").wait_for()
    assert page.locator(".groups .rows .row").count() < 60
    assert page.locator(".groups .site-part").count() == 24
    page.get_by_label("Find").fill("unit19999")
    page.locator(".groups .found", has_text="1 of 20,000").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(serve: Serve, open_page: Open, grouped: Study, scheme: str) -> None:
    node = grouped.layers["reconstruct"][1]
    page = open_page(serve(grouped), f"sites/{node}", color_scheme=scheme,
                     reduced_motion="reduce")  # fmt: skip
    page.locator(ROWS).first.locator(".c-name").click()
    page.locator(".group-nodes button").first.wait_for()
    page.locator("aside .group-of-node").wait_for()
    assert page.evaluate(CONTRAST) == []
    page.get_by_role("tab", name="Picture").click()
    page.locator(".strip rect").first.wait_for(state="attached")
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", [1300, 400])
def test_it_fits_and_can_be_used_by_keys(
    serve: Serve, open_page: Open, grouped: Study, width: int
) -> None:
    page = open_page(serve(grouped), "sites", width=width)
    page.locator(ROWS).first.wait_for()
    page.locator(ROWS).first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".group-card").get_by_role("heading", name="unit1").wait_for()
    page.locator(".group-nodes button").first.wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.locator(".group-card h2:focus").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.textContent.includes('unit1')")
    page.get_by_role("tab", name="Sites").focus()
    page.keyboard.press("ArrowLeft")
    page.locator("#view-nodes").wait_for()

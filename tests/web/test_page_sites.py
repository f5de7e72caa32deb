"""What the page shows of groups and their sites: marks in the picture, the table, the button."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.fake_dag import FakeDag
from tests.web.fake_groups import FakeGroups
from tests.web.fake_server import Open, Serve
from tests.web.test_page import HOSTILE
from tests.web.test_page_link import CONTRAST

ROWS = ".groups .rows .row:not([hidden]):not(.on-its-way)"
FULL = "of 3 sites, 1 is full (north); 2 are not what the group requires (east, south)"


@pytest.fixture
def groups(dag: FakeDag) -> FakeGroups:
    """Pairs of nodes simulate_N and reconstruct_N; those of `check` are in no group."""
    simulate, reconstruct = dag.groups["simulate"], dag.groups["reconstruct"]
    made = FakeGroups([f"unit{n}" for n in range(40)], list(zip(simulate, reconstruct)))
    dag.at_sites = made
    for number in range(30):
        made.match(number, "north" if number < 20 else "south")
    made.leave(30, FULL)
    return made


def strips(page: Any, box: str) -> list[str]:
    """The classes of the pieces of a box, from the left to the right."""
    pieces = page.locator(f"[data-box={box}] .strip rect")
    return [str(piece.get_attribute("class")) for piece in pieces.all()]


def test_a_dag_without_groups_shows_nothing_of_it(
    serve: Serve, open_page: Open, dag: FakeDag
) -> None:
    server = serve(dag)
    page = open_page(server, "/study/sites/1")
    page.locator(".box").first.wait_for()
    page.locator("aside dl").first.wait_for()
    assert page.locator("#view-picture").is_visible(), "there is no such view"
    assert page.get_by_role("tab", name="Sites").count() == 0
    assert page.locator(".strip").count() == 0
    assert not page.locator(".site-legend").first.is_visible()
    assert page.get_by_role("button", name="Rematch").count() == 0
    assert not [path for path in server.asked if path.endswith("/groups")]


def test_boxes_are_marked_and_follow_their_groups(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups
) -> None:
    node = dag.groups["reconstruct"][5]
    page = open_page(serve(dag), "/study")
    stack = page.locator("[data-box=greconstruct]")
    stack.locator(".strip rect").nth(1).wait_for(state="attached")
    assert strips(page, "greconstruct") == ["site-1", "site-2"]
    assert "20 at north, 10 at south" in stack.get_attribute("aria-label")
    assert strips(page, f"n{dag.groups['check'][0]}") == []
    legend = page.locator("#view-picture .site-legend")
    assert legend.inner_text().split() == ["40", "at", "north", "20", "at", "south"]
    stack.click()
    box = page.locator(f"[data-box=n{node}]")
    box.locator(".site-1").wait_for(state="attached")
    assert box.get_attribute("aria-label").endswith(", at north")
    assert box.locator("title").text_content().endswith(", at north")
    groups.match(5, "east")
    dag.touch()
    box.locator(".site-3").wait_for(state="attached")
    assert strips(page, f"n{node}") == ["site-3"]
    groups.leave(5, FULL)
    dag.touch()
    box.locator(".strip rect").wait_for(state="detached")
    assert "at " not in box.get_attribute("aria-label")
    page.wait_for_function(
        "box => {const told = document.querySelector(box).getAttribute('aria-label');"
        " return told.includes('19 at north') && !told.includes('east')}",
        arg="[data-box=gsimulate]",
    )


def test_the_legend_leaves_one_site_clear(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups
) -> None:
    page = open_page(serve(dag), "/study")
    page.locator("[data-box=greconstruct] .strip rect").first.wait_for(state="attached")
    south = page.locator("#view-picture .site-legend").get_by_role("button", name="south")
    south.click()
    assert south.get_attribute("aria-pressed") == "true"
    assert page.locator(".boxes.one-site .box.at-site").count() == 2
    south.click()
    assert page.locator(".boxes.one-site").count() == 0


def test_more_sites_than_colours(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups
) -> None:
    for number in range(12):
        groups.match(number, f"s{number}")
    page = open_page(serve(dag), "/study")
    legend = page.locator("#view-picture .site-legend")
    legend.get_by_text("other sites").wait_for()
    assert legend.get_by_role("button").count() == 9
    label = page.locator("[data-box=gsimulate]").get_attribute("aria-label")
    assert "8 at north, 10 at south, 1 at s0" in label and "and 6 more sites" in label


def test_the_table_of_groups(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups
) -> None:
    page = open_page(serve(dag), "/study/sites")
    page.locator(ROWS).first.wait_for()
    assert page.locator(".groups .found").inner_text() == "40 groups"
    page.get_by_label("State of the groups").select_option("waiting")
    page.locator(".groups .found", has_text="1 of 40").wait_for()
    row = page.locator(ROWS)
    for words in ("unit30", "waiting for a site", "1 of 2", FULL):
        assert words in row.inner_text()
    groups.match(30, "east")
    dag.touch()
    page.locator(".groups .found", has_text="0 of 40").wait_for()
    page.get_by_label("State of the groups").select_option("")
    page.locator(".groups .site-part", has_text="east").click()
    page.locator(".groups .found", has_text="1 of 40").wait_for()
    assert "at its site" in row.inner_text() and "east" in row.inner_text()


def test_the_card_of_a_group_and_the_way_from_a_node(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups
) -> None:
    node = dag.groups["reconstruct"][30]
    page = open_page(serve(dag), f"/study/nodes/{node}")
    page.locator("aside .group-of-node").get_by_role("button", name="unit30").click()
    card = page.locator(".group-card")
    card.get_by_role("heading", name="unit30").wait_for()
    card.get_by_text(FULL).wait_for()
    assert card.get_by_role("button", name="Rematch").is_disabled()
    groups.match(30, "east")
    dag.touch()
    card.locator(".facts", has_text="east").wait_for()
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    page.locator(ROWS).first.locator(".c-name").click()
    card.get_by_role("button", name="simulate_00").click()
    page.locator("aside").get_by_role("heading", name="simulate_00").wait_for()


@pytest.mark.parametrize("place", ["row", "card", "node"])
def test_rematch(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups, place: str
) -> None:
    server, node = serve(dag), dag.groups["reconstruct"][0]
    page = open_page(server, f"/study/sites/{node}" if place == "node" else "/study/sites")
    row = page.locator(ROWS).first
    row.wait_for()
    if place == "card":
        row.locator(".c-name").click()
    where = {"row": row, "card": page.locator(".group-card"), "node": page.locator("aside")}[place]
    where.get_by_role("button", name="Rematch").click()
    dialog = page.get_by_role("dialog")
    assert "group unit0 at north, 2 of 2 nodes done" in dialog.inner_text()
    assert "Its jobs are removed" in dialog.inner_text()
    assert server.commands[-1]["dry"] and groups.states[0] == "matched"
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert len(server.commands) == 1
    where.get_by_role("button", name="Rematch").click()
    dialog.locator("button.confirm").click()
    row.get_by_text("leaving its site").wait_for()
    body = server.commands[-1]
    assert (body["command"], body["nodes"], body["dry"]) == ("rematch", {"group": "unit0"}, False)
    assert row.get_by_role("button", name="Rematch").is_disabled()


def test_who_may_not_steer(serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups) -> None:
    dag.can, dag.why_not = False, "the DAG is another user's"
    page = open_page(serve(dag), "/study/sites")
    button = page.locator(ROWS).first.get_by_role("button", name="Rematch")
    assert button.is_disabled() and button.get_attribute("title") == dag.why_not


def test_hostile_names_stay_text(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups
) -> None:
    for number, text in enumerate(HOSTILE):
        groups.names[number] = f"{text}{number}"
        groups.match(number, f"{text} site")
        groups.reasons[number] = text
    server = serve(dag)
    page = open_page(server, "/study")
    page.locator("[data-box=gsimulate] .strip rect").first.wait_for(state="attached")
    assert page.locator("img[src=x], main script").count() == 0
    label = page.locator("[data-box=gsimulate]").get_attribute("aria-label")
    assert HOSTILE[0] in label and "\u202e" not in label and "\\u202e" in label
    page.get_by_role("tab", name="Sites").click()
    page.get_by_label("Find").fill("site")
    page.locator(".groups .found", has_text=f"{len(HOSTILE)} of 40").wait_for()
    for row in page.locator(ROWS).all():
        assert not set("\u202e\x1b\n") & set(row.locator(".c-name").text_content())
    page.locator(ROWS, has_text=HOSTILE[0]).get_by_role("button", name="Rematch").click()
    page.get_by_role("dialog", name=HOSTILE[0]).locator("button.confirm").click()
    page.wait_for_selector(".notice")
    assert server.commands[-1]["nodes"] == {"group": f"{HOSTILE[0]}0"}
    assert page.locator("img[src=x], main script, dialog img").count() == 0
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_thousands_of_groups(serve: Serve, open_page: Open) -> None:
    count = 20_000
    dag = FakeDag("study", [("work", count)])
    dag.at_sites = FakeGroups([f"unit{n}" for n in range(count)], [[n + 1] for n in range(count)])
    for number in range(count):
        dag.at_sites.match(number, f"site{number % 30:02}")
    page = open_page(serve(dag), "/study/sites")
    page.locator(ROWS).first.wait_for()
    assert page.locator(".groups .found").inner_text() == "20,000 groups"
    page.locator(ROWS).first.focus()
    page.keyboard.press("End")
    page.locator(ROWS, has_text="unit9999").wait_for()
    assert page.locator(".groups .rows .row").count() < 60
    assert page.locator(".groups .site-part").count() == 24
    page.get_by_label("Find").fill("unit19999")
    page.locator(".groups .found", has_text="1 of 20,000").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups, scheme: str
) -> None:
    node = dag.groups["reconstruct"][1]
    page = open_page(serve(dag), f"/study/sites/{node}", color_scheme=scheme,
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
    serve: Serve, open_page: Open, dag: FakeDag, groups: FakeGroups, width: int
) -> None:
    page = open_page(serve(dag), "/study/sites", width=width)
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

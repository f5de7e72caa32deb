"""Buttons and dials of the page: what they ask, what they send, what they tell."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.web.steering import Request
from tests.web.server import Open, Serve
from tests.web.study import Study

# Button, the node's state before, options that are ticked and what is said then, what is sent,
# state after.
NODE_BUTTONS = [
    ("Cancel", "running", {}, "cancel", {"retry": False}, "failed"),
    ("Cancel", "idle", {"Retry": "is retried if"}, "cancel", {"retry": True}, "retry"),
    ("Run again", "failed", {}, "rerun", {"descendants": False}, "ready"),
    (
        *("Run again", "done", {"nodes that depend on them": "All nodes that depend on it"}),
        *("rerun", {"descendants": True}, "ready"),
    ),
    ("Hold", "running", {}, "hold", {}, "held"),
    ("Release", "held", None, "release", {}, "idle"),
    ("Mark done", "failed", {}, "done", {}, "done"),
    ("Skip", "waiting", {}, "skip", {}, "skipped"),
]


def node_in(dag: Study, state: str) -> int:
    return next(n for n in range(1, len(dag.names)) if dag.state_of(n) == state)


def sent(dag: Study, *, dry: bool) -> list[Request]:
    return [request for request in dag.requests if request.dry is dry]


@pytest.mark.parametrize(
    ("button", "state", "ticks", "command", "options", "after"),
    NODE_BUTTONS,
    ids=[f"{row[3]} {row[1]}" for row in NODE_BUTTONS],
)
def test_button_of_a_node(
    serve: Serve, open_page: Open, dag: Study, button: str, state: str,
    ticks: dict[str, str] | None, command: str, options: dict[str, Any], after: str,
) -> None:  # fmt: skip
    server, node = serve(dag), node_in(dag, state)
    page = open_page(server, f"picture/{node}")
    page.locator("aside").get_by_role("button", name=button, exact=True).click()
    if ticks is not None:
        dialog = page.get_by_role("dialog")
        for tick, effect in ticks.items():
            dialog.get_by_label(tick).check()
            dialog.locator(".effect", has_text=effect).wait_for()
        dialog.locator("button.confirm").click()
        dialog.wait_for(state="detached")
    page.wait_for_selector(".notice")
    (request,) = sent(dag, dry=False)
    assert request[:3] == (command, {"names": [dag.names[node]]}, options)
    assert sent(dag, dry=True), "what it would do is asked first"
    assert dag.state_of(node) == after
    page.wait_for_function(
        "word => document.querySelector('.node-state').textContent.startsWith(word)",
        arg={"retry": "waiting for retry"}.get(after, after),
    )


def test_values_of_a_node_are_set(serve: Serve, open_page: Open, dag: Study) -> None:
    server = serve(dag)
    page = open_page(server, "picture/3")
    page.locator("aside").get_by_role("button", name="Set…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Priority").fill("7")
    dialog.get_by_label("Retries").fill("2")
    dialog.get_by_label("Timeout").fill("RUNNING 2h")
    dialog.get_by_label("Category").fill("big")
    dialog.get_by_label("Vars").fill("nonsense")
    dialog.locator("button.confirm").click()
    assert "name=value" in dialog.locator(".problem").inner_text()
    dialog.get_by_label("Vars").fill("run=7\nname=a=b")
    dialog.locator("button.confirm").click()
    dialog.wait_for(state="detached")
    (request,) = sent(dag, dry=False)
    assert request.command == "set"
    assert request.options == {
        "priority": 7, "retries": 2, "timeout": "RUNNING 2h", "new_category": "big",
        "vars": {"run": "7", "name": "a=b"},
    }  # fmt: skip


def test_lost_work_is_asked_about_once_and_can_be_left(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    server, node = serve(dag), node_in(dag, "running")
    page = open_page(server, f"picture/{node}")
    mark = page.locator("aside").get_by_role("button", name="Hold")
    for leave in ("Cancel", "Escape"):
        mark.click()
        dialog = page.get_by_role("dialog")
        assert "running jobs stop" in dialog.locator(".effect").inner_text()
        assert page.evaluate("document.activeElement.textContent") == "Cancel"
        if leave == "Escape":
            page.keyboard.press("Escape")
        else:
            dialog.get_by_role("button", name=leave).click()
        dialog.wait_for(state="detached")
    assert not sent(dag, dry=False) and dag.state_of(node) == "running"
    mark.click()
    page.get_by_role("dialog").locator("button.confirm").click()
    page.wait_for_selector(".notice")
    assert len(sent(dag, dry=False)) == 1


def test_a_refusal_is_told(serve: Serve, open_page: Open, dag: Study) -> None:
    server, node = serve(dag), node_in(dag, "waiting")
    page = open_page(server, "nodes")
    page.get_by_label("Search").fill(dag.names[node])
    page.wait_for_function(
        "() => document.querySelectorAll('.rows .row:not([hidden])').length === 1"
    )
    page.locator(".rows input[type=checkbox]:visible").check()
    page.locator(".selection").get_by_role("button", name="Release").click()
    told = page.locator(".notice").inner_text()
    assert dag.names[node] in told and "not for nodes in this state" in told
    assert "1 node stays unchanged:" in told
    assert not sent(dag, dry=False)


def test_an_error_of_the_server_is_told(serve: Serve, open_page: Open, dag: Study) -> None:
    server = serve(dag)
    page = open_page(server, f"picture/{node_in(dag, 'running')}", "status of 409")
    page.locator("aside").get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").locator("button.confirm").wait_for()  # after what it asks the server
    dag.refusal = "the node has ended <b>meanwhile</b>"
    page.get_by_role("dialog").locator("button.confirm").click()
    page.wait_for_function("() => document.querySelector('dialog .problem').textContent !== ''")
    problem = page.locator("dialog .problem")
    assert problem.inner_text() == "the node has ended <b>meanwhile</b>"
    page.keyboard.press("Escape")
    page.locator("aside").get_by_role("button", name="Hold").click()
    assert "<b>meanwhile</b>" in page.locator(".notice.bad").inner_text()


def test_halt_and_resume(serve: Serve, open_page: Open, dag: Study) -> None:
    server = serve(dag)
    page = open_page(server, "")
    page.get_by_role("button", name="Halt").click()
    page.get_by_label("Reason").fill("new calibration")
    page.get_by_role("dialog").locator("button.confirm").click()
    page.wait_for_selector(".dag-state[data-state=halted]")
    (request,) = sent(dag, dry=False)
    assert request[:3] == ("halt", {}, {"reason": "new calibration"})
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector(".dag-state[data-state=running]")
    assert page.get_by_role("button", name="Halt").is_visible()


def test_removing_the_dag_is_asked_about(serve: Serve, open_page: Open, dag: Study) -> None:
    server = serve(dag)
    page = open_page(server, "")
    page.get_by_role("button", name="Remove the DAG").click()
    dialog = page.get_by_role("dialog")
    assert "removes all its jobs" in dialog.inner_text()
    dialog.locator("button.confirm").click()
    page.wait_for_selector(".dag-state[data-state=removed]")
    assert sent(dag, dry=False)[-1].command == "cancel-all"
    page.wait_for_selector(".link-state[data-state=ended]")
    assert page.get_by_role("button", name="Remove the DAG").is_disabled()
    assert "The DAG has ended" in page.locator(".why-not").inner_text()


@pytest.mark.parametrize("dial", ["Jobs", "Idle jobs", "PRE scripts", "POST scripts", "Priority"])
def test_dial(serve: Serve, open_page: Open, dag: Study, dial: str) -> None:
    name = dial.split()[0].lower()
    server = serve(dag)
    page = open_page(server, "")
    page.locator("summary", has_text="Limits: 100 jobs, 50 idle jobs, 20 PRE scripts").click()
    field, apply = page.get_by_label(dial, exact=True), page.get_by_role("button", name="Apply")
    assert field.input_value() == str(dag.limits[name]) and apply.is_disabled()
    field.fill("1.5")
    assert apply.is_disabled() and "whole number" in page.locator(".dials .problem").inner_text()
    field.press("Escape")
    assert field.input_value() == str(dag.limits[name])
    field.fill("33")
    field.press("Enter")
    page.wait_for_selector(".notice")
    (request,) = dag.requests
    wanted = ("priority", {"value": 33}) if name == "priority" else ("limits", {name: 33})
    assert (request.command, request.options) == wanted
    assert dag.limits[name] == 33 and apply.is_disabled()


def test_a_dial_follows_the_server_but_not_while_it_is_changed(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    page = open_page(serve(dag), "")
    page.locator("summary", has_text="Limits").click()
    page.get_by_label("Jobs", exact=True).fill("7")
    dag.limits = {**dag.limits, "jobs": 200, "idle": 60}
    page.wait_for_function("() => document.querySelector('input[name=idle]').value === '60'")
    assert page.get_by_label("Jobs", exact=True).input_value() == "7"


def test_who_may_not_steer_is_told_why(serve: Serve, open_page: Open, dag: Study) -> None:
    dag.can, dag.why_not = False, "the DAG is another user's"
    page = open_page(serve(dag), "nodes/1")
    assert "another user's" in page.locator(".why-not").inner_text()
    for place in (".head .buttons", ".selection .buttons", "aside .buttons"):
        for button in page.locator(f"{place} button").all():
            assert button.is_disabled()
    assert page.locator(".dials input:enabled").count() == 0


@pytest.mark.parametrize(
    ("search", "state", "selector", "found"),
    [
        ("", "failed", {"state": "failed"}, 1),
        ("reco", "", {"pattern": "*reco*"}, 40),
        ("check_?", "", {"pattern": "check_?"}, 8),
        ("", "", {"pattern": "*"}, 90),
    ],
)
def test_all_that_match(
    serve: Serve, open_page: Open, dag: Study, search: str, state: str, selector: dict[str, str],
    found: int,
) -> None:  # fmt: skip
    server = serve(dag)
    page = open_page(server, "nodes")
    page.get_by_label("Search").fill(search)
    page.get_by_label("State", exact=True).select_option(state)
    page.get_by_role("button", name=f"Select all {found}").click()
    page.locator(".selection").get_by_role("button", name="Run again").click()
    page.get_by_role("dialog").wait_for()
    assert dag.requests[-1].nodes == selector
    page.keyboard.press("Escape")


def test_labels_stand_beside_their_fields_in_a_narrow_window(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    page = open_page(serve(dag), "nodes", width=400)
    select = page.get_by_label("State", exact=True).bounding_box()
    label = page.locator(".filters label:visible", has_text="State").first.bounding_box()
    assert select["y"] <= label["y"] and label["x"] + label["width"] <= select["x"]
    assert label["y"] + label["height"] <= select["y"] + select["height"]


def test_nodes_that_are_all_chosen_are_not_those_of_another_search(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    page = open_page(serve(dag), "nodes")
    page.get_by_label("Search").fill(dag.names[1])
    page.get_by_role("button", name="Select all 1").click()
    page.get_by_label("Search").fill("")
    page.get_by_role("button", name=f"Select all {len(dag.names)}").wait_for()
    assert page.locator(".selected-words").inner_text() == "Select nodes to steer them"
    assert page.locator(".selection .buttons button").first.is_disabled()


def test_ticked_nodes(serve: Serve, open_page: Open, dag: Study) -> None:
    server = serve(dag)
    page = open_page(server, "nodes")
    running = [n for n in range(len(dag.names)) if dag.state_of(n) == "running"]
    page.locator(".legend").get_by_role("button", name="running").click()
    page.locator(".found", has_text=f"{len(running)} of").wait_for()
    for place in (0, 1):
        page.locator(".rows .row:visible input").nth(place).check()
    assert page.locator(".selected-words").inner_text() == "2 nodes selected"
    page.locator(".selection").get_by_role("button", name="Hold").click()
    page.get_by_role("dialog").locator("button.confirm").click()
    page.wait_for_selector(".notice")
    assert dag.requests[-1].nodes == {"names": [dag.names[number] for number in running[:2]]}
    page.get_by_role("button", name="Clear selection").click()
    assert page.locator(".selection .buttons button:enabled").count() == 0

"""What the page shows of DAGs, as it happens: list, head, picture, table, timeline, files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.follow.run_model import Attempt, Carrier
from tests.web.server import Open, Serve, show
from tests.web.study import Study, finding

ROWS = ".rows .row:not([hidden]):not(.on-its-way)"
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</title><script>alert(1)</script>",
    "evil\u202egpj.exe",
    "line\nbreak\ttab\x1b[31m",
    "\"quotes' & %s {{x}} ${x}",
    "ﷺ العربية",
    "n" * 5000,
]


def box_of(box: Any) -> str:
    """What finds a box, whatever it shows."""
    return f"[data-box='{box.get_attribute('data-box')}']"


def drawn(page: Any) -> str:
    """Where the drawing is."""
    return str(page.locator(".drawing > g").get_attribute("transform"))


def test_the_list_leads_to_a_dag(serve: Serve, open_page: Open, dag: Study, tmp_path: Path) -> None:
    other = Study(tmp_path / "other", [("work", 3)], file="other.dag")
    page = open_page(serve(dag, other))
    rows = page.locator(ROWS)
    rows.nth(1).wait_for()
    assert "54 of 90 nodes done, 60 %" in rows.first.inner_text()
    assert "token" not in page.url
    rows.first.click()
    page.locator("h1", has_text="study.dag").wait_for()
    assert page.title() == "60 % study.dag"
    page.go_back()
    page.locator("h1", has_text="DAGs").wait_for()


def test_many_dags_are_searched_filtered_and_sorted(
    serve: Serve, open_page: Open, tmp_path: Path
) -> None:
    dags = [Study(tmp_path / f"run{n}", [("work", n + 1)], file=f"fit{n}.dag") for n in range(60)]
    dags[7].set(1, "failed")
    dags[9].set(1, "held")
    page = open_page(serve(*dags))
    rows = page.locator(ROWS)
    rows.first.filter(has_text="fit7.dag").wait_for()
    assert "fit9.dag" in rows.nth(1).inner_text() and "fit0.dag" in rows.nth(2).inner_text()
    assert page.locator(".rows .row").count() < 40, "only those in view are in the page"
    page.keyboard.press("/")
    page.keyboard.type("RUN1 run")
    page.locator(".found", has_text="11 of 60 DAGs").wait_for()
    page.get_by_role("button", name="DAG", exact=True).click()
    page.locator("[aria-sort=ascending]", has_text="DAG").wait_for()
    assert "fit1.dag" in rows.first.inner_text() and "fit10.dag" in rows.nth(1).inner_text()
    page.get_by_label("Search").fill("")
    page.locator(".legend-part", has_text="with held nodes").click()
    page.locator(".found", has_text="1 of 60 DAGs").wait_for()
    rows.first.focus()
    page.keyboard.press("Enter")
    page.locator("h1", has_text="fit9.dag").wait_for()
    page.go_back()
    page.locator(".found", has_text="1 of 60 DAGs").wait_for()
    page.get_by_label("State", exact=True).select_option("succeeded")
    page.locator(".table-message", has_text="No DAGs match.").wait_for()


@pytest.mark.parametrize("width", [1300, 400])
def test_dags_that_ended_lately_are_in_the_list(
    serve: Serve, open_page: Open, dag: Study, width: int
) -> None:
    server, gone = serve(dag), "/home/<b>ann</b>"
    ad = {"JobStatus": 4, "Iwd": gone, "UserLog": "x.dag.dagman.log", "CompletionDate": 1795000000}
    nodes = {
        "DAG_NodesTotal": 9,
        "DAG_NodesDone": 8,
        "DAG_NodesFailed": 1,
        "PYDAGMAN_Retries": 4,
        "PYDAGMAN_RunSeconds": 7200,
    }
    more = {"JobStartDate": 1794996400, "PYDAGMAN_FailedNodes": "<i>fit</i>"}
    server.ended = [{**ad, **nodes, **more, "ClusterId": 9, "ExitCode": 1}, {**ad, "ClusterId": 8}]
    page = open_page(server, width=width, expected="status of 404")
    row = page.locator(ROWS, has_text="x.dag")
    row.locator(".dag-state", has_text="failed").wait_for()
    for text in (
        gone,
        "first failed: <i>fit</i>",
        "4 retries",
        "jobs ran 2 h",
        "took 1 h",
        "job 9",
    ):
        assert text in row.inner_text()
    page.get_by_text("DAGs that ended in the last 3 days: as of").wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    colours = [
        page.locator(".dags .s-failed").evaluate_all(
            "found => [...new Set(found.map((one) => getComputedStyle(one)"
            ".getPropertyValue('--strong')))]"
        )
    ]
    assert [len(some) for some in colours] == [1]
    server.ended = []
    row.wait_for(state="detached")


def test_what_goes_wrong_is_said_before_running(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag))
    page.locator(".dags .dag-state", has_text="1 failed, 1 held · running").wait_for()
    shares = page.locator(".rows .c-shares")
    assert "6 idle" in shares.get_attribute("aria-label") and "6" in shares.inner_text()
    page.locator(ROWS).click()
    page.locator(".head .dag-state", has_text="1 failed, 1 held · running").wait_for()
    failed = dag.layers["reconstruct"][1]
    page.locator(f"[data-box=n{failed}].s-failed").wait_for()
    stack = page.locator(".box.s-held", has_text="reconstruct_00")
    assert "39 nodes" in stack.get_attribute("aria-label")
    assert float(stack.locator(".share.s-held").get_attribute("width")) >= 3
    for number in dag.layers["reconstruct"][20:]:
        dag.set(number, "failed")
    many = page.locator(".box.s-failed", has_text="reconstruct_00")
    many.wait_for()
    assert page.locator("[data-box^=n].s-failed").count() == 12
    assert "9 failed" in many.text_content()
    assert float(many.locator(".share.s-failed").get_attribute("width")) >= 3
    dag.set_many([failed, *dag.layers["reconstruct"][20:]], "done")
    page.locator(".box.s-held", has_text="reconstruct_00").wait_for()


def test_what_failed_is_in_the_banner_and_can_run_again(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    failed = dag.names[dag.layers["reconstruct"][1]]
    one = {"node": failed, "time": dag.begun, "attempts": 1, "value": 3, "reason": ""}
    dag.more = {"failures": [one]}
    page = open_page(serve(dag), "")
    hurdle = page.locator(".hurdle")
    hurdle.filter(has_text=f"1 node has failed: {failed}").wait_for()
    assert "exit code 3" in hurdle.inner_text()
    hurdle.get_by_role("button", name="Run again").click()
    page.get_by_role("dialog").locator("button.confirm").click()
    hurdle.wait_for(state="detached")
    assert dag.requests[-1][:2] == ("rerun", {"names": [failed]})
    dag.set_many(dag.layers["reconstruct"], "failed")
    hurdle.filter(has_text="40 nodes have failed, the last of them").wait_for()
    hurdle.get_by_role("button", name="Run again all that are failed").click()
    page.get_by_role("dialog").locator("button.confirm").click()
    hurdle.wait_for(state="detached")
    assert dag.requests[-1][:2] == ("rerun", {"state": "failed"})


def test_the_command_that_goes_on_can_be_copied(serve: Serve, open_page: Open, dag: Study) -> None:
    dag.word, dag.ended = "failed", dag.begun + 60
    page = open_page(serve(dag), "", permissions=["clipboard-read", "clipboard-write"])
    page.locator(".why-not", has_text="To continue it, submit it again:").wait_for()
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    again = f"cd {dag.directory} && condor_submit_dag study.dag"
    assert page.evaluate("navigator.clipboard.readText()") == again


def test_the_head_tells_how_far_it_is(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "")
    figures = page.locator(".numbers").inner_text()
    for text in ("60 %", "54 of 90", "54 nodes/h", "40 min", "estimated time left"):
        assert text in figures
    label = page.locator(".head .bar").get_attribute("aria-label")
    assert label.startswith("90 nodes: 54 done, 8 running, 6 idle, 1 held")
    dag.set(dag.layers["check"][0], "done")
    page.locator(".numbers", has_text="55 of 90").wait_for()
    dag.note = "DAGMan is <b>held</b>"
    page.locator(".note", has_text="DAGMan is <b>held</b>").wait_for()


def test_nodes_that_have_not_run_count_as_done(serve: Serve, open_page: Open, dag: Study) -> None:
    number = dag.layers["check"][0]
    dag.set(number, "skipped", "RUN_IF is false: x > 1")
    page = open_page(serve(dag), f"nodes/{number}")
    page.locator(".numbers", has_text="55 of 90").wait_for()
    details = page.locator(".details")
    details.locator(".node-state", has_text="skipped").wait_for()
    details.locator("dd", has_text="RUN_IF is false: x > 1").wait_for()
    title = details.locator("button", has_text="Run again").get_attribute("title")
    assert "Only for" not in title
    assert "Only for" in details.locator("button", has_text="Hold").get_attribute("title")
    dag.set(number, "cached")
    details.locator(".node-state", has_text="cached").wait_for()
    page.locator(".legend-part", has_text="cached").click()
    page.locator(".filters", has_text="1 of 90 nodes").wait_for()


def test_shapes_of_nodes_and_lines_are_explained(
    serve: Serve, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(serve(Study(tmp_path / "plain", [("work", 3)])), "")
    page.locator(".box").first.wait_for()
    assert not page.locator(".marks").is_visible()
    more = "FINAL end n.sub\nJOB x n.sub\nJOB y n.sub\nWEAK PARENT x CHILD y\n"
    page = open_page(serve(Study(tmp_path / "study", [("work", 3)], more=more)), "")
    page.locator(".box").first.wait_for()
    marks = page.locator(".marks li")
    assert [mark.inner_text().partition(":")[0] for mark in marks.all()] == ["FINAL", "WEAK"]
    assert page.locator(".edge.weak").count() > 1  # that of the legend is one
    last = page.locator(".box", has_text="end")
    assert last.locator("path.body").count() == 1
    assert "FINAL" in last.get_attribute("aria-label")


def test_the_head_tells_what_holds_it_up(serve: Serve, open_page: Open, dag: Study) -> None:
    dag.set(dag.layers["reconstruct"][1], "done")
    page = open_page(serve(dag), "")
    hurdles = page.locator(".hurdles")
    page.locator(".numbers").wait_for()
    assert not hurdles.is_visible()
    evidence = [{"source": "t.dag.nodes.log", "text": "brake sick: 2 nodes failed: <b>x</b>"}]
    dag.more = {
        "notices": [
            {
                "cause": "dag.halted", "sentence": "The DAG is halted.", "evidence": evidence,
                "command": "htcondor dag resume 7", "button": "resume", "weight": "problem",
            },
            {
                "cause": "throttle.full", "sentence": "MaxIdle is reached.", "evidence": evidence,
                "command": "condor_qedit 7 DAGMan_MaxIdle N", "weight": "waiting",
            },
            {"cause": "group.no_site", "sentence": "Group g is waiting.", "evidence": []},
        ],
    }  # fmt: skip
    hurdles.wait_for()
    assert hurdles.inner_text().split("\n") == [
        "The DAG is halted.",
        "t.dag.nodes.log: brake sick: 2 nodes failed: <b>x</b>",
        "Resume the DAG",
        "MaxIdle is reached.",
        "condor_qedit 7 DAGMan_MaxIdle N Copy",
        "Group g is waiting.",
    ]
    dag.word, dag.can = "halted", False
    hurdles.locator("code", has_text="htcondor dag resume 7").wait_for()
    dag.can = True
    hurdles.get_by_role("button", name="Resume the DAG").click()
    page.locator(".notice", has_text="The DAG continues.").wait_for()
    dag.more = {"feeder": "waits, 2 feedings", "notices": []}
    hurdles.wait_for(state="hidden")


def test_bundles_are_in_the_head_and_on_the_card_of_a_node(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    node = dag.layers["check"][2]
    dag.more = {"bundles": {"open": 23, "running": 9, "held": 1, "nodes": 300}}
    dag.set(node, "running")
    dag.carry(node, Carrier("bundle 17"), 50)
    page = open_page(serve(dag), f"nodes/{node}")
    page.locator(".numbers div", has_text="bundles running").wait_for()
    assert "9 of 23" in page.locator(".numbers").inner_text()
    page.locator(".details dd", has_text="17, with 49 other nodes").wait_for()
    dag.more = {}
    page.locator(".numbers div", has_text="bundles running").wait_for(state="hidden")


def test_states_move_as_they_happen(serve: Serve, open_page: Open, dag: Study) -> None:
    node = dag.names.index("merge")
    page = open_page(serve(dag), f"picture/{node}")
    box = page.locator(f"[data-box=n{node}]")
    box.wait_for()
    for state in ("ready", "idle", "running", "failed"):
        dag.set(node, state)
        page.locator(f"[data-box=n{node}].s-{state}").wait_for()
        page.locator(".node-state", has_text=state).wait_for()
    assert box.get_attribute("aria-label") == f"{dag.names[node]}: failed"
    page.locator("aside .finding", has_text="its job ended with exit code 1").wait_for()
    page.locator("#announcer", has_text="failed").wait_for(state="attached")


# How much room boxes of the picture have left and right of their texts.
ROOM = """() => [...document.querySelectorAll('.drawing .box text')].map((text) => {
    const box = text.closest('.box').querySelector('.body').getBoundingClientRect();
    const own = text.getBoundingClientRect();
    return Math.min(own.left - box.left, box.right - own.right);
})"""


def test_folded_boxes_show_shares_and_unfold(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "")
    stack = box_of(page.locator(".box", has_text="reconstruct_00 …"))
    assert min(page.evaluate(ROOM)) >= 0
    assert "39 nodes" in page.locator(stack).get_attribute("aria-label")
    share = f"{stack} .share.s-running"
    before = float(page.locator(share).get_attribute("width"))
    dag.set_many(dag.layers["reconstruct"][:39], "running")
    page.wait_for_function(
        "([b, w]) => document.querySelector(b).getAttribute('width') > w * 3", arg=[share, before]
    )
    page.locator(stack).click()
    page.locator(f"[data-box=n{dag.layers['reconstruct'][39]}]").wait_for(state="attached")
    page.locator(".unfolded button", has_text="reconstruct_00").click()
    page.locator(stack).wait_for()


def test_the_picture_by_keyboard(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "")
    page.locator("[data-box=n0]").wait_for()
    page.locator(".drawing").focus()
    for key in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    focused = "document.activeElement.dataset.box"
    assert page.evaluate(focused).startswith("g")
    page.keyboard.press("Enter")
    page.locator("[data-box=n1]").wait_for(state="attached")
    page.wait_for_function("() => (document.activeElement.dataset.box ?? '').startsWith('n')")
    page.keyboard.press("Enter")
    page.locator("aside h2", has_text="simulate_").wait_for()
    page.keyboard.press("Escape")
    page.locator("aside").wait_for(state="hidden")
    page.locator(".drawing").focus()
    for key in ("+", "-", "Shift+ArrowLeft", "0"):
        before = drawn(page)
        page.keyboard.press(key)
        page.wait_for_function(
            "t => document.querySelector('.drawing > g').getAttribute('transform') !== t",
            arg=before,
        )


def test_the_picture_by_mouse(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "")
    page.locator("[data-box=n0]").wait_for()
    frame = page.locator(".drawing").bounding_box()
    x, y = frame["x"] + frame["width"] / 2, frame["y"] + 40
    before = drawn(page)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "t => document.querySelector('.drawing > g').getAttribute('transform') !== t", arg=before
    )
    box = page.locator("[data-box=n0]").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 130, box["y"] + 60, steps=4)
    page.mouse.up()
    moved = page.locator("[data-box=n0]").bounding_box()
    assert moved["x"] == pytest.approx(box["x"] + 100, abs=6)
    assert page.locator("aside").is_hidden(), "who drags does not click"
    page.locator("[data-box=n0]").click()
    page.locator("aside h2", has_text="stage_in").wait_for()
    assert page.url.endswith("/picture/0")


def test_the_table_is_searched_filtered_and_sorted(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    page = open_page(serve(dag), "nodes")
    page.locator(ROWS).first.wait_for()
    page.get_by_label("Search").fill("RECONSTRUCT_0")
    page.locator(".found", has_text="10 of 90 nodes").wait_for()
    page.get_by_role("button", name="Ran").click()
    page.locator("[aria-sort=descending]").wait_for()
    page.locator(ROWS).first.filter(has_text="reconstruct_").wait_for()
    page.get_by_label("State", exact=True).select_option("held")
    page.locator(".found", has_text="1 of 90").wait_for()
    held = page.locator(ROWS).first
    assert "memory usage exceeded" in held.inner_text()
    held.focus()
    page.keyboard.press(" ")
    assert page.locator(".selected-words").inner_text() == "1 node selected"
    page.keyboard.press("Enter")
    page.locator("aside h2", has_text="reconstruct_06").wait_for()
    page.get_by_label("Search").fill("nothing like that")
    page.locator(".table-message", has_text="No nodes match.").wait_for()


def test_details_lead_to_neighbours_and_files(serve: Serve, open_page: Open, dag: Study) -> None:
    node = dag.layers["reconstruct"][1]
    page = open_page(serve(dag), f"picture/{node}")
    aside = page.locator("aside")
    for text in ("exit code 1", "slot1@node17", "Traceback: <b>no</b>"):
        aside.get_by_text(text).first.wait_for()
    aside.locator("summary", has_text="Variables").click()
    assert aside.get_by_text("<script>alert(1)</script>").is_visible()
    aside.locator("button.file", has_text="error").click()
    page.locator("pre.text", has_text="MemoryError").wait_for()
    with open(dag.directory / "reconstruct_01.err", "a") as error:
        error.write("and more <i>text</i>\n")
    page.locator("pre.text", has_text="and more <i>text</i>").wait_for()
    aside.locator("summary", has_text="Parents").click()
    aside.locator("button.near", has_text="simulate_00").click()
    aside.locator("h2", has_text="simulate_00").wait_for()


def test_a_node_that_is_opened_again_has_its_name(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    page = open_page(serve(dag), "picture/0")
    aside = page.locator("aside")
    for _ in range(2):
        aside.locator("h2", has_text="stage_in").wait_for()
        page.get_by_role("button", name="Close the node").click()
        aside.wait_for(state="hidden")
        page.locator("[data-box=n0]").click()


def test_a_file_is_followed_and_read_backwards(serve: Serve, open_page: Open, dag: Study) -> None:
    out, lines = Path(dag.found.out), "the first line\n" + "a line of the middle\n" * 20000
    out.write_text(lines)
    page = open_page(serve(dag), "files", "status of 404")
    text = page.locator("pre.text")
    page.locator(".text-view .view-tools", has_text="420 kB, from").wait_for()
    assert page.evaluate("() => document.querySelector('pre.text').textContent.length") < 70000
    out.write_text(f"{lines}the last line\n")
    text.get_by_text("the last line").wait_for()
    out.write_text("another run\n")
    page.wait_for_function(
        "() => document.querySelector('pre.text').textContent === 'another run\\n'"
    )
    out.write_text(lines)
    tools = page.locator(".text-view .view-tools")
    tools.filter(has_text="420 kB, from 262 kB on").wait_for()
    for place in ("from 62", "from the begin"):
        page.get_by_role("button", name="Earlier").click()
        tools.filter(has_text=place).wait_for()
    text.get_by_text("the first line").wait_for()
    page.get_by_label("File", exact=True).select_option("metrics")
    page.locator(".text-view", has_text="study.dag.metrics does not exist yet").wait_for()


def test_timeline_and_explanation(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "timeline")
    plot = page.locator(".plot")
    plot.wait_for()
    assert plot.get_attribute("aria-label").endswith("56 ended, 2 failed")
    assert page.locator(".plot .column").count() > 0
    plot.hover()
    page.locator(".readout", has_text="running").wait_for()
    page.get_by_label("Time", exact=True).select_option("600")
    page.locator(".plot[aria-label*='at most 8 nodes running']").wait_for()
    page.get_by_role("tab", name="Timeline").press("ArrowRight")
    finding = page.locator(".finding").first
    finding.filter(has_text="1 node has failed").wait_for()
    finding.get_by_role("button", name="reconstruct_01").click()
    page.locator("aside h2", has_text="reconstruct_01").wait_for()


def test_two_runs_are_compared(serve: Serve, open_page: Open, dag: Study, tmp_path: Path) -> None:
    other = Study(tmp_path / "other", [("work", 3)], file="<i>other.dag")
    page = open_page(serve(dag, other), "runs")
    runs = page.get_by_role("table", name="Runs")
    runs.locator("tr", has_text="failed, exit code 1").wait_for()
    assert runs.locator("tbody tr").count() == 2
    table = page.get_by_role("table", name="Comparison")
    table.locator("tr", has_text="run 1").filter(has_text="run 2").wait_for()
    page.get_by_label("B", exact=True).select_option("1")
    page.get_by_label("A", exact=True).select_option("run 2")
    table.locator("tr", has_text=re.compile("run.*run 2.*run 1")).wait_for()
    page.get_by_label("A", exact=True).select_option(f"dag {other.id}")
    table.locator("tr", has_text="<i>other.dag").wait_for()
    table.get_by_role("button", name=dag.names[1]).click()
    page.locator("aside h2", has_text=dag.names[1]).wait_for()


def test_the_attempts_of_a_node_over_time(serve: Serve, open_page: Open, dag: Study) -> None:
    number = dag.layers["reconstruct"][1]
    first, last = Attempt(0), dag.nodes[number].attempts[-1]
    first.cluster, first.procs, first.over, first.value = 77, 1, True, 1
    first.submitted, first.started = dag.begun - 100, dag.begun - 90
    first.ended = first.stopped = dag.begun - 40
    first.ended_procs = 1
    last.number = 1
    dag.nodes[number].attempts = [first, last]
    page = open_page(serve(dag), f"nodes/{number}")
    course = page.locator("aside .course li")
    course.nth(1).wait_for()
    said = course.first.locator(".course-track").get_attribute("aria-label")
    assert said == "idle 10 s, running 50 s, failed"
    widths = [part.bounding_box()["width"] for part in course.first.locator("[class^=s-]").all()]
    assert 3 < widths[1] / widths[0] < 7
    later = course.nth(1).locator(".s-running").bounding_box()
    assert later["x"] > course.first.locator(".s-running").bounding_box()["x"] + widths[1]


def test_the_last_lines_of_files_are_beside_a_node(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    number = dag.layers["reconstruct"][1]
    page = open_page(serve(dag), f"picture/{number}")
    aside = page.locator("aside")
    aside.locator(".tail summary", has_text="Last lines").click()
    aside.locator(".tail pre", has_text="Traceback: <b>no</b>\nMemoryError").wait_for()
    with open(dag.found.out, "a") as out:
        out.write(f"Node {dag.names[number]} failed: \x1b[31m<i>\nNode other\n")
    aside.locator(".tail summary", has_text="DAGMan's log").click()
    log = aside.locator(".tail pre", has_text="failed: ")
    log.wait_for()
    assert "<i>" in log.inner_text() and "Node other" not in log.inner_text()
    assert "\x1b" not in log.inner_text()
    dag.set(number, "running")
    aside.locator(".node-state", has_text="running").wait_for()
    assert aside.locator(".tail[open]").count() == 2


@pytest.mark.parametrize("width", [1300, 400])
def test_hostile_names_are_only_text(
    serve: Serve, open_page: Open, tmp_path: Path, width: int
) -> None:
    dag = Study(tmp_path / "study", [("work", 8)], file="<b>my<b>.dag", names=HOSTILE)
    dag.set_many(range(1, 9), "failed")
    dag.set(1, "failed", "<script>alert(2)</script>")
    dag.note = "<img src=x>"
    Path(dag.found.out).write_bytes(b"<script>alert(3)</script> \xff\xe2\x80\xae\x1b[31m\n")
    dag.findings = [
        finding("<b>", name, {"source": name}, advice=[name], nodes=[name]) for name in HOSTILE
    ]
    server = serve(dag)
    page = open_page(server, "", width=width)
    page.locator("h1", has_text="<b>my<b>.dag").wait_for()
    for view in ("picture", "nodes", "timeline", "explain", "files", "runs"):
        show(page, server, f"{view}/1")
        page.locator(f"#view-{view}").wait_for()
        page.locator("aside h2", has_text="onerror").wait_for()
        assert page.locator("main img, main script, main b:has-text('my')").count() == 0
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), view
        assert not re.search("[\u202e\x1b]", page.locator("main").inner_text())
    show(page, server, "files/1")
    page.locator("pre.text", has_text="<script>alert(3)</script>").wait_for()
    show(page, server, "nodes/3")
    page.locator("aside h2", has_text="evil\\u202egpj.exe").wait_for()


def test_a_dag_of_100_000_nodes(serve: Serve, open_page: Open, tmp_path: Path) -> None:
    dag = Study(tmp_path / "large", [("a", 50000), ("b", 49998)])
    dag.set_many(range(40000), "done")
    server = serve(dag)
    page = open_page(server, "")
    page.locator(".box .share").first.wait_for(state="attached")
    page.get_by_role("tab", name="Nodes").click()
    page.locator(ROWS).first.wait_for()
    page.locator(ROWS).first.focus()
    page.keyboard.press("End")
    page.locator(ROWS, has_text="stage_in").wait_for()
    assert page.locator(".rows .row").count() < 80
    assert page.get_by_role("grid").get_attribute("aria-rowcount") == "100001"
    for start in range(40000, 90000, 10000):
        dag.set_many(range(start, start + 10000), "done")
    page.locator(".numbers", has_text="90,000 of 100,000").wait_for()
    page.keyboard.press("Home")
    page.locator(ROWS, has_text="a_00000").wait_for()
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    assert used < 30e6, f"{used / 1e6:.0f} MB of JavaScript"
    assert len([path for path in server.asked if "/nodes?" in path]) < 40

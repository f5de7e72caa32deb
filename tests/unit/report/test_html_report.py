"""A report as a page, and its style sheet."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from condor_pydagman.follow.run_model import Halted, Hold, NodeRun, Run
from condor_pydagman.report import charts
from condor_pydagman.report.charts import NAMES
from condor_pydagman.report.html_report import ALL_ROWS, STYLE, Subject, html_report
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import DAG, attempt, make_dag, make_run


class Page(HTMLParser):
    """Checks that tags are closed in order; keeps ids, texts and what is loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.tags: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.loaded += [found[name] for name in ("src", "href") if name in found]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page(run: Run, **more: Any) -> Page:
    subject = Subject(
        "t.dag", "failed", run, make_dag(), 1040.0, lambda when: f"@{when:.0f}",
        lambda when, length: f"{when:.0f}",
    )  # fmt: skip
    text = "".join(html_report(subject._replace(**more)))
    assert "url(" not in text
    assert "@import" not in text
    return Page(text)


def test_more_rows_than_a_table_has() -> None:
    run = make_run()
    for number in range(27):
        run.interventions.add(1000 + number, f"user{number}", "hold", node="A")
    run.interventions.more = 3
    made = page(run, for_all_rows="report --rows 0")
    assert "and 2 more: report --rows 0 shows all rows" in made.text
    assert "and 3 more, see condor_pydagman events" in made.text
    assert "user26" not in made.text
    assert "user26" in page(run, most_rows=ALL_ROWS).text


def test_a_node_that_is_named_like_html() -> None:
    run = make_run()
    evil = "<script>alert('x')</script>\x1b&"
    run.nodes[evil] = NodeRun(evil, NodeStatus.ERROR)
    run.nodes[evil].attempts = [attempt(0, 1001, 1002, 1003, 1)]
    made = page(run)
    assert "script" not in made.tags
    assert "<script>alert('x')</script>\\x1b&" in made.text


def test_where_the_time_of_the_critical_path_went() -> None:
    run = make_run()
    dag = make_dag(f"{DAG}FINAL F f.sub\n")
    made = page(run, dag=dag).text.replace("\n", "")
    assert "2 % before submission, 22 % waiting in the queue, 58 % running, 15 % in scripts" in made
    assert "Between: from one attempt" in made
    assert "make these nodes faster" in made
    run.nodes["F"] = NodeRun("F", NodeStatus.DONE)
    run.nodes["F"].attempts = [attempt(0, 1040, 1041, 1050)]
    run.ended = 1050.0
    assert "20 % after these nodes (FINAL F)" in page(run, dag=dag).text
    run.nodes = {name: run.nodes[name] for name in "DF"}
    run.begun = 900.0
    assert "the logs do not tell what they waited for" in page(run, dag=dag).text
    run.halts = [Halted(900.0, 1000.0)]
    assert "80 % with the DAG halted. To make the run faster" in page(run, dag=dag).text


def test_time_on_hold_makes_no_node_slow() -> None:
    run = make_run()
    held = run.nodes["D"].attempts[-1]
    held.started, held.ended, run.ended = 1100.0, 1110.0, 1110.0
    held.holds = [Hold(1027, "no such file", 13, 2, "7.0", 1097)]
    made = page(run).text.replace("\n", " ")
    assert "Most of that time jobs were on hold: D for 1 min 10 s." in made
    assert "make these nodes faster" not in made
    assert "in which all waited or was on hold, 1 min 16 s in all; they" in made


def test_many_nodes_are_folded() -> None:
    run = Run()
    run.begun, run.ended = 1000.0, 1100.0
    for number in range(charts.MAX_ROWS + 1):
        node = run.nodes[f"n{number}"] = NodeRun(f"n{number}", NodeStatus.DONE)
        node.attempts = [attempt(0, 1000 + number % 50, 1050, 1060)]
    made = page(run, dag=None)
    assert "Each row is a group of nodes" in made.text
    assert "n#" in made.text
    assert "n17" not in made.text


# The style sheet of a report.


def test_every_part_of_a_chart_has_a_colour_in_light_and_dark() -> None:
    assert STYLE.count("{") == STYLE.count("}")
    for part in NAMES:
        assert f".{part} {{ fill: var(--{part})" in STYLE
        assert STYLE.count(f"--{part}: #") == 2

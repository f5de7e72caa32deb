"""A report as a page, and its style sheet."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.run_model import Halted, Hold, NodeRun, Run, Start
from condor_pydagman.report import charts
from condor_pydagman.report.all_runs import all_runs
from condor_pydagman.report.charts import NAMES
from condor_pydagman.report.html_report import ALL_ROWS, STYLE, Subject, html_report
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeStatus
from tests.unit.report.runs import DAG, attempt, make_dag, make_run

EMPTY = {"meta", "br", "rect", "path"}


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


def test_all_sections() -> None:
    run = make_run()
    made = page(run, picture="<svg></svg>", subdags=[("S", "condor_pydagman report s.dag")])
    assert made.ids == [
        "failures", "timeline", "concurrency", "path", "kinds", "resources", "retries", "holds",
        "picture", "subdags",
    ]  # fmt: skip
    assert not made.loaded
    assert "script" not in made.tags
    for words in ("failed, exit code 1", "40 s", "signal 9 (Killed)", "no <such> file", "work.sub"):
        assert words in made.text


def test_what_is_told_of_a_run() -> None:
    run = make_run()
    run.ended, run.exit_code, run.complete, run.removed = 0.0, None, False, True
    run.rescue_read, run.rescue_written = "t.rescue001", "t.rescue002"
    said = (Evidence("log", "Aborting it", 1003.0), Evidence("log", "brake b: 2 failed", 1002.0))
    ended = Notice("dag.aborted", Weight.PROBLEM, "A brake: Aborting it.", evidence=said)
    run.halts = [Halted(1001, 1002)]
    run.starts.append(Start(1020, recovering=True))
    made = page(run, dag=None, dag_problem="it is gone", notices=(ended,))
    for words in (
        "had not ended", "The nodes log is missing", "no critical path: it is gone",
        "started from t.rescue001",
        "wrote t.rescue002", "A brake: Aborting it.", "@1002: brake b: 2 failed",
        "Halted from @1001 to @1002",
        "started 2 times: @1000, @1020",
    ):  # fmt: skip
        assert words in made.text
    assert "@1003" not in made.text
    assert "path" not in made.ids


def test_what_people_and_features_have_done() -> None:
    run = make_run()
    done = run.interventions
    for number, node in enumerate(("A", "B", "C", "D")):
        done.add(1010 + number, "ann", "cancel retry", node=node)
    done.add(1020, "brake sick", "HALT", "2 nodes failed")
    done.add(1021, "", "nodes added")
    run.halts = [Halted(1015, 1018, "bob: look first")]
    made = page(run)
    assert "@1010 to @1013anncancel retryA, B, C and 1 more" in made.text.replace("\n", "")
    for words in ("bob: look first", "resumed", "brake sick", "2 nodes failed", "nodes added"):
        assert words in made.text
    assert made.text.index("bob: look first") < made.text.index("resumed")


def test_all_runs() -> None:
    last = make_run()
    first, interrupted = make_run(), Run()
    first.begun, first.ended, first.removed, first.counts = 800.0, 850.0, True, (4, 3)
    interrupted.begun = interrupted.last = 900.0
    last.rescue_read = "t.rescue001"
    for node in first.nodes.values():
        for one in node.attempts:
            one.submitted, one.started, one.ended = 810.0, 811.0, 820.0
            one.pre = one.post = None
            one.holds = []
    seen = all_runs([first, interrupted], last, make_dag())
    made = page(seen.whole, all_runs=seen)
    assert made.ids[:2] == ["runs", "failures"]
    for words in (
        "3 runs: 1 min 30 s in runs, 2 min 30 s between them", "removed, exit code 1", "3 of 4",
        "interrupted", "t.rescue001", "4 nodes that began in several runs", "1, 3",
        "Of runs before the last", "2retries", "4repeats", "1 node with retries", "\nB2done",
    ):  # fmt: skip
        assert words in made.text
    assert "did not run again" not in made.text
    assert "DAGMan was started" not in made.text


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


def test_service_nodes_are_removed_at_the_end() -> None:
    run = make_run()
    run.nodes["S"] = NodeRun("S", NodeStatus.ERROR)
    run.nodes["S"].is_service = True
    run.nodes["S"].attempts = [attempt(0, 1001, 1002, 1039, RETURN_JOB_ABORTED)]
    made = page(run, dag=make_dag(f"{DAG}SERVICE S s.sub\n"))
    assert "3 of 4nodes done" in made.text
    assert "was removed" not in made.text
    assert "S: attempt 1 failed" not in made.text
    run.nodes["S"].attempts[-1].value = 3
    made = page(run, dag=make_dag(f"{DAG}SERVICE S s.sub\n"))
    assert "S: attempt 1 failed" in made.text
    assert "exit code 3" in made.text


def test_a_run_in_which_nothing_has_happened() -> None:
    run = Run()
    run.nodes = {"A": NodeRun("A")}
    assert page(run).ids == []


def test_a_node_that_is_named_like_html() -> None:
    run = make_run()
    evil = "<script>alert('x')</script>\x1b&"
    run.nodes[evil] = NodeRun(evil, NodeStatus.ERROR)
    run.nodes[evil].attempts = [attempt(0, 1001, 1002, 1003, 1)]
    made = page(run)
    assert "script" not in made.tags
    assert "<script>alert('x')</script>\\x1b&" in made.text


def test_what_a_failed_node_has_written() -> None:
    made = page(make_run(), excerpts={"D": ["no <such> module", "sorry"]})
    assert "Output of D" in made.text
    assert "no <such> module\nsorry" in made.text


def test_a_run_is_as_long_as_its_dagman_ran() -> None:
    run = make_run()
    run.nodes["D"].attempts[-1].ended = 1040.7  # .dagman.out has whole seconds
    assert "40 smakespan" in page(run).text


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

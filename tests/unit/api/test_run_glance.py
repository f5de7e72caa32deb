"""A run in a cell of a notebook: what it says, that names stay text, and that it stays live."""

from __future__ import annotations

import builtins
import json
import os
import queue
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman import DagRun, UsageError
from condor_pydagman.api import glance_process, live_view, run_glance
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.pool import processes
from tests import locks
from tests.dag_logs import DagLogs
from tests.waiting import LIMIT_S, until

EVIL = "<script>alert('&quot;')</script>"
REASON = "<img/src=x/onerror=alert(1)>"
DAG = f"JOB {EVIL} a.sub\nJOB B a.sub\nJOB C b.sub\nPARENT {EVIL} CHILD C\n"


class Tags(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in ("br", "img", "path", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def logs(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> DagLogs:
    monkeypatch.setattr(schedd_queries, "queued_dagman_ad", lambda cluster: {})
    monkeypatch.setattr(schedd_queries, "ended_job", lambda *_: {})
    Path("t.dag").write_text(DAG)
    Path("a.sub").write_text("executable = x\nerror = a.err\nqueue\n")
    Path("a.err").write_text(f"no such sample {REASON}\n")
    made = DagLogs(work_directory).start()
    made.submit(EVIL, 7)
    made.submit("B", 8)
    made.now += 2
    made.execute(7, slot=f"slot1@{REASON}")
    made.hold(8, reason=f"no {REASON}")
    made.now += 5
    made.terminate(7, value=3)
    return made


def shown() -> tuple[str, Tags]:
    bundle = DagRun("t.dag")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    return bundle["text/plain"], Tags(bundle["text/html"])


def test_what_it_says(logs: DagLogs) -> None:
    with locks.held("t.dag.lock", "42\n"):
        text, page = shown()
    assert "done 0 of 3" in text
    assert "t.dag running job 42" in page.text
    assert f"Node {EVIL} failed: its job ended with exit code 3." in page.text
    assert f"no such sample {REASON}" in page.text  # what it has written
    assert f"no {REASON}" in page.text  # why B is held
    assert "condor_release 8.0" in page.text
    assert "condor_pydagman explain t.dag" in page.text
    assert page.opened.count("svg") == 1


def test_names_and_reasons_stay_text(logs: DagLogs) -> None:
    logs.end(1)
    _, page = shown()
    assert not {"script", "img", "iframe", "a"} & set(page.opened)
    assert not [name for name in page.attributes if name.startswith("on")]
    assert page.open == []


def test_its_style_stays_in_the_cell(logs: DagLogs) -> None:
    html = DagRun("t.dag")._repr_mimebundle_()["text/html"]
    style = html[html.index("<style>") + 7 : html.index("</style>")]
    rules = [rule.strip() for rule in style.split("}") if rule.strip()]
    assert len(rules) > 15
    assert all(one.strip().startswith(".condor-dag") for rule in rules
               for one in rule.partition("{")[0].split(","))  # fmt: skip


def test_a_dag_that_has_not_begun(work_directory: Path) -> None:
    Path("t.dag").write_text(DAG)
    text, page = shown()
    assert text.startswith("t.dag  not started")
    assert "svg" not in page.opened


def test_a_dag_that_has_changed_since(logs: DagLogs) -> None:
    """Its logs tell of nodes that its file does not have any more."""
    Path("t.dag").write_text("JOB X a.sub\nJOB C b.sub\n")
    text, page = shown()
    doubt = f"do not have: {EVIL}, B."
    assert doubt in " ".join(text.split())
    assert doubt in page.text
    assert page.open == []
    assert [row["node"] for row in DagRun("t.dag").attempts()] == [EVIL, "B"]
    events = list(DagRun("t.dag").events(follow=False))
    assert [event.name for event in events if event.node == EVIL][-1] == "node.state"
    assert len({event.id for event in events}) == len(events)


def test_a_log_of_another_version(logs: DagLogs) -> None:
    """What it has of its own is passed over."""
    logs.say("NEWS OF A LATER VERSION 77 of 12")
    logs.event(77, "Something that nobody knows yet\n\tsoon\n", "007.000.000")
    with open("t.dag.dagman.out", "ab") as file:
        file.write(b"\x00\xff not a line\n")
    logs.terminate(8)
    logs.end(1)
    assert [event.name for event in DagRun("t.dag").events()][-1] == "dag.end"
    text, _ = shown()
    assert "done 1 of 3" in text


def test_many_nodes_are_shown_by_their_groups(logs: DagLogs) -> None:
    Path("t.dag").write_text("".join(f"JOB N{n} {'ab'[n % 2]}.sub\n" for n in range(3000)))
    logs.start()
    for n in range(3000):
        logs.submit(f"N{n}", 100 + n)
        logs.execute(100 + n)
    html = DagRun("t.dag")._repr_mimebundle_()["text/html"]
    assert "timeline of groups of nodes" in html
    assert len(html) < 60_000


class Cells:
    """In the place of a kernel's display."""

    def __init__(self) -> None:
        self.made = 0
        self.shown: queue.Queue[dict[str, str]] = queue.Queue()

    def display(self, bundle: dict[str, str], *, raw: bool, display_id: bool) -> Cells:
        assert raw
        assert display_id
        self.made += 1
        self.shown.put(bundle)
        return self

    def update(self, bundle: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.put(bundle)

    def until(self, words: str) -> str:
        while True:
            text = self.shown.get(timeout=LIMIT_S)["text/plain"]
            if words in text:
                return text


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cells]:
    made = Cells()
    shell = SimpleNamespace(kernel=None)
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)  # type: ignore[arg-type]
    display = SimpleNamespace(display=made.display)
    monkeypatch.setitem(sys.modules, "IPython.display", display)  # type: ignore[arg-type]
    yield made


def test_a_cell_stays_live_to_the_end(logs: DagLogs, cells: Cells) -> None:
    run = DagRun("t.dag")
    with locks.held("t.dag.lock", "42\n"):
        run.show(interval=0.1)
        cells.until("held 1")
        logs.terminate(8)
        cells.until("done 1 of 3")
        logs.end(1)
        Path("t.dag.lock").unlink()
    cells.until("failed, exit code 1")
    assert run._view is not None
    process = run._view._process
    assert process is not None
    assert process.wait(LIMIT_S) == 0
    assert cells.made == 1


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is one whose files take long to read."""
    monkeypatch.setattr(run_glance, "MAX_SMALL_BYTES", 0)
    monkeypatch.setattr(live_view, "Glance", None)  # the kernel does not look


@pytest.mark.usefixtures("large")
def test_the_kernel_does_not_wait_for_the_first_look_at_a_large_run(
    logs: DagLogs, cells: Cells
) -> None:
    run = DagRun("t.dag")
    with locks.held("t.dag.lock", "42\n"):
        run.show(interval=60)
        assert cells.until("t.dag: its files are being read")
        assert "held 1" in cells.until("t.dag  running")
        assert run._view is not None
        run._view.close()


@pytest.mark.usefixtures("large")
def test_a_large_run_as_the_value_of_a_cell_is_looked_at_once(logs: DagLogs, cells: Cells) -> None:
    with locks.held("t.dag.lock", "42\n"):
        DagRun("t.dag")._ipython_display_()
        assert cells.until("t.dag: its files are being read")
        assert "held 1" in cells.until("t.dag  running")
    assert cells.made == 1


def test_other_runs_are_shown_at_once(logs: DagLogs, cells: Cells) -> None:
    run = DagRun("t.dag")
    with pytest.raises(NotImplementedError):
        run._ipython_display_()
    for path in Path().glob("t.dag*"):
        path.unlink()
    with pytest.raises(NotImplementedError):
        run._ipython_display_()
    assert not cells.made


def test_another_call_ends_the_first(logs: DagLogs, cells: Cells) -> None:
    run = DagRun("t.dag")
    with locks.held("t.dag.lock", "42\n"):
        run.show(interval=60)
        first = run._view
        run.show(interval=60)
        assert first is not None
        assert first._process is not None
        first._process.wait(LIMIT_S)
        assert run._view is not None
        assert run._view._process is not None
        run._view.close()
        run._view._process.wait(LIMIT_S)
    assert cells.made == 2
    assert "no longer updated" not in "".join(one["text/plain"] for one in cells.shown.queue)


def test_a_view_ends_although_a_child_of_the_kernel_has_its_pipe(
    logs: DagLogs, cells: Cells
) -> None:
    run = DagRun("t.dag")
    with locks.held("t.dag.lock", "42\n"):
        run.show(interval=60)
        view = run._view
        assert view is not None
        assert view._process is not None
        assert view._process.stdin is not None
        child = os.dup(view._process.stdin.fileno())
        view.close()
        view._process.wait(LIMIT_S)
        os.close(child)


@pytest.mark.parametrize("interval", [float("nan"), -1, 1e30])
def test_an_interval_that_is_none(logs: DagLogs, cells: Cells, interval: float) -> None:
    with pytest.raises(UsageError, match="a number of seconds"):
        DagRun("t.dag").show(interval)


def test_a_view_that_breaks_down_says_so(logs: DagLogs, cells: Cells) -> None:
    run = DagRun("t.dag")
    with locks.held("t.dag.lock", "42\n"):
        run.show(interval=0.1)
        assert run._view is not None
        assert run._view._process is not None
        run._view._process.kill()
        cells.until("no longer updated")


def test_a_run_that_is_over_needs_no_process(logs: DagLogs, cells: Cells) -> None:
    logs.end(1)
    run = DagRun("t.dag")
    run.show()
    assert run._view is not None
    assert run._view._process is None
    cells.until("failed, exit code 1")


KERNEL = """\
import os, sys
from condor_pydagman.api.live_view import LiveView
from condor_pydagman.api.run_identity import RunIdentity
run = RunIdentity("t.dag")
view = LiveView(run, run.found(), 0.1, lambda bundle, **_: sys.stderr)
if os.fork():
    print(view._process.pid, flush=True)
sys.stdin.readline()
"""


def test_the_process_ends_when_the_kernel_dies(logs: DagLogs) -> None:
    """A child that the kernel has forked, as multiprocessing does, has all of its pipes."""
    argv = [sys.executable, "-c", KERNEL]
    with (
        locks.held("t.dag.lock", "42\n"),
        subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as kernel,
    ):
        assert kernel.stdout is not None
        pid = int(kernel.stdout.readline())
        assert processes.stat_of(pid).alive
        kernel.kill()
        until(lambda: not processes.stat_of(pid).alive, "the end of the process")


def test_a_terminal_gets_the_text(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    real = builtins.__import__

    def no_ipython(name: str, *words: Any) -> Any:
        assert not name.startswith("IPython")
        return real(name, *words)

    monkeypatch.setattr(builtins, "__import__", no_ipython)
    DagRun("t.dag").show()
    assert "done 0 of 3" in capsys.readouterr().out


def test_the_process_says_what_is_wrong_and_ends(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    order = json.dumps({"dag": "no.dag", "interval": 1.0})
    monkeypatch.setattr("sys.stdin", SimpleNamespace(readline=lambda: order))
    assert glance_process.main() == 0
    assert "there is no DAG file no.dag" in json.loads(capsys.readouterr().out)["text/plain"]

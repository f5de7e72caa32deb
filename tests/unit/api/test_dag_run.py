"""A run as one object: which run it is, when it has ended, its events and its tables."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from IPython.lib.pretty import pretty

from condor_pydagman import (
    DagRun,
    DagState,
    DagTimeout,
    FileError,
    PoolError,
    SubmittedDag,
    UsageError,
    Weight,
)
from condor_pydagman.api import node_logs, run_end
from condor_pydagman.cli import pydagman
from condor_pydagman.monitor import schedd_queries
from tests import locks
from tests.dag_logs import BEGIN, DagLogs
from tests.schemas import check

T = TypeVar("T")
DAG = "JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n"


class Clock:
    """In the place of the module `time`: nobody waits; `then` happens at the first sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.then: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert len(self.slept) < 5000, "it waits for ever"
        self.slept.append(seconds)
        self.now += seconds
        self.then()

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("time.monotonic", made.monotonic)
    monkeypatch.setattr("time.sleep", made.sleep)
    return made


@pytest.fixture
def logs(work_directory: Path) -> DagLogs:
    (work_directory / "t.dag").write_text(DAG)
    made = DagLogs(work_directory).start()
    made.submit("A", 7)
    return made


@pytest.fixture
def schedd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """The ad of job 42, which a test changes; {} is a job that nobody knows, None no schedd."""
    ad: dict[str, Any] = {
        "ClusterId": 42, "JobStatus": 2, "Iwd": str(tmp_path), "Arguments": "-Dag t.dag",
    }  # fmt: skip

    def queued(cluster: int) -> dict[str, Any]:
        if ad.get("silent"):
            raise PoolError("no answer", transient=True)
        return dict(ad) if ad.get("JobStatus", 4) not in (3, 4) else {}

    def known(cluster: int) -> dict[str, Any]:
        if ad.get("silent"):
            raise PoolError("no answer", transient=True)
        if not ad:
            raise PoolError(f"the schedd has no DAGMan job {cluster}", transient=False)
        return dict(ad)

    monkeypatch.setattr(schedd_queries, "queued_dagman_ad", queued)
    monkeypatch.setattr(schedd_queries, "dagman_ad", known)
    monkeypatch.setattr(schedd_queries, "my_dagman_ads", lambda: [dict(ad)] if ad else [])
    monkeypatch.setattr("condor_pydagman.api.dag_state.dagman_ad", known)
    return ad


@pytest.fixture
def dagman(logs: DagLogs) -> Iterator[Any]:
    """A DAGMan of job 42 that lives."""
    with locks.held("t.dag.lock", "42\n") as process:
        yield process


def end(logs: DagLogs, dagman: Any, code: int = 0) -> Callable[[], None]:
    """The DAG ends."""

    def do() -> None:
        if dagman.poll() is None:
            logs.end(code)
            Path("t.dag.lock").unlink()
            dagman.kill()
            dagman.wait()

    return do


def test_what_it_is_about(logs: DagLogs, schedd: dict[str, Any], dagman: Any) -> None:
    path = str(Path("t.dag").resolve())
    by_file, by_job = DagRun("t.dag"), DagRun(42, messages=["careful"])
    assert (by_file.dag_file, by_file.cluster, by_file.messages) == (path, 42, ())
    assert (by_job.dag_file, by_job.cluster, by_job.messages) == (path, 42, ("careful",))
    assert repr(by_job) == f"<DagRun of {path}, job 42>"
    assert by_file.status.state is by_job.status.state is DagState.RUNNING


def test_it_stays_what_it_is_in_another_directory(
    logs: DagLogs, dagman: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = DagRun("t.dag")
    monkeypatch.chdir("/")
    assert run.status.state is DagState.RUNNING


@pytest.mark.usefixtures("schedd")
def test_the_run_of_a_submission(logs: DagLogs, dagman: Any) -> None:
    run = SubmittedDag(42, "t.dag.condor.sub", ("careful",)).run
    assert (run.cluster, run.messages) == (42, ("careful",))
    with pytest.raises(UsageError, match="was not submitted"):
        SubmittedDag(None, "t.dag.condor.sub").run  # noqa: B018


def test_a_dag_that_is_not_there(tmp_path: Path, schedd: dict[str, Any]) -> None:
    with pytest.raises(FileError, match="there is no DAG file"):
        DagRun(tmp_path / "no.dag")
    with pytest.raises(UsageError, match="is a directory"):
        DagRun(tmp_path)
    schedd.clear()
    with pytest.raises(PoolError, match="no DAGMan job 42"):
        DagRun(42)


def test_waiting_for_the_end(logs: DagLogs, clock: Clock, dagman: Any) -> None:
    clock.then = end(logs, dagman, 1)
    status = DagRun("t.dag").wait(60)
    assert (status.state, status.exit_code) == (DagState.FAILED, 1)
    assert clock.slept == [run_end.LOOK_S]


def test_while_dagman_lives_nobody_else_is_asked(
    logs: DagLogs,
    clock: Clock,
    dagman: Any,
    schedd: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = DagRun(42)
    monkeypatch.setattr(run_end.RunEnd, "_ended", lambda *_: pytest.fail("it looked"))
    with pytest.raises(DagTimeout) as caught:
        run.wait(100)
    assert len(clock.slept) == 200
    assert caught.value.status is not None
    assert str(caught.value) == "t.dag is running after 100 s of waiting; it goes on"


def test_a_dagman_whose_lock_is_not_seen_is_not_asked_for_at_each_line(
    logs: DagLogs, clock: Clock, schedd: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another machine, or one of another program."""
    run, asked = DagRun(42), []

    def ended(*_: Any) -> None:
        asked.append(clock.now)

    monkeypatch.setattr(run_end.RunEnd, "_ended", ended)
    clock.then = lambda: logs.say("it writes all the time")
    with pytest.raises(DagTimeout):
        run.wait(100)
    assert 40 < len(asked) <= 60


def test_something_before_the_end(logs: DagLogs, clock: Clock, dagman: Any) -> None:
    clock.then = lambda: logs.counts(2, 1, 0, 0, 0, 0, 1, 0, 0)
    found = DagRun("t.dag").wait(60, lambda status: status.counts and status.counts.done == 1)
    assert (found.state, clock.slept) == (DagState.RUNNING, [run_end.LOOK_S])


def test_a_job_that_is_held_is_waited_for_and_said(
    logs: DagLogs, clock: Clock, schedd: dict[str, Any]
) -> None:
    Path("t.dag.lock").write_text("42\n")
    schedd.update(JobStatus=5, HoldReason="disk full")
    for run in DagRun("t.dag"), DagRun(42):
        with pytest.raises(TimeoutError, match=r"t\.dag is held after 600 s of waiting: disk full"):
            run.wait(600)
        assert run.wait(9, lambda status: status.state is DagState.HELD).cluster == 42
    assert len(clock.slept) < 3000


def test_a_job_that_was_removed_while_it_was_held(
    logs: DagLogs, clock: Clock, schedd: dict[str, Any]
) -> None:
    """No DAGMan has ended the run in its log."""
    Path("t.dag.lock").write_text("42\n")
    run, by_job = DagRun("t.dag"), DagRun(42)
    schedd.update(JobStatus=3)
    assert run.wait(60).state is by_job.wait(60).state is DagState.REMOVED
    assert not clock.slept
    assert "dag.end" not in [event.name for event in run.events()]


def test_an_interrupted_run_that_nobody_takes_up(
    logs: DagLogs, clock: Clock, schedd: dict[str, Any]
) -> None:
    Path("t.dag.lock").write_text("42\n")
    schedd.clear()
    with pytest.raises(DagTimeout) as caught:
        DagRun("t.dag").wait(0)
    assert str(caught.value) == "t.dag is interrupted after 0 s of waiting"
    assert DagRun("t.dag").wait(600).state is DagState.INTERRUPTED
    assert run_end.ASK_S < clock.now < 3 * run_end.ASK_S  # it might be started again


def test_a_schedd_that_is_away_is_waited_for(
    logs: DagLogs, clock: Clock, schedd: dict[str, Any]
) -> None:
    Path("t.dag.lock").write_text("42\n")
    run = DagRun(42)
    schedd.update(silent=True)
    with pytest.raises(PoolError, match="no answer"):
        run.status  # noqa: B018
    with pytest.raises(DagTimeout, match=r"not ended in 300 s.*not known: no answer") as caught:
        run.wait(300)
    assert caught.value.status is None
    with pytest.raises(DagTimeout, match="is interrupted"):
        DagRun("t.dag").wait(300)


def test_a_job_that_nobody_knows_any_more(
    logs: DagLogs, clock: Clock, schedd: dict[str, Any]
) -> None:
    run = DagRun(42)
    schedd.clear()
    with pytest.raises(PoolError, match="no DAGMan job 42"):
        run.wait()
    assert clock.now > run_end.ASK_S  # the history may have it a moment later


def test_a_dag_that_was_never_submitted(work_directory: Path, clock: Clock) -> None:
    Path("t.dag").write_text(DAG)
    run = DagRun("t.dag")
    assert run.status.state is DagState.NOT_STARTED
    with pytest.raises(FileError, match=r"t\.dag was not submitted; to submit it: submit_dag"):
        run.wait()
    assert run.attempts() == []
    with pytest.raises(FileError, match="has not run"):
        run.report()


def test_a_dag_file_that_vanishes_does_not_matter(logs: DagLogs, clock: Clock, dagman: Any) -> None:
    run = DagRun("t.dag")
    Path("t.dag").unlink()
    clock.then = end(logs, dagman)
    assert run.wait().state is DagState.SUCCEEDED


def test_files_that_vanish_while_they_are_followed(logs: DagLogs, clock: Clock) -> None:
    run, directory = DagRun("t.dag"), Path.cwd()
    clock.then = lambda: directory.exists() and directory.rename(f"{directory}-moved")
    events = run.events()
    assert next(events).name == "dag.start"
    with pytest.raises(FileError, match=r"t\.dag were removed or moved"):
        list(events)
    with pytest.raises(FileError, match="there is no DAG file"):
        run.wait()
    assert "there is no DAG file" in run._repr_mimebundle_()["text/plain"]


def test_events(logs: DagLogs, clock: Clock, dagman: Any) -> None:
    run = DagRun("t.dag")
    first, *_ = known = list(run.events(follow=False))
    assert [event.name for event in known] == ["dag.start", "job.submit", "node.state"]
    clock.then = end(logs, dagman)
    assert [event.name for event in run.events(first.id)][-1] == "dag.end"
    with pytest.raises(UsageError):
        run.events("what")


def in_a_loop(what: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread: that of the tests may have a loop, of a browser."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, what).result()


def test_asyncio(logs: DagLogs, clock: Clock, dagman: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asyncio.sleep", clock.sleep_async)
    run, before = DagRun("t.dag"), threading.active_count()

    async def names() -> list[str]:
        return [event.name async for event in run.events_async()]

    async def all_of_it() -> list[str]:
        with pytest.raises(DagTimeout, match="after 3 s of waiting"):
            await run.wait_async(3)
        clock.then = end(logs, dagman)
        assert (await run.wait_async()).state is DagState.SUCCEEDED
        return await names()

    assert in_a_loop(all_of_it())[-1] == "dag.end"
    assert threading.active_count() == before


def test_asyncio_can_be_cancelled(logs: DagLogs, dagman: Any) -> None:
    run = DagRun("t.dag")

    async def both() -> list[object]:
        async def follow() -> None:
            async for _ in run.events_async():
                heard.set()

        heard = asyncio.Event()
        tasks = [asyncio.create_task(run.wait_async()), asyncio.create_task(follow())]
        await heard.wait()
        for task in tasks:
            task.cancel()
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    assert [type(one) for one in in_a_loop(both())] == [asyncio.CancelledError] * 2


@pytest.fixture
def ended(logs: DagLogs) -> DagRun:
    logs.now += 2
    logs.execute(7)
    logs.now += 5
    logs.terminate(7, value=3)
    logs.end(1)
    return DagRun("t.dag")


def test_rows(ended: DagRun) -> None:
    (row,) = ended.attempts()
    assert (row["node"], row["job"], row["value"], row["status"]) == ("A", "7.0", 3, "ERROR")
    assert (row["submit"], row["execute"], row["end"]) == (BEGIN, BEGIN + 2, BEGIN + 7)
    assert (row["hosts"], row["cpu_s"]) == (["slot1@one"], 1.0)
    assert [one["run"] for one in ended.attempts(all_runs=True)] == [1]
    (kind,) = ended.statistics()
    assert (kind["description"], kind["nodes"], kind["failed"]) == ("a.sub", 1, 1)
    assert (kind["waiting_mean_s"], kind["running_max_s"]) == (2.0, 5.0)


def test_a_frame(ended: DagRun, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    made = ended.to_frame()
    assert list(made["node"]) == ["A"]
    assert (made["end"] - made["execute"]).dt.total_seconds().tolist() == [5.0]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="needs the Python package pandas"):
        ended.to_frame()


def test_a_report(ended: DagRun) -> None:
    report = ended.report()
    assert "<h1>t.dag</h1>" in report.html
    file = Path(report.save())
    assert (file.name, file.read_text()) == ("t.dag.report.html", report.html)
    assert Path(report.save("here.html")).exists()
    frame = report._repr_html_()
    assert frame.startswith("<iframe sandbox srcdoc='&lt;!DOCTYPE html&gt;")


def test_commands_to_the_job(logs: DagLogs, dagman: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, str, str]] = []
    monkeypatch.setattr("condor_pydagman.api.dag_run.act_on", lambda *a: asked.append(a))
    run = DagRun("t.dag")
    run.hold("lunch")
    run.release()
    run.remove("enough")
    assert asked == [(42, "Hold", "lunch"), (42, "Release", ""), (42, "Remove", "enough")]
    end(logs, dagman)()
    with pytest.raises(PoolError, match=r"t\.dag has no DAGMan job in the queue"):
        run.remove()


@pytest.mark.parametrize(("code", "more"), [(1, r"failed\); .*goes on"), (0, r"succeeded\)$")])
def test_what_has_ended_can_not_be_steered(
    logs: DagLogs, dagman: Any, code: int, more: str
) -> None:
    end(logs, dagman, code)()
    with pytest.raises(FileError, match=rf"t\.dag is over \({more}"):
        DagRun("t.dag").steer("rerun", "A")


def test_steering_reaches_the_dagman_of_the_file(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "condor_pydagman.adapters.request_client.steer",
        lambda *words, **options: asked.append((words, options)),
    )
    DagRun("t.dag").steer("rerun", "A", "B", descendants=True)
    assert asked == [((str(Path("t.dag").resolve()), "rerun", ("A", "B")), {"descendants": True})]


@pytest.mark.usefixtures("schedd")
def test_what_is_asked_of_an_old_run_does_not_reach_a_later_one(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch, dagman: Any
) -> None:
    steered: list[Any] = []
    monkeypatch.setattr(
        "condor_pydagman.adapters.request_client.steer", lambda *words, **_: steered.append(words)
    )
    run = DagRun(42)
    run.steer("halt")
    Path("t.dag.lock").write_text("43\n")
    with pytest.raises(FileError, match="as job 43, not as job 42 any more"):
        run.steer("halt")
    assert len(steered) == 1
    DagRun("t.dag").steer("halt")
    assert len(steered) == 2


def test_an_old_run_tells_nothing_of_one_that_began_at_once(
    logs: DagLogs, schedd: dict[str, Any], dagman: Any
) -> None:
    run = DagRun(42)
    schedd.update(JobStatus=3, EnteredCurrentStatus=int(BEGIN))
    Path("t.dag.lock").write_text("43\n")
    for what in run.attempts, run.report, lambda: list(run.events(follow=False)):
        with pytest.raises(FileError, match="of a later run than job 42"):
            what()


def test_a_job_of_another_schedd_with_the_same_number_is_left_alone(
    logs: DagLogs, schedd: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schedd of an interrupted run was set up anew, or is on another machine."""
    monkeypatch.setattr("condor_pydagman.api.dag_run.act_on", lambda *_: pytest.fail("it did"))
    Path("t.dag.lock").write_text("42\n")
    schedd.update(Iwd="/elsewhere")
    run = DagRun("t.dag")
    assert run.cluster is None
    with pytest.raises(PoolError, match="has no DAGMan job in the queue"):
        run.remove()


def test_the_name_of_a_file_stays_text(work_directory: Path) -> None:
    Path("\x1b[2J\u202e.dag").write_text(DAG)
    run = DagRun("\x1b[2J\u202e.dag")
    Path("\x1b[2J\u202e.dag").unlink()
    for text in repr(run), run._repr_mimebundle_()["text/plain"].replace("\n", ""):
        assert "\\x1b[2J\\u202e.dag" in text
        assert text.isprintable()


def test_a_run_of_another_user_whose_lock_can_not_be_read(
    logs: DagLogs, clock: Clock, schedd: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, _: not str(path).endswith(".lock"))
    Path("t.dag.lock").write_text("of another user\n")
    Path("t.dag.dagman.log").write_text(
        "000 (041.000.000) once\n...\n000 (042.000.000) again\n...\n"
    )
    run = DagRun("t.dag")
    assert (run.status.state, run.cluster) == (DagState.RUNNING, 42)
    with pytest.raises(DagTimeout, match="is running after 60 s of waiting; it goes on"):
        run.wait(60)
    schedd.update(JobStatus=5)
    assert run.status.state is DagState.HELD
    schedd.clear()
    assert run.wait(60).state is DagState.INTERRUPTED


@pytest.mark.usefixtures("schedd")
def test_explain_says_what_the_command_says(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.execute(7)
    logs.terminate(7, value=3)
    logs.end(1)
    monkeypatch.setenv("COLUMNS", "110")
    run = DagRun("t.dag")
    for words, found in ((["t.dag"], run.explain()), (["t.dag", "B"], run.explain("B"))):
        assert found.is_wrong == bool(pydagman.main(["explain", *words]))
        assert f"{found}\n" == capsys.readouterr().out
        assert pretty(found) == str(found), "a cell of a notebook shows it"
        check("explain", json.loads(json.dumps(found.to_json())))
    assert run.explain().findings[0].cause == "node.exit"
    assert run.explain().findings[0].weight is Weight.PROBLEM
    assert run.explain("B").node == "B"
    with pytest.raises(UsageError, match="no node C"):
        run.explain("C")


def test_logs_of_a_node(logs: DagLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> None:
        raise PoolError("away", transient=True)

    monkeypatch.setattr(schedd_queries, "jobs_of_node", silent)
    Path("a.sub").write_text("output = $(JOB).out\nerror = $(JOB).err\nqueue\n")
    run = DagRun("t.dag")
    idle = run.logs("A")
    assert (idle.text, idle.comes, idle.running, idle.attempt) == ("", True, True, 1)
    assert str(idle) == idle.why == "job 7.0 of node A is idle and has not run yet"
    logs.execute(7)
    logs.terminate(7)
    Path("A.out").write_bytes(b"\x1b[1mtitle\x07 \xff\0\n")
    Path("A.err").write_text("oh\n")
    found = run.logs("A")
    assert found.files == {str(Path("A.out").resolve()): ["7.0"]}
    assert (found.text, found.why, found.running) == ("\x1b[1mtitle\x07 \\xff\0\n", "", False)
    assert str(found) == "\x1b[1mtitle\\x07 \\xff\\x00\n"
    assert pretty(found) == str(found)
    assert run.logs("A", err=True).text == "oh\n"
    Path("A.out").unlink()
    with pytest.raises(FileError, match=r"A\.out is not there"):
        print(found.text)
    for node, attempt, why in (
        ("X", None, "no node X"),
        ("A", 2, "has had 1 attempt: there is no attempt 2, 1 is the first"),
        ("A", 0, "has had 1 attempt: there is no attempt 0, 1 is the first"),
        ("A", -1, "there is no attempt -1"),
    ):
        with pytest.raises(UsageError, match=why):
            run.logs(node, attempt=attempt)


def test_logs_of_much_text(logs: DagLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedd_queries, "jobs_of_node", lambda *_: [])
    monkeypatch.setattr(node_logs, "MAX_BYTES", 10)
    Path("a.sub").write_text("output = $(JOB).out\nqueue\n")
    logs.execute(7)
    logs.terminate(7)
    found = DagRun("t.dag").logs("A")
    Path("A.out").write_text("1234567890")
    assert found.text == "1234567890"
    Path("A.out").write_text("x234567890y")
    assert found.text.endswith("A.out has 11 bytes: its last 10 follow\n234567890y")

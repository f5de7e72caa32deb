"""condor_pydagman logs: what the job of a node has written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import copied_file, pydagman
from condor_pydagman.cli.logs_command import NOTHING_YET
from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.vocabulary import JournalRecord
from tests.dag_logs import BEGIN, DagLogs

SUBMIT = """\
executable = /bin/echo
output = $(JOB).$(Cluster).$(Process).$(v:0).$(RETRY)
error = $(JOB).err
queue
"""
Ads = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def ads(monkeypatch: pytest.MonkeyPatch) -> Ads:
    """Those that the schedd has; without any, it does not answer."""
    known: Ads = []

    def jobs_of_node(cluster: int, *_: Any) -> Ads:
        if not known:
            raise PoolError("away", transient=True)
        return [ad for ad in known if ad["ClusterId"] == cluster]

    monkeypatch.setattr(schedd_queries, "jobs_of_node", jobs_of_node)
    return known


@pytest.fixture
def logs(work_directory: Path) -> DagLogs:
    made = dag(work_directory, 'JOB A a.sub\nVARS A v="x"\n')
    made.submit("A", 7)
    return made


def dag(directory: Path, text: str, submit: str = SUBMIT, name: str = "t.dag") -> DagLogs:
    (directory / name).write_text(text)
    (directory / "a.sub").write_text(submit)
    made = DagLogs(directory, name).start()
    return made


def ad(**values: str) -> dict[str, Any]:
    """Of job 7.0."""
    return {"ClusterId": 7, "ProcId": 0, "DAGNodeName": "A", **values}


def write(path: str, text: str, *, at: float = BEGIN + 60) -> None:
    Path(path).write_text(text)
    os.utime(path, (at, at))


Said = tuple[int, str, str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def of(*words: str) -> Said:
        code = pydagman.main(["logs", "t.dag", *words])
        return (code, *capsys.readouterr())

    return of


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What happens at each look of --follow."""
    coming: list[Callable[[], object]] = []
    monkeypatch.setattr("time.sleep", lambda _: coming.pop(0)())
    return coming


def test_the_output_after_all_macros(logs: DagLogs, said: Callable[..., Said]) -> None:
    logs.execute(7)
    write("A.7.0.x.0", "hello\n")
    write("A.err", "oh\n")
    assert said("A") == (0, "hello\n", "")
    logs.terminate(7)
    assert said("A") == (0, "hello\n", "")
    assert said("A", "--err") == (0, "oh\n", "")


def test_the_ad_counts_more_than_the_description(
    logs: DagLogs, ads: Ads, said: Callable[..., Said], work_directory: Path
) -> None:
    logs.execute(7)
    logs.terminate(7)
    ads.append(ad(Iwd=str(work_directory), Out="other"))
    write("other", "by the ad\n")
    assert said("A") == (0, "by the ad\n", "")


def test_a_job_with_the_same_number_in_a_schedd_that_was_set_up_anew(
    logs: DagLogs, ads: Ads, said: Callable[..., Said], work_directory: Path
) -> None:
    logs.execute(7)
    logs.terminate(7)
    ads.append(ad(Iwd=str(work_directory), Out="other", DAGNodeName="B"))
    write("other", "of another DAG\n")
    write("A.7.0.x.0", "hello\n")
    assert said("A") == (0, "hello\n", "")
    del ads[0]["DAGNodeName"]
    assert said("A") == (0, "hello\n", "")


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("o = $(p)\np = $(o)\nqueue\n", "it is not known where job 7.0 of node A writes"),
        ("queue o from pipe\n", "keeps no standard output"),
    ],
)
def test_a_description_that_the_bindings_would_not_come_to_an_end_with(
    work_directory: Path, said: Callable[..., Said], end: str, why: str
) -> None:
    os.mkfifo("pipe")
    logs = dag(work_directory, "JOB A a.sub\n", f"executable = a\noutput = $(o)\n{end}")
    logs.submit("A", 7)
    logs.execute(7)
    logs.terminate(7)
    code, _, err = said("A")
    assert code == 1
    assert why in err


def test_a_job_that_has_not_run(logs: DagLogs, said: Callable[..., Said]) -> None:
    write("A.7.0.x.0", "of a run before\n")
    code, out, err = said("A")
    assert (code, out) == (NOTHING_YET, "")
    assert "job 7.0 of node A is idle and has not run yet" in err
    logs.hold(7)
    assert "is on hold and has not run yet" in said("A")[2]
    logs.abort(7)
    code, _, err = said("A")
    assert (code, err) == (1, "condor_pydagman: job 7.0 of node A left the queue before it ran\n")


def test_nodes_without_a_job(work_directory: Path, said: Callable[..., Said]) -> None:
    made = dag(work_directory, "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nJOB N a.sub NOOP\n")
    code, _, err = said("B")
    assert (code, err) == (
        NOTHING_YET,
        "condor_pydagman: node B has not run: it is waiting\n",
    )
    assert "node N is a NOOP node" in said("N")[2]
    assert "has no node b; did you mean B?" in said("b")[2]
    made.end(1)
    assert said("B")[0] == 1


def test_a_node_that_an_earlier_run_has_done(
    work_directory: Path, said: Callable[..., Said]
) -> None:
    dag(work_directory, "JOB A a.sub DONE\n", "output = $(JOB).out\nqueue\n")
    assert said("A", "--follow")[::2] == (1, "condor_pydagman: node A has not run: it is done\n")
    write("A.out", "then\n")
    code, out, err = said("A")
    assert (code, out) == (0, "then\n")
    assert "A.out is of an earlier run of the DAG" in err


def test_a_job_that_could_not_be_submitted(work_directory: Path, said: Callable[..., Said]) -> None:
    made = dag(work_directory, "JOB A a.sub\n")
    made.record(JournalRecord.SUBMIT_FAILED, text="no such universe")
    code, _, err = said("A")
    assert code == 1
    assert "node A has no job in attempt 1: no such universe" in err


def test_a_job_whose_output_comes_at_its_end(
    work_directory: Path, said: Callable[..., Said]
) -> None:
    made = dag(work_directory, "JOB A a.sub\n", f"should_transfer_files = YES\n{SUBMIT}")
    made.submit("A", 7)
    made.execute(7)
    code, _, err = said("A")
    assert code == NOTHING_YET
    assert "comes home when it has ended" in err
    assert "condor_tail 7.0 can" in err
    Path("a.sub").write_text(f"should_transfer_files = YES\nstream_output = true\n{SUBMIT}")
    write("A.7.0.0.0", "so far\n")
    assert said("A") == (0, "so far\n", "")


def test_what_an_earlier_run_has_written_is_not_shown(
    logs: DagLogs, said: Callable[..., Said]
) -> None:
    logs.execute(7)
    write("A.7.0.x.0", "old\n", at=BEGIN - 60)
    code, out, err = said("A")
    assert (code, out) == (NOTHING_YET, "")
    assert "has written nothing here yet" in err


def test_attempts_with_files_of_their_own(work_directory: Path, said: Callable[..., Said]) -> None:
    made = two_attempts(work_directory, SUBMIT)
    write("A.7.0.0.0", "one\n")
    write("A.8.0.0.1", "two\n")
    assert said("A") == (0, "two\n", "")
    assert said("A", "--attempt", "1") == (0, "one\n", "")
    assert "node A has had 2 attempts" in said("A", "--attempt", "3")[2]
    made.end()
    assert said("A", "--attempt", "2")[1] == "two\n"


def two_attempts(directory: Path, submit: str) -> DagLogs:
    made = dag(directory, "JOB A a.sub\nRETRY A 3\n", submit)
    made.submit("A", 7)
    made.execute(7)
    made.terminate(7, value=1)
    made.submit("A", 8)
    made.execute(8)
    made.terminate(8)
    return made


def test_a_file_that_all_attempts_write(work_directory: Path, said: Callable[..., Said]) -> None:
    two_attempts(work_directory, "output = out\nqueue\n")
    write("out", "two\n")
    assert said("A")[1] == "two\n"
    code, out, err = said("A", "--attempt", "1")
    assert (code, out) == (1, "")
    assert "all attempts of node A write out, each over what the one before wrote" in err


def test_an_event_log_has_all_attempts(work_directory: Path, said: Callable[..., Said]) -> None:
    two_attempts(work_directory, "log = job.log\nqueue\n")
    write("job.log", "one\ntwo\n")
    assert said("A", "--attempt", "1", "--log") == (0, "one\ntwo\n", "")


def test_the_attempt_before_one_that_waits(work_directory: Path, said: Callable[..., Said]) -> None:
    made = dag(work_directory, "JOB A a.sub\nRETRY A 3\n", "output = out\nqueue\n")
    made.submit("A", 7)
    made.execute(7)
    made.terminate(7, value=1)
    made.submit("A", 8)
    write("out", "one\n")
    assert "--attempt 1 shows what the attempt before wrote" in said("A")[2]
    assert said("A", "--attempt", "1")[:2] == (0, "one\n")


def test_several_jobs(work_directory: Path, said: Callable[..., Said]) -> None:
    submit = "output = o.$(x).$(Process)\nerror = err\nqueue x in (a, b)\n"
    made = dag(work_directory, "JOB A a.sub\n", submit)
    for proc in range(2):
        made.submit("A", 7, proc)
    for proc in range(2):
        made.execute(7, proc)
        made.terminate(7, proc)
    write("o.a.0", "one\n")
    write("o.b.1", "two\n")
    write("err", "both\n")
    assert said("A")[1] == "==> o.a.0 (job 7.0) <==\none\n==> o.b.1 (job 7.1) <==\ntwo\n"
    assert said("A", "--err")[1] == "both\n"
    Path("o.b.1").unlink()
    code, out, err = said("A")
    assert (code, out) == (1, "==> o.a.0 (job 7.0) <==\none\n")
    assert err == "condor_pydagman: o.b.1 is not there\n"


@pytest.mark.parametrize(
    ("submit", "why"),
    [
        ("queue\n", "keeps no standard output"),
        ("output = /dev/null\nqueue\n", "keeps no standard output"),
        ("include : touch ran |\noutput = o\n", "names a file or command that is not"),
    ],
)
def test_no_file_is_known(
    work_directory: Path, said: Callable[..., Said], submit: str, why: str
) -> None:
    made = dag(work_directory, "JOB A a.sub\n", submit)
    made.submit("A", 7)
    made.execute(7)
    made.terminate(7)
    code, _, err = said("A")
    assert code == 1
    assert why in err
    assert not Path("ran").exists()


def test_what_is_no_file(logs: DagLogs, said: Callable[..., Said]) -> None:
    logs.execute(7)
    logs.terminate(7)
    assert "A.7.0.x.0 is not there" in said("A")[2]
    Path("A.7.0.x.0").mkdir()
    assert said("A")[::2] == (1, "condor_pydagman: A.7.0.x.0 can't be read: Is a directory\n")
    os.mkfifo("A.err")
    assert "A.err is not a regular file" in said("A", "--err")[2]


@pytest.mark.usefixtures("work_directory")
def test_a_reader_that_has_enough_is_no_problem_of_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def write_nowhere(_: bytes) -> None:
        raise BrokenPipeError

    write("o", "hello\n")
    monkeypatch.setattr(copied_file, "write", write_nowhere)
    with pytest.raises(BrokenPipeError):
        copied_file.CopiedFiles((os.getuid(), os.getgid()), follow=False).copy({"o": ["7.0"]})


def test_a_hostile_name(work_directory: Path, said: Callable[..., Said]) -> None:
    made = dag(work_directory, "JOB A a.sub\n", "output = \x1b[2J\nqueue\n")
    made.submit("A", 7)
    made.execute(7)
    made.terminate(7)
    assert said("A")[2] == "condor_pydagman: \\x1b[2J is not there\n"


def test_a_node_of_a_sub_dag_and_one_of_a_splice(
    work_directory: Path, said: Callable[..., Said]
) -> None:
    (work_directory / "s.dag").write_text("JOB C a.sub\n")
    dag(work_directory, "SUBDAG EXTERNAL S inner.dag\nSPLICE P s.dag\n").submit("P+C", 6)
    inner = dag(work_directory, "JOB I a.sub\n", name="inner.dag")
    inner.submit("I", 7)
    inner.execute(7)
    inner.terminate(7)
    write("I.7.0.0.0", "inside\n")
    assert said("S+I") == (0, "inside\n", "")
    assert "inner.dag has no node J; did you mean I?" not in said("S+J")[2]
    assert "inner.dag has no node J" in said("S+J")[2]
    code, _, err = said("S")
    assert code == 1
    assert "node S is the DAG inner.dag: name one of its nodes, as S+NODE" in err
    assert "job 6.0 of node P+C is idle" in said("P+C")[2]


def test_a_node_in_a_bundle(work_directory: Path, said: Callable[..., Said]) -> None:
    made = dag(work_directory, "BUNDLE b NODES A\nJOB A a.sub\n", "output = $(JOB).out\nqueue\n")
    made.record("BUNDLED", value=7, text="A", node="")
    made.submit("bundle 7", 9)
    assert "job 9.0 of node A, with others in bundle 7, is idle" in said("A")[2]
    made.execute(9)
    assert "has written nothing here yet" in said("A")[2]
    write("A.out", "bundled\n")
    assert said("A") == (0, "bundled\n", "")


def test_a_data_node(work_directory: Path, said: Callable[..., Said]) -> None:
    made = dag(work_directory, "DATA A a.dap\n")
    made.submit("A", 7)
    made.execute(7)
    Path("t.dag.placements").mkdir()
    write("t.dag.placements/A.out", "copied\n")
    assert said("A")[:2] == (0, "copied\n")
    assert said("A", "--err")[:2] == (0, "copied\n")


def test_a_dag_file_that_is_gone(
    logs: DagLogs, ads: Ads, said: Callable[..., Said], work_directory: Path
) -> None:
    logs.execute(7)
    logs.terminate(7)
    Path("t.dag").unlink()
    ads.append(ad(Iwd=str(work_directory), Out="o"))
    write("o", "by the ad\n")
    code, out, err = said("A")
    assert (code, out) == (0, "by the ad\n")
    assert "the DAG can't be read" in err
    ads.clear()
    code, _, err = said("A")
    assert code == 1
    assert "it is not known where job 7.0 of node A writes: its ad can't be had: away" in err


def test_a_dag_that_was_never_started(logs: DagLogs, said: Callable[..., Said]) -> None:
    logs.log.unlink()
    logs.out.unlink()
    assert "has not started, or its logs were deleted" in said("A")[2]


def test_it_follows_to_the_end(
    logs: DagLogs, said: Callable[..., Said], steps: list[Callable[[], object]]
) -> None:
    path = "A.7.0.x.0"
    steps += [
        lambda: logs.execute(7),
        lambda: write(path, "one\n"),
        lambda: write(path, "one\ntwo\n"),
        lambda: (write(path, "one\ntwo\nthree\n"), logs.terminate(7, value=1), logs.submit("A", 8)),
    ]
    code, out, err = said("A", "--follow")
    assert (code, out) == (0, "one\ntwo\nthree\n")
    assert "is idle and has not run yet" in err
    assert not steps


def test_it_waits_for_what_is_transferred(
    work_directory: Path, said: Callable[..., Said], steps: list[Callable[[], object]]
) -> None:
    made = dag(work_directory, "JOB A a.sub\n", "should_transfer_files = YES\noutput = o\nqueue\n")
    made.submit("A", 7)
    made.execute(7)
    steps += [lambda: None, lambda: (write("o", "all\n"), made.terminate(7))]
    code, out, err = said("A", "-f")
    assert (code, out) == (0, "all\n")
    assert err.count("comes home when it has ended") == 1


def test_the_schedd_is_asked_once(
    logs: DagLogs,
    said: Callable[..., Said],
    steps: list[Callable[[], object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def jobs_of_node(*_: Any) -> Ads:
        asked.append(1)
        return []

    monkeypatch.setattr(schedd_queries, "jobs_of_node", jobs_of_node)
    logs.execute(7)
    steps += [lambda: None, lambda: None, lambda: logs.terminate(7)]
    said("A", "--follow")
    assert asked == [1]


def test_a_huge_file_is_followed_from_near_its_end(
    logs: DagLogs, said: Callable[..., Said], steps: list[Callable[[], object]]
) -> None:
    logs.execute(7)
    with open("A.7.0.x.0", "wb") as file:
        file.truncate(10 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"last\n")
    os.utime("A.7.0.x.0", (BEGIN + 60,) * 2)
    steps += [lambda: logs.terminate(7)]
    code, out, err = said("A", "--follow")
    assert (code, len(out)) == (0, copied_file.LAST_BYTES)
    assert out.endswith("last\n")
    assert "its last 65,536 follow" in err


def test_on_a_terminal(
    logs: DagLogs, said: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    logs.execute(7)
    logs.terminate(7)
    write("A.7.0.x.0", "\x1b[31mred\x1b[0m\r\n\x1b[2J\x07\x9b\n")
    assert said("A")[1] == "\x1b[31mred\x1b[0m\r\n\\x1b[2J\\x07\\x9b\n"
    Path("A.err").write_bytes(b"\x7fELF\0\0")
    code, out, err = said("A", "--err")
    assert (code, out) == (1, "")
    assert "A.err is no text (6 bytes)" in err

"""The runner of a bundle in a shared job: tasks run where their files are."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.features.bundle import runner
from tests.features.bundle.bundle_job import BundleJob, changed
from tests.waiting import is_gone, until

FORKED = changed("", fixed="del os.posix_spawn")
LONG_S = 1000  # what may take as long as it does
IMPATIENT = "m.PATIENCE_S = 0.3"
PATIENT = f"m.PATIENCE_S = {LONG_S}"


@pytest.fixture
def job(tmp_path: Path) -> BundleJob:
    return BundleJob(tmp_path / "job")


def test_tasks_that_end_well_fail_and_die(job: BundleJob) -> None:
    job.add("exit 0", "exit 3", "kill -SEGV $$")
    job.run()
    assert job.outcomes() == [(0, 0), (3, 0), (-11, 11)]


def test_what_the_results_tell(job: BundleJob) -> None:
    job.add("exit 1")
    job.run()
    first, started, ended, last = job.results()
    assert {*first} == {"run", "host", "time"}
    assert first["host"] == os.uname().nodename
    assert {*started} == {"started", "run", "time"}
    assert ended.pop("time") >= ended.pop("begun") == started["time"]
    assert (ended.pop("user") >= 0, ended.pop("system") >= 0, ended.pop("rss") > 0) == (True,) * 3
    assert ended == {
        **{"ended": 1, "run": 0, "code": 1, "signal": 0, "timed_out": False, "missing": []}
    }
    assert (last["handled"], {*last}) == (1, {"handled", "time"})


@pytest.mark.parametrize("command", [(), FORKED], ids=["spawned", "forked"])
def test_what_cannot_be_started(job: BundleJob, command: tuple[str, ...]) -> None:
    job.command = command or job.command
    (job.path / "text").write_text("no program\n")
    (job.path / "script").write_text("exit 0\n")
    (job.path / "script").chmod(0o755)
    job.add(program=f"{job.path}/no such")
    job.add(program=f"{job.path}/text")
    job.add(program=f"{job.path}/script")
    job.add("exit 0", directory=f"{job.path}/no such")
    job.add("exit 0", input="no such")
    job.add("exit 0", output="no such/o")
    job.add("exit 0")
    job.run()
    assert job.outcomes() == [(127, 0), *[(126, 0)] * 5, (0, 0)]
    errors = [line["error"] for line in job.ended().values() if "error" in line]
    assert errors == [
        f"{job.path}/no such: No such file or directory",
        f"{job.path}/text: Permission denied",
        f"{job.path}/script: Exec format error",
        f"{job.path}/no such: No such file or directory",
        "no such: No such file or directory",
        "no such/o: No such file or directory",
    ]


@pytest.mark.parametrize("command", [(), FORKED], ids=["spawned", "forked"])
def test_files_directory_and_environment(job: BundleJob, command: tuple[str, ...]) -> None:
    job.command = command or job.command
    (job.path / "sub").mkdir()
    (job.path / "sub" / "i").write_text("from input\n")
    job.environment |= {"BOTH": "job", "_CONDOR_JOB_IWD": str(job.path), "TMPDIR": "/of/job"}
    job.add(
        'cat; pwd; echo "$OF_JOB $BOTH $OWN $_CONDOR_JOB_IWD $TMPDIR"; echo bad >&2',
        directory=f"{job.path}/sub",
        environment={"OWN": "own", "BOTH": "own"},
        input="i",
        output="o",
        error="../e",
    )
    job.run()
    place = f"{job.path}/sub"
    assert job.text("sub/o") == f"from input\n{place}\njob own own {place} /of/job\n"
    assert (job.path / "sub/o").stat().st_mode & 0o777 == 0o644  # as the umask wants it
    assert job.text("e") == "bad\n"


def test_streams_that_are_not_named(job: BundleJob) -> None:
    job.add("readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 | cat > fds")
    job.run()
    assert job.text("fds") == "/dev/null\n" * 3


def test_a_runner_without_standard_streams(job: BundleJob) -> None:
    job.add("ls /proc/self/fd; readlink /proc/$$/fd/0", output="o")
    job.write()
    command = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *job.command, "tasks"]
    assert subprocess.run(command, cwd=job.path, check=False).returncode == 0
    assert job.text("o") == "0\n1\n2\n3\n/dev/null\n"


@pytest.mark.parametrize("other", ["o", "./o", "../job/o"])
def test_output_and_error_are_one_file(job: BundleJob, other: str) -> None:
    job.add("echo a; echo b >&2; echo c", output="o", error=other)
    job.run()
    assert job.text("o") == "a\nb\nc\n"


@pytest.mark.parametrize("command", [(), FORKED], ids=["spawned", "forked"])
@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "en_US.ISO-8859-1"])
def test_names_and_words_of_any_kind(job: BundleJob, command: tuple[str, ...], locale: str) -> None:
    job.command = command or job.command
    job.environment["LC_ALL"] = locale
    name = 'it\'s "a"\n\\ Größe \u65e5 \udcff'
    place = job.path / "sub" / name
    place.mkdir(parents=True)
    (place / f"i{name}").write_text("input\n")
    job.add(
        'cat; printf "%s|" "$@" "$VAR"',
        directory=str(place),
        input=f"i{name}",
        output=f"o{name}",
        environment={"VAR": name},
    )
    job.tasks[0]["arguments"] += ["sh", name, "", "*"]
    job.run()
    found = (place / f"o{name}").read_text(encoding="utf-8", errors="surrogateescape")
    assert found == f"input\n{name}||*|{name}|"


def test_a_long_output(job: BundleJob) -> None:
    job.add("head -c 50000000 /dev/zero", output="o")
    job.run()
    assert (job.path / "o").stat().st_size == 50_000_000


@pytest.mark.parametrize("command", [(), FORKED], ids=["spawned", "forked"])
def test_tasks_have_the_default_signals_and_a_group(
    job: BundleJob, command: tuple[str, ...]
) -> None:
    job.command = command or job.command
    job.command = ("/bin/sh", "-c", 'trap "" HUP INT CHLD; exec "$@"', "sh", *job.command)
    script = "grep -E 'SigBlk|SigIgn' /proc/self/status; cut -d' ' -f5 /proc/$$/stat; echo $$"
    job.add(script, output="o")
    job.run()
    *masks, group, pid = job.text("o").split()
    of_users = (1 << 31) - 1  # the C library has two more of its own
    assert {int(mask, 16) & of_users for mask in masks[1::2]} == {0}
    assert group == pid


def test_what_stays_behind_is_killed(job: BundleJob) -> None:
    job.add("sleep 1000 & echo $! > pid; exit 4")
    job.add('trap "" TERM; sleep 1000 & echo $! > other; kill -KILL $$')
    job.run()
    assert job.outcomes() == [(4, 0), (-9, 9)]
    for name in ("pid", "other"):
        until(lambda name=name: is_gone(int(job.text(name))), "the process that stayed")


# The clock jumps beyond the time limit once there is the file `ready`.
READY = """
real = m.time
class Clock:
    time = real.time
    def monotonic(): return real.monotonic() + 1e4 * os.path.exists('ready')
m.time = Clock
"""


@pytest.mark.parametrize(
    ("script", "grace_s", "outcome"),
    [
        ("echo > ready; exec sleep 1000", LONG_S, (-15, 15)),
        ('trap "exit 5" TERM; echo > ready; sleep 1000 & wait', LONG_S, (5, 0)),
        ('trap "" TERM; echo > ready; sleep 1000; exit 1', 0.05, (-9, 9)),
    ],
)
def test_timeouts(job: BundleJob, script: str, grace_s: float, outcome: tuple[int, int]) -> None:
    """The end of the second task wakes the runner."""
    job.command = changed(f"{READY}m.GRACE_S = {grace_s}")
    job.head["parallel"] = 2
    job.add(script, timeout=5000)
    job.add("while [ ! -e ready ]; do sleep 0.02; done; exit 6")
    job.add("exit 7", timeout=5000)
    job.run()
    assert job.outcomes() == [outcome, (6, 0), (7, 0)]
    ended = job.ended()
    assert [ended[number]["timed_out"] for number in (1, 2, 3)] == [True, False, False]


def test_a_timeout_by_the_clock(job: BundleJob) -> None:
    job.add("exec sleep 1000", timeout=0.1)
    job.run()
    assert job.outcomes() == [(-15, 15)]


def test_so_many_at_a_time_in_order(job: BundleJob) -> None:
    """The first two wait for each other; no more run at any time."""
    job.head["parallel"] = 2
    os.mkfifo(job.path / "pipe")
    job.add("echo met > pipe")
    job.add("cat pipe", output="o")
    for _ in range(8):
        job.add("exit 0")
    job.run()
    assert job.text("o") == "met\n"
    runs: set[int] = set()
    order = []
    for line in job.results():
        if "started" in line:
            runs.add(line["started"])
            order.append(line["started"])
        runs.discard(line.get("ended", 0))
        assert len(runs) <= 2
    assert order == [*range(1, 11)]


def test_tasks_that_would_wait_for_a_long_one_are_released(job: BundleJob) -> None:
    job.head.update(parallel=2, release=0.2)
    for _ in range(2):
        job.add("exec sleep 1000", timeout=0.6)
    job.add("exit 0", "exit 0")
    job.run()
    (line,) = [line for line in job.results() if "released" in line]
    assert line["released"] == [3, 4]
    assert {*job.ended()} == {1, 2}
    job.run()  # in another run, neither
    assert {*job.ended()} == {1, 2}


def test_results_go_to_standard_output_as_well_if_that_is_asked_for(job: BundleJob) -> None:
    """Those of earlier runs, too: HTCondor begins the file anew."""
    job.head["stream"] = True
    job.add("exit 0")
    for _ in range(2):
        with (job.path / "streamed").open("w") as stream:
            job.run(stdout=stream)
        assert job.text("streamed") == job.text("results")


@pytest.mark.parametrize("taken", [True, False])
def test_what_is_not_taken_is_offered_again_soon(taken: bool) -> None:
    results = SimpleNamespace(stream=SimpleNamespace(flush=lambda: taken))
    run: Any = SimpleNamespace(running={}, releases=list, results=results)
    assert (runner.Runner.limit(run) > runner.PAUSE_S) is taken


def test_nothing_waits_for_standard_output(job: BundleJob) -> None:
    """What is not taken is offered again; nobody may read it at all."""
    job.head["stream"] = True
    for _ in range(500):
        job.add("exit 0")
    reads, writes = os.pipe()
    process = job.start(stdout=writes)
    os.close(writes)
    until(lambda: '"handled"' in job.text("results"), "all have ended")
    with open(reads) as stream:
        assert job.text("results").startswith(stream.read())
    assert process.wait() == 0
    reads, writes = os.pipe()
    os.close(reads)
    job.run(stdout=writes)
    os.close(writes)


@pytest.mark.parametrize(("by", "runs"), [(1, [1]), (2, [])])
@pytest.mark.parametrize("told", [{"released": [1]}, {"ended": 1, "code": 0, "signal": 0}])
def test_only_the_last_run_releases_and_ends(
    job: BundleJob, told: dict[str, Any], by: int, runs: list[int]
) -> None:
    """As it is for DAGMan: what an earlier one tells when the last has begun is in vain."""
    job.add("exit 0")
    lines: list[dict[str, Any]] = [{"run": number, "host": "h", "time": 1.0} for number in (1, 2)]
    lines.append({**told, "run": by, "time": 1.0})
    (job.path / "results").write_text("".join(json.dumps(line) + "\n" for line in lines))
    job.run()
    assert [one["started"] for one in job.results() if "started" in one] == runs


@pytest.mark.parametrize(
    "line", ["", "[", '{"released": ', '{"released": 1}', '{"released": [[]]}', '{"released": [1]}']
)
def test_a_line_that_releases_nothing(job: BundleJob, line: str) -> None:
    job.add("exit 0")
    (job.path / "results").write_text(line + "\n")
    job.run()
    assert job.outcomes() == [(0, 0)]


def test_no_tasks(job: BundleJob) -> None:
    job.run()
    assert job.results()[-1]["handled"] == 0


@pytest.mark.parametrize("how", ["KILL", "TERM"])
def test_a_task_that_kills_the_runner(job: BundleJob, how: str) -> None:
    job.add("echo once >> first")
    job.add(f"[ -e killed ] && exit 2; > killed; kill -{how} $PPID; exec sleep 1000", "exit 3")
    job.run(-9 if how == "KILL" else 22)
    assert {*job.ended()} == {1}
    assert job.results()[-1] == {**job.results()[-1], "started": 2}
    job.run()
    assert job.outcomes() == [(0, 0), (2, 0), (3, 0)]
    assert job.text("first") == "once\n"


def test_a_task_that_is_killed_with_the_runner_has_no_result(job: BundleJob) -> None:
    job.add("[ -e killed ] && exit 0; > killed; kill -TERM $PPID; kill -KILL $$")
    job.run(22)
    assert not job.ended()
    job.run()
    assert job.outcomes() == [(0, 0)]


@pytest.mark.parametrize(
    "line",
    [
        '{"ended": 2, "run": 1, "code"',
        '{"ended": "2", "run": 1, "code": 0, "signal": 0}\n',
        '{"ended": [2]}\n[1, 2]\n7\nnull\n""\n',
        '{"ended": true, "run": true, "code": true, "signal": true}\n',
        '{"ended": 77, "run": 1, "code": 0, "signal": 0}\n',
        "\0\0\0\n\n\udcff\udcfe",
        '{"ended": 2' + "[" * 100_000 + "\n",
        "x" * 3_000_000 + '{"ended": 2, "run": 1, "code": 0, "signal": 0}\n',
    ],
    ids=["cut", "text", "others", "booleans", "foreign", "binary", "nested", "long"],
)
def test_results_with_nonsense(job: BundleJob, line: str) -> None:
    job.add("echo 1 >> ran", "echo 2 >> ran")
    known = {"ended": 1, "run": 1, "code": 0, "signal": 0}
    text = f"{json.dumps(known)}\n{line}"
    (job.path / "results").write_bytes(text.encode("utf-8", "surrogateescape"))
    job.run()
    assert job.text("ran") == "2\n"
    assert job.text("results").startswith(text if text.endswith("\n") else f"{text}\n")
    assert job.results()[-1]["handled"] == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("HEAD", "cut"),
        ("HEAD\nTASK", "cut"),
        ("HEAD\n\n", "line 2"),
        ("HEAD\nTASK\nTASK\n", "line 3 .* task 1 comes after task 1"),
        ("TASK\n", "line 1 .* no 'format'"),
        ('{"format": 2, "parallel": 1}\n', "format 2"),
        ('{"format": 1, "parallel": 0}\n', "0 is no positive"),
        ('HEAD\n{"n": 1}\n', "line 2 .* no 'program'"),
        ("HEAD\n[]\n", "line 2"),
        ("HEAD\n{}x\n", "line 2"),
        ("HEAD\n\udcff\n", "line 2"),
        ("HEAD\n" + "[" * 100_000 + "\n", "line 2"),
        (("n", True), "True is no positive"),
        (("program", "a\0b"), "NUL"),
        (("directory", None), "line 2"),
        (("arguments", "words"), "line 2"),
        (("arguments", [1]), "line 2"),
        (("environment", {"a": 1}), "line 2"),
        (("environment", {"a=b": "c"}), "no name of a variable"),
        (("inputs", [["a", "../b"]]), "not below"),
        (("timeout", None), "line 2"),
    ],
)
def test_a_list_that_is_damaged(job: BundleJob, text: Any, why: str) -> None:
    job.add("exit 0")
    if isinstance(text, tuple):
        job.tasks[0][text[0]] = text[1]
        text = "HEAD\nTASK\n"
    head, task = json.dumps(job.head), json.dumps(job.tasks[0])
    written = text.replace("HEAD", head).replace("TASK", task)
    (job.path / "tasks").write_bytes(written.encode("utf-8", "surrogateescape"))
    command = [*job.command, "tasks"]
    done = subprocess.run(command, cwd=job.path, capture_output=True, text=True, check=False)
    assert done.returncode == 20
    assert done.stderr.count("\n") == 1
    assert re.search(why, done.stderr), done.stderr
    assert not (job.path / "results").exists()


def test_a_list_that_is_not_there(job: BundleJob) -> None:
    done = subprocess.run([*job.command, "none"], cwd=job.path, capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (20, 1)


def test_a_list_that_a_task_has_replaced(job: BundleJob) -> None:
    os.mkfifo(job.path / "list")
    done = subprocess.run([*job.command, "list"], cwd=job.path, capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (20, 1)


def test_a_wrong_call(job: BundleJob) -> None:
    done = subprocess.run(job.command, cwd=job.path, capture_output=True, check=False)
    assert (done.returncode, b"usage" in done.stderr) == (2, True)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_the_tasks(job: BundleJob, how: signal.Signals) -> None:
    """What has ended before has a result; what is stopped has none, however it ends."""
    job.command = changed(f"m.GRACE_S = {LONG_S}")
    job.head["parallel"] = 2
    job.add("exit 7", 'trap "echo asked > asked; exit 0" TERM; echo runs > two; sleep 1000 & wait')
    job.add("echo runs > three; exec sleep 1000", "echo > never")
    process = job.start()
    for name in ("two", "three"):
        job.wait_for(name, process)
    process.send_signal(how)
    assert process.wait() == 22
    assert job.text("asked") == "asked\n"
    assert {*job.ended()} == {1}
    assert not job.text("never")


def test_a_task_that_ignores_the_signal(job: BundleJob) -> None:
    job.command = changed("m.GRACE_S = 0.05")
    job.add('trap "" TERM; echo $$ > pid; exec sleep 1000')
    process = job.start()
    pid = int(job.wait_for("pid", process))
    process.terminate()
    assert process.wait() == 22
    until(lambda: is_gone(pid), "the task that ignores SIGTERM")
    assert job.ended() == {}


def test_a_signal_when_nothing_is_left_to_do(job: BundleJob) -> None:
    job.add("kill -TERM $PPID")
    job.command = changed(
        "real = m.signal.sigtimedwait\n"
        "def taken(signals, limit):\n"
        "    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)\n"
        "    return real(signals, limit)\n"
        "m.signal.sigtimedwait = taken"
    )
    job.run()
    assert job.outcomes() == [(0, 0)]


def test_a_signal_while_a_task_is_started_is_not_lost(job: BundleJob) -> None:
    """It comes between the line and the process."""
    job.command = changed(
        "begin = m.spawned\n"
        "def spawned(*words):\n    os.kill(os.getpid(), 15); return begin(*words)\n"
        "m.spawned = spawned"
    )
    job.add("echo $$ > pid; exec sleep 1000", "echo > never")
    job.run(22)
    assert job.ended() == {}
    assert not job.text("never")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("seed", range(3))
def test_a_run_that_is_stopped_and_goes_on(job: BundleJob, how: signal.Signals, seed: int) -> None:
    """Each task has one result, whenever the runner ends; none runs again that has one."""
    chance = random.Random(f"{seed} {how}")
    job.head["parallel"] = chance.randint(1, 4)
    for number in range(1, 41):
        job.add(f"echo >> ran.{number}; exit {number}")
    runs = 0
    while len(job.ended()) < 40:
        assert job.stopped(how, chance) in (0, 22, -9)
        runs += 1
    job.run()
    assert job.outcomes() == [(number, 0) for number in range(1, 41)]
    assert len([line for line in job.results() if "host" in line]) == runs + 1


def limited(size: int) -> Any:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_results_that_can_not_be_written_for_a_while(job: BundleJob) -> None:
    """A task runs meanwhile; the line of which a part was written is there again."""
    job.head["parallel"] = 2
    for number in range(10):
        job.add(f"exit {number}")
    job.command = changed(PATIENT)
    process = job.start(preexec_fn=limited(500))
    until(lambda: len(job.text("results")) == 500, "the limit is reached")
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    assert process.wait() == 0
    assert job.outcomes() == [(number, 0) for number in range(10)]
    assert any(not line.endswith("}") for line in job.text("results").splitlines())


def test_results_that_can_not_be_written(job: BundleJob) -> None:
    for number in range(10):
        job.add(f"exit {number}")
    job.command = changed(IMPATIENT)
    assert "results can't be written" in job.run(21, preexec_fn=limited(500))
    assert 1 in job.ended()
    job.run()
    assert job.outcomes() == [(number, 0) for number in range(10)]


def test_a_signal_while_results_can_not_be_written(job: BundleJob) -> None:
    job.add("exit 0", "exit 0")
    job.command = changed(PATIENT)
    process = job.start(preexec_fn=limited(250))
    until(lambda: len(job.text("results")) == 250, "the limit is reached")
    process.terminate()
    assert process.wait() == 22


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("x")])
def test_results_that_are_no_file(job: BundleJob, make: Any) -> None:
    make(job.path / "results")
    job.add("echo > ran")
    assert "results can't be written" in job.run(21)
    assert not job.text("ran")


SHORT = (
    "begin = m.spawned; calls = []\n"
    "def spawned(*words):\n"
    "    calls.append(1)\n"
    "    if {}: raise BlockingIOError(11, 'Resource temporarily unavailable')\n"
    "    return begin(*words)\n"
    "m.spawned = spawned; m.PAUSE_S = 0.01; "
)


def test_no_process_can_be_started_for_a_while(job: BundleJob) -> None:
    job.command = changed(SHORT.format("len(calls) in (1, 2, 5)") + PATIENT)
    job.head["parallel"] = 2
    for number in range(4):
        job.add(f"exit {number}")
    job.run()
    assert job.outcomes() == [(number, 0) for number in range(4)]
    assert len([line for line in job.results() if "started" in line]) == 4


def test_no_process_can_be_started(job: BundleJob) -> None:
    job.command = changed(SHORT.format("len(calls) > 1") + IMPATIENT)
    job.add("exit 0", "exit 0")
    assert "no task can be started" in job.run(23)
    assert {*job.ended()} == {1}


def test_a_clock_that_jumps(job: BundleJob) -> None:
    job.command = changed(
        "real = m.time.time; back = []\n"
        "m.time.time = lambda: back.append(1) or real() - 1e6 * len(back)"
    )
    job.add("exit 0", timeout=1000)
    job.run()
    ended = job.ended()[1]
    assert 0 <= ended["time"] - ended["begun"] < 1e6
    assert not ended["timed_out"]


@pytest.mark.parametrize(
    ("ad", "number"),
    [("A = 1\nNumJobStarts = 3\n", 3), ("numjobstarts=2\n", 2), ("NumJobStarts = x\n", 0), ("", 0)],
)
def test_the_number_of_the_run(job: BundleJob, ad: str, number: int) -> None:
    (job.path / "ad").write_text(ad)
    job.environment["_CONDOR_JOB_AD"] = str(job.path / "ad")
    job.add("exit 0")
    job.run()
    assert {line["run"] for line in job.results() if "run" in line} == {number}


def test_a_pipe_that_nobody_writes_to(job: BundleJob) -> None:
    os.mkfifo(job.path / "pipe")
    job.add("cat", input="pipe")
    job.add("exit 0", output="pipe")
    job.run()
    assert job.outcomes() == [(0, 0), (126, 0)]


def test_a_task_that_removes_what_the_runner_uses(job: BundleJob) -> None:
    """Lines go to the file that was there; the list has been read."""
    (job.path / "sub").mkdir()
    job.add("rm ../tasks; mv ../results ../moved; rmdir $PWD", directory=f"{job.path}/sub")
    job.add("exit 3")
    job.run()
    assert '"ended": 2' in job.text("moved")
    assert job.outcomes() == [(0, 0), (3, 0)]


def test_results_are_not_put_into_the_directory_of_another_bundle(job: BundleJob) -> None:
    """The DAG was removed and begun anew before the runner had ended."""
    job.add("echo > ../begun; exec sleep 1000")
    process = job.start()
    until(lambda: (job.path.parent / "begun").exists(), "begun")
    shutil.rmtree(job.path)
    job.path.mkdir()
    (job.path / "results").write_text("of another")
    process.terminate()
    process.wait()
    assert job.text("results") == "of another"


@pytest.mark.parametrize("how", ["rm", "rm results; mkfifo", "rm results; mkdir", "ln -sf tasks"])
def test_results_that_a_task_has_replaced_are_put_back(job: BundleJob, how: str) -> None:
    job.add("exit 1", f"{how} results", "exit 3")
    job.run()
    assert job.outcomes() == [(1, 0), (0, 0), (3, 0)]
    assert "handled" in job.text("results")

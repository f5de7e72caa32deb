"""Helper programs: whatever they do, they end, they are all gone, and little is kept."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement import child_process, child_supervisor
from condor_pydagman.placement.child_process import Ended, Streams, last_line
from condor_pydagman.placement.way import Progress
from tests.installation import CHECKOUT
from tests.placement.helpers import program, progress
from tests.waiting import LIMIT_S, is_gone, until

# It forks twice and leaves its session; ignores what can be ignored; and holds the pipes open.
ESCAPE = (
    '(setsid sh -c \'trap "" TERM HUP; echo $$ > {0}.1; mv {0}.1 {0};'
    " while :; do sleep 0.05; done' &)"
)


def run(text: str, **more: object) -> Ended:
    return child_process.run(["/bin/sh", "-c", text], {}, "/", progress(), **more)  # type: ignore[arg-type]


def wait_for(path: Path) -> int:
    """The number in a file that a program will write."""
    until(lambda: path.exists() and path.read_text().endswith("\n"), f"a number in {path}")
    return int(path.read_text())


def wait_until_gone(pid: int) -> None:
    until(lambda: is_gone(pid), f"the end of process {pid}")


def test_code_output_and_environment(tmp_path: Path) -> None:
    words = ["/bin/sh", "-c", 'echo "$A:$1:$PWD"; echo bad >&2; exit 7', "sh", "x y\n"]
    ended = child_process.run(words, {"A": "b=c"}, str(tmp_path), progress())
    assert ended == (7, f"b=c:x y\n:{tmp_path}\n".encode(), b"bad\n")
    assert ended.how == "exited with code 7"
    ended = child_process.run(["/usr/bin/env"], {"A": "b"}, "/", progress())
    assert ended.output == b"A=b\n"


def test_it_reads_nothing_of_ours_and_has_none_of_our_descriptors() -> None:
    assert run("cat; ls /proc/self/fd").output.split() == [b"0", b"1", b"2", b"3"]


def test_signals_are_told_apart() -> None:
    ended = run("kill -9 $$")
    assert (ended.code, ended.how) == (-9, "was ended by signal SIGKILL")
    assert Ended(-64, b"", b"").how == "was ended by signal SIGRTMAX"
    assert run("kill -PIPE $$").code == -signal.SIGPIPE


def test_endless_output_is_read_and_dropped() -> None:
    ended = run("echo first; head -c 300000000 /dev/zero; echo last; echo x >&2")
    assert ended.output.startswith(b"first\n\0")
    assert ended.output.endswith(b"\0last\n")
    assert len(ended.output) < 3 * child_process.KEPT_BYTES
    assert last_line(ended.errors) == "x"
    assert last_line(b"\n \n") == ""


def test_what_escapes_is_killed_when_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    ended = run(ESCAPE.format(file) + f"; while [ ! -s {file} ]; do sleep 0.01; done; exit 3")
    assert ended.code == 3
    wait_until_gone(wait_for(file))


def test_what_escapes_is_killed_when_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "GRACE_S", 0.1)
    file = tmp_path / "pid"
    for timeout_s in (0.3, 3, 30, 300):  # it may be killed before it has escaped
        with pytest.raises(Fault, match=f"/bin/sh took longer than {timeout_s} s") as caught:
            run(
                f"trap '' TERM; {ESCAPE.format(file)}; while :; do sleep 1; done",
                timeout_s=timeout_s,
            )
        assert (caught.value.kind, caught.value.transient) == (FaultKind.MODULE, True)
        if file.exists():
            break
    wait_until_gone(wait_for(file))


def test_it_is_asked_to_end_first(tmp_path: Path) -> None:
    stop = threading.Event()
    ready, file = tmp_path / "ready", tmp_path / "cleaned"
    text = f"trap 'echo > {file}; exit' TERM; echo 1 > {ready}; while :; do sleep 0.05; done"
    threading.Thread(target=lambda: (wait_for(ready), stop.set())).start()
    with pytest.raises(Fault) as caught:
        child_process.run(["/bin/sh", "-c", text], {}, "/", Progress(stop))
    assert caught.value.kind is FaultKind.STOPPED
    assert file.exists()


def test_an_error_of_the_tick_ends_it(tmp_path: Path) -> None:
    def full() -> None:
        raise Fault(FaultKind.ALLOCATION, "full")

    with pytest.raises(Fault, match="full"):
        run("exec sleep 100", tick=full)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_worker(tmp_path: Path, number: int) -> None:
    """Killed before it can do anything about it, as by the schedd or for want of memory."""
    file = tmp_path / "pid"
    code = (
        "import threading\n"
        "from condor_pydagman.placement import child_process, way\n"
        f"text = {ESCAPE.format(file)!r} + '; exec sleep 100'\n"
        "words = ['/bin/sh', '-c', text]\n"
        "child_process.run(words, {}, '/', way.Progress(threading.Event()))\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code], cwd=CHECKOUT)
    pid = wait_for(file)
    worker.send_signal(number)
    worker.wait()
    wait_until_gone(pid)


def test_a_lock_is_kept_until_nothing_of_the_program_is_left(tmp_path: Path) -> None:
    """The worker is killed; the supervisor can't see that for a while."""
    file, lock = tmp_path / "pid", tmp_path / "lock"
    code = (
        "import fcntl, os, threading\n"
        "from condor_pydagman.placement import child_process, way\n"
        f"lock = os.open({str(lock)!r}, os.O_RDWR | os.O_CREAT, 0o600)\n"
        "fcntl.flock(lock, fcntl.LOCK_EX)\n"
        f"words = ['/bin/sh', '-c', 'echo $PPID > {file}.1; mv {file}.1 {file}; exec sleep 100']\n"
        "progress = way.Progress(threading.Event())\n"
        "child_process.run(words, {}, '/', progress, keeps=(lock,))\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code], cwd=CHECKOUT)
    supervisor = wait_for(file)
    os.kill(supervisor, signal.SIGSTOP)
    worker.kill()
    worker.wait()
    with lock.open() as mine:
        with pytest.raises(BlockingIOError):
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.kill(supervisor, signal.SIGCONT)
        fcntl.flock(mine, fcntl.LOCK_EX)


def test_the_program_itself_has_no_descriptor_that_is_kept(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        words = ["/bin/ls", "/proc/self/fd"]
        ended = child_process.run(words, {}, "/", progress(), keeps=(lock.fileno(),))
        assert str(lock.fileno()) not in ended.output.decode().split()


def supervise(file: Path) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The worker's socket and the supervisor of a program that escapes."""
    ours, theirs = socket.socketpair()
    words = [b"/bin/sh", b"-c", os.fsencode(ESCAPE.format(file) + "; exec sleep 100")]
    ours.sendall(child_supervisor.packed(words, b"/", []))
    number = str(theirs.fileno())
    command = [sys.executable, "-I", "-S", child_supervisor.__file__, number]
    with theirs:
        return ours, subprocess.Popen(command, pass_fds=(theirs.fileno(),))


def test_what_escapes_ends_also_if_the_worker_goes_at_once(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    ours, process = supervise(file)
    ours.close()
    assert process.wait(timeout=LIMIT_S) == 0
    if file.exists():
        wait_until_gone(wait_for(file))


def test_what_escapes_ends_also_if_the_worker_goes_with_a_word_unread(tmp_path: Path) -> None:
    """Nobody reads that the program has been started."""
    file = tmp_path / "pid"
    ours, process = supervise(file)
    with ours:
        pid = wait_for(file)
        assert ours.recv(1, socket.MSG_PEEK) == child_supervisor.STARTED
    assert process.wait(timeout=LIMIT_S) == 0
    wait_until_gone(pid)


def test_it_ends_with_its_supervisor(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    text = f"echo $$ > {file}; kill -9 $PPID; exec sleep 100"
    with pytest.raises(Fault, match="its supervisor was killed") as caught:
        run(text)
    assert caught.value.transient
    wait_until_gone(wait_for(file))


def test_programs_that_can_not_run(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("x")
    wrong = program(tmp_path / "wrong", "", "/no/such/interpreter")
    none = tmp_path / "none"
    none.write_text("no program\n")
    none.chmod(0o755)
    for path, words in (
        (tmp_path / "gone", "is not there any more"),
        (plain, "can't be executed: Permission denied"),
        (tmp_path, "can't be executed: Permission denied"),
        (wrong, "the interpreter in its first line is not there"),
        (none, "it is no program, and has no line"),
    ):
        with pytest.raises(Fault, match=words) as caught:
            child_process.run([str(path)], {}, "/", progress())
        assert (caught.value.kind, caught.value.transient) == (FaultKind.MODULE, False)
    with pytest.raises(Fault, match="can't run in its directory: No such file"):
        child_process.run(["/bin/true"], {}, str(tmp_path / "gone"), progress())
    with pytest.raises(Fault, match="zero byte"):
        child_process.run(["/bin/true", "a\0b"], {}, "/", progress())
    with pytest.raises(Fault, match="too long"):
        child_process.run(["/bin/true", "a" * (1 << 20)], {}, "/", progress())


def test_streams_are_files_of_the_request(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("hello\n")
    (tmp_path / "both").write_text("old\n" * 1000)
    streams = Streams("in", "both", str(tmp_path / "both"))
    words = ["/bin/sh", "-c", "cat; echo why >&2; exit 1"]
    ended = child_process.run(words, {}, str(tmp_path), progress(), streams=streams)
    assert (tmp_path / "both").read_text() == "hello\nwhy\n"
    assert last_line(ended.errors) == "why"


def test_streams_that_can_not_be_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for streams in (
        Streams(stdin="missing"), Streams(stdin="fifo"), Streams(stdout="fifo"),
        Streams(stderr="."), Streams(stdout="no/such"),
    ):  # fmt: skip
        with pytest.raises(Fault, match=r"can't (read from|write to)") as caught:
            child_process.run(["/bin/true"], {}, str(tmp_path), progress(), streams=streams)
        assert caught.value.kind is FaultKind.REQUEST


def test_many_at_once() -> None:
    codes: list[int] = []

    def one(code: int) -> None:
        codes.append(run(f"exit {code}").code)

    threads = [threading.Thread(target=one, args=(code,)) for code in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == list(range(16))

"""Modules: found anew each time, run safely, and nothing half written under the final name."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest

from condor_pydagman.data_requests import site_programs
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement import child_process, local_part
from condor_pydagman.placement.module_way import ModuleWay
from condor_pydagman.placement.way import Outcome, Progress, Surroundings
from tests.installation import CHECKOUT
from tests.placement.helpers import program, progress, surroundings, transfer
from tests.waiting import ending

DATA = b"some data\n"
# Writes to the local path of its second URL.
GET = 'd="${2#file://}"; '


@pytest.fixture(autouse=True)
def _safe_directory(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir(mode=0o755)


def module(tmp_path: Path, text: str, name: str = "http-file") -> Path:
    return program(tmp_path / "modules" / f"stork.transfer.{name}", text)


def around(tmp_path: Path, said: list[str] | None = None, **more: object) -> Surroundings:
    return surroundings(tmp_path, said, module_directories=(str(tmp_path / "modules"),), **more)


def perform(tmp_path: Path, source: str = "http://h/a", room: int | None = None,
            **more: object) -> Outcome:  # fmt: skip
    asked = transfer(source, tmp_path / "out", **more)
    return ModuleWay().perform(asked, around(tmp_path), progress(room))


def left(tmp_path: Path) -> list[str]:
    return sorted(set(os.listdir(tmp_path)) - {"modules"})


def test_a_module_makes_a_file(tmp_path: Path) -> None:
    module(tmp_path, GET + 'printf "%s\\n" "$@" > args; printf "some data\\n" > "$d"')
    (tmp_path / "out").write_text("old")
    done = perform(tmp_path, "http://bob:pw@h:81/a%20b?x=1&token=t", arguments=("-f", "a b"))
    assert done == Outcome("module stork.transfer.http-file", 10, 10)
    assert (tmp_path / "out").read_bytes() == DATA
    source, destination, *rest = (tmp_path / "args").read_text().splitlines()
    assert source == "http://bob@h:81/a%20b?x=1&token=***"
    assert destination.startswith(f"file://{tmp_path}/.out.")
    assert destination.endswith(".part/new/out")
    assert rest == ["-f", "a b"]
    assert left(tmp_path) == ["args", "out"]


def test_what_a_module_is_told(tmp_path: Path) -> None:
    module(tmp_path, 'env > seen; pwd >> seen; echo "x$_CONDOR" > "${STORK_DEST_URL#file://}"')
    asked = transfer("http://bob:pw@h/a", tmp_path / "out", proxy="my.pem", credential="me",
                     checksum="", if_exists="fail")  # fmt: skip
    secret = {"CONDOR_PRIVATE_INHERIT": "s", "BEARER_TOKEN_FILE": "/t", "PATH": os.environ["PATH"]}
    place = around(tmp_path)._replace(environment=secret)
    ModuleWay().perform(asked, place, progress())
    seen = (tmp_path / "seen").read_text().splitlines()
    assert {"STORK_SRC_URL=http://bob:pw@h/a", "STORK_CRED_NAME=me", "STORK_IF_EXISTS=fail",
            f"X509_USER_PROXY={tmp_path}/my.pem", "BEARER_TOKEN_FILE=/t",
            str(tmp_path)} <= set(seen)  # fmt: skip
    assert "CONDOR_PRIVATE_INHERIT" not in "".join(seen)


def test_no_secret_is_in_a_process_list(tmp_path: Path) -> None:
    """While it runs, in its own arguments and in those of everything that we start for it."""
    lists = 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " " > "$d"'
    module(tmp_path, GET + lists)
    perform(tmp_path, "http://bob:hidden-pass@h/a?sig=hidden-sig")
    seen = (tmp_path / "out").read_text(errors="replace")
    assert "bob@h" in seen
    assert "hidden" not in seen


def test_input_output_and_errors(tmp_path: Path) -> None:
    module(tmp_path, GET + 'cat > "$d"; echo 1; echo 2 >&2')
    (tmp_path / "in").write_bytes(DATA)
    perform(tmp_path, files=("in", "o", "e"))
    assert [(tmp_path / name).read_text() for name in ("out", "o", "e")] == [
        DATA.decode(), "1\n", "2\n"
    ]  # fmt: skip


def test_a_module_is_found_anew_each_time(tmp_path: Path) -> None:
    way, place = ModuleWay(), around(tmp_path)
    asked = transfer("http://h/a", tmp_path / "out")
    reason = f"no stork.transfer.http-file in {tmp_path}/modules"
    assert way.obstacle(asked, place) == reason
    path = module(tmp_path, GET + 'echo 1 > "$d"')
    assert not way.obstacle(asked, place)
    assert not way.obstacle(asked._replace(destination=asked.source), place).startswith("stork")
    path.unlink()
    with pytest.raises(Fault, match=reason) as caught:
        way.perform(asked, place, progress())
    assert not caught.value.transient
    assert "none is configured" in way.obstacle(asked, surroundings(tmp_path))


def test_a_module_that_is_refused_is_said_once(tmp_path: Path) -> None:
    path = module(tmp_path, "")
    said: list[str] = []
    way, place = ModuleWay(), around(tmp_path, said)
    asked = transfer("http://h/a", tmp_path / "out")
    for mode, words in ((0o644, "is not executable"), (0o757, "it is writable by all users")):
        path.chmod(mode)
        assert words in way.obstacle(asked, place)
        assert words in way.obstacle(asked, place)
    path.chmod(0o755)
    path.parent.chmod(0o777)
    assert f"{path.parent} is writable by all users" in way.obstacle(asked, place)
    path.parent.chmod(0o755)
    path.unlink()
    path.mkdir()
    assert "is a directory" in way.obstacle(asked, place)
    path.rmdir()
    os.mkfifo(path)
    assert "is no file" in way.obstacle(asked, place)
    path.unlink()
    path.symlink_to("nowhere")
    assert "can't be used: No such file" in way.obstacle(asked, place)
    assert len(said) == 6
    assert all(line.startswith("WARNING: ") for line in said)


def test_a_link_is_followed_and_where_it_leads_is_checked(tmp_path: Path) -> None:
    target = program(tmp_path / "modules" / "generic", GET + 'basename "$0" > "$d"')
    (tmp_path / "modules" / "stork.transfer.http-file").symlink_to(target)
    perform(tmp_path)
    assert (tmp_path / "out").read_text() == "stork.transfer.http-file\n"
    target.chmod(0o777)
    with pytest.raises(Fault, match="writable by all users"):
        perform(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_modules_of_other_users_are_refused(tmp_path: Path) -> None:
    path = module(tmp_path, "")
    os.chown(path, 4711, 4711)
    assert "belongs to user 4711" in site_programs.refusal(str(path))
    os.chown(path, 0, 4711)
    path.chmod(0o775)
    assert "is writable by group 4711" in site_programs.refusal(str(path))


@pytest.mark.parametrize(
    ("code", "kind", "transient", "host"),
    [
        (1, FaultKind.MODULE, True, ""),
        (64, FaultKind.REFUSED, False, ""),
        (65, FaultKind.REFUSED, False, ""),
        (66, FaultKind.MISSING, False, ""),
        (69, FaultKind.SERVER, True, "h:81"),
        (73, FaultKind.DESTINATION, False, ""),
        (75, FaultKind.MODULE, True, ""),
        (77, FaultKind.DENIED, False, ""),
        (78, FaultKind.MODULE, False, ""),
        (127, FaultKind.MODULE, False, ""),
    ],
)
def test_exit_codes(tmp_path: Path, code: int, kind: FaultKind, transient: bool, host: str) -> None:
    text = f'echo x > "$d"; echo a >&2; echo "no http://u:pw@h/" >&2; exit {code}'
    module(tmp_path, GET + text)
    with pytest.raises(Fault) as caught:
        perform(tmp_path, "http://h:81/a")
    fault = caught.value
    assert (fault.kind, fault.transient, fault.host) == (kind, transient, host)
    assert fault.reason == f"stork.transfer.http-file exited with code {code}: no http://***@h/"
    assert left(tmp_path) == []


def test_what_a_module_says_is_masked(tmp_path: Path) -> None:
    module(tmp_path, 'echo "with $STORK_SRC_URL" | sed "s/[:@?&=]/ /g" >&2; exit 1')
    with pytest.raises(Fault) as caught:
        perform(tmp_path, "http://bob:hidden%20pw@h/a?x=1&sig=abc%2Fdef")
    assert caught.value.reason.endswith(": with http //bob *** h/a x 1 sig ***")


def test_a_module_that_kills_itself(tmp_path: Path) -> None:
    module(tmp_path, GET + 'echo x > "$d"; kill -SEGV $$')
    with pytest.raises(Fault, match="was ended by signal SIGSEGV") as caught:
        perform(tmp_path)
    assert caught.value.transient
    assert left(tmp_path) == []


def test_a_module_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "GRACE_S", 0.1)
    module(tmp_path, GET + 'echo x > "$d"; trap "" TERM; while :; do sleep 1; done')
    asked = transfer("http://h/a", tmp_path / "out")
    with pytest.raises(Fault, match="took longer than"):
        ModuleWay().perform(asked, around(tmp_path, module_timeout_s=0.3), progress())
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exit 0", "it made no file for"),
        (GET + 'mkdir "$d"; touch "$d/x"; chmod 0 "$d"', "is no file"),
        (GET + 'ln -s /etc/passwd "$d"', "is no file"),
        (GET + 'mkfifo "$d"', "is no file"),
    ],
)
def test_a_module_that_makes_no_file(tmp_path: Path, text: str, words: str) -> None:
    module(tmp_path, text)
    with pytest.raises(Fault, match=words) as caught:
        perform(tmp_path)
    assert (caught.value.kind, caught.value.transient) == (FaultKind.MODULE, False)
    assert left(tmp_path) == []


def test_checksums_and_sizes(tmp_path: Path) -> None:
    module(tmp_path, GET + 'printf "some data\\n" > "$d"')
    module(tmp_path, GET + 'printf "some data\\n" > "$d"', "file-file")
    for checksum in (f"md5:{hashlib.md5(DATA).hexdigest()}", f"adler32:{zlib.adler32(DATA):x}",
                     f"SHA-256:{hashlib.sha256(DATA).hexdigest().upper()}"):  # fmt: skip
        assert perform(tmp_path, checksum=checksum).size == 10
    with pytest.raises(Fault, match="md5 is") as caught:
        perform(tmp_path, checksum="md5:00")
    assert caught.value.kind is FaultKind.MISMATCH
    with pytest.raises(Fault, match="no checksum algorithm 'crc'"):
        perform(tmp_path, checksum="crc:00")
    (tmp_path / "in").write_bytes(DATA + DATA)
    with pytest.raises(Fault, match="made 10 bytes of 20"):
        perform(tmp_path, str(tmp_path / "in"))
    assert left(tmp_path) == ["in", "out"]


def test_what_is_there_is_skipped_or_in_the_way(tmp_path: Path) -> None:
    module(tmp_path, GET + 'echo new > "$d"')
    (tmp_path / "out").write_bytes(DATA)
    md5 = f"md5:{hashlib.md5(DATA).hexdigest()}"
    assert perform(tmp_path, if_exists="skip", checksum=md5).skipped
    with pytest.raises(Fault, match="is there already"):
        perform(tmp_path, if_exists="fail")
    module(tmp_path, GET + f'echo new > "$d"; echo 1 > {tmp_path}/out')
    (tmp_path / "out").unlink()
    with pytest.raises(Fault, match="is there already"):
        perform(tmp_path, if_exists="fail")
    assert (tmp_path / "out").read_text() == "1\n"
    assert not perform(tmp_path, if_exists="skip").skipped


def test_directories(tmp_path: Path) -> None:
    module(tmp_path, GET + 'echo x > "$d"')
    with pytest.raises(Fault, match="end it in / to put the file into it"):
        ModuleWay().perform(transfer("http://h/a", tmp_path), around(tmp_path), progress())
    asked = transfer("http://h/a", f"{tmp_path}/new/deep/")
    ModuleWay().perform(asked, around(tmp_path, synchronize=True), progress())
    assert os.listdir(tmp_path / "new" / "deep") == ["a"]
    for wrong in ("http://h/", "http://h/.."):
        with pytest.raises(Fault, match="names no file"):
            local_part.destination_file(transfer(wrong, f"{tmp_path}/new/"))


def test_a_directory_as_a_whole_is_the_modules_matter(tmp_path: Path) -> None:
    module(tmp_path, GET + 'mkdir -p "$d" && echo "$1" > "$d/x"')
    asked = transfer("http://h/a/", f"{tmp_path}/whole/")
    done = ModuleWay().perform(asked, around(tmp_path), progress())
    assert done.size is None
    assert (tmp_path / "whole" / "x").read_text() == "http://h/a/\n"


def test_a_destination_that_can_not_be_written(tmp_path: Path) -> None:
    module(tmp_path, GET + 'echo x > "$d"')
    (tmp_path / "plain").write_text("")
    asked = transfer("http://h/a", tmp_path / "plain" / "out")
    with pytest.raises(Fault, match="can't write") as caught:
        ModuleWay().perform(asked, around(tmp_path), progress())
    assert caught.value.kind is FaultKind.DESTINATION
    name = "n" * 255
    ModuleWay().perform(transfer("http://h/a", tmp_path / name), around(tmp_path), progress())
    assert (tmp_path / name).exists()


def test_a_fifo_is_not_replaced(tmp_path: Path) -> None:
    module(tmp_path, GET + 'echo > "$d"')
    os.mkfifo(tmp_path / "out")
    with pytest.raises(Fault, match="not a regular file") as error:
        perform(tmp_path)
    assert error.value.kind is FaultKind.DESTINATION
    assert stat.S_ISFIFO((tmp_path / "out").lstat().st_mode)


def test_more_than_there_is_room_for(tmp_path: Path) -> None:
    module(tmp_path, GET + 'head -c 10000 /dev/zero > "$d"; exec sleep 100')
    with pytest.raises(Fault, match="it has 10000 bytes or more") as caught:
        perform(tmp_path, room=9999)
    assert caught.value.kind is FaultKind.ALLOCATION
    assert left(tmp_path) == []


def test_uploads(tmp_path: Path) -> None:
    module(tmp_path, 'cp "${1#file://}" sent; echo "$2" >> sent', "file-ftp")
    (tmp_path / "in").write_bytes(DATA)
    asked = transfer(str(tmp_path / "in"), "ftp://bob:pw@h/b")
    done = ModuleWay().perform(asked, around(tmp_path), progress())
    assert done == Outcome("module stork.transfer.file-ftp", 10, 10)
    assert (tmp_path / "sent").read_bytes() == DATA + b"ftp://bob@h/b\n"
    with pytest.raises(Fault, match="the allocation 9"):
        ModuleWay().perform(asked, around(tmp_path), progress(9))
    with pytest.raises(Fault, match="is not there") as caught:
        gone = transfer(str(tmp_path / "gone"), "ftp://h/b")
        ModuleWay().perform(gone, around(tmp_path), progress())
    assert caught.value.kind is FaultKind.MISSING


def test_what_a_killed_attempt_has_left_is_removed(tmp_path: Path) -> None:
    asked, place = transfer("http://h/a", tmp_path / "out"), around(tmp_path)
    with local_part.local_part(asked.source, str(tmp_path / "out"), place, progress()) as part:
        directory = Path(part.path).parents[1]
    old = directory / "new" / "deep"
    old.mkdir(parents=True, mode=0o700)
    (old / "x").write_text("half")
    (directory / "lock").write_text("")
    directory.chmod(0o700)
    old.chmod(0)
    module(tmp_path, GET + 'test ! -e "$(dirname "$d")/deep" && echo x > "$d"')
    perform(tmp_path)
    assert left(tmp_path) == ["out"]


def size_of(path: Path) -> int:
    """Bytes of a file that may be renamed at any time."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def test_a_worker_that_is_killed_leaves_no_half_file(tmp_path: Path) -> None:
    """At many moments of a module that writes slowly, and once more until it succeeds."""
    slow = 'for n in 1 2 3 4 5 6 7 8; do echo $n >> "$d"; sleep 0.01; done'
    module(tmp_path, GET + slow)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.placement import test_module_way as t\n"
        "print(t.perform(Path(sys.argv[1])).size, flush=True)\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    for number in range(6):
        worker = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=CHECKOUT)
        while number and worker.poll() is None:
            if any(size_of(path) >= 2 * number for path in tmp_path.glob(".*/new/out")):
                break
        worker.kill()
        worker.communicate()
        final = tmp_path / "out"
        assert not final.exists() or final.stat().st_size == 16
    assert perform(tmp_path).size == 16
    assert left(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", ["link", "fifo", "open"])
def test_somebody_else_has_the_temporary_name(tmp_path: Path, kind: str) -> None:
    module(tmp_path, GET + 'echo x > "$d"')
    asked, place = transfer("http://h/a", tmp_path / "out"), around(tmp_path)
    with local_part.local_part(asked.source, str(tmp_path / "out"), place, progress()) as part:
        name = Path(part.path).parents[1]
    trap = tmp_path / "trap"
    trap.mkdir()
    if kind == "link":
        name.symlink_to(trap)
    elif kind == "fifo":
        os.mkfifo(name)
    else:
        name.mkdir()
        name.chmod(0o777)
    perform(tmp_path)
    assert left(tmp_path) == [name.name, "out", "trap"]
    assert os.listdir(trap) == []


def test_two_placements_of_one_file_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_part, "WAIT_S", 0.01)
    module(tmp_path, GET + 'mkdir only || exit 1; sleep 0.05; rmdir only; echo x > "$d"')
    said: list[str] = []
    done: list[Outcome] = []
    asked = transfer("http://h/a", tmp_path / "out")

    def one() -> None:
        done.append(ModuleWay().perform(asked, around(tmp_path, said), progress()))

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 3
    assert "waits for another placement of the same file" in said[0]
    assert left(tmp_path) == ["out"]


def test_one_that_waits_can_be_stopped(tmp_path: Path) -> None:
    stop = threading.Event()
    asked, place = transfer("http://h/a", tmp_path / "out"), around(tmp_path)
    module(tmp_path, "")
    with local_part.local_part(asked.source, str(tmp_path / "out"), place, progress()):
        threading.Timer(0.1, stop.set).start()
        with ending("the wait"), pytest.raises(Fault) as caught:
            ModuleWay().perform(asked, place, Progress(stop))
    assert caught.value.kind is FaultKind.STOPPED


def test_the_part_is_nobody_elses_business(tmp_path: Path) -> None:
    asked, place = transfer("http://h/a", tmp_path / "out"), around(tmp_path)
    with local_part.local_part(asked.source, str(tmp_path / "out"), place, progress()) as part:
        assert stat.S_IMODE(Path(part.path).parents[1].stat().st_mode) == 0o700
        assert part.size() == 0

"""Many placements, divided among processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.worker_processes import MANY, processes_for
from tests.servers.faulty_http import FaultyServer, Wrong

ONE = Transfer(parse_url("/a"), parse_url("/b"))
SEVERAL = Transfer(parse_url("/a/"), parse_url("/b/"))

# A process of its own, since it forks.
PROGRAM = """
import os, signal, sys, threading
from pathlib import Path
from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import read_requests
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement.make_worker import make_worker
from condor_pydagman.placement import worker_processes
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.placement.worker import Worker
from condor_pydagman.placement.worker_processes import WorkerProcesses

directory, text = sys.argv[1:]
modules = os.environ.get("MODULES", "")

class Listener:
    ends = []
    def attempt_ended(self, end):
        self.ends.append(end)
        if os.environ.get("KILL") and len(self.ends) == 5:
            for child in worker._children.values():
                os.kill(child.pid, signal.SIGKILL)

refused = int(os.environ.get("REFUSED", 0))  # forks, after the first
has_forked = False
fork = os.fork

def fork_if_there_is_room():
    global refused, has_forked
    if has_forked and refused:
        refused -= 1
        if os.environ.get("STOP"):
            os.kill(os.getpid(), signal.SIGTERM)
        raise BlockingIOError(11, "Resource temporarily unavailable")
    has_forked = True
    return fork()

os.fork = fork_if_there_is_room
worker_processes.FORK_AGAIN_S = 0.1
early = os.environ.get("EARLY", "")  # a signal that comes before the worker is made
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())

def make_early(*given):
    os.kill(os.getpid(), signal.SIGTERM)
    return Worker(*given)

if early:
    worker_processes.Worker = make_early

settings = Settings(
    directory=directory + "/shared", max_retries=0, module_directories=(modules,) * bool(modules)
)
around = Surroundings(settings, {}, directory, lambda text: None)
placements = read_requests(text, "x", Macros(), directory).placements
worker = make_worker(placements, around, Listener(), stop, may_fork=True)
assert isinstance(worker, WorkerProcesses)
worker.start()
while not worker.join(30):
    pass
kinds = sorted(kind.name for kind in worker.result())
print(len(Listener.ends), len({end.key for end in Listener.ends}), *kinds)
print(next((end.fault.reason for end in Listener.ends if end.fault), ""))
"""


def run(directory: Path, text: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(directory), text],
        capture_output=True, text=True, check=False, env={**environment, "PATH": "/bin"},
        cwd=Path(__file__).resolve().parents[3],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_is_worth_several_processes() -> None:
    assert processes_for([ONE], 4) == 1
    assert processes_for([ONE] * MANY, 1) == 1
    assert 1 <= processes_for([ONE] * MANY, 4) <= 4
    assert processes_for([SEVERAL], 4) == processes_for([ONE] * MANY, 4)


def test_each_file_is_transferred_once(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    for number in range(100):
        (tmp_path / "from" / f"{number}").write_text(f"{number}")
    (tmp_path / "alone").write_text("x")
    text = 'dap_type = transfer\nsrc_url = "from/"\ndest_url = "to/"\n'
    text += "dap_type = transfer\nsrc_url = alone\ndest_url = to/alone\n"
    text += "dap_type = transfer\nsrc_url = nothing\ndest_url = to/nothing\n"
    said = run(tmp_path, text)
    assert said[0] == "102 102 MISSING"
    assert "nothing: No such file" in said[1]
    names = {path.name for path in (tmp_path / "to").iterdir()}
    assert names == {"alone", *map(str, range(100))}


def test_a_directory_is_listed_once(tmp_path: Path, server: FaultyServer) -> None:
    server.files.update({f"/d/{number}": b"x" for number in range(300)})
    server.files.update({f"/d/e/{number}": b"x" for number in range(300)})
    text = f'dap_type = transfer\nsrc_url = "{server.url("/d/")}"\ndest_url = "to/"\n'
    assert run(tmp_path, text)[0] == "600 600"
    assert len([path for path in (tmp_path / "to").rglob("*") if path.is_file()]) == 600
    assert sum(path == "/d/" for _, path, _ in server.requests) == 1
    assert sum(path == "/d/e/" for _, path, _ in server.requests) == 1


def test_directories_that_can_not_be_listed_are_told_once(
    tmp_path: Path, server: FaultyServer
) -> None:
    """One at its beginning, one in the middle."""
    server.files["/d/a"] = server.files["/d/e/b"] = b"x"
    server.fail("/d/e/", Wrong(status=403))
    text = f'dap_type = transfer\nsrc_url = "{server.url("/no/")}"\ndest_url = "to/"\n'
    text += f'dap_type = transfer\nsrc_url = "{server.url("/d/")}"\ndest_url = "to/"\n'
    assert run(tmp_path, text)[0] == "3 3 DENIED MISSING"
    assert (tmp_path / "to" / "a").exists()


def test_a_process_that_is_killed_leaves_its_share_undone(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    for number in range(2000):
        (tmp_path / "from" / f"{number}").write_text("x")
    said = run(tmp_path, 'dap_type = transfer\nsrc_url = "from/"\ndest_url = "to/"\n', KILL="1")
    assert said[0].endswith("STOPPED")
    assert all(path.read_text() == "x" for path in (tmp_path / "to").glob("[0-9]*"))


def test_a_stop_that_comes_while_a_process_begins_is_not_lost(tmp_path: Path) -> None:
    """The handler of the first process would take it, and nobody would send it again."""
    (tmp_path / "from").mkdir()
    for number in range(10):
        (tmp_path / "from" / f"{number}").write_text("x")
    said = run(tmp_path, 'dap_type = transfer\nsrc_url = "from/"\ndest_url = "to/"\n', EARLY="1")
    assert said[0].endswith(" STOPPED")
    assert not list((tmp_path / "to").glob("*"))


@pytest.mark.parametrize("stop", ["", "1"], ids=["until there is", "until the stop"])
def test_without_room_for_a_process_it_waits(tmp_path: Path, stop: str) -> None:
    (tmp_path / "from").mkdir()
    for number in range(10):
        (tmp_path / "from" / f"{number}").write_text("x")
    text = 'dap_type = transfer\nsrc_url = "from/"\ndest_url = "to/"\n'
    said = run(tmp_path, text, REFUSED="2", STOP=stop)
    assert said[0].endswith(" STOPPED") if stop else said[0] == "10 10"


def test_what_fails_for_a_whole_directory_is_told_once(tmp_path: Path) -> None:
    told = run(tmp_path, 'dap_type = transfer\nsrc_url = "nothing/"\ndest_url = "to/"\n')
    assert told[0] == "1 1 MISSING"


def test_a_name_with_characters_of_a_pattern_is_transferred_once(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "a*").write_text("x")
    text = 'dap_type = transfer\nsrc_url = "from/"\ndest_url = "to/"\n'
    text += 'dap_type = transfer\nsrc_url = "a*"\ndest_url = "to/"\n'
    assert run(tmp_path, text)[0] == "1 1"


def test_a_module_that_takes_a_directory_runs_once(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "modules").mkdir()
    module = tmp_path / "modules/stork.transfer.file-file"
    module.write_text(f"#!/bin/sh\necho $1 >>{tmp_path}/ran\n")
    module.chmod(0o755)
    text = 'dap_type = transfer\nsrc_url = "from/"\ndest_url = "to/"\n'
    assert run(tmp_path, text, MODULES=str(tmp_path / "modules"))[0].startswith("1 1")
    assert (tmp_path / "ran").read_text() == f"file://{tmp_path}/from/\n"

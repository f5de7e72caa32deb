"""The worker of a DATA node, from its work order to its exit code."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from condor_pydagman.data_requests.requests import Allocate, Release
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.work_order import Ended, WorkOrder, parse_work_order
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import log_events
from condor_pydagman.placement import data_node
from condor_pydagman.placement.data_node import NodesLogNotes, _forget_secrets
from condor_pydagman.placement.journal import Journal, is_still_done
from condor_pydagman.placement.placement_ad import own_job
from condor_pydagman.placement.rules.journal_text import read_done
from condor_pydagman.records.placement_event import parse_event
from tests.placement.helpers import transfer
from tests.servers.faulty_http import FaultyServer, Wrong
from tests.waiting import LIMIT_S, until

ROOT = Path(__file__).resolve().parents[3]


class Node:
    """A DATA node's files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.order = directory / "in.order"
        self.log = directory / "nodes.log"
        self.log.write_text("")
        (directory / "ad").write_text("ClusterId = 12\nProcId = 3\nOwner = x\n")

    def write(self, text: str, **more: Any) -> None:
        settings = Settings(directory=str(self.directory / "shared"), max_retries=0)
        order = WorkOrder(
            "token", "in", 1, "in.dap", text, more.pop("macros", {}), str(self.directory),
            str(self.log), {}, settings._replace(**more),
        )  # fmt: skip
        self.order.write_text(order.to_text())

    def start(self, output: int | IO[str] = subprocess.PIPE) -> subprocess.Popen[str]:
        code = "import sys; from condor_pydagman.placement.data_node import main;"
        return subprocess.Popen(
            [sys.executable, "-c", f"{code} sys.exit(main({str(self.order)!r}))"],
            cwd=ROOT, stdout=output, text=True,
            env={"_CONDOR_JOB_AD": str(self.directory / "ad"), "PATH": "/bin"},
        )  # fmt: skip

    def run(self) -> tuple[int, str]:
        with self.start() as process:
            output = process.communicate(timeout=LIMIT_S)[0]
        return process.returncode, output


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_an_order_is_carried_out_once(node: Node) -> None:
    (node.directory / "a").write_text("content")
    node.write("dap_type = transfer\nsrc_url = $(what)\ndest_url = b\n", macros={"what": "a"})
    code, output = node.run()
    assert code == 0
    assert "/b: 7 bytes, " in output
    (event,) = log_events(node.log.read_bytes(), 0, LocalTimes(lambda minute, dst: 0.0, 2026))
    noted = parse_event(event.said)
    assert noted is not None
    assert (noted.node, noted.retry, noted.cluster, noted.proc) == ("in", 1, 12, 3)
    assert (noted.size, noted.files, event.cluster) == (7, 1, -1)
    assert parse_work_order(node.order.read_text()) == Ended(0)
    (node.directory / "b").unlink()
    code, output = node.run()
    assert code == 0
    assert "this was done before" in output
    assert not (node.directory / "b").exists()


def test_what_was_done_is_not_done_again(node: Node) -> None:
    for name in ("a", "b"):
        (node.directory / name).write_text(name)
    text = "".join(
        f"dap_type = transfer\nsrc_url = {name}\ndest_url = to-{name}\n" for name in "abc"
    )
    node.write(text)
    assert node.run()[0] == 12
    (node.directory / "to-b").unlink()
    (node.directory / "c").write_text("c")
    node.write(text)
    code, output = node.run()
    assert code == 0
    assert "/to-a" not in output  # it is still there
    assert "/to-b" in output
    node.write(text)  # all were done: the job was killed before that was known
    code, output = node.run()
    assert (code, "/to-a" in output) == (0, False)
    (node.directory / "ad").write_text("ClusterId = 13\nProcId = 0\n")
    node.write(text)  # another job does them anew
    assert "/to-a" in node.run()[1]


def test_it_ends_soon_when_it_is_told_to(node: Node, server: FaultyServer) -> None:
    server.files["/a"] = b"x" * 1_000_000
    server.fail("/a", Wrong(after=10, stalls=True))
    node.write(
        f"dap_type = transfer\nsrc_url = {server.url('/a')}\ndest_url = a\n", stall_timeout_s=2
    )
    with node.start() as process:
        until(lambda: server.requests, "a request")
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=LIMIT_S)[0]
    assert process.returncode == 21
    assert "Traceback" not in output
    assert isinstance(parse_work_order(node.order.read_text()), WorkOrder)  # it may be released
    assert not (node.directory / "a").exists()


@pytest.mark.parametrize("where, expected", [("/dev/full/b", 14), ("{full}", 15), ("{there}/b", 0)])
def test_an_output_on_a_full_disk_does_not_change_the_exit_code(
    node: Node, where: str, expected: int
) -> None:
    """Python itself would end with 120."""
    (node.directory / "a").write_text("content")
    where = where.format(there=node.directory, full="/disk/b")
    text = f"dap_type = transfer\nsrc_url = a\ndest_url = {where}\n"
    if expected == 15:
        text = 'dap_type = allocate\ndest_host = "/disk"\nsize = "2 GB"\n'
    node.write(text, capacities=(("/disk", 1),))
    with open("/dev/full", "w") as full, node.start(full) as process:
        assert process.wait(LIMIT_S) == expected
    assert parse_work_order(node.order.read_text()) == Ended(expected)


def test_what_a_full_disk_takes_from_the_output_is_in_the_job_ad(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, object]] = []

    class Ad:
        def __init__(self, job: str) -> None:
            told.append(("job", job))

        def publish(self, attributes: dict[str, str]) -> None:
            told.append(("attributes", attributes))

        def finish(self, timeout_s: float) -> None:
            told.append(("finish", timeout_s > 0))

    monkeypatch.setattr(data_node, "JobAdPublisher", Ad)
    monkeypatch.setenv("_CONDOR_JOB_AD", str(node.directory / "ad"))
    output = data_node._Output()
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        output.say("no space at https://user:geheim@h/")
        output.close(15)
    fault = '"no space at https://***@h/"'
    assert told == [
        ("job", "12.3"), ("attributes", {"PlacementLastFault": fault}), ("finish", True)
    ]  # fmt: skip


def test_a_journal_on_a_full_disk_is_told_as_such(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(path: str, job: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", path)

    node.write("dap_type = transfer\nsrc_url = a\ndest_url = b\n")
    monkeypatch.setattr(data_node, "Journal", no_space)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert data_node.main(str(node.order)) == 15


def test_a_journal_that_is_no_file_is_named(node: Node) -> None:
    node.write("dap_type = transfer\nsrc_url = a\ndest_url = b\n")
    journal = node.order.with_suffix(".journal")
    os.mkfifo(journal)
    code, output = node.run()
    assert code == 1
    assert f"it is not a regular file; move it away: '{journal}'" in output


def test_a_wrong_request(node: Node) -> None:
    node.write("dap_type = transfre\n")
    code, output = node.run()
    assert code == 10
    assert "did you mean transfer?" in output


@pytest.mark.parametrize("text", ["", "{", '{"version": 2}'])
def test_a_damaged_order(node: Node, text: str) -> None:
    node.order.write_text(text)
    code, output = node.run()
    assert code == 1
    assert "can't read the work order" in output


def test_the_job_of_an_ad(tmp_path: Path) -> None:
    assert own_job(str(tmp_path / "none")) == (0, 0)
    (tmp_path / "ad").write_text("X = 1\n")
    assert own_job(str(tmp_path / "ad")) == (0, 0)


def test_secrets_are_forgotten_where_no_file_can_be_made(tmp_path: Path) -> None:
    order = tmp_path / ("x" * 255)  # beside it, there can be no longer name
    order.write_text("geheim" * 100)
    _forget_secrets(str(order), 12)
    assert parse_work_order(order.read_text()) == Ended(12)
    assert [path.name for path in tmp_path.iterdir()] == [order.name]


def test_what_was_done_is_done_again_if_it_may_be_gone(tmp_path: Path) -> None:
    allocation = Allocate("h", "1", 5)
    assert not is_still_done(allocation, -1)
    assert is_still_done(Release("h", "1"), -1)
    to_directory = transfer("http://h/a", f"{tmp_path}/")
    assert not is_still_done(to_directory, -1)
    (tmp_path / "a").write_text("x")
    assert is_still_done(to_directory, 1)
    assert is_still_done(to_directory, -1)
    assert not is_still_done(to_directory, 2)
    assert is_still_done(transfer("/a", "http://h/a"), 2)


def test_a_journal_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text('["a", 3]\n["b"')
    journal = Journal(str(path))
    assert journal.done == {"a": 3}
    journal.complete()
    journal.close()
    assert read_done(path.read_text()) == {}


def test_a_nodes_log_that_is_gone_or_torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.placement.data_node.MAX_WAIT_S", 0.05)
    from tests.unit.records.test_placements import EVENT

    said: list[str] = []
    notes = NodesLogNotes(str(tmp_path / "gone"), said.append)
    for _ in range(2):
        notes.add(EVENT)
        notes.flush()
    assert len(said) == 1
    assert not (tmp_path / "gone").exists()
    log = tmp_path / "log"
    log.write_text("000 (001.000.000) 2026-11-23 12:00:00 Job subm")
    notes = NodesLogNotes(str(log), said.append)
    notes.add(EVENT)
    notes.flush()
    assert log.read_text().endswith("]\n...\n")

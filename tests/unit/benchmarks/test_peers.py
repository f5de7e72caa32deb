"""Peers get the same tasks as DAGMan, and one that is not there leaves a dash."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import figures, peers, peers_files, peers_steps, peers_table, sizes
from benchmarks.place import Failed, Place
from benchmarks.subjects import BUNDLES, ONE_BY_ONE, PEERS


def test_every_peer_has_its_command(tmp_path: Path) -> None:
    assert tuple(peers.PEERS) == PEERS
    assert {peer.program for peer in peers.PEERS.values()} == {
        *peers.PACKAGES.values(),
        peers.MAKEFLOW,
    }
    for peer in peers.PEERS.values():
        for kind in ("chain", "bag"):
            argv = peers.command(peer, kind, 3, tmp_path, "/usr/bin")
            assert argv[0] == "timeout"
            assert f"PATH={peers.HOME / 'bin'}:/usr/bin" in argv


def test_files_of_peers() -> None:
    assert peers_files.makeflow("chain", 2) == (
        "task0:\n\t/bin/true > task0\ntask1: task0\n\t/bin/true > task1\n"
    )
    assert "task0" not in peers_files.makeflow("bag", 2).partition("task1:")[2]
    assert 'expand("done/{n}", n=range(7))' in peers_files.snakefile("bag", 7)
    chain = peers_files.snakefile("chain", 7)
    assert 'input: "done/6"' in chain
    assert "int(wildcards.n) - 1" in chain


def test_what_one_task_takes_is_no_part_of_a_step() -> None:
    def run(kind: str, count: int) -> peers_steps.Took:
        return peers_steps.Took(5.0 + (count - 1) * (2.0 if kind == "chain" else 0.1))

    assert peers_steps.numbers(run, 4, 21) == {
        "peer one": [5.0],
        "peer step": [pytest.approx(2.0)],
        "peer rate": [pytest.approx(10.0)],
    }
    same = peers_steps.Took(5.0)
    assert peers_steps.numbers(lambda *_: same, 4, 21) == {"peer one": [5.0]}


def test_what_a_program_tells_of_its_tasks_counts() -> None:
    told = peers_steps.Took(5.0, tasks=3.0)
    found = peers_steps.numbers(lambda *_: told, 4, 31)
    assert found == {"peer one": [5.0], "peer step": [1.0], "peer rate": [10.0]}


def test_a_peer_that_is_not_there_fails_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(peers, "versions", dict)
    with pytest.raises(Failed, match="Dask is not installed"):
        peers_steps.take(Place(tmp_path), "dask", sizes.SMALLEST)


def test_one_that_can_not_be_installed_does_not_keep_others_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted, told = [], []

    def refuse(argv: list[str]) -> None:
        wanted.append(argv[-1])
        raise Failed(f"no {argv[-1]}")

    monkeypatch.setattr(peers, "HOME", tmp_path)
    monkeypatch.setattr(peers, "versions", dict)
    monkeypatch.setattr(peers, "_do", refuse)
    monkeypatch.setattr(peers.apt, "available", lambda: False)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    peers.install(told.append)
    assert wanted == list(peers.PACKAGES)
    assert "  no luigi" in told
    assert "  this machine has no apt-get to fetch it with" in told


def test_makeflow_is_unpacked_beside_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Archive(SimpleNamespace):
        def unpack(self, packages: list[str], prefix: Path) -> None:
            assert packages == ["coop-computing-tools", "libmpi"]
            (prefix / "usr/lib/x86_64-linux-gnu").mkdir(parents=True)
            (prefix / "usr/bin").mkdir()
            program = prefix / "usr/bin/makeflow"
            program.write_text('#!/bin/sh\necho "version 8.0.0 $LD_LIBRARY_PATH"\n')
            program.chmod(0o755)

    def made(home: Path) -> Archive:
        home.mkdir()
        needed = ["coop-computing-tools", "libc6", "libmpi"]
        return Archive(home=home, use=str, libraries=lambda _: needed)

    monkeypatch.setattr(peers, "HOME", tmp_path)
    monkeypatch.setattr(peers, "PACKAGES", {})
    monkeypatch.setattr(peers.apt, "available", lambda: True)
    monkeypatch.setattr(peers.apt, "archives", list)
    monkeypatch.setattr(peers.apt, "Apt", made)
    monkeypatch.setattr(peers.fetch, "debian_or_ubuntu", lambda: ("debian", "bookworm"))
    monkeypatch.setattr(peers.fetch, "keyring", Path)
    monkeypatch.setenv("PATH", os.defpath)
    peers.install(lambda _: None)
    assert peers.versions() == {peers.MAKEFLOW: "8.0.0"}
    told = subprocess.run([tmp_path / "bin/makeflow"], stdout=subprocess.PIPE, text=True).stdout
    assert told.split()[2] == str(tmp_path / "debian/usr/lib/x86_64-linux-gnu")
    assert not (tmp_path / "apt").exists()


def test_each_has_its_line_and_what_is_missing_a_dash() -> None:
    results: figures.Results = {
        "ours": {"peer one": [3.0], "peer step": [1.5]},
        "dask": {"peer one": [1.0], "peer rate": [700.0, 900.0]},
    }
    text = peers_table.render(results, {"Dask": "1.2"})
    assert "| ours | 3.00 s | 1,500.0 ms | - |" in text
    assert "| Dask | 1.00 s | - | 800.0 /s |" in text
    assert "Versions: Dask 1.2." in text
    assert len(re.findall(r"^\| ", text, re.M)) == 1 + len(ONE_BY_ONE) + len(BUNDLES) + len(PEERS)
    assert not peers_table.measured({"ours": {"reaction": [1.0]}})


def test_the_end_of_a_bundle_is_no_step(tmp_path: Path) -> None:
    """It is written before those of the steps, of which DAGMan is told when the job has ended."""
    log = tmp_path / "nodes.log"
    ends = ("000) 2026-01-01 10:00:09.000", "001) 2026-01-01 10:00:01.000")
    ends = (*ends, "002) 2026-01-01 10:00:01.250", "003) 2026-01-01 10:00:01.750")
    log.write_text("".join(f"005 (7.000.{end} Job terminated.\n...\n" for end in ends))
    assert peers_steps._after_first(log, 3) == pytest.approx(0.75)

"""Limits that DAGs share: three DAGMans, one of which is killed, and one that is held."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from tests.pool import waiting
from tests.pool.dagmans import dagmans_in, send
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
JOB = """\
universe = scheduler
executable = short.sh
arguments = "$(JOB) $(until)"
queue
"""
# Goes on until there is such a file.
SCRIPT = """\
#!/bin/sh
echo "1 $1" >> ledger
until test -e "$2"; do sleep 0.1; done
echo "-1 $1" >> ledger
"""
MOST = 4


class Shared:
    """Several DAGs in the directory of a scene, under a limit of their user's own, or of all."""

    def __init__(self, s: Scene, limit: str, *, own: bool = True) -> None:
        self.scene = s
        self.of_all = {} if own else {"_CONDOR_PYDAGMAN_SHARED_LIMITS": limit.strip()}
        (s.work / "places").mkdir()
        (s.work / "places").chmod(0o1777)
        (s.work / ".condor").mkdir()
        if own:
            (s.work / ".condor/pydagman_limits").write_text(limit)
        (s.work / "t.config").write_text(f"PYDAGMAN_LIMITS_DIR = {s.work / 'places'}\n")
        (s.work / "short.sub").write_text(JOB)
        (s.work / "short.sh").write_text(SCRIPT)
        (s.work / "short.sh").chmod(0o755)
        self.clusters: dict[str, int] = {}

    def submit(
        self, name: str, nodes: int, until: str = "/", limit: str = "few", *, check: bool = True
    ) -> None:
        values = {"HOME": self.scene.work, **self.of_all}
        settings = ";".join(f"{name}={value}" for name, value in values.items())
        text = f"CONFIG t.config\nENV SET {settings}\nSHARED_LIMIT {limit} ALL_NODES\n"
        for number in range(nodes):
            text += f'JOB {name}{number} short.sub\nVARS {name}{number} until="{until}"\n'
        (self.scene.work / f"{name}.dag").write_text(text)
        words = () if check else ("-no_check_dag",)
        self.clusters[name] = self.scene.access_point.submit(self.scene.work, *words, f"{name}.dag")

    @property
    def environment(self) -> dict[str, str]:
        """In which subcommands see the limits, and what is taken of them."""
        return {
            "HOME": str(self.scene.work),
            "_CONDOR_PYDAGMAN_LIMITS_DIR": str(self.scene.work / "places"),
            **self.of_all,
        }

    def command(self, *words: str) -> str:
        """What a subcommand of condor_pydagman prints for this user."""
        done = self.scene.access_point.run(
            "condor_pydagman", *words, cwd=self.scene.work, environment=self.environment
        )
        return str(done.stdout)

    def pid(self, name: str) -> int:
        locks = dagmans_in(self.scene.work)
        return next((pid for pid, lock in locks.items() if lock == f"{name}.dag.lock"), 0)

    def until(self, what: object, say: str) -> None:
        waiting.until(what, say, None)  # type: ignore[arg-type]

    def ended(self, name: str) -> int:
        return self.scene.access_point.wait(self.scene.work / f"{name}.dag").code

    def most(self) -> int:
        """How many jobs ran at the same time at most."""
        steps = (int(line.split()[0]) for line in self.scene.text("ledger").splitlines())
        return max(accumulate(steps))

    def has_begun(self, name: str) -> bool:
        waits = "wait for shared limit few" in self.scene.text(f"{name}.dag.dagman.out")
        return waits or self.runs(name) > 0

    def runs(self, name: str) -> int:
        return sum(line.startswith(f"1 {name}") for line in self.scene.text("ledger").splitlines())


@STAGE.scene
def three_dags_share_a_limit_and_one_is_killed(s: Scene) -> None:
    shared = Shared(s, f"few = JOBS {MOST}\n")
    nodes = {"a": 10, "c": 10, "b": 20}
    for name, count in nodes.items():
        shared.submit(name, count, "go")
    for name in nodes:
        shared.until(
            lambda n=name: shared.has_begun(n), "a DAG to run jobs, or to wait for a place"
        )
    pid = waiting.until(lambda: shared.pid("b"), "a DAGMan")
    send(pid)
    shared.until(lambda: "done with RECOVERY mode" in s.text("b.dag.dagman.out"), "its successor")
    assert len(s.text("ledger").splitlines()) <= MOST
    s.touch("go")
    assert [shared.ended(name) for name in "abc"] == [0, 0, 0]
    assert {name: shared.runs(name) for name in nodes} == nodes
    assert shared.most() <= MOST
    assert not list((s.work / "places").iterdir())


@STAGE.scene
def a_dag_that_is_held_or_removed_keeps_no_place_without_a_job(s: Scene) -> None:
    shared = Shared(s, "few = JOBS 3\n")
    shared.submit("a", 6, "never")
    shared.until(lambda: shared.runs("a") == 3, "three jobs")
    shared.submit("b", 2)
    shared.until(lambda: "wait for shared limit few" in s.text("b.dag.dagman.out"), "it waits")
    (row,) = json.loads(shared.command("limits", "--json"))
    assert (row["name"], row["taken"], row["most"], row["own"]) == ("few", 3, 3, True)
    waits = {one["cluster"]: one["waiting"] for one in row["dags"]}
    assert waits == {shared.clusters["a"]: 3, shared.clusters["b"]: 2}
    listed = ("top", "--once", "-allusers", "-constraint", f"ClusterId == {shared.clusters['b']}")
    shared.until(lambda: "limit.full few (2)" in shared.command(*listed), "its job ad to say so")
    s.run("condor_hold", str(shared.clusters["a"]))
    shared.until(lambda: not shared.pid("a"), "DAGMan to leave")
    s.run(
        "condor_rm", "-constraint", f'DAGManJobId == {shared.clusters["a"]} && DAGNodeName == "a0"'
    )
    assert shared.ended("b") == 0
    shared.submit("c", 1)
    assert shared.ended("c") == 0
    assert shared.runs("a") == 3
    s.run("condor_rm", str(shared.clusters["a"]))
    shared.submit("d", 3)
    assert shared.ended("d") == 0


@STAGE.scene
def an_unsafe_directory_is_refused_and_told(s: Scene) -> None:
    """As one of another user is, whom a pool in a container does not know."""
    shared = Shared(s, "few = JOBS 3\n", own=False)
    places = s.work / "places"
    places.chmod(0o777)
    shared.submit("a", 1)
    shared.until(lambda: "it has no sticky bit" in s.text("a.dag.dagman.out"), "the refusal")
    told = " ".join(shared.command("explain", str(shared.clusters["a"])).split())
    assert "so no node that is subject to one can start" in told
    assert "others can write to it and it has no sticky bit" in told
    refused = s.access_point.run(
        "condor_pydagman", "limits", environment=shared.environment, check=False
    )
    assert refused.returncode == 1
    assert "it has no sticky bit" in refused.stderr
    places.chmod(0o1777)
    assert shared.ended("a") == 0
    with places_locked(places):
        done = s.access_point.run("condor_pydagman", "limits", environment=shared.environment)
    assert f"{places} is locked by another process" in done.stderr


@contextlib.contextmanager
def places_locked(places: Path) -> Iterator[None]:
    fd = os.open(places, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


test_limits = STAGE.tests()

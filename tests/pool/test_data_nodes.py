"""DATA nodes on the real pool, against servers that break.

The server runs in this process, so its requests can be counted.  DAGs run side by side.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.dagmans import processes_in, send
from tests.pool.scenes import Scene
from tests.servers.certificates import Authority
from tests.servers.faulty_http import FaultyServer, Wrong, faulty_http

DATA = os.urandom(2_000_000)
SECRET = "gEhEiM3141"
KNOBS = """\
PYDAGMAN_PLACEMENT_DIR = {shared}
PYDAGMAN_PLACEMENT_CAPACITY = scratch=10 MB
PYDAGMAN_PLACEMENT_STALL_TIMEOUT = {stall}
PYDAGMAN_PLACEMENT_HOST_REST = 1
PYDAGMAN_PLACEMENT_MAX_DELAY = 2
DAGMAN_USE_STRICT = 0
"""
# Seconds: with the first one, only the end of the test or what it does ends a stall.
LASTING, SHORT = 6000, 10
COUNT = """\
#== count.sub
executable = /bin/sh
arguments = "-c 'wc -c <staged/a >counted'"
universe = local
queue
"""
# The schedd removes what a DAGMan that ends has in the queue: also jobs in the local universe whose
# end is in the log already, and their log has two ends then.
LAST = """\
#== last.sub
executable = /bin/sh
arguments = "-c 'until test -e go; do sleep 0.1; done'"
universe = scheduler
queue
"""


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_http() as server:
        server.stall_s = LASTING
        server.files.update({"/a": DATA, "/dir/x y": b"x", "/dir/s/ü": b"u"})
        yield server


def placing(
    access_point: AccessPoint, work: Path, text: str, *, stall: int = LASTING
) -> tuple[Scene, Path]:
    """A DAG with DATA nodes in an empty directory, and the directory that it shares with others.

    Args:
        stall: seconds after which a transfer without data is given up.
    """
    shared = work / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    scene = Scene(access_point, work)
    knobs = KNOBS.format(shared=shared, stall=stall)
    scene.write(f"CONFIG knobs\n{text}{LAST}#== knobs\n{knobs}")
    return scene, shared


def names(directory: Path) -> set[str]:
    return {str(one.relative_to(directory)) for one in directory.rglob("*") if one.is_file()}


def running(s: Scene, node: str) -> dict[str, Any]:
    """The ad of a node's job, once it runs."""
    wanted = f'DAGManJobId == {s.cluster} && DAGNodeName == "{node}" && JobStatus == 2'
    found = s.until(lambda: s.access_point.queue(wanted), f"node {node} runs", max_pause=0.5)
    return dict(found[0])


def transfer(source: str, destination: str, more: str = "") -> str:
    return f'[ dap_type = "transfer"; src_url = "{source}"; dest_url = "{destination}"; {more} ]\n'


def allocate(name: str, size: str, more: str = "") -> str:
    return (
        f'[ dap_type=allocate; dest_host=scratch; allocation_id={name}; size="{size}"; {more} ]\n'
    )


def release(name: str) -> str:
    return f"[ dap_type = release; dest_host = scratch; allocation_id = {name}; ]\n"


def test_stage_in_compute_stage_out(
    access_point: AccessPoint, work: Path, server: FaultyServer
) -> None:
    """While the server breaks off, is overloaded, and stalls."""
    server.fail(
        "/a", Wrong(after=500_000), Wrong(status=503, headers=(("Retry-After", "1"),)),
        Wrong(), Wrong(after=500_000, stalls=True),
    )  # fmt: skip
    text = """\
DATA space space.dap
DATA in in.dap
JOB work count.sub
DATA out out.dap
DATA free {
FREE}
DATA old count.sub
DATA noop nothing.dap NOOP
SCRIPT PRE in script.sh 0 pre
SCRIPT POST in script.sh 0 post $RETURN
VARS in server="URL" My.Kind="\\"in\\""
VARS out to="URL"
PARENT space CHILD in
PARENT in CHILD work
PARENT work CHILD out
PARENT out CHILD free old
JOB last last.sub
PARENT free old CHILD last
"""
    files = (
        f"#== space.dap\n{allocate('a', '5MB')}"
        f"#== in.dap\n{transfer('$(server)/a', 'staged/a', 'allocation_id = a;')}"
        f"{transfer('$(server)/dir/', 'staged/dir/')}"
        f"#== out.dap\n{transfer('counted', '$(to)/up/$(JOB) counted')}{COUNT}"
    )
    text = text.replace("URL", server.url("")).replace("FREE", release("a"))
    s, _ = placing(access_point, work, text + files, stall=SHORT)
    s.submit_again()
    left = f"DAGManJobId == {s.cluster}"
    s.until(
        lambda: [ad["DAGNodeName"] for ad in access_point.queue(left)] == ["last"],
        "all other jobs to leave the queue",
        max_pause=0.5,
    )
    s.touch("go")
    assert s.ends() == 0, s.out()[-3000:]
    assert (work / "staged/a").read_bytes() == DATA
    assert names(work / "staged") == {"a", "dir/x y", "dir/s/ü"}
    assert server.files["/up/out counted"] == b"2000000\n"
    assert s.text("scripts").splitlines() == ["pre", "post 0"]
    output = s.text("t.dag.placements/in.out")
    stalled = f"hardly any data for {SHORT} s"
    for words in ("broke off", "overloaded", stalled, "again in", "done: "):
        assert words in output
    check_what_is_said(s)


def check_what_is_said(s: Scene) -> None:
    """In `.dagman.out`, metrics, events, watch, report; and other readers of the log."""
    assert "Node in: " in s.out()
    assert "is tried again" in s.out()
    assert "unused by DAGMAN" not in s.out()
    metrics = json.loads(s.text("t.dag.metrics"))
    assert metrics["placements_completed"] == 6
    assert metrics["placement_attempts"] == 9
    assert metrics["placement_bytes"] >= 500_000
    events = s.run("condor_pydagman", "events", "t.dag").splitlines()
    found = [json.loads(line)["event"] for line in events]
    assert (found.count("data.done"), found.count("data.retry")) == (6, 3)
    watched = s.run("condor_pydagman", "watch", "--once", "--json", "t.dag")
    assert json.loads(watched)["placements"]["retried"] == 3
    assert "Data placement" in s.run("condor_pydagman", "report", "-o", "-", "t.dag")
    assert "okay" in s.run("condor_check_userlogs", "t.dag.nodes.log").lower()


def test_it_is_killed_held_and_removed(
    access_point: AccessPoint, work: Path, server: FaultyServer
) -> None:
    """Of DAGMan, of the worker, and of the job; nothing half is left, and it goes on.

    The server is slow then: a worker that is told to end does so when it has got something.
    """
    server.files.update({f"/{name}": DATA for name in "khr"})
    for name in "khr":
        server.fail(f"/{name}", Wrong(after=1_200_000, drips=True))
    files = "".join(f"#== {n}.dap\n{transfer(server.url(f'/{n}'), n)}" for n in "khr")
    text = "DATA killed k.dap\nDATA held h.dap\nDATA removed r.dap\n"
    s, _ = placing(access_point, work, text + files)
    s.submit_again()
    ads = {node: running(s, node) for node in ("killed", "held", "removed")}
    for name in "khr":
        s.until(lambda name=name: parts(work, name), f"a part of {name}")
    send(worker_of(work, "killed"))
    held = ads["held"]["ClusterId"]
    s.run("condor_hold", f"{held}.0")
    s.run("condor_rm", f"{ads['removed']['ClusterId']}.0")
    assert not names(work) & {"k", "h", "r"}
    s.kill()
    is_held = f"ClusterId == {held} && JobStatus == 5"
    s.until(lambda: access_point.queue(is_held), "the job is held", max_pause=0.5)
    s.run("condor_release", f"{held}.0")
    assert s.ends() == 1
    for node, name in (("killed", "k"), ("held", "h")):
        assert (work / name).read_bytes() == DATA
        assert "of it now" in s.text(f"t.dag.placements/{node}.out")
    assert not (work / "r").exists()
    s.submit_again()
    assert s.ends() == 0
    assert all((work / name).read_bytes() == DATA for name in "khr")
    assert not [name for name in names(work) if name.endswith(".part")]


def parts(work: Path, name: str) -> list[Path]:
    return [path for path in work.glob(f".{name}.*.part") if path.stat().st_size >= 1_000_000]


def worker_of(work: Path, node: str) -> int:
    """Process of a node's worker."""
    for pid in processes_in(work):
        with contextlib.suppress(OSError):  # it may have ended
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            if words.rstrip("\0").endswith(f"/{node}.order"):
                return pid
    raise AssertionError(f"no worker of {node}")


@pytest.fixture
def encrypted(work: Path) -> Iterator[tuple[FaultyServer, Path]]:
    """A server that speaks TLS, and the file of the authority that vouches for it."""
    directory = new_directory(work.parent / f"{work.name}.certificates")
    authority = Authority(directory)
    with faulty_http() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.signed("127.0.0.1"))
        server.encrypt(context)
        yield server, authority.file


def test_secrets_are_nowhere(
    access_point: AccessPoint,
    work: Path,
    server: FaultyServer,
    encrypted: tuple[FaultyServer, Path],
) -> None:
    """In no file, ad, event, process list or message, while it runs and afterwards."""
    place, (safe, trusted) = server.place, encrypted
    safe.files["/dir/x y"] = b"x"
    server.files["/s"] = DATA
    server.fail("/s", Wrong(after=1_000_000, stalls=True))
    s, _ = placing(
        access_point,
        work,
        f'DATA good good.dap\nDATA bad bad.dap\nDATA own own.dap\nVARS good pw="{SECRET}"\n'
        f"#== good.dap\n{transfer(f'http://me:$(pw)@{place}/s', 's')}"
        f"#== bad.dap\n{transfer(f'http://me:{SECRET}@{place}/nope?token={SECRET}', 'bad')}"
        f"#== own.dap\n{transfer(safe.url('/dir/x y', 'https'), 'own')}"
        f"#== token\n{SECRET}",
    )
    s.submit_again("-insert_env", f"BEARER_TOKEN_FILE={work}/token;SSL_CERT_FILE={trusted}")
    s.until(lambda: parts(work, "s"), "a part")
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert SECRET.encode() not in path.read_bytes(), path
        except OSError:
            continue
    assert SECRET not in s.run("condor_q", "-allusers", "-long")
    server.resumed.set()
    assert s.ends() == 1
    sent = {path: headers.get("Authorization") for _, path, headers in safe.requests}
    assert sent["/dir/x y"] == f"Bearer {SECRET}"
    s.gone()
    mine = f"ClusterId == {s.cluster} || DAGManJobId == {s.cluster}"
    past = s.run("condor_history", "-long", "-constraint", mine)
    assert len(re.findall("^ClusterId = ", past, re.M)) == 4
    assert SECRET not in past
    theirs = {"t.dag", "good.dap", "bad.dap", "token"}  # where the user has put it
    pool = Path(access_point.pool.directory)
    for root in (work, pool):
        for path in root.rglob("*"):
            if path.is_file() and not (path.parent == work and path.name in theirs):
                with contextlib.suppress(FileNotFoundError):  # other DAGs end as well
                    assert SECRET.encode() not in path.read_bytes(), path


def test_the_ad_of_the_job_tells_how_far_a_transfer_is(
    access_point: AccessPoint, work: Path, server: FaultyServer
) -> None:
    server.fail("/a", Wrong(after=1_000_000, stalls=True))
    s, _ = placing(
        access_point, work, f"DATA slow s.dap\n#== s.dap\n{transfer(server.url('/a'), 'a')}"
    )
    s.submit_again()
    told = f"DAGManJobId == {s.cluster} && PlacementRunningTotal > 0"
    (ad,) = s.until(lambda: access_point.queue(told), "how much there is", max_pause=0.5)
    assert ad["PlacementRunningTotal"] == len(DATA)
    assert ad["PlacementRunningBytes"] >= 1_000_000
    assert ad["PlacementState"] == "processing_request"
    assert ad["JobUniverse"] == 12
    server.resumed.set()
    assert s.ends() == 0


def test_a_removed_dag_releases_what_it_has_allocated(
    access_point: AccessPoint, work: Path
) -> None:
    """Its rescue run allocates again what a transfer needs."""
    s, shared = placing(
        access_point,
        work,
        "DATA space space.dap\nJOB last last.sub\nDATA out out.dap\n"
        "PARENT space CHILD last\nPARENT last CHILD out\n"
        f"#== space.dap\n{allocate('a', '5MB')}"
        f"#== out.dap\n{transfer('knobs', 'copy', 'allocation_id = a;')}{release('a')}",
    )
    s.submit_again()
    running(s, "last")
    shown = ("condor_pydagman", "allocations", "list", "--json")
    environment = {"_CONDOR_PYDAGMAN_PLACEMENT_DIR": str(shared)}

    def allocated() -> list[dict[str, Any]]:
        return list(json.loads(access_point.run(*shown, environment=environment).stdout))

    (found,) = allocated()
    assert (found["allocation_id"], found["dags"]) == ("a", [str(work / "t.dag")])
    s.remove()
    s.until(lambda: not allocated(), "the allocation is released", after_end=True)
    assert "released: a of scratch" in s.text("t.dag.placements/released.out")
    s.gone()
    s.touch("go")
    s.submit_again()
    assert s.ends() == 0, s.out()[-3000:]
    assert "allocates a again" in s.text("t.dag.placements/out.out")
    assert (work / "copy").exists()
    assert not allocated()

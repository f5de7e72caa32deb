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
from tests.pool.dagmans import dagmans_in, send
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
SCRIPT = '#!/bin/sh\necho "$@" >>scripts\nexit $1\n'
COUNT = """\
executable = /bin/sh
arguments = "-c 'wc -c <staged/a >counted'"
universe = local
queue
"""
# The schedd removes what a DAGMan that ends has in the queue: also jobs in the local universe whose
# end is in the log already, and their log has two ends then.
LAST = """\
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


class Dag:
    """A DAG with DATA nodes, in a directory of its own.

    Args:
        stall: seconds after which a transfer without data is given up.
        shared: the directory that it shares with other DAGs; '' for one of its own.
        files: names, with _ for a dot, and texts.
    """

    def __init__(
        self,
        access_point: AccessPoint,
        work: Path,
        text: str,
        *,
        stall: int = LASTING,
        shared: Path | None = None,
        **files: str,
    ) -> None:
        self.access_point = access_point
        self.work = work if work.exists() else new_directory(work)
        self.shared = shared or self.work / "shared"
        if not self.shared.exists():
            self.shared.mkdir()
            self.shared.chmod(0o1777)
        self.write("knobs", KNOBS.format(shared=self.shared, stall=stall))
        self.write("script.sh", SCRIPT)
        (self.work / "script.sh").chmod(0o755)
        for name, content in files.items():
            self.write(name.replace("_", "."), content)
        self.write("t.dag", "CONFIG knobs\n" + text)
        self.cluster = 0

    def write(self, name: str, text: str) -> None:
        path = self.work / name
        path.write_text(text)
        path.chmod(0o666)

    def submit(self, *words: str, **environment: str) -> Dag:
        argv = ("condor_submit_dag", *words, "t.dag")
        done = self.access_point.run(*argv, cwd=self.work, environment=environment, loaded=True)
        found = re.search(r"submitted to cluster (\d+)\.", done.stdout)
        assert found, done.stdout
        self.cluster = int(found[1])
        return self

    def end(self) -> int:
        """Exit code of this submission of the DAG, when it has ended."""
        ended = re.compile(rf"^005 \({self.cluster:03}\.000.*\n.*return value (\d+)", re.MULTILINE)
        found = self.access_point.wait_for(
            lambda: ended.search(self.read("t.dag.dagman.log")), say="the end of the DAG"
        )
        return int(found[1])

    def read(self, name: str) -> str:
        return (self.work / name).read_text(errors="replace")

    def out(self) -> str:
        return self.read("t.dag.dagman.out")

    def names(self, name: str = ".") -> set[str]:
        path = self.work / name
        return {str(one.relative_to(path)) for one in path.rglob("*") if one.is_file()}

    def job(self, node: str) -> dict[str, Any]:
        """The ad of a node's job, once it runs."""
        found = self.access_point.wait_for(
            lambda: self.access_point.queue(
                f'DAGManJobId == {self.cluster} && DAGNodeName == "{node}" && JobStatus == 2'
            ),
            say=f"node {node} runs",
        )
        return dict(found[0])

    def value(self, node: str) -> int:
        """Exit code of the last attempt of a node."""
        done = self.access_point.run(
            "condor_pydagman", "report", "--format", "json", "-o", "-", "t.dag", cwd=self.work
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return int([row for row in rows if row["node"] == node][-1]["value"])


def transfer(source: str, destination: str, more: str = "") -> str:
    return f'[ dap_type = "transfer"; src_url = "{source}"; dest_url = "{destination}"; {more} ]\n'


def allocate(name: str, size: str, more: str = "") -> str:
    return (
        f'[ dap_type=allocate; dest_host=scratch; allocation_id={name}; size="{size}"; {more} ]\n'
    )


def release(name: str) -> str:
    return f"[ dap_type = release; dest_host = scratch; allocation_id = {name}; ]\n"


def paused(server: FaultyServer, path: str, times: int = 1) -> None:
    """Let the next requests for a path stall in the middle."""
    server.fail(path, Wrong(times=times, after=1_000_000, stalls=True))


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
    url = server.url("")
    dag = Dag(
        access_point,
        work,
        text.replace("URL", url).replace("FREE", release("a")),
        stall=SHORT,
        space_dap=allocate("a", "5MB"),
        in_dap=transfer("$(server)/a", "staged/a", 'allocation_id = "a";')
        + transfer("$(server)/dir/", "staged/dir/"),
        out_dap=transfer("counted", "$(to)/up/$(JOB) counted"),
        count_sub=COUNT,
        last_sub=LAST,
    ).submit()
    left = f"DAGManJobId == {dag.cluster}"
    access_point.wait_for(
        lambda: [ad["DAGNodeName"] for ad in access_point.queue(left)] == ["last"],
        say="all other jobs to leave the queue",
        dag=work / "t.dag",
    )
    (work / "go").touch()
    assert dag.end() == 0, dag.out()[-3000:]
    assert (work / "staged/a").read_bytes() == DATA
    assert dag.names("staged") == {"a", "dir/x y", "dir/s/ü"}
    assert server.files["/up/out counted"] == b"2000000\n"
    assert dag.read("scripts").splitlines() == ["0 pre", "0 post 0"]
    output = dag.read("t.dag.placements/in.out")
    stalled = f"hardly any data for {SHORT} s"
    for words in ("broke off", "overloaded", stalled, "again in", "done: "):
        assert words in output
    check_what_is_said(dag)


def check_what_is_said(dag: Dag) -> None:
    """In `.dagman.out`, metrics, events, watch, report; and other readers of the log."""
    assert "Node in: " in dag.out()
    assert "is tried again" in dag.out()
    assert "unused by DAGMAN" not in dag.out()
    metrics = json.loads(dag.read("t.dag.metrics"))
    assert metrics["placements_completed"] == 6
    assert metrics["placement_attempts"] == 9
    assert metrics["placement_bytes"] >= 500_000
    run = dag.access_point.run
    events = run("condor_pydagman", "events", "t.dag", cwd=dag.work).stdout.splitlines()
    names = [json.loads(line)["event"] for line in events]
    assert (names.count("data.done"), names.count("data.retry")) == (6, 3)
    watched = run("condor_pydagman", "watch", "--once", "--json", "t.dag", cwd=dag.work).stdout
    assert json.loads(watched)["placements"]["retried"] == 3
    page = run("condor_pydagman", "report", "-o", "-", "t.dag", cwd=dag.work).stdout
    assert "Data placement" in page
    checked = run("condor_check_userlogs", "t.dag.nodes.log", cwd=dag.work).stdout
    assert "okay" in checked.lower()


def test_what_fails(access_point: AccessPoint, work: Path, server: FaultyServer) -> None:
    """Exit codes, retries, a wrong request, and the rescue DAG."""
    dag = Dag(
        access_point,
        work,
        """\
DATA gone gone.dap
RETRY gone 3 UNLESS-EXIT 12
DATA wrong wrong.dap
DATA several several.dap
RETRY several 1
DATA post post.dap
SCRIPT POST post script.sh 1 post
RETRY post 1
DATA full {
"""
        + allocate("b", "20MB")
        + "}\n",
        gone_dap=transfer(server.url("/gone"), "gone"),
        wrong_dap="dap_type = transfer\nsrc_url = a\ndst_url = b\n",
        several_dap=transfer(server.url("/a"), "first") + transfer(server.url("/late"), "late"),
        post_dap=transfer(server.url("/dir/x y"), "post"),
    ).submit()
    assert dag.end() == 1
    assert [dag.value(node) for node in ("gone", "several", "full")] == [12, 12, 15]
    assert dag.out().count("Submitting HTCondor Node gone") == 1
    assert "wrong.dap:3: a request has no key 'dst_url' (did you mean dest_url?)" in dag.out()
    assert "    dst_url = b" in dag.out()
    assert "done: " not in dag.read("t.dag.placements/several.out")  # the retry has the rest
    # The POST script was not content: then all is done again.
    assert "done: " in dag.read("t.dag.placements/post.out")
    explained = access_point.run(
        "condor_pydagman", "explain", "t.dag", "gone", cwd=work, check=False
    ).stdout
    assert "the source is not there" in explained
    check_rescue(dag, server)


def check_rescue(dag: Dag, server: FaultyServer) -> None:
    """What was noted as done is not done again."""
    server.files["/gone"] = server.files["/late"] = b"came late"
    dag.write("wrong.dap", transfer(server.url("/late"), "wrong"))
    dag.write("script.sh", "#!/bin/sh\nexit 0\n")
    (dag.work / "script.sh").chmod(0o755)
    dag.write("t.dag", dag.read("t.dag").replace("20MB", "2MB"))
    before = [path for method, path, _ in server.requests].count("/a")
    dag.submit()
    assert dag.end() == 0, dag.out()[-3000:]
    assert dag.read("late") == dag.read("gone") == dag.read("wrong") == "came late"
    assert [path for method, path, _ in server.requests].count("/a") == before


def test_it_is_killed_held_and_removed(
    access_point: AccessPoint, work: Path, server: FaultyServer
) -> None:
    """Of DAGMan, of the worker, and of the job; nothing half is left, and it goes on.

    The server is slow then: a worker that is told to end does so when it has got something.
    """
    server.files.update({f"/{name}": DATA for name in "khr"})
    for name in "khr":
        server.fail(f"/{name}", Wrong(after=1_200_000, drips=True))
    dag = Dag(
        access_point,
        work,
        "DATA killed k.dap\nDATA held h.dap\nDATA removed r.dap\n",
        **{f"{name}_dap": transfer(server.url(f"/{name}"), name) for name in "khr"},
    )
    dag.submit()
    for node, name in (("killed", "k"), ("held", "h"), ("removed", "r")):
        dag.job(node)
        access_point.wait_for(lambda name=name: parts(work, name), say=f"a part of {name}")
    ads = {node: dag.job(node) for node in ("killed", "held", "removed")}
    ids = {node: f"{ad['ClusterId']}.0" for node, ad in ads.items()}
    send(worker_of(access_point, work, "killed"))
    access_point.run("condor_hold", ids["held"])
    access_point.run("condor_rm", ids["removed"])
    assert not dag.names() & {"k", "h", "r"}
    (dagman,) = dagmans_in(work)
    send(dagman)
    access_point.wait_for(
        lambda: access_point.queue(f"ClusterId == {ads['held']['ClusterId']} && JobStatus == 5"),
        say="the job is held",
    )
    access_point.run("condor_release", ids["held"])
    assert dag.end() == 1
    for node, name in (("killed", "k"), ("held", "h")):
        assert (work / name).read_bytes() == DATA
        assert "of it now" in dag.read(f"t.dag.placements/{node}.out")
    assert not (work / "r").exists()
    assert dag.submit().end() == 0
    assert all((work / name).read_bytes() == DATA for name in "khr")
    assert not [name for name in dag.names() if name.endswith(".part")]


def parts(work: Path, name: str) -> list[Path]:
    return [path for path in work.glob(f".{name}.*.part") if path.stat().st_size >= 1_000_000]


def worker_of(access_point: AccessPoint, work: Path, node: str) -> int:
    """Process of a node's worker."""
    order = f"/{node}.order"
    for pid in access_point.processes():
        with contextlib.suppress(OSError):  # it may have ended
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            is_here = os.readlink(f"/proc/{pid}/cwd") == str(work)
            if is_here and words.rstrip("\0").endswith(order):
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
    dag = Dag(
        access_point,
        work,
        f'DATA good good.dap\nDATA bad bad.dap\nDATA own own.dap\nVARS good pw="{SECRET}"\n',
        good_dap=transfer(f"http://me:$(pw)@{place}/s", "s"),
        bad_dap=transfer(f"http://me:{SECRET}@{place}/nope?token={SECRET}", "bad"),
        own_dap=transfer(safe.url("/dir/x y", "https"), "own"),
    )
    dag.write("token", SECRET)
    variables = {"BEARER_TOKEN_FILE": str(work / "token"), "SSL_CERT_FILE": str(trusted)}
    dag.submit("-include_env", ",".join(variables), **variables)
    access_point.wait_for(lambda: parts(work, "s"), say="a part")
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert SECRET.encode() not in path.read_bytes(), path
        except OSError:
            continue
    assert SECRET not in access_point.run("condor_q", "-allusers", "-long").stdout
    server.resumed.set()
    assert dag.end() == 1
    sent = {path: headers.get("Authorization") for _, path, headers in safe.requests}
    assert sent["/dir/x y"] == f"Bearer {SECRET}"
    access_point.wait_for(lambda: access_point.gone(dag.cluster), say="an empty queue")
    mine = f"ClusterId == {dag.cluster} || DAGManJobId == {dag.cluster}"
    past = access_point.run("condor_history", "-long", "-constraint", mine).stdout
    assert len(re.findall("^ClusterId = ", past, re.M)) == 4
    assert SECRET not in past
    theirs = {"t.dag", "good.dap", "bad.dap", "token"}  # where the user has put it
    pool = Path(access_point.pool.directory)
    for root in (work, pool):
        for path in root.rglob("*"):
            if path.is_file() and not (path.parent == work and path.name in theirs):
                with contextlib.suppress(FileNotFoundError):  # other DAGs end as well
                    assert SECRET.encode() not in path.read_bytes(), path


def test_an_allocation_waits_for_another_dag(
    access_point: AccessPoint, work: Path, server: FaultyServer
) -> None:
    """And the job's ad tells how far a transfer is while it runs."""
    server.files["/slow"] = DATA
    paused(server, "/slow")
    first = Dag(
        access_point,
        new_directory(work / "one"),
        "DATA take a.dap\nDATA slow s.dap\nDATA give r.dap\n"
        "PARENT take CHILD slow\nPARENT slow CHILD give\n",
        a_dap=allocate("one", "8MB"),
        s_dap=transfer(server.url("/slow"), "slow"),
        r_dap=release("one"),
    )
    second = Dag(
        access_point,
        new_directory(work / "two"),
        "DATA take a.dap\nDATA give r.dap\nPARENT take CHILD give\n",
        shared=first.shared,
        a_dap=allocate("two", "8MB"),
        r_dap=release("two"),
    )
    first.submit()
    ad = access_point.wait_for(
        lambda: access_point.queue(f"DAGManJobId == {first.cluster} && PlacementRunningTotal > 0"),
        say="PlacementRunningTotal in the job's ad",
    )[0]
    assert ad["PlacementRunningTotal"] == len(DATA)
    assert ad["PlacementRunningBytes"] >= 1_000_000
    assert ad["PlacementState"] == "processing_request"
    assert ad["JobUniverse"] == 12
    second.submit()
    told = second.work / "t.dag.placements/take.out"
    says = "waits for 8.0 MB of scratch: 2.0 MB are free"
    access_point.wait_for(lambda: told.exists() and says in told.read_text(), say=says)
    server.resumed.set()
    assert first.end() == 0
    assert second.end() == 0


def test_a_removed_dag_releases_what_it_has_allocated(
    access_point: AccessPoint, work: Path
) -> None:
    """Its rescue run allocates again what a transfer needs."""
    dag = Dag(
        access_point,
        work,
        "DATA space space.dap\nJOB last last.sub\nDATA out out.dap\n"
        "PARENT space CHILD last\nPARENT last CHILD out\n",
        space_dap=allocate("a", "5MB"),
        last_sub=LAST,
        out_dap=transfer("knobs", "copy", 'allocation_id = "a";') + release("a"),
    ).submit()
    dag.job("last")
    shown = ("condor_pydagman", "allocations", "list", "--json")
    environment = {"_CONDOR_PYDAGMAN_PLACEMENT_DIR": str(dag.shared)}

    def allocated() -> list[dict[str, Any]]:
        done = access_point.run(*shown, cwd=work, environment=environment)
        return list(json.loads(done.stdout))

    (found,) = allocated()
    assert (found["allocation_id"], found["dags"]) == ("a", [str(work / "t.dag")])
    access_point.run("condor_rm", str(dag.cluster))
    access_point.wait_for(lambda: not allocated(), say="the allocation is released")
    assert "released: a of scratch" in dag.read("t.dag.placements/released.out")
    access_point.wait_for(lambda: not (work / "t.dag.lock").exists(), say="DAGMan has ended")
    (work / "go").touch()
    assert dag.submit().end() == 0, dag.out()[-3000:]
    assert "allocates a again" in dag.read("t.dag.placements/out.out")
    assert (work / "copy").exists()
    assert not allocated()

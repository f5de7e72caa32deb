"""A DAG with everything at once, for the torture test: what it has beside what `workload` draws.

- Units at sites (`site_world`): staged in by a DATA node, worked on, staged out by a DATA node, and
  cleaned up.  DAGs share the sites, and people have units matched again.
- A grid of nodes that somebody steers at random (`steering`).
- Nodes with a CACHE that were done in an earlier version of the DAG: some have new inputs, and run.
- Two nodes with a RUN_IF: one of the conditions is true, and that node runs.
- Nodes that come while it runs: from a feeder and from files of nodes, or by `steer add`, beside
  bundles with chains.
- A limit that DAGs share.

What must hold beside what `judge` says of each node: nothing of this is lost or twice, a DAG leaves
nothing behind, and no limit is ever exceeded.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from random import Random

from tests.pool.access_point import new_directory
from tests.torture import data, data_dags, site_judge, steering
from tests.torture.ledger import Line
from tests.torture.session import Session
from tests.torture.site_dags import SURE, Group, SiteDag
from tests.torture.site_world import SiteWorld
from tests.torture.workload import Node, Workload, drawn_node, node_lines, perhaps_bundled
from tests.torture.world import World, until

MOST = 6  # nodes with a limit that are in the queue
UNITS, CACHED, PIECES = 3, 6, 5
STEER_S = 0.15  # between two requests
KNOBS = """\
PYDAGMAN_SITES_INTERVAL = 1
PYDAGMAN_SITES_DIR = {place}/claims
PYDAGMAN_PLACEMENT_DIR = {place}/shared
PYDAGMAN_LIMITS_DIR = {place}/limits
PYDAGMAN_SHARED_LIMITS = torture = JOBS {most}
"""
TRAITS = {"some scripts", "retry job", "retry post", "procs", "vanilla"}  # of nodes that come later
DECIDED = Node("D0", retries=2), Node("D1", ("D0",), retries=2), Node("D2", ("D0",), skip=True)
CONDITIONS = ("RUN_IF D1 Parents.D0.ExitCode == 0", "RUN_IF D2 Parents.D0.ExitCode != 0")
STEPS = ("in", "run", "out", "clean")
UNIT = """\
DATA in-{unit} in.dap
JOB run-{unit} step.sub
DATA out-{unit} out.dap
JOB clean-{unit} step.sub
VARS in-{unit} unit="{unit}"
VARS run-{unit} unit="{unit}" step="run"
VARS out-{unit} unit="{unit}"
VARS clean-{unit} unit="{unit}" step="clean"
PARENT in-{unit} CHILD run-{unit}
PARENT run-{unit} CHILD out-{unit}
PARENT out-{unit} CHILD clean-{unit}
SITE_GROUP {unit} NODES in-{unit} run-{unit} out-{unit} clean-{unit}
SITE_POLICY {unit} CLEAN_UP clean-{unit} 60
SITE_POLICY {unit} FAILURES 1
SITE_POLICY {unit} IDLE 30
SITE_POLICY {unit} HELD 5
SITE_POLICY {unit} GONE 20
SITE_POLICY {unit} ROUNDS 500
"""
FILES = {
    "in.dap": '[ dap_type = "transfer"; src_url = "$(unit)"; '
    'dest_url = "$(MATCH_Door)/$(unit)/input"; ]\n',
    "out.dap": '[ dap_type = "transfer"; src_url = "$(MATCH_Door)/$(unit)/result"; '
    'dest_url = "results/$(unit)"; ]\n',
    "step.sub": """\
universe = $(MATCH_Universe)
executable = step.sh
arguments = "$(step) $(unit)"
requirements = $(MATCH_Runs)
hold = $(MATCH_Holds)
queue
""",
    "step.sh": """\
#!/bin/sh
# step.sh STEP UNIT: at $SITE, whose jobs work in $AREA.
set -eu
case $1 in
run)
    test "$SITE" != pit
    test ! -e "DEAD/$SITE"
    tr a-z A-Z <"$AREA/$2/input" >"$AREA/$2/result.new"
    mv "$AREA/$2/result.new" "$AREA/$2/result"
    ;;
clean) rm -rf "$AREA/$2" ;;
esac
""",
    "feed.sh": """\
#!/bin/sh
cat "piece$1.dag" || exit 1
test -e "piece$(($1 + 1)).dag" || exit 3
""",
}


class Shared:
    """What all DAGs of a pool share: its sites, a limit, and the directories of all of this.

    Attributes:
        spans: when jobs ran that keep to the limit, of DAGs that have ended.
    """

    def __init__(self, world: World, random: Random) -> None:
        self.world = world
        self.sites = SiteWorld(world.access_point, world.directory, random)
        self.spans: list[tuple[float, float]] = []

    def wrong(self) -> Iterator[str]:
        """What should not have been, or is left when all DAGs have ended."""
        yield from self.sites.wrong
        if self.sites.taken():
            yield f"claims are left: {self.sites.taken()}"
        yield from data.left_in(self.world.directory / "shared")
        said = self.world.access_point.run("condor_pydagman", "limits", "--json").stdout
        left = (one for one in json.loads(said) if one["taken"] or one["ahead"])
        yield from (f"places are left: {one}" for one in left)
        most = most_at_once(self.spans)
        if most > MOST:
            yield f"{most} nodes with a limit of {MOST} ran at once"
        yield from (f"job {ad['ClusterId']} is left" for ad in self.world.access_point.queue())


def make_directories(place: Path) -> str:
    """What DAGs share, anew; returns the knobs that say where that is."""
    for name in ("claims", "shared", "limits", "areas", "sites", "dead"):
        shutil.rmtree(place / name, ignore_errors=True)
    for name in ("claims", "shared", "limits"):
        new_directory(place / name).chmod(0o1777)
    return KNOBS.format(place=place, most=MOST)


def most_at_once(spans: Collection[tuple[float, float]]) -> int:
    """How many spans there are at the same time, at most."""
    changes = [(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans]
    now = most = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def data_of(unit: str) -> str:
    """What is staged in for a unit; its result is the same in capitals."""
    return f"data of unit {unit}\n" * 1000


class Everything:
    """What one DAG has, and what becomes of it."""

    def __init__(self, session: Session, shared: Shared, number: int) -> None:
        self.session = session
        self.shared = shared
        self.random = Random(session.random.random())
        self.units = [f"d{number}u{unit}" for unit in range(UNITS)]
        self.feeds = number % 2 == 0
        self.grid = steering.grid(self.random)
        self.pieces = [self._piece(number) for number in range(1, PIECES + 1)]
        self.logs: list[Path] = []
        self.added: set[int] = set()
        self.requests = 0
        drawn = session.workload
        self._draw_cached(drawn)
        self.limited = [
            node.name
            for node in (*drawn.nodes, *self.grid)
            if not node.bundled and not node.noop and "+" not in node.name
            and node.procs == 1 and self.random.random() < 0.4
        ]  # fmt: skip
        lines = drawn.lines
        if not self.feeds:  # a DAG that says that it will grow has no chains
            lines = tuple(line.replace(" CHAINS", "").replace(" ALL_", " CHAINS ALL_")
                          if line.startswith("BUNDLE") else line for line in lines)  # fmt: skip
        nodes = (*drawn.nodes, *self.cached, *DECIDED)
        session.workload = drawn._replace(nodes=nodes, lines=lines)
        self.steerer = steering.Steerer(self._steer, self.grid, drawn.nodes, self.random)

    def _draw_cached(self, drawn: Workload) -> None:
        """Pairs of nodes; one of a pair may get another input before the torture begins."""
        names = [f"C{number}" for number in range(CACHED)]
        self.cached = tuple(
            Node(name, (names[number - 1],) if number % 2 else (), retries=2)
            for number, name in enumerate(names)
        )
        self.changed = set(self.random.sample(names, 2))
        run = {one.name for one in self.cached if self.changed & {one.name, *one.parents}}
        self.kept = frozenset(names) - run
        self.first = Workload(self.cached, together=drawn.together)

    def _piece(self, number: int) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for place in range(self.random.randint(2, 4)):
            parents = (nodes[-1].name,) if nodes and self.random.random() < 0.5 else ()
            node = drawn_node(self.random, TRAITS, f"G{number}N{place}", parents)
            node = perhaps_bundled(self.random, node, "", ("", "no"))
            nodes.append(node._replace(retries=max(node.retries, node.last + 2)))
        return tuple(nodes)

    def _extension(self, number: int) -> tuple[Node, ...]:
        """What the last node of a piece adds."""
        if not self.feeds or not number % 2:
            return ()
        above = self.pieces[number - 1][-1].name
        first = Node(f"G{number}X", (above,), retries=2)
        return (first, Node(f"G{number}Y", (first.name,), retries=2))

    def grown(self, lines: Sequence[Line]) -> Iterator[Node]:
        """What came while it ran; a request to add it may have had no answer."""
        ran = {line.node for line in lines}
        for number, piece in enumerate(self.pieces, 1):
            if self.feeds or number in self.added or ran & {node.name for node in piece}:
                yield from piece
                yield from self._extension(number)

    # Before it begins

    def prepare(self) -> None:
        """Write all of it, and run the earlier version of the DAG, which has the cached nodes."""
        work = self.session.work
        new_directory(work / "results")
        whole = (work / "t.dag").read_text()
        self._put({f"{one.name}.in": f"{one.name}\n" for one in self.cached})
        self._put({"t.dag": _text([*node_lines(self.cached, "", self.first), *self._cache()])})
        self.session.world.access_point.submit(work, "t.dag")
        if self.session.world.access_point.wait(work / "t.dag").code:
            self.session.wrong.append("the first version of the DAG has failed")
        for path in work.glob("t.dag.*"):
            if path.name != "t.dag.cache" and path.is_file():
                path.unlink()
        self._put({f"{name}.in": f"{name} anew\n" for name in self.changed})
        self._put({"t.dag": whole + _text(self._lines()), **self._files()})

    def _put(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.session.work / name).write_text(text)
            (self.session.work / name).chmod(0o777)

    def _cache(self) -> Iterator[str]:
        return (f"CACHE {one.name} INPUTS {one.name}.in" for one in self.cached)

    def _lines(self) -> Iterator[str]:
        """What the DAG file has beside the workload."""
        yield from (*self._cache(), *CONDITIONS)
        yield from node_lines(self.grid, "", Workload(self.grid))
        yield f"SHARED_LIMIT torture NODES {' '.join(self.limited)}"
        yield from (UNIT.format(unit=unit) for unit in self.units)
        if self.feeds:
            yield f"FEEDER BELOW {self.random.choice((12, 40, 1000))} PROGRAM feed.sh $FEEDING"

    def _files(self) -> dict[str, str]:
        found = {unit: data_of(unit) for unit in self.units} | FILES
        found["step.sh"] = found["step.sh"].replace("DEAD", str(self.shared.sites.dead))
        for number, piece in enumerate(self.pieces, 1):
            lines = node_lines(piece, "", self.session.workload)
            lines.append("BUNDLE all SIZE 4 PARALLEL 2 ALL_NODES")
            more, last = self._extension(number), piece[-1].name
            if more:
                lines.append(f"EXTEND {last} {last}.dag")
                inside = node_lines(more, "", self.first)
                inside.remove(f"PARENT {last} CHILD {more[0].name}")
                found[f"{last}.dag"] = _text(inside)
            found[f"piece{number}.dag"] = _text(lines)
        return found

    # While it runs

    def _steer(self, *words: str) -> str:
        self.requests += 1
        argv = ("condor_pydagman", "steer", *words)
        run = self.session.world.access_point.run
        return run(*argv, cwd=self.session.work, check=False).stdout

    def steer(self, over: threading.Event) -> None:
        """Ask for one thing after the other."""
        while not over.wait(STEER_S):
            if not self.feeds and self.random.random() < 0.1:
                self._add()
            elif self.random.random() < 0.05:
                self._steer("rematch", "t.dag", f"run-{self.random.choice(self.units)}")
            else:
                self.steerer.ask()

    def _add(self) -> None:
        """The next piece; without an answer it is not known whether it has been added."""
        number = len(self.added) + 1
        if number > PIECES:
            return
        said = self._steer("add", "--json", "t.dag", f"piece{number}.dag")
        with contextlib.suppress(ValueError):
            answer = json.loads(said)
            if answer.get("done") or f"G{number}N" in answer.get("error", ""):
                self.added.add(number)

    def answered(self) -> int:
        """How many requests for nodes were."""
        return sum(one.done is not None for one in self.steerer.asked)

    def to_the_end(self) -> None:
        """Nothing keeps the DAG from its end any more."""
        while not self.session.over():
            if not self.feeds:
                self._add()
            self.steerer.let_go()
            held = f"DAGManJobId == {self.session.cluster} && JobStatus == 5"  # by a full disk
            self.session.world.access_point.run("condor_release", "-constraint", held, check=False)
            until(self.session.over, 2.0)

    def keep_log(self) -> None:
        """Before the DAG is submitted again with a rescue file, and at its end."""
        log = self.session.work / "t.dag.nodes.log"
        self.logs.append(self.session.work.parent / f"nodes.log.{len(self.logs)}")
        self.logs[-1].write_bytes(log.read_bytes() if log.exists() else b"")

    # What must hold

    def judge(self, lines: Sequence[Line]) -> Iterator[str]:
        """What is wrong with all but what `judge` judges."""
        runs = {one: run.owners[0] for run in self.session.generations for one in run.owners}
        mine = [line for line in lines if line.node in self.steerer.nodes]
        ads = self.session.world.history.look()

        def queued(cluster: int) -> float:
            return float(ads.get((cluster, 0), {}).get("QDate", 0))

        yield from self.steerer.judge(mine, runs, self.session.submitted_at[1:], queued)
        self.keep_log()
        yield from self._judge_units()
        yield from self._left()
        self._note_spans(lines)

    def _judge_units(self) -> Iterator[str]:
        groups = []
        for unit in self.units:
            nodes = tuple(f"{step}-{unit}" for step in STEPS)
            groups.append(Group(unit, nodes, SURE, nodes[-1], ()))
            path = self.session.work / "results" / unit
            if not path.exists() or path.read_text() != data_of(unit).upper():
                yield f"the result of {unit} is lost or wrong"
        dag = SiteDag(tuple(groups), {}, {}, frozenset(), frozenset())
        generations = [
            site_judge.Generation(number, site_judge.read_log(log))
            for number, log in enumerate(self.logs)
        ]
        judge = site_judge.Judge(dag, generations, ())
        yield from judge.judge_logs()
        for path in (
            area / unit for area in self.shared.sites.areas.values() for unit in self.units
        ):
            # A run that was removed or given up has not cleaned up, nor one without time for it.
            if path.exists() and (path.name, path.parent.name) not in judge.uncleaned:
                yield f"{path} is left"

    def _left(self) -> Iterator[str]:
        for path in self.session.work.iterdir():
            if path.name.endswith((".lock", ".bundles", ".part", ".tmp", ".order")):
                yield f"{path.name} is left"
        place = os.fsencode(self.session.work)

        def processes() -> list[bytes]:
            numbers = filter(str.isdigit, os.listdir("/proc"))
            return [words for it in numbers if place in (words := data_dags.words_of(int(it)))]

        until(lambda: not processes())
        yield from (f"a process is left: {words!r}" for words in processes())

    def _note_spans(self, lines: Sequence[Line]) -> None:
        begun: dict[str, float] = {}
        for line in lines:
            if line.node in self.limited and line.what == "start":
                begun[line.id] = line.time
            elif line.what == "end" and line.id in begun:
                self.shared.spans.append((begun.pop(line.id), line.time))

    def done_by_cache(self, lines: Sequence[Line]) -> frozenset[str]:
        """What need not run; if the file of the cache could not be written, it may run again."""
        said = (self.session.work / "t.dag.dagman.out").read_text(errors="replace")
        is_lost = "nodes with a CACHE command may run again" in said
        return self.kept - {line.node for line in lines if is_lost}

    def counts(self) -> Counter[str]:
        """What was asked for."""
        nodes = len(self.session.workload.nodes) + len(self.grid) + len(STEPS) * UNITS
        return Counter(nodes=nodes, requests=self.requests, answers=self.answered())


def _text(lines: Iterator[str] | list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

"""What must hold in a DAG with groups at sites, from the ledger of its jobs and its nodes logs.

- A group is at one site at a time, and no site has jobs of more groups than its limit allows.
- In a round, each node runs once, and once more for each retry; the clean-up node also after the
  group has left.  A job starts after its parents have succeeded, those of its group in the same
  round, and at the site of its group.
- At the end, each node that is done has been done at the last site of its group, and what had to be
  done is.  The exit code says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from condor_pydagman.records.own_events import parse_record
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED
from tests.torture.site_dags import DOOMED, OPEN, SURE, Group, SiteDag

SUBMIT, REMOVED = "submit", "removed"
ENDS = ("done", "fail", "gone")
# Half a record may stand before it.
_HEAD = re.compile(r"(?s:.*)(\d{3}) \((-?\d+)\.-?\d+\.-?\d+\) \S+ \S+ (.*)")
_NODE = re.compile(r'^ *(?:DAG Node: |\[ DAGNodeName = ")([^\s"]+)', re.M)


class Line(NamedTuple):
    """A line of the ledger; of scripts, `cluster` is 0."""

    what: str
    node: str
    group: str
    retry: int
    site: str
    owner: int
    cluster: int
    time: float


class Event(NamedTuple):
    """A submission, or a removal (`what` is SUBMIT or REMOVED), or a record about a group."""

    what: str
    node: str
    cluster: int = 0
    round: int = 0
    site: str = ""


class Generation(NamedTuple):
    """From a submission of the DAG to the end of its DAGMan job.

    Attributes:
        removed: it was removed, and goes on in the next one.
        code: its exit code.
        rematched: by group, how many requests to rematch it were granted.
    """

    owner: int
    events: Sequence[Event]
    removed: bool = False
    code: int = 0
    rematched: Mapping[str, int] = {}


class Stay(NamedTuple):
    """When a job was submitted: in which generation and round of its group, at which site, and
    whether the group had left it."""

    generation: int
    round: int
    site: str
    left: bool


def read_ledger(text: str) -> list[Line]:
    """The lines of a ledger."""
    found = []
    for what, node, group, retry, site, owner, cluster, when in map(str.split, text.splitlines()):
        line = Line(what, node, group, int(retry), site, int(owner), int(cluster), float(when))
        found.append(line)
    return found


def read_log(path: Path) -> list[Event]:
    """The submissions and the records of sites in a nodes log, in their order."""
    return list(_events(path.read_text(errors="replace")))


def _events(text: str) -> Iterator[Event]:
    ended = set()
    for part in text.split("\n...\n"):
        found = _HEAD.match(part.lstrip("\n"))
        if found is None:
            continue
        node = _NODE.search(part)
        if found[1] == "000" and node:
            yield Event(SUBMIT, node[1], int(found[2]))
        if found[1] == "005":
            ended.add(found[2])
        if found[1] == "009" and found[2] not in ended:
            yield Event(REMOVED, "", int(found[2]))
        record = parse_record(found[3]) if found[1] == "008" else None
        if record is not None and record[0] == "JOB_ENDED" and record.value == RETURN_JOB_ABORTED:
            # A full disk has taken the event of the removal, and the history has told DAGMan.
            yield Event(REMOVED, "", record.cluster)
        elif record is not None:
            what, site = record.record, record.text.rpartition(" ")[2]
            yield Event(what, record.node, round=record.value, site=site)


def over_limit(lines: Iterable[Line], most: Mapping[str, int]) -> list[str]:
    """Where jobs of more groups ran at a site than may be there; lines of all DAGs."""
    live: dict[str, dict[int, str]] = {site: {} for site in most}
    wrong = []
    for line in lines:
        there = live.get(line.site)
        if there is None or not line.cluster:
            continue
        if line.what == "start":
            there[line.cluster] = line.group
            groups = sorted(set(there.values()))
            if len(groups) > most[line.site]:
                wrong.append(f"{line.site} has jobs of {len(groups)} groups: {' '.join(groups)}")
        elif line.what in ENDS:
            there.pop(line.cluster, None)
    return wrong


class Judge:
    """One DAG under judgement.

    Args:
        lines: of its jobs and scripts, in their order.
    """

    def __init__(
        self, dag: SiteDag, generations: Sequence[Generation], lines: Sequence[Line]
    ) -> None:
        self.dag = dag
        self.generations = generations
        self.lines = lines
        self.wrong: list[str] = []
        self.rounds = 0  # matches in all
        self.uncleaned: set[tuple[str, str]] = set()  # groups and sites that they did not clean up
        self._group_of = dag.group_of
        self._by_first = {group.nodes[0]: group for group in dag.groups}
        self._stays: dict[int, Stay] = {}  # by cluster
        self._cleaning: dict[int, set[tuple[str, str]]] = {}  # by cluster, what it cleans up
        self._last_site: dict[str, str] = {}
        self._siteless: set[str] = set()
        self._removed: set[int] = set()  # clusters; what they may have done does not count

    def judge(self) -> list[str]:
        """What was wrong."""
        self.judge_logs()
        self._starts()
        self._one_site()
        self._ends()
        return self.wrong

    # The nodes logs.

    def judge_logs(self) -> list[str]:
        """What was wrong by the nodes logs alone."""
        for number, generation in enumerate(self.generations):
            self._walk(number, generation)
        return self.wrong

    def _walk(self, number: int, generation: Generation) -> None:
        now: dict[str, Stay] = {}
        runs: Counter[tuple[str, Stay | None]] = Counter()
        left: Counter[str] = Counter()
        self._siteless.clear()
        for event in generation.events:
            group = self._group_of.get(event.node)
            if group is None and event.what == SUBMIT and event.node not in self.dag.parents:
                continue  # of nodes that are judged elsewhere
            if event.what == REMOVED:
                self._removed.add(event.cluster)
                self.uncleaned.update(self._cleaning.pop(event.cluster, ()))
            elif event.what == SUBMIT:
                stay = now.get(group.name) if group else None
                self._submitted(event, group, stay)
                runs[event.node, stay] += 1
            elif group is not None:
                left[group.name] += self._moved(number, event, group, now)
        if number + 1 < len(self.generations):
            self.uncleaned.update((name, stay.site) for name, stay in now.items() if not stay.left)
        for (node, stay), count in runs.items():
            allowed = 1 + self.dag.retries.get(node, 0)
            if count > allowed:
                self.wrong.append(f"{node} was submitted {count} times in {stay}")
        for name, asked in generation.rematched.items():
            if left[name] < asked - generation.removed:
                self.wrong.append(f"{name} left {left[name]} times, {asked} requests were granted")

    def _moved(self, number: int, event: Event, group: Group, now: dict[str, Stay]) -> int:
        """A record of a group; returns whether it has left its site."""
        stay = now.get(group.name)
        if event.what == "SITE_MATCHED":
            if stay is None or stay.round != event.round or stay.site != event.site:
                self._no_site_yet(group, stay, event)
                now[group.name] = Stay(number, event.round, event.site, left=False)
                self._last_site[group.name] = event.site
                self.rounds += 1
        elif event.what == "SITE_LEFT" and stay and not stay.left:
            if stay.round == event.round:
                now[group.name] = stay._replace(left=True)
                self.uncleaned.add((group.name, stay.site))
                return 1
        elif event.what == "NO_SITE":
            self._siteless.add(group.name)
        return 0

    def _no_site_yet(self, group: Group, stay: Stay | None, event: Event) -> None:
        if stay is not None and not stay.left:
            text = f"{group.name} was matched to {event.site} while it had {stay.site}"
            # A group that was over, and of which a node ran anew, has its site again.
            if stay.site != event.site:
                self.wrong.append(text)

    def _submitted(self, event: Event, group: Group | None, stay: Stay | None) -> None:
        if group is None:
            return
        if stay is None:
            self.wrong.append(f"{event.node} was submitted before its group had a site")
            return
        if stay.left and event.node != group.clean_up:
            self.wrong.append(f"{event.node} was submitted after its group had left {stay.site}")
        self._stays[event.cluster] = stay
        if stay.left:
            self._cleaning[event.cluster] = {(group.name, stay.site)} & self.uncleaned
            self.uncleaned -= self._cleaning[event.cluster]

    # The ledger.

    def _starts(self) -> None:
        begun = Counter(line.cluster for line in self.lines if line.what == "start")
        for cluster, count in begun.items():
            if count > 1:
                self.wrong.append(f"cluster {cluster} started {count} times")
        done: set[tuple[str, Stay | None, int]] = set()
        ever: set[str] = set()
        for line in self.lines:
            stay = self._stays.get(line.cluster)
            if line.what == "start":
                self._start(line, stay, done, ever)
            elif self._is_good_end(line):
                done.add((line.node, stay, line.owner))
                ever.add(line.node)

    def _is_good_end(self, line: Line) -> bool:
        """Whether the node is done by this; not if it only cleans up."""
        stay = self._stays.get(line.cluster)
        cleans_up = stay is not None and stay.left
        return line.what == "done" and not cleans_up and line.cluster not in self._removed

    def _start(
        self, line: Line, stay: Stay | None, done: set[tuple[str, Stay | None, int]], ever: set[str]
    ) -> None:
        if stay is not None and line.site != stay.site:
            self.wrong.append(f"{line.node} ran at {line.site}, its group is at {stay.site}")
        if stay is not None and stay.left:
            return  # it cleans up
        if (line.node, stay, line.owner) in done:
            self.wrong.append(f"{line.node} ran again though it was done: {stay}")
        for parent in self.dag.parents[line.node]:
            same = stay is not None and self._group_of.get(parent) is self._group_of[line.node]
            before = any(
                one == parent and where and stay and where.site == stay.site
                for one, where, _ in done
                if where and stay and where.generation < stay.generation
            )
            here = any((parent, stay, one.owner) in done for one in self.generations)
            if not here and not before if same else parent not in ever:
                self.wrong.append(f"{line.node} ran before its parent {parent}: {stay}")

    def _one_site(self) -> None:
        live: dict[str, dict[int, str]] = {group.name: {} for group in self.dag.groups}
        for line in self.lines:
            there = live.get(line.group)
            if there is None:
                continue
            if line.what in ("start", "pre"):
                others = set(there.values()) - {line.site}
                if others:
                    self.wrong.append(f"{line.node} runs at {line.site}, others still at {others}")
            if line.what == "start":
                there[line.cluster] = line.site
            elif line.what in ENDS:
                there.pop(line.cluster, None)

    # The end.

    def _ends(self) -> None:
        last: dict[str, str] = {}
        for line in self.lines:
            if self._is_good_end(line):
                last[line.node] = line.site
        for node in self.dag.parents:
            group = self._group_of.get(node)
            if (
                group is None
                or group.fate == SURE
                or (group.fate == OPEN and group.name not in self._siteless)
            ):
                self._is_done(node, group, last)
        for group in self.dag.groups:
            if group.fate == DOOMED and group.nodes[-1] in last:
                self.wrong.append(f"{group.name} got done, and can't be")
        self._code()

    def _is_done(self, node: str, group: Group | None, last: Mapping[str, str]) -> None:
        site = self._last_site.get(group.name) if group else "none"
        if node not in last:
            self.wrong.append(f"{node} is lost: it was never done")
        elif last[node] != site:
            self.wrong.append(f"{node} was done at {last[node]}, its group's last site is {site}")

    def _code(self) -> None:
        code = self.generations[-1].code
        due = int(DOOMED in self.dag.fates or bool(self._siteless))
        if code != due:
            self.wrong.append(f"the DAG ended with {code}, not {due}")

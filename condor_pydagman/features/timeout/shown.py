"""Jobs that are late, by a TIMEOUT with WARN, as the nodes log tells."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator

from condor_pydagman.features.timeout.run import Late, kind_of
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.notices.name_lists import nodes_named
from condor_pydagman.follow.run_model import NodeRun, Seen
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message, number_of
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events
from condor_pydagman.words import duration

MAX_EVIDENCE = 3  # jobs


class LateJob(NamedTuple):
    """A job that has been told to be late: its node, when, and with what."""

    node: str
    time: float
    reason: str


class LateSeen(Seen):
    """What is known of late jobs of a run."""

    def __init__(self) -> None:
        self.told: dict[Late, LateJob] = {}  # all of them
        self.now: Collection[Late] = ()  # those that are so still, as the engine has it

    def jobs(self, node: str = "") -> dict[Late, LateJob]:
        """Those that are late still, of a node or all."""
        return {key: self.told[key] for key in self.now if node in ("", self.told[key].node)}


def _late(tracker: Tracker, node: NodeRun | None, read: RecordRead, time: float) -> None:
    key = read.cluster, read.proc, kind_of(read.text)
    timeouts = tracker.feature("timeout")
    if node is None or (timeouts is not None and not timeouts.is_news(key)):
        return
    seen = LateSeen.put(tracker.run)
    seen.told[key] = LateJob(node.name, time, read.text)
    if timeouts is not None:
        seen.now = timeouts.late
    data = {"limit": read.value, "reason": read.text}
    tracker.tell("job.late", time, node, f"{read.cluster}.{read.proc}", **data)


RECORDS: Records = {"LATE": _late}

EVENTS: Events = {
    "job.late": lambda event: f"job {event.job} is late: it {event.data['reason']}",
}


def notices(facts: Facts, node: str = "") -> Iterator[Notice]:
    """The jobs that are late, of a node or all."""
    late = LateSeen.of(facts.run).jobs(node)
    if not late:
        return
    jobs = sorted(late, key=lambda key: late[key].time)
    names = tuple(dict.fromkeys(late[key].node for key in jobs))
    since, count = late[jobs[0]].time, len({key[:2] for key in jobs})
    are = "has been late" if count == 1 else "are late, the first"
    age = duration(facts.now - since)
    sentence = f"{number_of(count, 'job')} of {nodes_named(names)} {are} for {age}."
    evidence = tuple(_evidence(facts, key, late[key]) for key in jobs[:MAX_EVIDENCE])
    logs = shlex.join(["condor_pydagman", "logs", facts.name, names[0]])
    advice = f"It goes on, as its TIMEOUT says WARN. To see what it has written: {logs}"
    yield Notice("job.late", Weight.WAITING, sentence, names, evidence, (advice,), since=since)


def _evidence(facts: Facts, key: Late, late: LateJob) -> Evidence:
    text = f"job {key[0]}.{key[1]} of {message(late.node)} {message(late.reason)}"
    return Evidence(facts.nodes_log, text, late.time)

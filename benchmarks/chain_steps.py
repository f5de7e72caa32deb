"""What a step of a chain of /bin/true takes: in jobs of their own, in one bundle with CHAINS, and
with the programs that people use instead.

Three figures are told of each, all in milliseconds a step: the whole time, with start and end of
DAGMan or of the program; the difference of that and a short chain's, so that neither counts; and
what the program itself, or the nodes log, tells of the steps after the first.  A peer that tells
nothing has a dash.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from benchmarks import peers
from benchmarks.bundle_cases import Case, cases
from benchmarks.peers_steps import Took, run_chain, run_peer
from benchmarks.place import Failed, Place

SHORT_PART = 10  # the short chain has this part of the steps of the long one
ALONE = 8  # steps of a chain of which each is a job
HEAD = (
    "| what | steps | whole time, ms a step | difference | after the first |\n"
    "|---|---:|---:|---:|---:|"
)


class Subject(NamedTuple):
    """A way to run a chain: how tables call it, how many steps it has, and what runs that many."""

    title: str
    steps: int
    run: Callable[[int], Took]

    def short(self) -> int:
        """How many steps the short chain has."""
        return max(1, self.steps // SHORT_PART)


def subjects(place: Place, steps: int, others: tuple[str, ...]) -> Iterator[Subject]:
    """Who is measured: DAGMan with each case, and these peers."""
    for case in cases(0.0, steps):
        yield Subject(case.title, steps if case.line else ALONE, _runs_case(place, case))
    for name in others:
        yield Subject(peers.PEERS[name].title, steps, _runs_peer(place, name))


def _runs_case(place: Place, case: Case) -> Callable[[int], Took]:
    return lambda steps: run_chain(place, case, steps)


def _runs_peer(place: Place, name: str) -> Callable[[int], Took]:
    return lambda steps: run_peer(place, name, "chain", steps)


class Steps:
    """What the chains of all subjects have taken, round by round."""

    def __init__(self, some: Iterable[Subject]) -> None:
        self._found: dict[Subject, tuple[list[Took], list[Took]]] = {
            subject: ([], []) for subject in some
        }

    def measure(self) -> None:
        """Run the short and the long chain of each once; who can't is not told of."""
        for subject, (short, long) in self._found.items():
            try:
                short.append(subject.run(subject.short()))
                long.append(subject.run(subject.steps))
            except Failed as error:
                print(f"{subject.title}: {error}")

    def lines(self) -> Iterator[str]:
        """The table; none if nobody was measured."""
        if self._found:
            yield f"\n{HEAD}"
        for subject, (short, long) in self._found.items():
            if long:
                yield row(subject, short, long)


def row(subject: Subject, short: list[Took], long: list[Took]) -> str:
    """A line of the table, of medians."""
    whole, less = (statistics.median(took.whole for took in some) for some in (long, short))
    told = [took.tasks for took in long if took.tasks is not None]
    figures = [
        (whole, subject.steps),
        (whole - less, subject.steps - subject.short()),
        (statistics.median(told), subject.steps - 1) if told else (0.0, 0),
    ]
    cells = [f"{seconds * 1000 / steps:,.1f}" if steps else "-" for seconds, steps in figures]
    return f"| {subject.title} | {subject.steps} | {' | '.join(cells)} |"

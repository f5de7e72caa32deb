"""The FEEDER of a run: when its program is run, and what becomes of what it gives.

What it gives is a piece, in force when its record has been read back, as any other (`growth`).  The
number of a feeding counts those in force: what was not kept before a crash is asked for once more,
under the same number.  A program that fails is run again after a pause; when it has failed too
often, that is journaled: nothing more is fed, and the DAG goes on to its end, which is a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.report import Shown
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.feeder.commands import Feeder, feeder_of
from condor_pydagman.features.feeder.progress import Progress
from condor_pydagman.features.feeder.report import ATTRIBUTE, FeederReport
from condor_pydagman.features.growth.commands import Piece, growth_of
from condor_pydagman.graph.grow import Growth
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message, number_of
from condor_pydagman.vocabulary import NO_NODE

HELPER = "feeder"


class RunFeeder(NamedTuple):
    """Run the program of the FEEDER, and read and keep what it writes.  Answered by Fed."""

    number: int  # of the feeding, from 1
    words: tuple[str, ...]  # the program and its arguments
    variables: tuple[tuple[str, str], ...] = ()  # names and values for its environment


class Fed(NamedTuple):
    """Answer to RunFeeder: a piece, whose text is kept; or why there is none; neither if the
    program has nothing to add now."""

    number: int
    piece: Piece | None = None
    error: str = ""


FEEDER_FAILED = Kind("FEEDER that has failed")
FIRST_PAUSE_S = 10.0  # before the program is run again that has failed, or had nothing to add
MAX_PAUSE_S = 600.0  # after failures
MAX_EMPTY_PAUSE_S = 60.0  # after runs that had nothing to add
MAX_REASON = 300  # characters of why it has failed, that are kept
MAX_NODES = 2**31 - 1  # that a DAG can have
VARIABLE = "PYDAGMAN_"  # before the names of macros, in the environment of the program


class Feeding(Feature):
    """The FEEDER of a run."""

    name = "feeder"
    # text: why the FEEDER of the DAG is asked no more
    records = (("FEEDER_FAILED", "on_failed"),)
    replies = ((Fed, "on_fed"),)

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        feeder = feeder_of(run.dag)
        assert feeder is not None
        self.feeder: Feeder = feeder  # as the DAG has it
        self.progress = Progress(run.dag)  # what it has given
        self.failed = ""  # why it is asked no more, '' if it is not so
        self.asked = False  # whether the program runs, or what it has written is being read
        self.failures = 0  # how often it has failed since it last did well
        self.again_at = 0.0  # when it may be run again, seconds since the epoch
        self.last_error = ""  # why it has failed last, '' if it did well after that
        self._empty = 0  # runs in a row that had nothing to add

    @property
    def may_add(self) -> bool:
        """Whether it may add more: the DAG does not end before it has ended."""
        is_run = not self.run.is_rehearsal
        return is_run and not (self.failed or self.is_over)

    @property
    def is_over(self) -> bool:
        """Whether it adds nothing more: it has said so, or there is no room."""
        return self.progress.is_over or self.room == 0

    @property
    def room(self) -> int | None:
        """How many nodes it may still add, by its AT-MOST and PYDAGMAN_MAX_GROWN_NODES; None if
        neither sets a limit, or it is not run."""
        if self.run.is_rehearsal:
            return None
        limits = [] if self.progress.room is None else [self.progress.room]
        if self.run.config.max_grown_nodes:
            limits.append(max(0, self.run.config.max_grown_nodes - len(self.run.dag)))
        return min(limits, default=None)

    def obstacle(self, piece: Piece) -> str:
        """Why what it gives is too much; '' if it is not."""
        room = self.progress.room
        if room is None or piece.size <= room:
            return ""
        return (
            f"it has {piece.size:,} nodes, and the FEEDER may add {room:,} more: AT-MOST"
            f" {self.feeder.at_most:,}"
        )

    # When it is run.

    def work(self) -> None:
        """Run the program, if it is to add to the DAG now."""
        run = self.run
        if not self._may_run() or self.again_at > run.now:
            return
        self.asked = True
        values = self._values()
        words = tuple(
            values[word[1:].upper()] if word.startswith("$") else word
            for word in self.feeder.program.split()
        )
        left = number_of(run.open_nodes, "node")
        run.say(f"Running the FEEDER, feeding {self.progress.fed + 1}, with {left} left")
        variables = tuple((VARIABLE + name, value) for name, value in values.items())
        run.emit(do.Ask(HELPER, RunFeeder(self.progress.fed + 1, words, variables)))

    def _may_run(self) -> bool:
        """Whether the program could be run but for its pause."""
        run = self.run
        if not self.may_add or self.asked or run.written.of(FEEDER_FAILED):
            return False
        if run.is_over or run.starts_nothing:
            return False
        return run.provisioner.ready and run.open_nodes < self.feeder.below

    def _values(self) -> dict[str, str]:
        """Values of macros in the program's arguments; in its environment they are, too."""
        run, counts = self.run, self.run.nodes.counts
        return {
            "FEEDING": str(self.progress.fed + 1),
            "FED_COUNT": str(self.progress.nodes),
            "ROOM_COUNT": str(MAX_NODES if self.room is None else self.room),
            "OPEN_COUNT": str(run.open_nodes),
            "NODE_COUNT": str(run.nodes.total),
            "DONE_COUNT": str(counts[State.DONE]),
            "QUEUED_COUNT": str(counts[State.SUBMITTED]),
            "FAILED_COUNT": str(counts[State.FAILED]),
            "FUTILE_COUNT": str(counts[State.FUTILE]),
            "DAG_STATUS": str(int(run.shown_status)),
            "DAGID": str(run.dag_id),
        }

    def deadline(self) -> float | None:
        """When the program is to be run."""
        return self.again_at if self._may_run() else None

    # What it has given.

    def on_fed(self, fed: Fed) -> None:
        """The program has been run, and what it has written was read."""
        run = self.run
        growth = run.features["growth"]
        self.asked = False
        if run.is_over or fed.number != self.progress.fed + 1 or not self.may_add:
            return
        if fed.error:
            self._fail(fed.error)
        elif fed.piece is None:
            self._had_nothing()
        elif not growth.is_outdated(fed.piece):  # else the program is run once more, at once
            why = growth.obstacle(fed.piece)
            if why:
                self._fail(why)
                return
            if fed.piece.size:
                self._did_well()
            else:
                self._had_nothing()
            growth.journal(NO_NODE, fed.piece)

    def _did_well(self) -> None:
        self.failures = 0
        self.last_error = ""

    def _had_nothing(self) -> None:
        """It is asked again, and each time after a longer pause."""
        self._did_well()
        self.again_at = self.run.now + min(FIRST_PAUSE_S * 2**self._empty, MAX_EMPTY_PAUSE_S)
        self._empty += 1

    def _fail(self, error: str) -> None:
        """It is run again after a pause, or no more."""
        run = self.run
        first, *more = map(message, error.split("\n"))
        first = first[:MAX_REASON]
        self.failures += 1
        self.last_error = first
        pause = min(FIRST_PAUSE_S * 2 ** (self.failures - 1), MAX_PAUSE_S)
        self.again_at = run.now + pause
        run.say(f"ERROR: the FEEDER has failed, feeding {self.progress.fed + 1}: {first}", 0)
        for line in more:
            run.say(f"  {line}", 0)
        if self.failures <= self.feeder.retries:
            retry = f"retry {self.failures} of {self.feeder.retries}"
            run.say(f"It is run again in {pause:.0f} s, {retry}")
            return
        text = f"feeding {self.progress.fed + 1}: {first}"
        record = do.AppendJournalRecord("FEEDER_FAILED", NO_NODE, 0, text=text)
        run.write(FEEDER_FAILED, 0, record)

    def on_failed(self, _node: int, event: LogEvent) -> None:
        """It is asked no more."""
        self.run.written.clear(FEEDER_FAILED)
        if not (self.failed or self.progress.is_over):
            self.failed = event.text
            self.run.say(
                "ERROR: the FEEDER is run no more; the DAG goes on with the nodes that it has", 0
            )

    def grown(self, _growth: Growth, _children: Sequence[int]) -> None:
        """A piece is in force; it may be one of the feeder."""
        piece = growth_of(self.run.dag).pieces[-1]
        self.progress.take(piece)
        if piece.feeding is not None and piece.size:
            self._empty = 0
        if self.room == 0 and not self.progress.is_over:
            self.run.say("The FEEDER ends: the DAG has PYDAGMAN_MAX_GROWN_NODES nodes")

    # The end of the DAG.

    def under_way(self, halted: bool) -> bool:
        """Whether it may still add nodes.  If as many are left as keep it from being run, and none
        of them can go on, it never will; nor, but for the program that runs, while it is halted."""
        if halted or not self.may_add:
            return halted and self.asked
        run = self.run
        wants = self.asked or run.written.of(FEEDER_FAILED) or run.open_nodes < self.feeder.below
        return bool(wants) and run.provisioner.ready

    def why_incomplete(self) -> str:
        """A rescue DAG runs it again, if it has failed; a halted one would go on with it."""
        if self.failed:
            return f"its FEEDER has failed: {self.failed}"
        return "its FEEDER may add more" if self.may_add and self.run.starts_nothing else ""

    # What others see.

    def report(self) -> FeederReport | None:
        """How it does; None if it is not run."""
        if self.run.is_rehearsal:
            return None
        state = "runs" if self.asked else "waits"
        if self.is_over:
            state = "ended"
        elif self.failed:
            state = "failed"
        return FeederReport(
            state, self.progress.fed, self.progress.nodes, self.failed or self.last_error
        )

    def shown(self) -> Iterable[Shown]:
        """The same, for people and for clients."""
        report = self.report()
        if report is None:
            return ()
        return (Shown("Feeder", report.text, attribute=ATTRIBUTE, answer=report._asdict()),)

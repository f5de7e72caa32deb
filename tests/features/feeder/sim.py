"""The program of a FEEDER in a simulated world: it fails, has nothing, gives too much, ends.

What it gives for a number is the same whenever it is asked for it.  O43: it is asked for the number
after those that are in force, and no more when it has said that there is no more; a DAG ends well
only then.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from condor_pydagman.engine import inputs
from condor_pydagman.features.feeder.commands import Feeder, FeederOfDag
from condor_pydagman.features.feeder.run import HELPER, Fed, RunFeeder
from condor_pydagman.features.growth.commands import Feeding, Piece, growth_of
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import Dag
from tests.features.growth.sim import Growers
from tests.oracles import require
from tests.sim.parts import Part

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

MAX_DELAY_S = 20.0  # seconds that a run of the program may take
MAX_FEEDINGS = 6


def _grows(world: World) -> bool:
    return world.trace_text().count("The DAG has grown by") >= 3


class FakeFeeder:
    """The program, as a simulated DAGMan runs it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._growers = Growers.of(process.world)
        self._runs = 0  # which tells the answer of one that was killed from others

    def ask(self, action: RunFeeder, then: Callable[[Any], None]) -> None:
        world = self._process.world
        dag = self._process.dag
        fed = [piece.feeding for piece in growth_of(dag).pieces if piece.feeding is not None]
        newest = max((one.number for one in fed), default=0)
        require(
            newest == action.number - 1 or world.ever_garbled,
            f"O43: feeding {action.number} is asked for after {fed}",
        )
        ended = any(one.last for one in fed)
        require(not ended, "O43: the feeder has said that it has no more")
        self._runs += 1
        run, delay = self._runs, self._growers.rng.uniform(0.0, MAX_DELAY_S)
        world.after(delay, lambda: self._end(run, action))

    def kill_programs(self) -> None:
        self._runs += 1

    def _end(self, run: int, action: RunFeeder) -> None:
        process, world = self._process, self._process.world
        if world.process is not process or run != self._runs:
            return
        chance = self._growers.rng.random()
        if chance < 0.15:
            self._tell(Fed(action.number, error="it is broken\nin two lines"))
        elif chance < 0.3:
            self._tell(Fed(action.number))
        else:
            piece = self._growers.read(process, self._text(action.number))
            wrong = isinstance(piece, str)
            told = Fed(action.number, error=piece) if wrong else None
            self._tell(told or Fed(action.number, _piece(piece)))

    def _tell(self, told: Fed) -> None:
        self._process.add_input(inputs.Answered(HELPER, told))

    def _text(self, number: int) -> PieceText:
        seed = self._process.world.seed
        total = Random(f"{seed} feedings").randint(1, MAX_FEEDINGS)
        rng = Random(f"{seed} feeding {number}")
        names = [f"F{number}n{place}" for place in range(rng.choice((0, 1, 2, 3)))]
        lines = [f"JOB {name} n.sub" for name in names]
        lines += [f"RETRY {name} 2" for name in names if rng.random() < 0.3]
        if len(names) > 1:
            lines.append(f"PARENT {names[0]} CHILD {' '.join(names[1:])}")
        text = "".join(line + "\n" for line in lines)
        feeding = Feeding(number, number >= total)
        return PieceText("<feeding>", {"<feeding>": text}, BuildOptions(), feeding=feeding)


def _piece(piece: Piece | str) -> Piece:
    assert isinstance(piece, Piece)
    return piece


class Feeders(Part):
    """The program that adds to a DAG."""

    kind = "fed"
    meaning = "a FEEDER adds to the DAG"
    place = 7
    fresh: ClassVar = {"fed": 25, "fed growing": 25}
    helpers: ClassVar = {HELPER: FakeFeeder}
    crashed: ClassVar = ((1, _grows), (7, _grows))

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        at_most = rng.choice((0, 0, 5))
        FeederOfDag.put(dag).feeder = Feeder(
            0, rng.randint(1, 4), at_most, 60, rng.randint(0, 4), "feed $FEEDING"
        )

    def ended_well(self, process: Process) -> None:
        feeder = process.engine.run.features.get("feeder")
        if feeder is not None:
            require(not feeder.may_add, "O43: exit code 0, but the feeder has not ended")
            require(not feeder.failed, "O43: exit code 0, but the feeder has failed")


PART = Feeders

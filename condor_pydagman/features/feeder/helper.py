"""Runs the program of the FEEDER, and has what it writes read as a piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters import script_runner
from condor_pydagman.features.feeder.adapters.process import FeederProcess, Output
from condor_pydagman.features.feeder.commands import feeder_of
from condor_pydagman.features.feeder.run import Fed, RunFeeder
from condor_pydagman.features.growth.commands import Feeding, Piece
from condor_pydagman.features.growth.run import HELPER as READER
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.vocabulary import FEEDER_NO_MORE, MB

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.helpers import Helpers
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.graph.model import Dag

Tell = Callable[["Piece | None", str], None]


class FeederHelper:
    """The program of the FEEDER of a run; see `helpers.InSteps`.

    Args:
        read: has a text read as a piece, and tells the piece or why there is none.
    """

    def __init__(self, run: DagRun, read: Callable[[Feeding, str, Tell], None]) -> None:
        self._run = run
        self._read = read
        self._process: FeederProcess | None = None
        self._number = 0
        self._answer: Callable[[Fed], None] = lambda _: None

    def next_deadline(self) -> float | None:
        """See `helpers.InSteps`."""
        return None if self._process is None else self._process.next_deadline()

    def ask(self, request: RunFeeder, then: Callable[[Fed], None]) -> None:
        """Run the program; `then` is given a Fed later."""
        feeder = feeder_of(self._run.dag)
        assert feeder is not None
        self._number, self._answer = request.number, then
        self._run.out.flush()
        try:
            self._process = FeederProcess(
                request.words,
                feeder.directory,
                dict(request.variables),
                timeout_s=feeder.timeout_s,
                max_bytes=self._run.config.max_piece_mb * MB,
                clock=self._run.clock.monotonic,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._refuse(f"can't run {request.words[0]}: {reason}")

    def kill_programs(self) -> None:
        """See `helpers.InSteps`."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def work(self, now: float) -> None:
        """Read what the program has written, and whether it has ended."""
        if self._process is None:
            return
        output = self._process.work(now)
        if output is None:
            return
        self._process = None
        self._take(output)

    def _take(self, output: Output) -> None:
        last = output.status == FEEDER_NO_MORE
        if output.error:
            self._refuse(output.error)
        elif not last and is_empty(output.text):
            self._answer(Fed(self._number))
        else:
            feeding = Feeding(self._number, last)
            self._read(feeding, output.text, self._tell)

    def _tell(self, piece: Piece | None, error: str) -> None:
        if piece is None:
            self._refuse(f"what it has written is refused: {error}")
        else:
            self._answer(Fed(self._number, piece))

    def _refuse(self, error: str) -> None:
        self._answer(Fed(self._number, error=error))


def open_helper(helpers: Helpers) -> FeederHelper:
    """The helper of a DAG with a FEEDER, whose texts another one reads."""

    def read(feeding: Feeding, text: str, tell: Tell) -> None:
        reader: Any = helpers.open(READER)
        reader.read_feeding(feeding, text, tell)

    return FeederHelper(helpers.run, read)


def obstacle(dag: Dag, admin: Config) -> Steps[str]:
    """Nothing; but there may be no descriptor left for a module when the program is to start."""
    yield from ()
    script_runner.preload()
    return ""


def is_empty(text: str) -> bool:
    """Whether there is nothing but blanks and comments."""
    lines = (line.strip() for line in text.split("\n"))
    return not any(line and not line.startswith("#") for line in lines)

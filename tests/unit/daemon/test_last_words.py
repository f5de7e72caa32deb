"""The end of a DAG is told until the schedd has heard it; the lock file goes after that alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Union, cast

import pytest

from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.jobstate_log import JobstateLog
from condor_pydagman.daemon import last_words
from condor_pydagman.daemon.perform import Performer
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import Leave, Stop
from condor_pydagman.errors import PoolError

AWAY, DEAF, HEARS, GONE = "away", "deaf", "hears", "gone"
Told = Union[Leave, Stop, None]


class World:
    """A schedd that goes through `days`, one for each try, and a run that ends meanwhile."""

    def __init__(self, place: Path, days: list[str], told: dict[int, Told] | None = None) -> None:
        self.days, self.told = days, told or {}
        self.waits: list[float] = []
        self.lines: list[str] = []
        self.ends: list[Any] = []
        self.lock = LockFile(str(place / "t.dag.lock"))
        self.lock.take()
        self.lock.write(7)
        out = SimpleNamespace(say=lambda text, level=3: self.lines.append(text), flush=lambda: None)
        self.run = cast(
            Any,
            SimpleNamespace(
                schedd=self, out=out, lock=self.lock, own_ad={"JobRunCount": 1},
                jobstate=JobstateLog(None), abandoned=lambda: self._today() == GONE,
            ),
        )  # fmt: skip

    def _today(self) -> str:
        return self.days[min(len(self.waits), len(self.days) - 1)]

    def publish(self, attributes: dict[str, str], *, durable: bool) -> None:
        assert durable
        assert Path(self.lock.path).exists()
        if self._today() != HEARS:
            raise PoolError("no answer", transient=True)
        self.ends.append(attributes)

    def own_ad(self) -> dict[str, object]:
        if self._today() == AWAY:
            raise PoolError("no answer", transient=True)
        return {"JobRunCount": 1}

    def wait(self, seconds: float) -> Told:
        self.waits.append(seconds)
        return self.told.get(len(self.waits))

    def exit(self, code: int = 0) -> tuple[int, bool]:
        """End the run; its exit code, and whether the lock file stays."""
        performer = Performer.__new__(Performer)
        performer.run, performer._wait = self.run, self.wait
        performer._write_metrics = lambda *_: None  # type: ignore[method-assign]
        performer._exit(do.Exit(code))
        assert performer.exit is not None
        stays = Path(self.lock.path).exists()
        assert performer.exit.keep_lock == stays
        return performer.exit.code, stays


def test_a_schedd_that_hears_at_once(tmp_path: Path) -> None:
    world = World(tmp_path, [HEARS])
    assert world.exit(1) == (1, False)
    assert world.ends == [{"PYDAGMAN_Ended": '"1 1"'}]
    assert not world.waits


def test_one_that_is_away_is_told_again_and_ever_less_often(tmp_path: Path) -> None:
    world = World(tmp_path, [AWAY] * 40 + [HEARS])
    assert world.exit() == (0, False)
    assert world.waits == [1, 2, 4, 8, 16, *[last_words.PAUSE_MAX] * 35]
    assert len(world.ends) == 1
    assert "(no answer); next try in 1 s" in world.lines[0]


@pytest.mark.parametrize("days", [[GONE], [AWAY, GONE], [AWAY] * 3 + [GONE]])
def test_when_it_is_gone_its_successor_finds_the_lock_file(tmp_path: Path, days: list[str]) -> None:
    """It may have gone after the first look whether it had, and before the end was told."""
    assert World(tmp_path, days).exit() == (0, True)


def test_one_that_lives_and_forbids_it_hears_the_exit_code(tmp_path: Path) -> None:
    world = World(tmp_path, [DEAF])
    assert world.exit() == (0, False)
    assert len(world.waits) == last_words.REFUSALS - 1
    assert world.lines[-2] == "Warning: can't tell the schedd that the DAG has ended: no answer"


def test_being_away_is_no_refusal(tmp_path: Path) -> None:
    days = [DEAF] * (last_words.REFUSALS - 1) + [AWAY] * 20 + [HEARS]
    assert World(tmp_path, days).exit() == (0, False)


def test_a_dagman_that_is_to_leave_comes_back(tmp_path: Path) -> None:
    world = World(tmp_path, [AWAY], {3: Leave("Received SIGTERM")})
    assert world.exit() == (3, True)
    assert "Received SIGTERM: leaving before the schedd knows" in world.lines[-2]


@pytest.mark.parametrize(("day", "stays"), [(AWAY, False), (GONE, True)])
def test_an_exit_code_with_which_the_job_comes_back(tmp_path: Path, day: str, stays: bool) -> None:
    """OnExitRemove lets it begin anew: there is no end to tell of."""
    world = World(tmp_path, [day])
    assert world.exit(5) == (5, stays)
    assert not world.waits


def test_one_that_is_removed_does_not(tmp_path: Path) -> None:
    assert World(tmp_path, [AWAY], {2: Stop()}).exit(2) == (2, False)

"""The schedd is notified of the end until it accepts; only then is the lock file deleted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Union, cast

import pytest

from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.schedd_requests import EditOwnAd, ReadOwnAd, Request
from condor_pydagman.daemon import end_notice
from condor_pydagman.daemon.nodes_log import NodesLogWriter
from condor_pydagman.daemon.perform import Performer
from condor_pydagman.daemon.run import JobAd, OwnJob, OwnProcess
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import DagRemoved, Shutdown
from condor_pydagman.errors import PoolError

UNREACHABLE, REFUSES, ACCEPTS, GONE, HANGS = "unreachable", "refuses", "accepts", "gone", "hangs"
Signal = Union[Shutdown, DagRemoved, None]


class World:
    """A schedd with one of `states` for each try, and a run that ends meanwhile."""

    def __init__(
        self, place: Path, states: list[str], signals: dict[int, Signal] | None = None
    ) -> None:
        self.states, self.signals = states, signals or {}
        self.now = 0.0
        self.waits: list[float] = []
        self.lines: list[str] = []
        self.ends: list[Any] = []
        self.removed = False
        self.removals = 0  # that the schedd has not confirmed
        self.answers: deque[Callable[[], None]] = deque()
        self.late: list[Callable[[], None]] = []  # answers that come after the exit
        self.lock = LockFile(str(place / "t.dag.lock"))
        self.lock.acquire()
        self.lock.write(7)
        out = SimpleNamespace(say=lambda text, level=3: self.lines.append(text), flush=lambda: None)
        clock = SimpleNamespace(monotonic=lambda: self.now, time=lambda: self.now)
        self.run = cast(
            Any,
            SimpleNamespace(
                placements=None, extras=None,
                helpers=SimpleNamespace(give_up=lambda: None, kill_programs=lambda: None),
                schedd=self, out=out, lock=self.lock, job=OwnJob(ad={"JobRunCount": 1}),
                process=OwnProcess(0.0, "", 1, "/", lambda: False),
                jobstate=None, is_orphaned=lambda: self._state() == GONE,
                clock=clock, job_ad=JobAd(cast(Any, self)),
            ),
        )  # fmt: skip

    def _state(self) -> str:
        return self.states[min(len(self.waits), len(self.states) - 1)]

    def close(self) -> None: ...

    def ask(self, request: Request, then: Callable[[Any], None]) -> None:
        if self._state() == HANGS:
            self.late.append(lambda: then(None))
            return
        result = self._edited(request) if isinstance(request, EditOwnAd) else self._own_ad(request)
        self.answers.append(lambda: then(result))

    def _edited(self, request: EditOwnAd) -> PoolError | None:
        assert request.durable
        assert Path(self.lock.path).exists()
        if self._state() != ACCEPTS:
            return PoolError("no answer", transient=True)
        self.ends.append(request.attributes)
        return None

    def _own_ad(self, request: Request) -> object:
        assert isinstance(request, ReadOwnAd)
        if self._state() == UNREACHABLE:
            return PoolError("no answer", transient=True)
        return {"JobRunCount": 1}

    def _wait(self, notice: end_notice.EndNotice) -> None:
        until = notice.next_deadline()
        assert until is not None
        self.waits.append(until - self.now)
        signal = self.signals.get(len(self.waits))
        if signal is not None:
            notice.handle_input(signal)
        else:
            self.now = until
            notice.work(until)

    def exit(self, code: int = 0) -> tuple[int, bool]:
        """End the run; its exit code, and whether the lock file stays."""
        performer = Performer.__new__(Performer)
        performer.run, performer._pending_removals = self.run, self.removals
        performer.writer = NodesLogWriter(*[cast(Any, None)] * 4)
        performer.exit = performer.shutdown = None
        performer.removed = self.removed
        performer._write_metrics = lambda *_: None  # type: ignore[method-assign]
        performer._exit(do.Exit(code))
        notice = performer.shutdown
        while performer.exit is None:
            assert notice is not None
            if self.answers:
                self.answers.popleft()()
            else:
                self._wait(notice)
        for answer in self.late:
            answer()
        stays = Path(self.lock.path).exists()
        assert performer.exit.keep_lock == stays
        return performer.exit.code, stays


def test_an_accepted_notice_ends_the_run(tmp_path: Path) -> None:
    world = World(tmp_path, [ACCEPTS])
    assert world.exit(1) == (1, False)
    assert world.ends == [{"PYDAGMAN_Ended": '"1 1"'}]
    assert not world.waits


def test_an_unreachable_schedd_is_notified_again_at_growing_intervals(tmp_path: Path) -> None:
    world = World(tmp_path, [UNREACHABLE] * 40 + [ACCEPTS])
    assert world.exit() == (0, False)
    assert world.waits == [1, 2, 4, 8, 16, *[end_notice.MAX_NOTICE_RETRY_S] * 35]
    assert len(world.ends) == 1
    assert "(no answer); next try in 1 s" in world.lines[0]


@pytest.mark.parametrize("states", [[GONE], [UNREACHABLE, GONE], [UNREACHABLE] * 3 + [GONE]])
def test_the_lock_file_stays_if_the_schedd_is_gone(tmp_path: Path, states: list[str]) -> None:
    """The schedd may end between the check for it and the notice."""
    assert World(tmp_path, states).exit() == (0, True)


def test_after_enough_refusals_dagman_exits(tmp_path: Path) -> None:
    world = World(tmp_path, [REFUSES])
    assert world.exit() == (0, False)
    assert len(world.waits) == end_notice.MAX_REFUSALS - 1
    assert world.lines[-2] == "Warning: can't tell the schedd that the DAG has ended: no answer"


def test_an_unreachable_schedd_does_not_count_as_a_refusal(tmp_path: Path) -> None:
    states = [REFUSES] * (end_notice.MAX_REFUSALS - 1) + [UNREACHABLE] * 20 + [ACCEPTS]
    assert World(tmp_path, states).exit() == (0, False)


def test_dagman_leaves_with_the_lock_file_when_told_to(tmp_path: Path) -> None:
    world = World(tmp_path, [UNREACHABLE], {3: Shutdown("Got SIGTERM.")})
    assert world.exit() == (3, True)
    assert "Got SIGTERM. DAGMan leaves before the schedd knows" in world.lines[-2]


@pytest.mark.parametrize(("state", "stays"), [(UNREACHABLE, False), (GONE, True)])
def test_no_notice_is_sent_for_an_exit_code_that_restarts_the_job(
    tmp_path: Path, state: str, stays: bool
) -> None:
    """OnExitRemove starts the job again: the DAG has not ended."""
    world = World(tmp_path, [state])
    assert world.exit(5) == (5, stays)
    assert not world.waits


def test_a_removal_ends_the_retries(tmp_path: Path) -> None:
    assert World(tmp_path, [UNREACHABLE], {2: DagRemoved()}).exit(2) == (2, False)


def test_the_notice_waits_for_a_pending_removal_of_jobs(tmp_path: Path) -> None:
    world = World(tmp_path, [ACCEPTS])
    world.removals = 1
    assert world.exit(1) == (1, False)
    assert world.waits == [end_notice.REMOVAL_TIMEOUT_S]


@pytest.mark.parametrize(
    ("signal", "ends"), [(Shutdown("Got SIGTERM."), (3, True)), (DagRemoved(), None)]
)
def test_leaving_ends_the_wait_for_a_removal_and_a_second_stop_does_not(
    tmp_path: Path, signal: Signal, ends: tuple[int, bool] | None
) -> None:
    """A second condor_rm changes nothing: the jobs are to be removed all the same."""
    world = World(tmp_path, [ACCEPTS], {1: signal})
    world.removals = 1
    assert world.exit(2) == (ends or (2, False))


@pytest.mark.parametrize("state", [HANGS, UNREACHABLE])
def test_a_removed_dagman_exits_after_a_timeout(tmp_path: Path, state: str) -> None:
    world = World(tmp_path, [state])
    world.removed = True
    assert world.exit(2) == (2, False)
    assert sum(world.waits) == end_notice.REMOVAL_TIMEOUT_S
    assert "the schedd does not answer; the DAGMan job is removed" in world.lines[-2]


def test_a_removal_of_dagman_while_that_of_its_jobs_is_pending_limits_the_wait(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, [HANGS], {1: DagRemoved()})
    world.removals = 1
    assert world.exit(1) == (1, False)
    assert world.now == end_notice.REMOVAL_TIMEOUT_S

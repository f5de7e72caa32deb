"""Limits and ledgers hold while workers of several users are killed at any time."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.data_requests.requests import Allocate, Release
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement.allocations import Ledgers, Space
from condor_pydagman.placement.rules.services import Service
from condor_pydagman.placement.turns import Turns
from condor_pydagman.placement.way import Progress, Surroundings
from tests.placement.crowd import Crowd, Slots, faults

TOTAL, AT_HOST, AT_DISK = 5, 2, 3
USERS = (65534, 12345) if os.geteuid() == 0 else ()
KB = 1024


def ignore(line: str) -> None:
    del line


@pytest.fixture
def shared_and_slots() -> Iterator[tuple[Path, Path]]:
    """The shared directory, and one for the slots, that other users can get at.

    Not below pytest's own: each run of pytest takes the permissions of others away from that.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        for path in (place / "shared", place / "slots"):
            path.mkdir()
            path.chmod(0o1777)
        yield place / "shared", place / "slots"


def test_no_limit_is_ever_exceeded_and_nobody_waits_for_ever(
    shared_and_slots: tuple[Path, Path],
) -> None:
    shared, slots = shared_and_slots
    Slots.make(slots, "all", TOTAL)
    Slots.make(slots, "a", AT_HOST)
    settings = Settings(directory=str(shared), max_transfers=TOTAL, limits=(("a", AT_HOST),))

    def task(number: int) -> None:
        everywhere, at_host = Slots(slots, "all", TOTAL), Slots(slots, "a", AT_HOST)
        turns = Turns(settings, ignore)
        host = "a" if number % 2 else f"h{number}"
        for count in range(4):
            turn = turns.take(
                [Service("http", host)], priority=number % 3, size=count, progress=new_progress()
            )
            held = everywhere.take(), at_host.take() if host == "a" else -1
            time.sleep(0.002 * (number % 5))
            for fd in held:
                Slots.give_back(fd)
            assert turn is not None
            turn.close()

    crowd = Crowd(task, slots, seed=1, users=USERS)
    crowd.run(30, kills=40, pause_s=0.01)
    assert not faults(slots)


def test_no_space_is_given_twice_and_none_is_lost(shared_and_slots: tuple[Path, Path]) -> None:
    shared, slots = shared_and_slots
    Slots.make(slots, "disk", AT_DISK)
    settings = Settings(directory=str(shared), capacities=(("/disk", AT_DISK * KB),))
    surroundings = Surroundings(settings, {}, "/", ignore)

    def task(number: int) -> None:
        held_slots = Slots(slots, "disk", AT_DISK)
        space = Space(settings, ignore)
        for count in range(3):
            identity = f"id{number}.{count}"
            space.allocate(Allocate("/disk", identity, KB), surroundings, new_progress())
            held = held_slots.take()
            time.sleep(0.002)
            Slots.give_back(held)
            space.release(Release("/disk", identity), surroundings, new_progress())

    crowd = Crowd(task, slots, seed=2, users=USERS)
    crowd.run(9, kills=12, pause_s=0.02)
    assert not faults(slots)
    ledgers = Ledgers(settings, ignore)
    now = time.time()
    left = [one for one in [*ledgers.own(), *ledgers.others()] if one.is_active(now)]
    assert left == []
    known = {one.allocation_id for one in [*ledgers.own(), *ledgers.others()]}
    assert known == {f"id{number}.{count}" for number in range(9) for count in range(3)}


def new_progress() -> Progress:
    return Progress(threading.Event())

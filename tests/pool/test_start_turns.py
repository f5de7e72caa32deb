"""After a restart of the schedd only a few DAGMans of a user start at a time."""

from __future__ import annotations

import glob
import os
import signal
from pathlib import Path

import pytest

from condor_pydagman.adapters.start_turn import DIRECTORY
from tests.pool import dags
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.conftest import running_pool
from tests.pool.dagmans import running_dagmans, send
from tests.pool.scenes import Scene

DAGS = 12
LIMIT = 2
KNOBS = "SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 0\n"
WORDS = ("-insert_env", f"_CONDOR_PYDAGMAN_MAX_STARTS={LIMIT}")  # the directory is the machine's
LOOK_S = 0.01


def turns() -> dict[int, int]:
    """The number of the turn of each process that has one, by the locks that the kernel knows.

    The kernel tells them page by page: a turn that goes on meanwhile may be with two processes.
    """
    paths = glob.glob(f"{DIRECTORY}.*/[0-9]*")
    numbers = {str(os.stat(path).st_ino): int(Path(path).name) for path in paths}
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    files = ((int(words[-4]), words[-3].rpartition(":")[2]) for words in locks)
    return {process: numbers[file] for process, file in files if file in numbers}


@pytest.mark.long
def test_dagmans_start_in_turns(place: Path) -> None:
    with running_pool(place / "turns-pool", KNOBS) as pool:
        access_point = AccessPoint(pool)
        scenes = [Scene(access_point, new_directory(place / "turns" / str(n))) for n in range(DAGS)]
        directories = {str(s.work) for s in scenes}
        for s in scenes:
            s.submit("JOB A told.sub\n", *WORDS)
        for s in scenes:
            s.started("A 0")
        send(access_point.daemon("condor_schedd"), signal.SIGTERM)
        seen = dict[int, int]()

        def all_have_recovered() -> bool:
            ours = {one.pid for one in running_dagmans() if one.directory in directories}
            seen.update({process: turn for process, turn in turns().items() if process in ours})
            assert all(turn < LIMIT for turn in seen.values())
            return all("done with RECOVERY mode" in s.out() for s in scenes)

        scenes[0].until(all_have_recovered, "the end of all recoveries", pause=LOOK_S)
        assert seen
        for s in scenes:
            s.touch("go.A")
        for s in scenes:
            assert s.ends() == 0
            assert dags.runs(s.work) == {"A 0": 1}

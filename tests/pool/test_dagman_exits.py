"""How a DAGMan job ends, and what becomes of it in the queue: side by side with stock.

The schedd takes a DAGMan job out of the queue for exit codes 0 to 2 and signal 11, and starts it
again, after a cool-down, for all others (on_exit_remove).  Each life is lived under both programs,
all at the same time; their ends, events and rescue files must be the same.  Codes 0, 1 and 2 are
compared in test_compare.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TextIO

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint
from tests.pool.scenes import FIRST, Scene

pytestmark = pytest.mark.pool

CHAIN = "JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\n"
# Fails when it first runs: with 3, and with what the DAG asks for then.
ABORT = 'JOB A first.sub\nVARS A code="3"\nJOB B job.sub\nPARENT A CHILD B\n'

# Exit codes of ours where stock does worse: it starts over, and the FINAL node fails.
BETTER = {"sent_away_while_its_final_node_runs": ["3", "0"]}

Live = Callable[[Scene], None]
LIVES: dict[str, Live] = {}


def life(live: Live) -> Live:
    """Decorator: one more life of a DAGMan job."""
    LIVES[live.__name__] = live
    return live


def kill(s: Scene, number: int) -> None:
    """Send a signal to DAGMan itself, once its first job runs."""
    s.started("A 0")
    os.kill(s.until(s.pid, "DAGMan to run"), number)


def comes_back(s: Scene, number: int) -> None:
    """A signal ends DAGMan; started again, it goes on."""
    s.submit(CHAIN)
    kill(s, number)
    s.until(lambda: s.out().count("STARTING UP") == 2, "another start")
    s.touch("go.A")
    s.ends()


@life
def aborted_with_return_5_it_starts_again_from_its_rescue_file(s: Scene) -> None:
    s.submit(ABORT + "ABORT-DAG-ON A 3 RETURN 5\n" + FIRST)
    s.ends()
    assert "USING RESCUE DAG t.dag.rescue001" in s.out()
    assert "RECOVERY mode" not in s.out()


@life
def aborted_with_the_node_s_own_value(s: Scene) -> None:
    s.submit(ABORT + "ABORT-DAG-ON A 3\n" + FIRST)
    s.ends()
    assert "USING RESCUE DAG t.dag.rescue001" in s.out()


@life
def sigterm(s: Scene) -> None:
    comes_back(s, signal.SIGTERM)


@life
def sigquit(s: Scene) -> None:
    comes_back(s, signal.SIGQUIT)


@life
def sigabrt(s: Scene) -> None:
    comes_back(s, signal.SIGABRT)


@life
def sigsegv_takes_it_out_of_the_queue(s: Scene) -> None:
    s.submit(CHAIN)
    kill(s, signal.SIGSEGV)
    s.gone()


@life
def told_to_stop_twice_while_its_final_node_runs(s: Scene) -> None:
    s.submit("JOB A told.sub\nFINAL F told.sub\n")
    kill(s, signal.SIGUSR1)
    s.started("F 0")
    os.kill(s.pid(), signal.SIGUSR1)
    s.ends()


@life
def sent_away_while_its_final_node_runs(s: Scene) -> None:
    s.submit("JOB A told.sub\nFINAL F told.sub\n")
    kill(s, signal.SIGUSR1)
    s.started("F 0")
    os.kill(s.pid(), signal.SIGTERM)
    s.until(lambda: s.out().count("STARTING UP") == 2, "another start")
    s.touch("go.A", "go.F")
    s.ends()


@life
def the_lock_is_another_job_s(s: Scene) -> None:
    s.write("JOB A job.sub\n")
    with locked(s, "1\n"):
        s.submit_again()
        s.ends()


@life
def the_lock_is_still_its_own(s: Scene) -> None:
    s.write("JOB A job.sub\n")
    with locked(s, "") as lock:
        # The number of the job is not known before it starts; so it is submitted on hold.
        s.submit_again("-append", "hold = True")
        lock.write(f"{s.cluster}\n")
        lock.flush()
        s.run("condor_release", str(s.cluster))
        s.says("EXITING WITH STATUS 3")
    s.ends()


@contextlib.contextmanager
def locked(s: Scene, text: str) -> Iterator[TextIO]:
    """Within, this process holds the lock file of a scene's DAG, with that text in it."""
    path = s.work / "t.dag.lock"
    with path.open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        file.write(text)
        file.flush()
        yield file
    path.unlink(missing_ok=True)


def story(s: Scene) -> dict[str, Any]:
    """What came of a life."""
    out = s.out()
    return {
        "events": re.findall(r"^(\d{3}) \(", s.text("t.dag.dagman.log"), re.M),
        "ends": re.findall(r"^\t\(\d\) (.*termination.*)", s.text("t.dag.dagman.log"), re.M),
        "exits": re.findall(r"EXITING WITH STATUS (\d+)", out),
        "starts": out.count("STARTING UP"),
        "recoveries": out.count("Running in RECOVERY mode"),
        "files": sorted(
            path.name
            for path in s.work.iterdir()
            if re.fullmatch(r"t\.dag\.(lock|metrics|rescue.*)", path.name)
        ),
        "runs": dags.runs(s.work),
    }


class FlavouredScene(Scene):
    """A scene under the program of a flavour."""

    flavour: str = OURS

    def submit_again(self, *words: str) -> None:
        stock = self.flavour == STOCK
        dagman = self.access_point.stock_dagman if stock else self.access_point.our_dagman
        self.cluster = self.access_point.submit(
            self.work, "-dagman", dagman, *words, "t.dag", stock=stock
        )


@pytest.fixture(scope="module")
def stories(
    access_point: AccessPoint, place: Path, request: pytest.FixtureRequest
) -> dict[tuple[str, str], Any]:
    """What came of each life that is asked for, by name and flavour; or what it raised."""
    wanted = [name for name in LIVES if any(name in item.name for item in request.session.items)]

    def live(name: str, flavour: str) -> Any:
        work = place / "exits" / flavour / name
        work.mkdir(parents=True)
        work.chmod(0o777)
        scene = FlavouredScene(access_point, work)
        scene.flavour = flavour
        try:
            LIVES[name](scene)
            return story(scene)
        except BaseException as error:
            return error
        finally:
            if scene.cluster:
                access_point.run("condor_rm", str(scene.cluster), check=False)

    pairs = [(name, flavour) for name in wanted for flavour in (STOCK, OURS)]
    with ThreadPoolExecutor(2 * len(LIVES)) as threads:
        return dict(zip(pairs, threads.map(lambda pair: live(*pair), pairs)))


@pytest.mark.parametrize("name", LIVES)
def test_how_it_ends(stories: dict[tuple[str, str], Any], name: str) -> None:
    stock, ours = stories[name, STOCK], stories[name, OURS]
    for told in (stock, ours):
        if isinstance(told, BaseException):
            raise told
    if name in BETTER:
        assert ours["exits"] == BETTER[name] != stock["exits"]
    else:
        assert ours == stock

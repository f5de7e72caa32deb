"""How a DAGMan job ends, and what becomes of it in the queue: as under stock.

The schedd takes a DAGMan job out of the queue for exit codes 0 to 2 and signal 11, and starts it
again, after a cool-down, for all others (on_exit_remove).  The ends, events and rescue files of
each life must be those that stock's recording has.  Codes 0, 1 and 2 are compared in
test_compare.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import re
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.scenes import FIRST, Played, Scene, Stage
from tests.pool.stock import Stock, plain

CHAIN = "JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\n"
# Fails when it first runs: with 3, and with what the DAG asks for then.
ABORT = 'JOB A first.sub\nVARS A code="3"\nJOB B job.sub\nPARENT A CHILD B\n'

# Exit codes of ours where stock does worse: it starts over, and the FINAL node fails.
BETTER = {"sent_away_while_its_final_node_runs": ["3", "0"]}

STAGE = Stage()


def life(live: Callable[[Scene], None]) -> None:
    """Decorator: one more life of a DAGMan job."""

    @functools.wraps(live)
    def lived(s: Scene) -> dict[str, Any]:
        live(s)
        told = story(s)
        s.access_point.run("condor_rm", str(s.cluster), check=False)
        return told

    STAGE.by_both(lived)


def kill(s: Scene, number: int) -> None:
    """Send a signal to DAGMan itself, once its first job runs."""
    s.started("A 0")
    s.signal(number)


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
    s.signal(signal.SIGUSR1)
    s.ends()


@life
def sent_away_while_its_final_node_runs(s: Scene) -> None:
    s.submit("JOB A told.sub\nFINAL F told.sub\n")
    kill(s, signal.SIGUSR1)
    s.started("F 0")
    s.signal(signal.SIGTERM)
    s.until(lambda: s.out().count("STARTING UP") == 2, "another start")
    s.touch("go.A", "go.F")
    s.ends()


# What holds the lock comes after condor_submit_dag, which would look at it.
ON_HOLD = ("-append", "hold = True")


@life
def the_lock_is_another_job_s(s: Scene) -> None:
    s.submit("JOB A job.sub\n", *ON_HOLD)
    with locked(s, "999999\n"):
        s.run("condor_release", str(s.cluster))
        s.ends()


@life
def the_lock_is_still_its_own(s: Scene) -> None:
    s.submit("JOB A job.sub\n", *ON_HOLD)
    with locked(s, f"{s.cluster}\n"):
        s.run("condor_release", str(s.cluster))
        s.says("EXITING WITH STATUS 3")
    s.ends()


@contextlib.contextmanager
def locked(s: Scene, text: str) -> Iterator[None]:
    """Within, this process holds the lock file of a scene's DAG, with that text in it."""
    path = s.work / "t.dag.lock"
    with path.open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        file.write(text)
        file.flush()
        yield
    path.unlink(missing_ok=True)


def story(s: Scene) -> dict[str, Any]:
    """What came of a life."""
    out = s.out()
    return {
        "events": re.findall(r"^(?!013)(\d{3}) \(", s.text("t.dag.dagman.log"), re.M),
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


@pytest.mark.parametrize("name", STAGE.pairs)
def test_exits_are_those_of_stock_or_better(played: Played, stock: Stock, name: str) -> None:
    expected, ours = played.stock(name, stock), plain(played.check(name))
    if name in BETTER:
        assert ours["exits"] == BETTER[name] != expected["exits"]
    else:
        assert ours == expected

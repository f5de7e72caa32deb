"""The torture test as a command.

    python -m tests.torture.run [--dagman ours|stock|both] [--kills N] [--seed S] ...

Runs are played many at a time on a pool of the test's own, until so many DAGMans have been killed.
What is finished stands in DIRECTORY/runs.jsonl: a later command with the same directory goes on.
Exit code 1 if our DAGMan ran something twice, lost something, or ended wrongly.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from random import Random
from typing import Any

from tests.torture import everything, memory, report
from tests.torture.commands import verdict
from tests.torture.disturbances import DISTURBANCES, unmount
from tests.torture.judge import BAD
from tests.torture.play import PlannedRun, Player, Settings
from tests.torture.session import OURS, STOCK
from tests.torture.world import World, started, until

CHECKOUT = Path(__file__).resolve().parents[2]
# How often each comes in a round; most of the kills come from the first.
ROUND = (
    *("kill", "points", "kill", "submits", "kill", "files", "stop", "kill", "hold", "points"),
    *("mixed", "kill", "vacate", "remove", "second", "kill", "disk", "truncate", "points"),
    "stranger",
)
TO_ALL = ("schedd kill", "pool kill", "everything", "schedd stop", "waits")
ROUNDS_TO_BATCH = 2  # after so many rounds there is a batch of runs under a disturbance to all


def plan(flavour: str, only: list[str], at_once: int) -> Iterator[list[PlannedRun]]:
    """Batches of runs, without end: one run, or several with the whole pool disturbed."""
    number = 0
    singles = [name for name in ROUND if not only or name in only]
    singles = [name for name in singles if flavour == OURS or not DISTURBANCES[name].ours_only]
    world = deque(name for name in TO_ALL if not only or name in only)
    if flavour != OURS:
        world = deque(name for name in world if not DISTURBANCES[name].ours_only)
    while True:
        for name in singles * ROUNDS_TO_BATCH:
            yield [PlannedRun(number, name, flavour)]
            number += 1
        if world:
            yield [PlannedRun(number + n, world[0], flavour) for n in range(at_once)]
            number += at_once
            world.rotate(-1)


class Torture:
    """Plays the batches of one flavour until there have been kills enough."""

    def __init__(self, book: Path, kills: int, at_once: int) -> None:
        self.book = book
        self.kills = kills
        self.at_once = at_once
        self.begun = time.monotonic()
        self.new_kills = 0
        self.records: list[dict[str, Any]] = []
        if book.exists():
            self.records = [json.loads(line) for line in book.read_text().splitlines()]

    def of(self, flavour: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["flavour"] == flavour]

    def killed(self, flavour: str) -> int:
        return sum(record.get("kills", 0) for record in self.of(flavour))

    def play(self, player: Player, flavour: str, only: list[str]) -> None:
        """Play; what is finished already is not played again."""
        self.player = player
        known = {record["number"] for record in self.of(flavour)}
        with ThreadPoolExecutor(self.at_once) as threads:
            running: set[Future[dict[str, Any]]] = set()
            for batch in plan(flavour, only, self.at_once):
                due = [run for run in batch if run.number not in known]
                if not due:
                    continue
                running = self._wait(running, self.at_once - 1 if len(batch) == 1 else 0)
                if self.killed(flavour) >= self.kills:
                    break
                futures = {threads.submit(self._one, run) for run in due}
                if len(batch) > 1:
                    self._to_all(due, futures)
                running |= futures
            self._wait(running, 0)

    def _one(self, run: PlannedRun) -> dict[str, Any]:
        try:
            return self.player.play(run)
        except Exception as error:
            # One run that the harness could not play must not end the others.
            text = f"{type(error).__name__}: {error}"[:2000]
            text += "".join(traceback.format_tb(error.__traceback__)[-3:])
            return {"number": run.number, "disturbance": run.disturbance, "flavour": run.flavour,
                    "broken": text}  # fmt: skip

    def _to_all(self, runs: list[PlannedRun], futures: set[Future[dict[str, Any]]]) -> None:
        """Disturb the pool under the runs of a batch."""
        act = DISTURBANCES[runs[0].disturbance].to_all
        assert act is not None
        settings = self.player.settings
        random = Random(f"{settings.seed} {runs[0].number} to all")

        def over() -> bool:
            return all(future.done() for future in futures)

        names = {run.name for run in runs}
        until(lambda: names <= self.player.submitted or over(), 300.0)
        waits = DISTURBANCES[runs[0].disturbance].waits
        seconds = settings.wait_s if waits else settings.stop_seconds
        story = act(self.player.world, random, over, seconds)
        for future in futures:
            record = future.result()
            record["disturbances"] = record.get("disturbances", 0) + len(story)
            record["world"] = story

    def _wait(self, running: set[Future[dict[str, Any]]], left: int) -> set[Future[dict[str, Any]]]:
        """Wait until so many are left; writes down what is finished."""
        while len(running) > left:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                self._note(future.result())
        return running

    def _note(self, record: dict[str, Any]) -> None:
        self.records.append(record)
        self.new_kills += record.get("kills", 0)
        with self.book.open("a") as file:
            file.write(json.dumps(record) + "\n")
        for word in (*BAD, "broken"):
            found = record.get(word)
            for text in [found] if isinstance(found, str) else found or []:
                print(f"{record['flavour']} {record['number']} {word}: {text}", flush=True)
        print(self._progress(record["flavour"]), flush=True)

    def _progress(self, flavour: str) -> str:
        mine, kills = self.of(flavour), self.killed(flavour)
        counts = {word: sum(len(record.get(word, ())) for record in mine) for word in BAD}
        seconds = time.monotonic() - self.begun
        left = max(0, self.kills - kills)
        eta = f"{left * seconds / self.new_kills / 60:.0f} min" if self.new_kills else "?"
        return (
            f"{flavour}: {len(mine)} runs, {kills} of {self.kills} kills,"
            f" {counts['duplicates']} duplicates, {counts['lost']} lost,"
            f" {counts['noted'] + counts['wrong']} otherwise wrong;"
            f" {eta} left"
        )


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.torture.run", description=__doc__)
    parser.add_argument("--dagman", choices=(OURS, STOCK, "both"), default=OURS)
    parser.add_argument("--kills", type=int, default=500, help="kills of DAGMan that are enough")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", type=Path, default=CHECKOUT / "var" / "torture")
    parser.add_argument(
        "--only", default="", help="disturbances, with commas: " + ", ".join(DISTURBANCES)
    )
    parser.add_argument("--at-once", type=int, default=8, help="runs at a time")
    parser.add_argument("--stop", type=float, default=20.0, help="longest SIGSTOP, in seconds")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for a DAG")
    parser.add_argument("--sleep", type=int, default=0, help="PYDAGMAN_SLEEP_AFTER")
    parser.add_argument("--wait", type=float, default=120.0, help="seconds that DAGs wait long")
    parser.add_argument("--memory", type=Path, help="write that of all DAGMans there, as CSV")
    parser.add_argument("--keep", action="store_true", help="keep the directories of good runs")
    parser.add_argument("--report", type=Path, help="write the tables into this page")
    parser.add_argument("--json", type=Path, help="write what the tables say into this file")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    words = arguments(argv)
    only = [name for name in words.only.split(",") if name]
    unknown = [name for name in only if name not in DISTURBANCES]
    if unknown:
        print(
            f"no disturbance {', '.join(unknown)}; there are {', '.join(DISTURBANCES)}",
            file=sys.stderr,
        )
        return 2
    directory = words.dir.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    settings = Settings(words.seed, words.stop, words.timeout, words.keep, wait_s=words.wait)
    torture = Torture(directory / "runs.jsonl", words.kills, words.at_once)
    flavours = (OURS, STOCK) if words.dagman == "both" else (words.dagman,)
    wrong: list[str] = []
    if any(torture.killed(flavour) < words.kills for flavour in flavours):
        knobs = everything.make_directories(directory)
        knobs += f"PYDAGMAN_SLEEP_AFTER = {words.sleep}\n"
        with contextlib.ExitStack() as stack:
            world = stack.enter_context(started(directory, knobs))
            shared = everything.Shared(world, Random(words.seed))
            stack.enter_context(shared.sites.running())
            stack.enter_context(interruptible(world, shared))
            if words.memory:
                stack.enter_context(memory.recorded(directory / "runs", words.memory))
            for flavour in flavours:
                torture.play(Player(world, settings, shared), flavour, only)
            wrong += shared.wrong()
            wrong += world.left()
    tables = report.summarise(torture.records)
    if words.json:
        words.json.write_text(json.dumps(tables, indent=1) + "\n")
    if words.report:
        report.write(words.report, tables)
    bad = any(record.get(word) for record in torture.of(OURS) for word in (*BAD, "broken"))
    acts = sum((Counter(record.get("acts", {})) for record in torture.of(OURS)), Counter[str]())
    restarts = {one for record in torture.of(OURS) for one in record.get("world", ())}
    acts["restart the schedd, or kill the pool"] = len(restarts)
    print(*(f"{count:6} {act}" for act, count in acts.items()), sep="\n")
    return verdict([*wrong, *(["see above"] if bad else [])])


@contextlib.contextmanager
def interruptible(world: World, shared: everything.Shared) -> Iterator[None]:
    """^C ends the command at once: the threads that play runs wait for DAGs that will not end."""

    def leave(*_: object) -> None:
        print("stopped; the same command goes on from here", file=sys.stderr, flush=True)
        shared.sites.monitor.terminate()
        world.pool.stop()
        for work in world.directory.glob("runs/*/dag"):
            unmount(work)
        os._exit(130)

    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run seeds: `python -m tests.sim.run --seed N [--count M] [--twice]`, with an option for each kind
of world that is to be (see `--help`); `--pairs`: all two of them in turn.  Without `--seed` they
are seeds that nobody has tried, and count in the ledger.

Prints the rates of faults of each failing seed with its trace; `--verbose` does so for all.
"""

from __future__ import annotations

import argparse
import gc
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.sim import ledger
from tests.sim.kinds import IN_TURN, MEANINGS, in_turn
from tests.sim.world import World

SEEDS = Path(__file__).with_name("seeds.txt")


class Verdict(NamedTuple):
    """How a seed went; `error` is '' if all is well."""

    world: World
    error: str


def judge(seed: int, **how: bool) -> Verdict:
    """Run one seed; `how` are arguments of `World`."""
    world = World(seed, **how)
    try:
        world.run()
    except Exception as error:  # whatever it is, the trace is wanted
        where = "" if isinstance(error, AssertionError) else traceback.format_exc()
        if isinstance(error, AssertionError):
            where = "".join(traceback.format_tb(error.__traceback__)[-2:])
        return Verdict(world, f"{type(error).__name__}: {error}\n{where}")
    return Verdict(world, "")


def known_seeds() -> list[int]:
    """Seeds that ever failed: `NUMBER why`, a line each."""
    lines = SEEDS.read_text().splitlines()
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


def show(seed: int, verdict: Verdict, *, trace: bool) -> None:
    """Print what a person needs to see."""
    world = verdict.world
    print(f"seed {seed}: faults {world.faults}")
    print(f"  limits {world.workload.limits}")
    print(f"  {world.workload.config}")
    if trace:
        print(world.trace_text())
    print(f"  exit codes {world.exit_codes}, {world.boundaries} boundaries")
    print(f"seed {seed}: {verdict.error or 'well'}")


def _judged(seed: int, options: argparse.Namespace, *, sleepy: bool = False) -> Verdict:
    kinds = {kind: getattr(options, kind) for kind in MEANINGS}
    if options.in_turn:
        kinds.update(in_turn(options.in_turn, seed))
    return judge(seed, together=not options.apart, sleepy=sleepy, **kinds)


def _trace(seed: int, options: argparse.Namespace, *, sleepy: bool = False) -> str:
    verdict = _judged(seed, options, sleepy=sleepy)
    return verdict.world.trace_text() + verdict.error


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.run")
    parser.add_argument("--seed", type=int, help="first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds")
    parser.add_argument("--verbose", action="store_true", help="show every seed")
    parser.add_argument("--quiet", action="store_true", help="no traces of failing seeds")
    for kind, meaning in MEANINGS.items():
        parser.add_argument(f"--{kind}", action="store_true", help=meaning)
    for how in IN_TURN:
        words = {"action": "store_const", "const": how, "dest": "in_turn"}
        parser.add_argument(f"--{how}", **words, help="of the kinds, in turn")
    parser.add_argument("--apart", action="store_true", help="no nodes are submitted together")
    parser.add_argument("--sleepy", action="store_true", help="DAGMan sleeps: same trace?")
    parser.add_argument("--twice", action="store_true", help="same seed, same trace?")
    options = parser.parse_args()
    gc.freeze()  # what is loaded stays; of worlds, many are taken away at a time
    gc.set_threshold(50_000)
    failed: list[int] = []
    codes: Counter[int] = Counter()
    new = options.seed is None
    first = options.seed
    seeds = ledger.new_range(options.count) if new else range(first, first + options.count)
    for seed in seeds:
        verdict = _judged(seed, options)
        codes.update(verdict.world.exit_codes[-1:])
        if options.twice and _trace(seed, options) != verdict.world.trace_text():
            verdict = Verdict(verdict.world, verdict.error + " O11: another trace")
        if options.sleepy and _trace(seed, options, sleepy=True) != verdict.world.trace_text():
            verdict = Verdict(verdict.world, verdict.error + " sleep changes what happens")
        if verdict.error:
            failed.append(seed)
        if options.verbose or verdict.error:
            show(seed, verdict, trace=not options.quiet)
    print(f"{options.count} seeds, last exit codes {dict(codes)}, failed: {failed or 'none'}")
    if new:
        of_kinds = [kind for kind in MEANINGS if getattr(options, kind)]
        ledger.add(options.in_turn or "+".join(of_kinds), seeds, len(failed))
        print(f"seeds from {seeds.start} on; {ledger.passed():,} have passed since one failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

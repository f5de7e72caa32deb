"""Fuzz: python -m tests.fuzz.run [--seed N] [--count M] [--go-on]

Half of the inputs are written from the grammar, half are real DAG files with changes.  Ends with
the first input that breaks a rule, made as small as possible; with --go-on each broken rule is
shown once, when it is met first.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from functools import partial

from tests.fuzz.grammar import generate
from tests.fuzz.mutate import mutate
from tests.fuzz.rules import check, verdict
from tests.fuzz.sample import Sample, real_samples
from tests.fuzz.shrink import shrink

POOL = 400  # inputs of the grammar that are kept to be changed


class Source:
    """The inputs of a seed, one after the other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._real = real_samples()
        self._pool: list[Sample] = []

    def next(self) -> Sample:
        """The next input."""
        chance = self._random
        if chance.random() < 0.5:
            sample = generate(chance)
            if len(self._pool) < POOL:
                self._pool.append(sample)
            else:
                self._pool[chance.randrange(POOL)] = sample
            return sample
        chosen = self._real if chance.random() < 0.7 or not self._pool else self._pool
        return mutate(chance, chance.choice(chosen), chosen)


def fuzz(seed: int, count: int, go_on: bool = False) -> Counter[str]:
    """How often each rule was broken; prints the first input for each."""
    source, broken, begin = Source(seed), Counter[str](), time.monotonic()
    for number in range(1, count + 1):
        sample = source.next()
        rule = verdict(sample)
        if rule:
            broken[rule] += 1
            if broken[rule] == 1:
                _show(number, rule, shrink(sample, partial(_breaks, rule)))
            if not go_on:
                break
        if number % 10_000 == 0 or number == count:
            speed = number / (time.monotonic() - begin)
            print(f"seed {seed}: {number:,} inputs, {speed:.0f}/s, broken {dict(broken)}",
                flush=True)  # fmt: skip
    return broken


def _breaks(rule: str, sample: Sample) -> bool:
    return verdict(sample) == rule


def _show(number: int, rule: str, sample: Sample) -> None:
    print(f"--- input {number} breaks: {rule}\n{sample.shown()}")
    try:
        check(sample)
    except Exception as error:
        print(f"{type(error).__name__}: {str(error)[:1000]!a}")
    sys.stdout.flush()


def main() -> int:
    """Exit code 1 if any rule was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--go-on", action="store_true")
    arguments = parser.parse_args()
    return 1 if fuzz(arguments.seed, arguments.count, arguments.go_on) else 0


if __name__ == "__main__":
    sys.exit(main())

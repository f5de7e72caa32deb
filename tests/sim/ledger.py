"""Which ranges of seeds have been simulated, so that it can be said how many have passed since one
failed.  What a seed means changes with the code: a range never need be tried twice.
"""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom

LEDGER = Path(__file__).parents[2] / "var" / "seeds.txt"
_FIRST, _LAST = 1_000_000, 1_000_000_000  # lower seeds are those of the tests


def new_range(count: int) -> range:
    """So many seeds in a row that probably nobody has tried."""
    first = SystemRandom().randrange(_FIRST, _LAST)
    return range(first, first + count)


def add(kinds: str, seeds: range, failed: int, ledger: Path = LEDGER) -> None:
    """Note a range, what its worlds were, and how many of them failed."""
    ledger.parent.mkdir(exist_ok=True)
    with ledger.open("a", encoding="ascii") as file:
        file.write(f"{kinds or 'plain'} {seeds.start} {len(seeds)} {failed}\n")


def passed(ledger: Path = LEDGER) -> int:
    """How many seeds have passed since one failed; those of the range of a failure do not count."""
    count = 0
    lines = ledger.read_text("ascii").splitlines() if ledger.exists() else []
    for line in lines:
        _, _, size, failed = line.split()
        count = 0 if int(failed) else count + int(size)
    return count

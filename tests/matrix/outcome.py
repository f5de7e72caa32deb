"""What became of the tests with a pair of versions, and the file that keeps it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

NO_POOL, POOL = "no-pool", "pool"


@dataclass(frozen=True, order=True)
class Pair:
    """A version of Python and one of the bindings, such as 3.9 and 24.12."""

    python: str
    bindings: str

    @classmethod
    def parse(cls, text: str) -> Pair:
        """The pair that `3.9:24.12` names.

        Raises:
            ValueError: the text names none.
        """
        python, bindings = text.split(":")
        if not (python[:1].isdigit() and bindings[:1].isdigit()):
            raise ValueError(text)
        return cls(python, bindings)

    def key(self) -> list[tuple[int, ...]]:
        """Sorts by number, 3.9 before 3.13."""
        return [tuple(map(int, text.split("."))) for text in (self.python, self.bindings)]


@dataclass
class Counts:
    """Results of a test run.

    Attributes:
        passed, failures: the tests that passed, and those that failed or could not be run.
        skips: how many tests each reason has kept from running.
    """

    passed: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    skips: dict[str, int] = field(default_factory=dict)


@dataclass
class Outcome:
    """What became of a pair.

    Attributes:
        pair: the versions that were asked for, tests: NO_POOL or POOL.
        date: of the day, as `2026-11-27`.
        commit: the commit that was tested, with a `+` if files had been changed since.
        python, bindings: the exact versions, daemons: those of the pool, '' without a pool.
        failures: the tests that failed, unless they are among the next.
        unsteady: those that failed, and passed when they ran again alone.
        obstacle: why there is no result; '' if there is one.
    """

    pair: Pair
    tests: str
    date: str
    commit: str = ""
    python: str = ""
    bindings: str = ""
    daemons: str = ""
    seconds: int = 0
    passed: int = 0
    failures: list[str] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)
    skips: dict[str, int] = field(default_factory=dict)
    obstacle: str = ""


def counts(report: Path) -> Counts:
    """The results in a JUnit report of pytest.

    Raises:
        OSError, ElementTree.ParseError: there is none, since the run was cut off.
    """
    found = Counts()
    skips: Counter[str] = Counter()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        results = {result.tag: result for result in case}
        if "failure" in results or "error" in results:
            found.failures.append(name)
        elif "skipped" in results:
            skips[results["skipped"].get("message", "")] += 1
        else:
            found.passed.append(name)
    found.skips = dict(sorted(skips.items()))
    return found


def load(book: Path) -> list[Outcome]:
    """The outcomes that are kept in a file; none if there is no file."""
    if not book.exists():
        return []
    records = json.loads(book.read_text("utf-8"))
    return [Outcome(**{**record, "pair": Pair(**record["pair"])}) for record in records]


def keep(book: Path, new: Outcome) -> None:
    """Put an outcome into a file, in the place of an earlier one of the same."""
    others = [one for one in load(book) if (one.pair, one.tests) != (new.pair, new.tests)]
    outcomes = sorted([*others, new], key=lambda one: (one.tests, one.pair.key()))
    text = json.dumps([asdict(one) for one in outcomes], indent=1, ensure_ascii=False)
    book.write_text(text + "\n", "utf-8")

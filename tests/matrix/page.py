"""The tables of docs/versions.md, from the outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.matrix.outcome import NO_POOL, POOL, Outcome

BEGIN, END = (f"<!-- results of tests.matrix.run: {word} -->\n" for word in ("begin", "end"))
_SECTIONS = (
    (
        NO_POOL,
        "Without a pool",
        "All tests of the program that need no pool, except those marked `long`. Rows before\n"
        "2026-12-01 also have those of the page in a browser, and those of the repository: style,\n"
        "tools, dependencies.",
    ),
    (POOL, "On a pool", "Tests of what bindings and daemons say to each other."),
)
_HEADING = ("Python", "bindings", "daemons", "tested", "commit", "result")


def document(path: Path, outcomes: Sequence[Outcome]) -> str:
    """The text of the page with its tables as they are to be."""
    before, found, rest = path.read_text("utf-8").partition(BEGIN)
    if not found:
        raise ValueError(f"{path} has no line {BEGIN}")
    return before + found + "".join(_sections(outcomes)) + "\n" + END + rest.partition(END)[2]


def _sections(outcomes: Sequence[Outcome]) -> Iterable[str]:
    for tests, title, meaning in _SECTIONS:
        chosen = [one for one in outcomes if one.tests == tests]
        if chosen:
            yield f"\n## {title}\n\n{meaning}\n\n{_table(chosen)}"
            for one in chosen:
                yield from _remarks(one)


def _table(outcomes: Iterable[Outcome]) -> str:
    rows = [_HEADING, tuple("---" for _ in _HEADING)]
    for one in outcomes:
        python, bindings = one.python or one.pair.python, one.bindings or one.pair.bindings
        tested = (one.daemons or "none", one.date, f"`{one.commit}`")
        rows.append((python, bindings, *tested, result(one)))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _remarks(outcome: Outcome) -> Iterable[str]:
    """What is to be said of a pair below the table."""
    notes = _notes(outcome)
    if notes:
        yield f"\nPython {outcome.pair.python}, bindings {outcome.pair.bindings}:\n\n"
        yield from (f"- {note}\n" for note in notes)


def _notes(outcome: Outcome) -> list[str]:
    notes = [outcome.obstacle] if outcome.obstacle else []
    notes += [f"failed: `{name}`" for name in outcome.failures]
    notes += [f"failed, then passed: `{name}`" for name in outcome.unsteady]
    return notes + [f"{number} skipped: {why}" for why, number in outcome.skips.items()]


def result(outcome: Outcome) -> str:
    """The result in a line."""
    if outcome.obstacle:
        return "not tested"
    numbers = (
        (outcome.passed + len(outcome.unsteady), "passed"),
        (len(outcome.failures), "failed"),
        (sum(outcome.skips.values()), "skipped"),
    )
    return ", ".join(f"{number:,} {word}" for number, word in numbers if number)


def lines_of(outcome: Outcome) -> list[str]:
    """An outcome as it is told on the terminal."""
    return [f"{result(outcome)}, {outcome.seconds} s", *_notes(outcome)]

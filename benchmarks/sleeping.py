"""What DAGMans cost that wait for long, awake and asleep, beside stock's: benchmarks.sleeping

    .venv/bin/python -m benchmarks.sleeping [--seconds S] [--only STEP...] [--of SUBJECT...]

A pool of its own is started.  In each span of so many seconds there is no event of a job, or one.
The program must have been installed with its waiter (docs/administrators.md, "Sleep").
"""

from __future__ import annotations

import argparse
import os
import time
from typing import NamedTuple

from benchmarks import sleep_steps
from benchmarks.figures import Results, Row, percentile95
from benchmarks.place import Failed, started_place
from benchmarks.run import say
from benchmarks.subjects import ASLEEP, OURS, STOCK
from condor_pydagman.errors import FileError

SUBJECTS = {STOCK: "stock", OURS: "ours, awake", ASLEEP: "ours, asleep"}
STEPS = {
    step.__name__: step
    for step in (
        sleep_steps.start,
        sleep_steps.submitting,
        sleep_steps.idle,
        sleep_steps.restart,
        sleep_steps.reaction,
    )
}


class Aim(NamedTuple):
    """A row, and the most that ours may have asleep: so much, or as much as stock's (None)."""

    row: Row
    most: float | None = None

    def cells(self, results: Results) -> list[str]:
        """Of its line in the table."""
        values = {one: self.row.value(results, one) for one in SUBJECTS}
        most, value = self.most, values[ASLEEP]
        aim = "stock's" if most is None else self.row.shown(most)
        most = values[STOCK] if most is None else most
        verdict = "-"
        if value is not None and most is not None:
            verdict = "reached" if value <= most else "**missed**"
        return [self.row.text, *map(self.row.shown, values.values()), aim, verdict]


AIMS = [
    Aim(Row("USS of a DAGMan, no event", "quiet uss", "MB"), 0.3),
    Aim(Row("the same, one event", "event uss", "MB")),
    Aim(Row("PSS of all, no event", "quiet pss", "MB"), 20),
    Aim(Row("the same, one event of each", "event pss", "MB"), 60),
    Aim(Row("CPU of a DAGMan in a minute, no event", "quiet cpu", "ms", 1, 1000), 8),
    Aim(Row("the same, one event", "event cpu", "ms", 1, 1000), 8),
    Aim(Row("CPU of the schedd in 50 s, no event", "quiet schedd", "s", 2)),
    Aim(Row("the same, one event of each", "event schedd", "s", 2)),
    Aim(Row("greatest PSS of all when the schedd starts anew", "restart pss", "MB", 0), 250),
    Aim(Row("CPU of all then", "restart cpu"), 5.5),
    Aim(Row("CPU of condor_submit_dag", "submit_dag cpu", "ms", 0, 1000), 45),
    Aim(Row("CPU of DAGMan until its first submission", "start cpu", "ms", 0, 1000), 117),
    Aim(Row("until a halt file is obeyed, 95 %", "halted", "ms", 0, 1000, percentile95), 300),
    Aim(Row("until a client is answered, 95 %", "answered", "ms", 0, 1000, percentile95), 300),
    Aim(Row("greatest PSS of all while they submit", "submitting pss", "MB", 0), 600),
]


def render(results: Results) -> str:
    """A table, in Markdown, of what was measured."""
    lines = [["", *SUBJECTS.values(), "aim of 40 DAGs", ""], ["---", *["---:"] * 4, "---"]]
    measured = {name for numbers in results.values() for name, values in numbers.items() if values}
    lines += [aim.cells(results) for aim in AIMS if aim.row.name in measured]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Print the table, and with what it was measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dags", type=int, default=40, help="that wait at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="with one event, or none")
    parser.add_argument("--sleep-after", type=int, default=10, help="PYDAGMAN_SLEEP_AFTER")
    parser.add_argument("--wakes", type=int, default=80, help="six for each DAG at most")
    parser.add_argument("--starts", type=int, default=5, help="of condor_submit_dag")
    parser.add_argument("--bag", type=int, default=100, help="nodes of each DAG while all submit")
    parser.add_argument("--only", nargs="+", default=list(STEPS), choices=STEPS)
    parser.add_argument("--of", nargs="+", default=list(SUBJECTS), choices=SUBJECTS)
    chosen = vars(parser.parse_args())
    steps, subjects = chosen.pop("only"), chosen.pop("of")
    results: Results = {subject: {} for subject in subjects}
    load, begin = os.getloadavg()[0], time.monotonic()
    with started_place() as place:
        for step, subject in ((step, subject) for step in steps for subject in subjects):
            say(f"{step}, {subject}")
            try:
                results[subject].update(STEPS[step](place, subject, sleep_steps.Scale(**chosen)))
                say(f"  {results[subject]}")
            except (Failed, FileError, OSError, KeyboardInterrupt) as error:  # ^C: the next step
                say(f"  failed: {type(error).__name__}: {error}")
    print(render(results))
    words = ", ".join(f"--{name.replace('_', '-')} {value:g}" for name, value in chosen.items())
    loads = f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"{words}; {loads}; {(time.monotonic() - begin) / 60:.0f} minutes")


if __name__ == "__main__":
    main()

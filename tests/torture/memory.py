"""The memory of all tortured DAGMans over time, as CSV and as a chart."""

from __future__ import annotations

import contextlib
import csv
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import costs, lines
from tests.pool.dagmans import processes_in
from tests.torture.data_dags import words_of
from tests.torture.waits import sleeps

LOOK_S = 2.0
COLUMNS = ("seconds", "processes", "asleep", "PSS MB", "USS MB")


@contextlib.contextmanager
def recorded(runs: Path, file: Path) -> Iterator[None]:
    """Write it meanwhile into the file, and then the chart beside it; `runs`: where DAGs are."""
    over = threading.Event()
    thread = threading.Thread(target=_record, args=(runs, file, over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        file.with_suffix(".svg").write_text(chart(file), encoding="utf-8")


def _record(runs: Path, file: Path, over: threading.Event) -> None:
    begin = time.monotonic()
    with file.open("w", newline="", encoding="ascii") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        while not over.wait(LOOK_S):
            pids = [pid for pid in processes_in(runs) if b"-Lockfile\0" in words_of(pid)]
            sizes = []
            for pid in pids:
                with contextlib.suppress(OSError):  # it has just ended
                    sizes.append(costs.memory(pid))
            sums = (round(sum(one[name] for one in sizes), 2) for name in ("pss", "uss"))
            seconds = round(time.monotonic() - begin, 1)
            writer.writerow((seconds, len(pids), sum(map(sleeps, pids)), *sums))
            stream.flush()


def chart(file: Path) -> str:
    """The CSV as SVG."""
    rows = [*csv.reader(file.read_text("ascii").splitlines())][1:]
    points = [[float(cell) for cell in row] for row in rows] or [[0.0] * len(COLUMNS)]
    drawn = [
        lines.Line(COLUMNS[column], colour, [(row[0], row[column]) for row in points])
        for column, colour in ((1, "#999999"), (2, "#e69f00"), (3, "#0072b2"), (4, "#56b4e9"))
    ]
    note = "of all, with their children; how many processes there are, and how many are asleep"
    return lines.draw("Memory of DAGMans", note, "seconds", drawn, logarithmic=False)

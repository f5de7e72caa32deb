"""A workflow of a thousand short tasks, examples/montage, without bundles and with, side by side on
one pool.

Use: python -m benchmarks.bundle_workflow [--rounds R] [--slots K] [--line LINE] [--picture FILE]

Printed is a table; `--line` is another BUNDLE line for the DAG; `--picture` draws what the slots do
in the fastest run of each.  The pictures of the sky that the runs make must be the same.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from benchmarks import bundle_costs, dags, slot_chart
from benchmarks.bundle_costs import Took
from benchmarks.place import HERE, Failed, Place
from benchmarks.subjects import OURS

EXAMPLE = HERE.parent / "examples" / "montage"
NODES = 1000
ALONE, BUNDLED = "a job for each task", "in bundles"
HEAD = (
    "| | seconds | jobs | CPU of DAGMan, s | of its helpers | of the schedd |\n"
    "|---|---:|---:|---:|---:|---:|"
)
COLOURS = {
    "project": "#0072b2",
    "difference": "#e69f00",
    "fit": "#d55e00",
    "correct": "#56b4e9",
    "single tasks": "#000000",
}
_KINDS = {"project": "project", "right": "difference", "below": "difference", "fit": "fit",
          "correct": "correct"}  # fmt: skip


def run(place: Place, line: str) -> tuple[Took, Path]:
    """Run it with a line before those of the DAG; returns its directory as well."""
    directory = place.new_directory("montage")
    shutil.copy(EXAMPLE / "montage.py", directory)
    text = (EXAMPLE / "montage.dag").read_text(encoding="ascii")
    (directory / dags.NAME).write_text(line + text, encoding="ascii")
    return bundle_costs.run(place, directory, NODES), directory


def tasks(place: Place, directory: Path) -> list[slot_chart.Task]:
    """What the report says of when tasks ran, in seconds since the first submit."""
    program = place.program(OURS, "condor_pydagman")
    told = place.run(program, "report", "--format", "json", dags.NAME, cwd=directory)
    rows = [json.loads(line) for line in told.splitlines()]
    begin = min(row["submit"] for row in rows)
    return [
        slot_chart.Task(
            row["job"].partition(".")[0],
            _KINDS.get(row["node"].partition("_")[0], "single tasks"),
            row["execute"] - begin,
            row["end"] - begin,
        )
        for row in rows
    ]


def picture(place: Place, fastest: dict[str, tuple[Took, Path]], slots: int) -> str:
    """What the slots do in these runs, as SVG."""
    runs = [
        slot_chart.Run(f"{way}: {took.jobs:,g} jobs", tasks(place, directory))
        for way, (took, directory) in fastest.items()
    ]
    note = f"rows are {slots} slots; a task is coloured from its start to its end, its job is grey"
    return slot_chart.draw("A workflow of 1,000 short tasks", note, runs, COLOURS)


def main() -> None:
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=8, help="of the pool; at least its cores")
    parser.add_argument("--line", default="BUNDLE short ALL_NODES")
    parser.add_argument("--picture", type=Path, help="an SVG file")
    parser.add_argument("--directory", type=Path)
    chosen = parser.parse_args()
    directory = chosen.directory or Path(tempfile.mkdtemp(prefix="bundles-"))
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    place = Place(directory)
    place.start(chosen.slots)
    try:
        found = measured(place, chosen.rounds, chosen.line)
        if chosen.picture:
            fastest = {way: min(some) for way, some in found.items()}
            chosen.picture.write_text(picture(place, fastest, chosen.slots), encoding="utf-8")
    finally:
        place.stop()
    print(HEAD)
    for way, some in found.items():
        usual = bundle_costs.medians([took for took, _ in some])
        cpu = " | ".join(f"{seconds:.1f}" for seconds in usual[2:])
        print(f"| {way} | {usual.seconds:.1f} | {usual.jobs:g} | {cpu} |")


def measured(place: Place, rounds: int, line: str) -> dict[str, list[tuple[Took, Path]]]:
    """Run it so often in each way; Failed if the results are not all the same."""
    found: dict[str, list[tuple[Took, Path]]] = {ALONE: [], BUNDLED: []}
    for _ in range(rounds):
        found[ALONE].append(run(place, ""))
        found[BUNDLED].append(run(place, f"{line}\n"))
    runs = [where for some in found.values() for _, where in some]
    if len({(where / "mosaic.pgm").read_bytes() for where in runs}) != 1:
        raise Failed("the runs have made different pictures")
    return found


if __name__ == "__main__":
    main()

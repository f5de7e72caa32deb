"""A workflow of short tasks without bundles and with, side by side on one pool.

Use: python -m benchmarks.bundle_workflow [montage|pipelines] [--rounds R] [--slots K] [--line LINE]
     [--picture FILE]

It is examples/montage, of a thousand tasks, or pipelines of which the steps follow each other.
Printed is a table; `--line` is another BUNDLE line for the DAG; `--picture` draws what the slots do
in the fastest run of each.  The pictures of the sky that montage makes must be the same.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks import bundle_costs, dags, slot_chart
from benchmarks.bundle_costs import Took
from benchmarks.place import Failed, Place
from benchmarks.subjects import OURS
from benchmarks.workflows import WORKFLOWS, Workflow

ALONE, BUNDLED = "a job for each task", "in bundles"
HEAD = (
    "| | seconds | jobs | CPU of DAGMan, s | of its helpers | of the schedd |\n"
    "|---|---:|---:|---:|---:|---:|"
)


def run(place: Place, chosen: Workflow, line: str) -> tuple[Took, Path]:
    """Run it with a line before those of the DAG; returns its directory as well."""
    directory = place.new_directory("workflow")
    chosen.write(directory)
    dag = directory / dags.NAME
    dag.write_text(line + dag.read_text(encoding="ascii"), encoding="ascii")
    return bundle_costs.run(place, directory, chosen.nodes), directory


def tasks(place: Place, chosen: Workflow, directory: Path) -> list[slot_chart.Task]:
    """What the report says of when tasks ran, in seconds since the first submit."""
    program = place.program(OURS, "condor_pydagman")
    told = place.run(program, "report", "--format", "json", dags.NAME, cwd=directory)
    rows = [json.loads(line) for line in told.splitlines()]
    begin = min(row["submit"] for row in rows)
    return [
        slot_chart.Task(
            row["job"].partition(".")[0],
            chosen.kind(row["node"]),
            row["execute"] - begin,
            row["end"] - begin,
        )
        for row in rows
    ]


def picture(
    place: Place, chosen: Workflow, fastest: dict[str, tuple[Took, Path]], slots: int
) -> str:
    """What the slots do in these runs, as SVG."""
    runs = [
        slot_chart.Run(f"{way}: {took.jobs:,g} jobs", tasks(place, chosen, directory))
        for way, (took, directory) in fastest.items()
    ]
    note = f"rows are {slots} slots; a task is coloured from its start to its end, its job is grey"
    return slot_chart.draw(chosen.title, note, runs, chosen.colours)


def main() -> None:
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workflow", nargs="?", choices=WORKFLOWS, default="montage")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=8, help="of the pool; at least its cores")
    parser.add_argument("--line", help="instead of its own BUNDLE line")
    parser.add_argument("--picture", type=Path, help="an SVG file")
    parser.add_argument("--directory", type=Path)
    chosen = parser.parse_args()
    workflow = WORKFLOWS[chosen.workflow]
    directory = chosen.directory or Path(tempfile.mkdtemp(prefix="bundles-"))
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    place = Place(directory)
    place.start(chosen.slots)
    try:
        found = measured(place, workflow, chosen.rounds, chosen.line or workflow.line)
        if chosen.picture:
            fastest = {way: min(some) for way, some in found.items()}
            drawn = picture(place, workflow, fastest, chosen.slots)
            chosen.picture.write_text(drawn, encoding="utf-8")
    finally:
        place.stop()
    print(HEAD)
    for way, some in found.items():
        usual = bundle_costs.medians([took for took, _ in some])
        cpu = " | ".join(f"{seconds:.1f}" for seconds in usual[2:])
        print(f"| {way} | {usual.seconds:.1f} | {usual.jobs:g} | {cpu} |")


def measured(
    place: Place, chosen: Workflow, rounds: int, line: str
) -> dict[str, list[tuple[Took, Path]]]:
    """Run it so often in each way; Failed if the results are not all the same."""
    found: dict[str, list[tuple[Took, Path]]] = {ALONE: [], BUNDLED: []}
    for _ in range(rounds):
        found[ALONE].append(run(place, chosen, ""))
        found[BUNDLED].append(run(place, chosen, f"{line}\n"))
    runs = [where for some in found.values() for _, where in some]
    if chosen.result and len({(where / chosen.result).read_bytes() for where in runs}) != 1:
        raise Failed("the runs have made different results")
    return found


if __name__ == "__main__":
    main()

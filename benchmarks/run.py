"""Measure our DAGMan beside the stock one: python benchmarks/run.py [--quick] [--json FILE]

Starts a pool of its own, measures both in it and the bare bindings too, prints a table, stops the
pool.  It judges nothing: the exit code is 0 whatever the numbers are.  What it takes to load a big
DAG is measured by load.py, which needs no pool.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import shutil
import sys
import time
from pathlib import Path

import measure
import table
from place import Failed, Place

from condor_pydagman.errors import PoolError

CHECKOUT = Path(__file__).resolve().parents[1]


def arguments(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="smaller DAGs, shorter idling")
    parser.add_argument("--rounds", type=int, default=1, help="how often everything is measured")
    parser.add_argument(
        "--only",
        metavar="NAMES",
        default=",".join(measure.STEPS),
        help="which measurements, with commas between them; all are %(default)s",
    )
    parser.add_argument("--json", metavar="FILE", help="write all numbers there too")
    parser.add_argument("--dagman", metavar="PATH", default="", help="our condor_dagman")
    parser.add_argument("--dir", metavar="DIRECTORY", help="where to work; not under /tmp")
    chosen = parser.parse_args(argv)
    chosen.only = chosen.only.split(",")
    for name in chosen.only:
        if name not in measure.STEPS:
            parser.error(f"--only {name}: there are {', '.join(measure.STEPS)}")
    return chosen


def machine(place: Place) -> dict[str, object]:
    """What the numbers depend on."""
    version = place.run("condor_version").split()
    return {
        "cores": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "htcondor": version[1] if len(version) > 1 else "",
        "date": time.strftime("%Y-%m-%d"),
    }


def say(text: str) -> None:
    """Tell what goes on; the table alone goes to standard output."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main(argv: list[str]) -> int:
    """Measure; returns 2 only if nothing can be measured here."""
    chosen = arguments(argv)
    sizes = measure.QUICK if chosen.quick else measure.FULL
    sizes = dataclasses.replace(sizes, rounds=chosen.rounds)
    base = Path(chosen.dir).absolute() if chosen.dir else CHECKOUT / "var"
    directory = base / f"benchmark.{os.getpid()}"
    directory.mkdir(parents=True)
    directory.chmod(0o777)
    place = Place(directory, chosen.dagman)
    try:
        place.start()
        facts = machine(place)
        results = measure.everything(place, sizes, chosen.only, say)
    except (Failed, PoolError) as error:
        say(f"can't measure: {error}")
        return 2
    finally:
        place.stop()
        shutil.rmtree(directory, ignore_errors=True)
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    print(f"chain of {sizes.chain}, bag of {sizes.bag}, {sizes.rounds} round(s)\n")
    print(table.render(results))
    if chosen.json:
        everything = {"machine": facts, "sizes": dataclasses.asdict(sizes), "numbers": results}
        Path(chosen.json).write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measure DAGMan beside the stock one and the bare bindings: benchmarks/run [--quick]

Starts a pool of its own, measures in it and beside it, prints tables, stops the pool.  It judges
nothing: the exit code is 0 whatever the numbers are.  With --report, docs/performance.md gets the
tables and charts.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import measure, peers, peers_table, report, sizes, table
from benchmarks.place import Failed, Place
from benchmarks.subjects import EVERYONE, PEERS, TUNED_KNOBS
from condor_pydagman.errors import PoolError

CHECKOUT = Path(__file__).resolve().parents[1]
PRESETS = {"full": sizes.FULL, "quick": sizes.QUICK, "smallest": sizes.SMALLEST}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run", description=(__doc__ or "").partition("\n")[0]
    )
    add = parser.add_argument
    for name, text in (
        ("quick", "smaller DAGs, fewer measurements"),
        ("smallest", "only to see that it works"),
    ):
        add(f"--{name}", action="store_const", const=name, default="full", dest="size", help=text)
    add("--rounds", type=int, default=1, metavar="N", help="how often everything is measured")
    names = "which, with commas between them; all are"
    add("--only", metavar="NAMES", default="", help=f"{names} {','.join(measure.STEPS)}")
    add("--subjects", metavar="NAMES", default=",".join(EVERYONE), help=f"{names} %(default)s")
    add("--json", metavar="FILE", type=Path, help="write all numbers there too")
    add("--report", action="store_true", help="put tables and charts into docs/performance.md")
    add("--docs", metavar="DIRECTORY", type=Path, default=CHECKOUT / "docs",
        help="where performance.md is, for --report")  # fmt: skip
    add(
        "--from",
        metavar="FILE",
        type=Path,
        dest="source",
        help="measure nothing: use these numbers",
    )
    add("--update", metavar="FILE", type=Path, help="replace in these numbers what is measured now")
    add("--ours", metavar="DIRECTORY", default="", help="where our commands are")
    add("--dir", metavar="DIRECTORY", help="where to work")
    add("--crowd", type=int, metavar="N", help="no-op jobs of `crowd`, some 30 a second")
    add("--knob", metavar="NAME=VALUE", action="append", default=[], help="set it for all DAGMans")
    return parser


def arguments(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = _parser()
    chosen = parser.parse_args(argv)
    if not chosen.only:
        steps = measure.QUICK_STEPS if chosen.size == "quick" else measure.STEPS
        chosen.only = ",".join(steps)
    for option, known in (("only", measure.STEPS), ("subjects", EVERYONE)):
        names = getattr(chosen, option).split(",")
        setattr(chosen, option, names)
        for name in names:
            if name not in known:
                parser.error(f"--{option} {name}: there are {', '.join(known)}")
    for knob in chosen.knob:
        if "=" not in knob:
            parser.error(f"--knob {knob}: it must be NAME=VALUE")
    if chosen.rounds < 1:
        parser.error(f"--rounds {chosen.rounds}: it must be 1 or more")
    if chosen.json and not chosen.json.absolute().parent.is_dir():
        parser.error(f"--json {chosen.json}: there is no such directory")
    if chosen.report and not (chosen.docs / report.PAGE).is_file():
        parser.error(f"--docs {chosen.docs}: there is no {report.PAGE} in it")
    for option, file in (("from", chosen.source), ("update", chosen.update)):
        if file and not file.is_file():
            parser.error(f"--{option} {file}: there is no such file")
    return chosen


def machine(place: Place) -> dict[str, object]:
    """What the numbers depend on."""
    version = place.run("condor_version").split()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "system": _system(),
        "cores": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "htcondor": version[1] if len(version) > 1 else "",
    }


def _system() -> str:
    try:
        words = platform.freedesktop_os_release()
    except (AttributeError, OSError):
        return platform.system()
    return words["PRETTY_NAME"]


def say(text: str) -> None:
    """Tell what goes on; the tables alone go to standard output."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def take(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure; returns all that is known of it.

    Raises:
        Failed, PoolError: nothing can be measured here.
    """
    base = Path(chosen.dir).absolute() if chosen.dir else CHECKOUT / "var"
    directory = base / f"benchmark.{os.getpid()}"
    directory.mkdir(parents=True)
    directory.chmod(0o755)  # the pool's user gets directories of its own in it
    size = PRESETS[chosen.size]
    if chosen.crowd:
        size = dataclasses.replace(size, crowd=chosen.crowd)
    place = Place(directory, chosen.ours, dict(knob.split("=", 1) for knob in chosen.knob))
    told: dict[str, Any] = {"sizes": dataclasses.asdict(size), "rounds": chosen.rounds}
    told["peers"] = {}
    if "peers" in chosen.only and set(chosen.subjects) & set(PEERS):
        peers.install(say)
        told["peers"] = peers.versions()
    begin = time.monotonic()
    try:
        place.start()
        told["machine"] = machine(place)
        plan = list(measure.order(chosen.only, chosen.subjects, size.turns))
        plan = measure.repeated(plan, chosen.rounds)
        results, failures = measure.everything(place, size, plan, say)
    finally:
        place.stop()
        shutil.rmtree(directory, ignore_errors=True)
    return {
        **told,
        "tuned": TUNED_KNOBS,
        "knobs": place.knobs,
        "seconds": time.monotonic() - begin,
        "failures": failures,
        "numbers": results,
    }


def _interrupted(number: int, _: object) -> None:
    sys.exit(128 + number)


def main(argv: list[str]) -> int:
    """Measure; returns 2 only if nothing can be measured here."""
    chosen = arguments(argv)
    for number in (signal.SIGINT, signal.SIGTERM):  # so that the pool is stopped, also under nohup
        signal.signal(number, _interrupted)
    try:
        told = json.loads(chosen.source.read_text("utf-8")) if chosen.source else take(chosen)
        if chosen.update:
            earlier = json.loads(chosen.update.read_text("utf-8"))
            told = report.updated(earlier, told, chosen.only)
    except (Failed, PoolError) as error:
        say(f"can't measure: {error}")
        return 2
    if chosen.json:
        chosen.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(table.everything(told["numbers"]))
    if peers_table.measured(told["numbers"]):
        print(f"{peers_table.GROUP}\n\n{peers_table.render(told['numbers'], told['peers'])}")
    if chosen.report:
        report.write(chosen.docs, told)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

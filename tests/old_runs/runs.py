"""The kept runs: which there are, and how their files are laid out for a test."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

RUNS = Path(__file__).parent / "runs"
DIRECTORY = "@DIR@"  # stands for the directory of the run
OPAQUE = ".grown"  # texts in it have digests: whatever directory they name is left as it is
CHANGED_AT = 1_795_714_000  # when all files were changed last, seconds since the epoch
OWN = ("queue.json", "expected.json")


def all_runs() -> list[Path]:
    """The directories of all kept runs."""
    return sorted(path.parent for path in RUNS.glob("*/*/expected.json"))


def lay_out(kept: Path, work: Path) -> None:
    """Make the files of a run in a directory, as DAGMan left them there."""
    for path in sorted(kept.rglob("*")):
        target = work / path.relative_to(kept)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        elif path.suffix == ".sql":
            _database(path, target.with_suffix(""), work)
        elif path.name not in OWN:
            shutil.copy(path, target)
            if path.suffix != OPAQUE:
                target.write_text(text_of(path, work), encoding="utf-8", errors="surrogateescape")
    for path in work.rglob("*"):
        os.utime(path, (CHANGED_AT, CHANGED_AT))
    modes = {"places": 0o1777, "claims": 0o1777, "shared": 0o1777, "t.dag.placements": 0o700}
    for name, mode in modes.items():
        with contextlib.suppress(FileNotFoundError):
            os.chmod(work / name, mode)


def json_text(what: Any, depth: int = 3) -> str:
    """JSON with a line for each thing `depth` levels deep: short, and fit to be compared."""
    return _lines(what, depth, "") + "\n"


def _lines(what: Any, depth: int, indent: str) -> str:
    if not depth or not what or not isinstance(what, (dict, list)):
        return json.dumps(what, sort_keys=True)
    inner, values = indent + " ", []
    if isinstance(what, dict):
        for name in sorted(what):
            values.append(f"{inner}{json.dumps(name)}: {_lines(what[name], depth - 1, inner)}")
    else:
        values = [inner + _lines(one, depth - 1, inner) for one in what]
    begin, end = "{}" if isinstance(what, dict) else "[]"
    return f"{begin}\n" + ",\n".join(values) + f"\n{indent}{end}"


def text_of(path: Path, work: Path) -> str:
    """The text of a kept file, with a directory that there is."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return text.replace(DIRECTORY, str(work))


def _database(dump: Path, target: Path, work: Path) -> None:
    import sqlite3

    with contextlib.closing(sqlite3.connect(target)) as database:
        database.executescript(text_of(dump, work))

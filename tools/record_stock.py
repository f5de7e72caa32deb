"""Records what the stock program does, for the tests that compare ours with it.

Use: python -m tools.record_stock [MODULE ...]

Runs the tests below tests/pool that use the fixture `stock` (all, or those of the modules named,
as `knobs` or `compare`) several times on a personal HTCondor, and keeps what stock did in
tests/recordings/VERSION/pool/MODULE.json.  What was not the same each time is named, and nothing is
kept of its module: rewrite the test until it is.  With a new HTCondor: record, and look at
`git diff --no-index` of the two versions' folders.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import recordings

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3


def record(modules: Sequence[str], directory: Path) -> bool:
    """Run the tests once, recording into `directory`; returns whether all could be recorded."""
    paths = [f"tests/pool/test_{name}.py" for name in modules] or ["tests/pool"]
    words = ["-n", "0", "-q", "-p", "no:randomly", "--record-stock", str(directory)]
    command = [sys.executable, "-m", "pytest", *words, *paths]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def varying(rounds: Sequence[dict[str, Any]]) -> list[str]:
    """Names whose values are not the same in all rounds, or missing in one."""
    names = sorted(set().union(*rounds))
    first = rounds[0]
    return [n for n in names if any(n not in one or one[n] != first.get(n) for one in rounds)]


def keep(directories: Sequence[Path]) -> list[str]:
    """Keep the modules that were recorded alike in all directories; returns what was not."""
    found = []
    for name in sorted({path.relative_to(d) for d in directories for path in d.rglob("*.json")}):
        files = [directory / name for directory in directories]
        rounds = [recordings.read(file) if file.exists() else {} for file in files]
        differing = varying(rounds)
        found += [f"{name}: {one}" for one in differing]
        if not differing:
            (recordings.ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            recordings.write(recordings.ROOT / name, rounds[0])
    return found


def main(argv: Sequence[str]) -> int:
    """Record; returns the exit code, 1 if something could not be recorded or varies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often ({ROUNDS})")
    parser.add_argument("module", nargs="*")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as place:
        directories = [Path(place) / str(number) for number in range(options.rounds)]
        complete = [record(options.module, directory) for directory in directories]
        differing = keep(directories)
    for name in differing:
        print(f"not the same each time: {name}")
    return int(bool(differing) or not all(complete))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Records what the stock program does, for the tests that compare ours with it.

    python -m tools.record_stock [--times N] [NAME ...]

A NAME is `corpus`, `submit_corpus` (tests/corpora.py), or a module of tests/pool, as `knobs` or
`compare`, whose tests use the fixture `stock` (tests/pool/stock.py), or one of these tests, as
`compare::test_same[final/alone]`, which leaves the others as they were; without one all are
recorded.
Each is recorded several times on a personal HTCondor and kept in tests/recordings/VERSION.  What
was not the same each time is named, and nothing is kept of its module: rewrite the test until it
is.  With a new HTCondor: record, and look at the difference of the two versions' folders.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests import recordings
from tools import record_corpus, record_submit_corpus, recording

ROOT = Path(__file__).resolve().parents[1]
CORPORA = {"corpus": record_corpus.main, "submit_corpus": record_submit_corpus.main}


def record(modules: Sequence[str], directory: Path) -> bool:
    """Run the tests once, recording into `directory`; returns whether all could be recorded."""
    paths = [_node_id(name) for name in modules] or ["tests/pool"]
    words = ["-n", "0", "-q", "-p", "no:randomly", "--record-stock", str(directory)]
    command = [sys.executable, "-m", "pytest", *words, *paths]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def _node_id(name: str) -> str:
    module, colons, test = name.partition("::")
    return f"tests/pool/test_{module}.py{colons}{test}"


def keep(directories: Sequence[Path], *, only: bool = False) -> bool:
    """Keep what was recorded alike in all directories; returns whether all was.

    Args:
        only: what has not been recorded now stays as it was.
    """
    names = {path.relative_to(d) for d in directories for path in d.rglob("*.json")}
    codes = []
    for name in sorted(names):
        compared = list(directories)
        if name.parts[1] == recordings.LEFT:
            compared = [d for d in directories if (d / name).exists()][:1]
        once = partial(_read, compared, name)
        file = str(name.relative_to(name.parts[0]))
        names = list(once(0)) if only else []
        codes.append(recording.keep(file, name.parts[0], once, len(compared), names))
    return not any(codes)


def _read(directories: Sequence[Path], name: Path, number: int) -> recording.Recording:
    file = directories[number] / name
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def main(argv: Sequence[str]) -> int:
    """Record; returns the exit code, 1 if something could not be recorded or varies."""
    options = recording.parser(__doc__).parse_args(argv)
    modules = [name for name in options.case if (ROOT / _node_id(name).partition("::")[0]).exists()]
    unknown = set(options.case) - {*modules, *CORPORA}
    if unknown:
        print(f"there is no tests/pool/test_{min(unknown)}.py", file=sys.stderr)
        return 2
    codes = [
        CORPORA[name](["--times", str(options.times)])
        for name in CORPORA
        if name in options.case or not options.case
    ]
    if modules or not options.case:
        with tempfile.TemporaryDirectory() as place:
            directories = [Path(place) / str(number) for number in range(options.times)]
            complete = [record(modules, directory) for directory in directories]
            only = any("::" in name for name in modules)
            codes.append(int(not (keep(directories, only=only) and all(complete))))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

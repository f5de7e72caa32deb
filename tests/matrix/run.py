"""The tests with other versions of Python and of HTCondor's bindings, as a command.

    python -m tests.matrix.run                      all pairs of PAIRS
    python -m tests.matrix.run 3.9:24.12 3.13:25.0  these: Python 3.9 with bindings 24.12, ...
    python -m tests.matrix.run --pool 3.11:25.0     what needs a pool instead
    python -m tests.matrix.run --page               only write the page anew

Each pair gets an environment of its own (tools/environment.sh).  What became of it is kept in
docs/versions.json, in the place of an earlier result, and the tables of docs/versions.md are made
from that.  pytest's own words are in var/matrix.  Exit code 1 if a test failed, or a pair
could not be tested.
"""

from __future__ import annotations

import argparse
import sys

from tests.matrix import page
from tests.matrix.outcome import NO_POOL, POOL, Pair, keep, load
from tests.matrix.trial import CHECKOUT, trial

BOOK = CHECKOUT / "docs/versions.json"
PAGE = CHECKOUT / "docs/versions.md"
PAIRS = (
    *("3.9:24.12", "3.9:25.0", "3.9:25.14"),
    *("3.10:25.14", "3.11:24.12", "3.11:25.0", "3.11:25.14", "3.12:25.14"),
    *("3.13:25.0", "3.13:25.14", "3.14:25.14"),
)


def main() -> int:
    """Test the pairs that the command line names; returns the exit code."""
    arguments = _arguments()
    failed = False
    for pair in [] if arguments.page else arguments.pairs or map(Pair.parse, PAIRS):
        print(f"Python {pair.python}, bindings {pair.bindings}:", flush=True)
        outcome = trial(pair, POOL if arguments.pool else NO_POOL, arguments.processes)
        keep(BOOK, outcome)
        _write_page()
        print("\n".join(f"  {line}" for line in page.lines_of(outcome)), flush=True)
        failed = failed or bool(outcome.failures or outcome.obstacle)
    if arguments.page:
        _write_page()
    return int(failed)


def _write_page() -> None:
    PAGE.write_text(page.document(PAGE, load(BOOK)), "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.matrix.run", allow_abbrev=False)
    parser.add_argument("pairs", nargs="*", type=Pair.parse, metavar="PYTHON:BINDINGS")
    parser.add_argument("--pool", action="store_true", help="run what needs a pool instead")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    parser.add_argument("--processes", default="2", metavar="N", help="that share the tests (2)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

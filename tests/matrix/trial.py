"""Make the environment of a pair of versions and run the tests in it."""

from __future__ import annotations

import datetime
import os
import subprocess
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import choice, personal, privileges, release_tree
from tests.matrix.outcome import POOL, Counts, Outcome, Pair, counts

CHECKOUT = Path(__file__).resolve().parents[2]
# What tells nothing of these versions, and takes much time: the page in a browser, and tests
# of the repository, not of the program.
LEFT_OUT = (
    *("pool", "clients", "web", "unit/tools"),
    *("test_dependencies.py", "test_forge.py", "test_style.py"),
)
TESTS = ("--all", "-m", "not long", *(f"--ignore=tests/{path}" for path in LEFT_OUT))
# The modules that tell most of how the bindings and the daemons get on.
POOL_TESTS = tuple(
    f"tests/pool/test_{name}.py"
    for name in (
        *("diamond", "submit_dag", "python_interface", "schedd_contract", "node_ads"),
        *("live", "control", "removal_and_hold", "survival"),
    )
)


class _Obstacle(Exception):
    """Why a pair can't be tested here."""


def trial(pair: Pair, tests: str, processes: str) -> Outcome:
    """What becomes of the tests, NO_POOL or POOL, with a pair of versions."""
    outcome = Outcome(pair, tests, datetime.date.today().isoformat(), _commit())
    begun = time.monotonic()
    try:
        python = _environment(pair)
        outcome.python, outcome.bindings = _versions(python)
        outcome.daemons = _daemons() if tests == POOL else ""
        _run_tests(python, outcome, processes)
    except (_Obstacle, PoolError) as obstacle:
        outcome.obstacle = str(obstacle)
    outcome.seconds = round(time.monotonic() - begun)
    return outcome


def _commit() -> str:
    """The commit that is checked out, with a + if files have been changed since."""
    changed = _said("git", "status", "--porcelain", "--", ":!docs/versions.*")
    return _said("git", "rev-parse", "--short=12", "HEAD") + "+" * bool(changed)


def _said(*words: str) -> str:
    done = subprocess.run(words, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def _environment(pair: Pair) -> str:
    """The interpreter of the pair's environment, which is made if it is not there.

    Raises:
        _Obstacle: it can't be.
    """
    words = ["sh", "tools/environment.sh", "test"]
    words += ["--python", pair.python, "--htcondor", pair.bindings]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise _Obstacle(" ".join(done.stderr.split())[-500:])
    return done.stdout.splitlines()[-1]


def _versions(python: str) -> tuple[str, str]:
    """The exact versions of Python and of the bindings in an environment."""
    code = (
        "import platform; from importlib.metadata import version;"
        "print(platform.python_version(), version('htcondor'))"
    )
    first, second = _said(python, "-c", code).split()
    return first, second


def _daemons() -> str:
    """The version of the HTCondor that the tests start.

    Raises:
        PoolError: there is none.
    """
    shared = privileges.identity().way == "account"
    release = choice.find(personal.cache_directory(os.environ, shared), personal.silent)
    return ".".join(map(str, release_tree.ask_version(release) or ()))


def _run_tests(python: str, outcome: Outcome, processes: str) -> None:
    """Run the tests; those that fail run a second time, one after another.

    Raises:
        _Obstacle: pytest came to no end.
    """
    chosen = POOL_TESTS if outcome.tests == POOL else TESTS
    with tempfile.TemporaryDirectory() as cache:
        words = [python, "-m", "pytest", *chosen, "-q", "--tb=short", "-o", f"cache_dir={cache}"]
        said = CHECKOUT / "var/matrix" / f"{outcome.python}-{outcome.bindings}-{outcome.tests}"
        first = _pytest([*words, "-n", processes], said)
        outcome.passed = len(first.passed)
        outcome.skips = {why.replace(f"{CHECKOUT}/", ""): n for why, n in first.skips.items()}
        if first.failures:
            again = _pytest([*words, "-n", "0", "--lf", "--continue-on-collection-errors"], said)
            outcome.unsteady = sorted({*first.failures} & {*again.passed})
            outcome.failures = sorted({*first.failures} - {*outcome.unsteady})


def _pytest(words: list[str], said: Path) -> Counts:
    """The results of a run of pytest, whose own words are added to the file `said`.

    Raises:
        _Obstacle: it came to no end.
    """
    said.parent.mkdir(parents=True, exist_ok=True)
    report = said.parent / f"{said.name}.xml"
    report.unlink(missing_ok=True)
    words = [*words, f"--junitxml={report}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with said.open("a") as log:
        code = subprocess.call(words, cwd=CHECKOUT, env=environment, stdout=log, stderr=log)
    try:
        return counts(report)
    except (OSError, ElementTree.ParseError):
        raise _Obstacle(f"pytest came to no end (exit code {code})") from None

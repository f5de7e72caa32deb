"""Mutation testing: `sh tests/run.sh --mutants` (see `--help`).

Draws places of the package at random, and changes each by an operator of cosmic-ray.  Then it runs
the tests that are nearest to the changed module until one fails: those of the module, those of its
folder, a tier elsewhere.  A mutant that all of them pass with, in their time, has survived.

Nothing is changed in the checkout: the tests run in copies of it, each with a Python environment
that has the package from this copy only.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import random
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.testing import run_tests
from cosmic_ray.util import restore_contents
from cosmic_ray.work_item import TestOutcome

from tests.installation import CHECKOUT, copy_checkout

PACKAGE = CHECKOUT / "condor_pydagman"
CORE = ("engine", "graph", "records", "follow", "adapters", "daemon")
MODULES = {"core": [f"{name}/**/*.py" for name in CORE], "features": ["features/*/run*.py"]}
LEAST_RATE = {"core": 90, "features": 85}  # in percent
MOST_EQUIVALENT = 0.1  # of those that are drawn
EQUIVALENTS = Path(__file__).with_name("equivalents.txt")
STAGES = ("nearest", "folder", "elsewhere")
# What else has tests of a folder of the package, where that is not the simulator alone.
TIERS = {
    "graph": "tests/unit/test_corpus.py tests/sim",
    "engine": "tests/scenes tests/sim",
    "records": "tests/readers tests/unit/cli tests/sim",
    "adapters": " ".join(
        f"tests/{name}.py"
        for name in (
            *("contract/test_log", "contract/test_readers_of_logs", "contract/test_scripts"),
            *("contract/test_request_socket", "contract/test_dagman_program"),
            *("unit/follow/test_local_times", "features/common/test_job_claims"),
            *("features/sites/test_claims_directory", "features/shared_limits/test_directory"),
        )
    ),
    "follow": "tests/readers tests/unit/explain tests/features",
    "features": "tests/scenes tests/unit/engine tests/features/run_if tests/sim",
}
MOST_MEMORY = 3 << 30  # in bytes, of each process: a mutant that loops may fill what it is given
# Members of an enumeration, and small numbers, are equal if they are the same object.
NO_CHANGE = ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq")
Span = tuple[tuple[int, int], tuple[int, int]]  # lines from 1, columns from 0


class Mutant(NamedTuple):
    """A module with a changed place."""

    group: str
    path: str  # below the checkout
    line: int
    text: str
    diff: tuple[str, ...]  # `-` or `+` and a line without its indentation


class Limits(NamedTuple):
    """How long tests may take."""

    cpu_s: int  # of each process: however busy the machine is, this ends one that loops
    s: float


LONG = Limits(3600, 3600)


class Copy(NamedTuple):
    """A copy of the checkout, and a Python that has the package from there."""

    checkout: Path
    python: Path

    def run(self, tests: str, limits: Limits = LONG) -> tuple[bool, str]:
        """Whether tests pass, and what pytest prints."""
        options = "-xq -p no:randomly -p no:cacheprovider -m 'not long and not pool'"
        limit = f"prlimit --as={MOST_MEMORY} --cpu={limits.cpu_s}"
        words = f"{limit} env --chdir={self.checkout} {self.python} -m pytest {options} {tests}"
        outcome, output = run_tests(words, limits.s)
        if outcome is TestOutcome.INCOMPETENT:
            raise RuntimeError(output)
        # A mutant may end the process of the tests, even with the exit code of success.
        return outcome is TestOutcome.SURVIVED and " passed" in output, output


def make_copy(directory: Path) -> Copy:
    """A copy in this directory, with the packages of the Python that runs this."""
    copy = Copy(directory / "copy", directory / "venv" / "bin" / "python")
    copy_checkout(copy.checkout)
    venv.create(directory / "venv", symlinks=True)
    (site,) = (directory / "venv").glob("lib/python*/site-packages")
    lent = [path for path in sys.path if path.endswith("site-packages")]
    (site / "lent.pth").write_text("\n".join([str(copy.checkout), *lent]))
    for script in (copy.checkout / "scripts").iterdir():
        command = copy.python.parent / script.name
        command.write_text(f"#!{copy.python}\n" + script.read_text().partition("\n")[2])
        command.chmod(0o755)
    # What is compiled here is kept: while mutants are tried nothing is.
    words = [copy.python, "-m", "pytest", "--collect-only", "-qq", "tests/unit", "tests/features"]
    subprocess.run(words, cwd=copy.checkout, stdout=subprocess.DEVNULL, check=True)
    return copy


def stages(path: str, checkout: Path) -> dict[str, str]:
    """The tests that are run for a module of the package, nearest first."""
    layer, *folders, name = Path(path).with_suffix("").parts[1:]
    folder = Path("tests", *([] if layer == "features" else ["unit"]), layer, *folders)
    nearest = (sorted((checkout / folder).glob(f"test_{word}*.py")) for word in (name, folder.name))
    names = [str(file.relative_to(checkout)) for file in next(filter(None, nearest), [])]
    tests = str(folder) if any((checkout / folder).glob("test_*.py")) else ""
    found = (" ".join(names), tests, TIERS.get(layer, "tests/sim"))
    return {stage: tests for stage, tests in zip(STAGES, found) if tests}


def without_effect(source: str) -> Iterator[Span]:
    """Code that changes nothing when it runs: what type checkers read; asserts, which hold."""
    for node in ast.walk(ast.parse(source)):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            found.append(node.test)
        bases = [ast.unparse(base) for base in getattr(node, "bases", ())]
        if isinstance(node, ast.Assert) or "Protocol" in bases:
            found.append(node)
        for one in filter(None, found):
            yield (one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset)


def places(path: Path) -> dict[Span, list[tuple[str, int]]]:
    """The places of a module that can be changed: by which operators, at which occurrence."""
    source = path.read_text("utf-8")
    spans = [*without_effect(source)]
    nodes = [*ast_nodes(get_ast(source))]
    found = defaultdict(list)
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments() or name.partition("Operator_")[2] in NO_CHANGE:
            continue
        operator = kind()
        positions = (span for node in nodes for span in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(positions):
            if not any(first <= start and end <= last for first, last in spans):
                found[start, end].append((name, occurrence))
    return found


def draw(group: str, count: int, draws: random.Random) -> list[Mutant]:
    """Mutants of so many places."""
    paths = sorted(path for pattern in MODULES[group] for path in PACKAGE.glob(pattern))
    found = [(path, span, how) for path in paths for span, how in sorted(places(path).items())]
    return [
        mutant(group, path, start[0], *draws.choice(how))
        for path, (start, _), how in draws.sample(found, count)
    ]


def mutant(group: str, path: Path, line: int, operator: str, occurrence: int) -> Mutant:
    """What an operator makes of a module."""
    source = path.read_text("utf-8")
    text = mutate_code(source, get_operator(operator)(), occurrence)
    lines = [*difflib.unified_diff(source.splitlines(), text.splitlines(), n=0)][2:]
    diff = tuple(f"{line[0]}{line[1:].strip()}" for line in lines if line[0] != "@")
    return Mutant(group, str(path.relative_to(CHECKOUT)), line, text, diff)


def equivalents() -> set[tuple[str, ...]]:
    """Files and diffs of the mutants that no test can tell from the package."""
    found = set()
    for block in EQUIVALENTS.read_text("utf-8").split("\n\n")[1:]:
        path, *lines = block.strip().splitlines()
        diff = [line for line in lines if line[0] in "-+"]
        there = {f"-{line.strip()}" for line in (CHECKOUT / path).read_text("utf-8").splitlines()}
        if not there.issuperset(line for line in diff if line[0] == "-") or diff == lines:
            sys.exit(f"{EQUIVALENTS.name}: this is out of date, or has no reason:\n{block}")
        found.add((path, *diff))
    return found


@cache
def limits(copy: Copy, tests: str) -> Limits:
    """Of tests, by what they take; ends the program if they fail anyway, or see no change."""
    begin, cpu_s = time.monotonic(), _cpu_s()
    good, output = copy.run(tests)
    if not good:
        sys.exit(f"{tests}: something fails without a mutant\n{output}")
    found = Limits(10 + int(5 * (_cpu_s() - cpu_s)), 60 + 10 * (time.monotonic() - begin))
    module = copy.checkout / PACKAGE.name / "vocabulary.py"
    with restore_contents(module):
        module.write_text("raise ImportError('a mutant that must die')\n")
        if copy.run(tests)[0]:
            sys.exit(f"{tests}: these do not see what is changed in {module}")
    return found


def _cpu_s() -> float:
    """The time that processes which have ended took of the CPU."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def judge(one: Mutant, copy: Copy) -> str:
    """The stage that kills a mutant; 'survived' if none does."""
    module = copy.checkout / one.path
    found = stages(one.path, copy.checkout)
    for stage, tests in found.items():
        most = limits(copy, found["folder"] if stage == "nearest" else tests)
        with restore_contents(module):
            module.write_text(one.text, "utf-8")
            if not copy.run(tests, most)[0]:
                return stage
    return "survived"


def judge_all(mutants: list[Mutant]) -> list[str]:
    """What becomes of each mutant, printed as soon as it is known."""
    known = equivalents()
    ends = []
    with tempfile.TemporaryDirectory(prefix="mutants.") as name:
        copy = make_copy(Path(name))
        for one in mutants:
            equivalent = (one.path, *one.diff) in known
            ends.append("equivalent" if equivalent else judge(one, copy))
            print(f"{ends[-1]}: {one.path}:{one.line}", *one.diff, sep="\n    ", flush=True)
    return ends


def report(mutants: list[Mutant], ends: list[str]) -> bool:
    """Print what became of the mutants; returns whether enough were killed."""
    good = ends.count("equivalent") <= MOST_EQUIVALENT * len(ends)
    columns = (*STAGES, "survived", "equivalent")
    print("\n" + "".join(f"{word:>12}" for word in ("", "drawn", *columns, "rate")))
    for group, least in LEAST_RATE.items():
        counts = Counter(how for one, how in zip(mutants, ends) if one.group == group)
        drawn = sum(counts.values())
        told = drawn - counts["equivalent"]
        rate = 100 * (1 - counts["survived"] / max(told, 1))
        good = good and rate >= least
        figures = (drawn, *(counts[name] for name in columns), f"{rate:.0f} %")
        print(f"{group:>12}" + "".join(f"{figure:>12}" for figure in figures))
    for one, how in zip(mutants, ends):
        if how == "survived":
            print(f"\n{one.path}:{one.line}", *one.diff, sep="\n")
    return good


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="sh tests/run.sh --mutants")
    for group in MODULES:
        parser.add_argument(f"--{group}", type=int, default=100, metavar="N", help="how many")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the draw")
    options = parser.parse_args()
    print(f"--seed {options.seed}", flush=True)
    draws = random.Random(options.seed)
    mutants = [one for group in MODULES for one in draw(group, vars(options)[group], draws)]
    return 0 if report(mutants, judge_all(mutants)) else 1


if __name__ == "__main__":
    sys.exit(main())

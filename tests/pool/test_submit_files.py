"""More than 500 command lines for condor_submit_dag with -no_submit, as stock takes them: exit
code, output, files left, and every byte of the files that were written.

The command lines are in `command_lines/submit.txt`; those where ours differs on purpose say so
there, and why.  Ours needs no pool for them: `tests/contract/test_submit_command_lines.py`.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.command_lines.table import Line, read
from tests.pool.stock import Stock, plain

ROOT = Path(__file__).resolve().parents[2]
LINES = read(Path(__file__).with_name("command_lines") / "submit.txt")
BATCHES = 4  # two at a time

# What only real processes show: how a command is started, and what Python does before us.
PROCESSES = [
    "t.dag",
    "-import_env t.dag",
    "-terse -maxjobs 3 t.dag u.dag",
    "-foo t.dag",
    "LANG=C -import_env t.dag",
    "LC_CTYPE=C.UTF-8 -import_env t.dag",
    "CONDOR_CONFIG=/none/such t.dag",
    "CONDOR_CONFIG= t.dag",
]


@dataclass
class Result:
    """What a command line did; paths of the flavour are made equal.

    Attributes:
        before: what was in the directory: the content of each name.
        files: the same, afterwards.
    """

    code: int
    stdout: list[str]
    stderr: list[str]
    before: dict[str, str]
    files: dict[str, str]


@pytest.fixture(scope="module")
def stock_results(access_point: AccessPoint, place: Path) -> Callable[[], list[Result]]:
    """What each did with stock, for the recording."""

    @cache
    def produce() -> list[Result]:
        return run_all(access_point, place / "submit_files.stock", LINES, STOCK)

    return produce


class Usual(NamedTuple):
    """What stock makes of the simplest command line; of the others, what differs is recorded."""

    stdout: list[str]
    submit_file: list[str]


@pytest.fixture(scope="module")
def usual(stock: Stock, stock_results: Callable[[], list[Result]]) -> Usual:
    """The same, by the recording."""
    number = [line.text for line in LINES].index("t.dag")

    def produce() -> tuple[list[str], list[str]]:
        result = stock_results()[number]
        return result.stdout, result.files["t.dag.condor.sub"].split("\n")

    return Usual(*stock("the usual output and submit file", produce))


def run_all(
    access_point: AccessPoint,
    home: Path,
    lines: list[Line],
    flavour: str,
    *,
    as_processes: bool = False,
) -> list[Result]:
    """Run command lines of ours or stock's, each in a directory of its own below `home`."""
    tools = home / "bin"
    tools.mkdir(parents=True)
    (tools / "valgrind").write_text("#!/bin/sh\n")
    (tools / "valgrind").chmod(0o755)
    environment = {
        "PATH": f"{tools}:{access_point.environment['PATH']}",
        "HOME": str(home),
        "CONDOR_CONFIG": access_point.environment["CONDOR_CONFIG"],
        "LANG": "C.UTF-8",
    }
    new_directory(home / "lines")
    names = {
        environment["PATH"]: "PATH",
        str(access_point.pool.directory): "POOL",
        str(home / "lines"): "LINES",
        str(home): "HOME",
    }
    jobs = [_job(home / "lines" / str(n), line, names) for n, line in enumerate(lines)]
    program = access_point.which("condor_submit_dag", ours=flavour == OURS)
    way = STOCK if as_processes else flavour

    def run(batch: int) -> Any:
        return _run_batch(access_point, program, way, jobs[batch::BATCHES], environment)

    with ThreadPoolExecutor(2) as threads:
        ended = dict(enumerate(threads.map(run, range(BATCHES))))
    return [
        _result(job, ended[number % BATCHES][number // BATCHES]) for number, job in enumerate(jobs)
    ]


def _job(directory: Path, line: Line, names: dict[str, str]) -> dict[str, Any]:
    line.prepare(directory)
    names = {str(directory): "HERE", **names}
    return {
        "directory": str(directory),
        "words": ["-no_submit", *line.words],
        "environment": line.environment,
        "names": names,
        "before": _contents(directory, names),
    }


def _run_batch(
    access_point: AccessPoint, program: str, way: str, jobs: list[Any], environment: dict[str, str]
) -> Any:
    done = subprocess.run(
        access_point.pool.command(
            [sys.executable, "-m", "tests.pool.command_lines.run", program, way]
        ),
        input=json.dumps(jobs), cwd=ROOT, env=environment, capture_output=True, text=True,
        timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _result(job: dict[str, Any], parts: tuple[int, str, str]) -> Result:
    code, stdout, stderr = parts
    directory = Path(job["directory"])
    directory.chmod(0o777)
    # The help lines are in each program's own words, and stock's buffers mix lines up.
    lines = _masked(stdout, job["names"]).splitlines()
    said = sorted(line for line in lines if not line.startswith("    -"))
    told = _masked(stderr, job["names"]).splitlines()
    return Result(code, said, told, job["before"], _contents(directory, job["names"]))


def _masked(text: str, names: dict[str, str]) -> str:
    """A text without the places of this machine."""
    for place, name in names.items():
        text = text.replace(place, name)
    return text


def _contents(directory: Path, names: dict[str, str]) -> dict[str, str]:
    paths = sorted(directory.rglob("*"))
    return {str(path.relative_to(directory)): _content(path, names) for path in paths}


def _content(path: Path, names: dict[str, str]) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if not path.is_file():
        return "no file"
    if not os.access(path, os.R_OK):
        return "can't be read"
    text = _masked(path.read_bytes().decode("utf-8", "surrogateescape"), names)
    text = re.sub(r"-CsdVersion \$CondorVersion.*?'\$", "-CsdVersion V", text)
    return re.sub(r"/\S*/condor_dagman\b", "DAGMAN", text)


def _recorded(result: Result, usual: Usual) -> dict[str, Any]:
    """A result as it is recorded: of the files only what changed, and nothing that is empty."""
    changed = {n: text for n, text in result.files.items() if result.before.get(n) != text}
    parts = {
        "code": result.code,
        "stdout": _changes(result.stdout, usual.stdout),
        "stderr": result.stderr,
        "files": {n: _changes(text.split("\n"), usual.submit_file) for n, text in changed.items()},
        "gone": sorted(set(result.before) - set(result.files)),
    }
    return {name: value for name, value in parts.items() if value}


def _changes(lines: list[str], usual: list[str]) -> list[str]:
    """The lines; if they are much like the usual ones, where they differ from those."""
    found = difflib.unified_diff(usual, lines, n=0, lineterm="")
    changes = [line for line in list(found)[2:] if not line.startswith("-")]
    return min(lines, ["as usual, but:", *changes], key=len)


# What stock shows of its usage after a wrong word, and what ours says instead.
_USAGE = (
    "Usage: condor_submit_dag ",
    "  where dag_file1, ",
    "  and where [options] ",
    "condor_submit_dag -help shows ",
)


def _comparable(recorded: dict[str, Any], before: dict[str, str]) -> Result:
    """A result by what is recorded of it."""
    gone, made = recorded.get("gone", []), recorded.get("files", {})
    kept = {name: text for name, text in before.items() if name not in gone}
    stdout, stderr = recorded.get("stdout", []), recorded.get("stderr", [])
    stdout = [line for line in stdout if not line.startswith(_USAGE)]
    return Result(recorded.get("code", 0), stdout, stderr, before, {**kept, **made})


def _differences(stock: Result, ours: Result) -> dict[str, tuple[Any, Any]]:
    """The parts of the results that are not the same, with both."""
    common = sorted(set(stock.files) & set(ours.files))
    texts = [{name: result.files[name] for name in common} for result in (stock, ours)]
    found: dict[str, tuple[Any, Any]] = {}
    if ours.code != stock.code:
        found["code"] = (stock.code, ours.code)
    if ours.stdout != stock.stdout:
        found["stdout"] = (stock.stdout, ours.stdout)
    if not _says_as_much(ours.stderr, stock.stderr):
        found["stderr"] = (stock.stderr, ours.stderr)
    more, less = set(ours.files) - set(stock.files), set(stock.files) - set(ours.files)
    if ours.code and stock.code:  # stock leaves half a submit file, or takes away what was there
        more, less = more - set(stock.before), set()
    if more or less:
        found["files"] = (sorted(less), sorted(more))
    if texts[0] != texts[1]:
        found["text"] = (texts[0], texts[1])
    return found


def _says_as_much(ours: list[str], stock: list[str]) -> bool:
    """Whether each of stock's lines begins one of ours, in that order; ours may say more."""
    wanted = [line.rstrip(".") for line in stock if line.strip()]
    if not wanted:
        return not any(line.strip() for line in ours)
    left = iter(ours)
    return all(any(line.startswith(want) for line in left) for want in wanted)


def _compare(
    stock: Stock, name: str, ours: Result, usual: Usual, produce: Callable[[], Result]
) -> dict[str, tuple[Any, Any]]:
    """The parts in which ours differs from what stock made of the same command line."""
    expected = stock(name, lambda: _recorded(produce(), usual))
    recorded = plain(_recorded(ours, usual))
    return _differences(_comparable(expected, ours.before), _comparable(recorded, ours.before))


def check(stock: Stock, line: Line, ours: Result, usual: Usual) -> None:
    """Fail if ours is not as stock's, which is recorded, but for what the line says."""
    name = f"{line.title}: {line.text}"
    found = _compare(stock, name, ours, usual, lambda: ours)
    for part in set(found) - line.differs:
        assert found[part][1] == found[part][0], f"{name}: {part}"
    if line.differs:
        assert found, f"{name}: nothing differs any more; take it out of '! differs: {line.why}'"


@pytest.mark.parametrize("number", range(len(LINES)), ids=[f"{n}" for n in range(len(LINES))])
def test_it_is_recorded(
    stock: Stock, stock_results: Callable[[], list[Result]], usual: Usual, number: int
) -> None:
    name = f"{LINES[number].title}: {LINES[number].text}"
    stock(name, lambda: _recorded(stock_results()[number], usual))


def test_each_command_line_has_a_name_of_its_own() -> None:
    assert len({(line.title, line.text) for line in LINES}) == len(LINES)


def test_as_processes(access_point: AccessPoint, work: Path, stock: Stock, usual: Usual) -> None:
    lines = [Line.simple(text) for text in PROCESSES]

    @cache
    def run(flavour: str) -> list[Result]:
        return run_all(access_point, work / flavour, lines, flavour, as_processes=True)

    for number, (line, ours) in enumerate(zip(lines, run(OURS))):
        name = f"as a process: {line.text}"
        assert _compare(stock, name, ours, usual, lambda n=number: run(STOCK)[n]) == {}, line.text

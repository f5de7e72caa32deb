"""More than 500 command lines for stock condor_submit_dag and for ours, with -no_submit, in twin
directories: exit code, output, files left, and every byte of the files that were written.

The command lines are in `command_lines/submit.txt`; those where ours differs on purpose say so
there, and why.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.command_lines.table import Line, read

pytestmark = pytest.mark.pool
ROOT = Path(__file__).resolve().parents[2]
LINES = read(Path(__file__).with_name("command_lines") / "submit.txt")
BATCHES = 4  # of each flavour, two at a time

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


Results = dict[tuple[int, str], Result]


@pytest.fixture(scope="module")
def results(access_point: AccessPoint, place: Path) -> Results:
    """Every command line, with both programs."""
    return _run_all(access_point, place / "submit_files", LINES, as_processes=False)


def _run_all(
    access_point: AccessPoint, home: Path, lines: list[Line], *, as_processes: bool
) -> Results:
    tools = home / "bin"
    tools.mkdir(parents=True)
    (tools / "valgrind").write_text("#!/bin/sh\n")
    (tools / "valgrind").chmod(0o755)
    environment = {
        "PATH": f"{access_point.environment['PATH']}:{tools}",
        "HOME": str(home),
        "CONDOR_CONFIG": access_point.environment["CONDOR_CONFIG"],
        "LANG": "C.UTF-8",
    }
    batches = []
    for flavour in (STOCK, OURS):
        new_directory(home / flavour)
        jobs = [_job(home / flavour / str(n), line) for n, line in enumerate(lines)]
        batches += [(flavour, jobs, batch) for batch in range(BATCHES)]

    def run(key: tuple[str, list[Any], int]) -> list[tuple[tuple[int, str], Result]]:
        flavour, jobs, batch = key
        numbers = range(len(jobs))[batch::BATCHES]
        program = access_point.which("condor_submit_dag", ours=flavour == OURS)
        way = flavour if not as_processes else STOCK
        ended = _run_batch(access_point, program, way, jobs[batch::BATCHES], environment)
        return [((n, flavour), _result(jobs[n], parts)) for n, parts in zip(numbers, ended)]

    with ThreadPoolExecutor(2) as pool:
        return dict(pair for pairs in pool.map(run, batches) for pair in pairs)


def _job(directory: Path, line: Line) -> dict[str, Any]:
    line.prepare(directory)
    return {
        "directory": str(directory),
        "words": ["-no_submit", *line.words],
        "environment": line.environment,
        "before": _contents(directory),
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
    said = sorted(line for line in stdout.splitlines() if not line.startswith("    -"))
    told = stderr.replace(str(directory), "HERE").splitlines()
    return Result(code, said, told, job["before"], _contents(directory))


def _contents(directory: Path) -> dict[str, str]:
    names = sorted(directory.rglob("*"))
    return {str(path.relative_to(directory)): _content(path, directory) for path in names}


def _content(path: Path, directory: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if not path.is_file():
        return "no file"
    if not os.access(path, os.R_OK):
        return "can't be read"
    text = path.read_bytes().decode("utf-8", "surrogateescape").replace(str(directory), "HERE")
    text = re.sub(r"-CsdVersion \$CondorVersion.*?'\$", "-CsdVersion V", text)
    return re.sub(r"/\S*/condor_dagman\b", "DAGMAN", text)


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


@pytest.mark.parametrize("number", range(len(LINES)), ids=[f"{n}" for n in range(len(LINES))])
def test_command_line(results: Results, number: int) -> None:
    line = LINES[number]
    found = _differences(results[number, STOCK], results[number, OURS])
    name = f"{line.title}: {line.text}"
    for part in set(found) - line.differs:
        assert found[part][1] == found[part][0], f"{name}: {part}"
    if line.differs:
        assert found, f"{name}: nothing differs any more; take it out of '! differs: {line.why}'"


def test_an_error_changes_nothing(results: Results) -> None:
    """What was there is as it was when ours has ended with an error, and nothing else is there.

    Sub-DAGs are prepared before what is around them is looked at.
    """
    for number, line in enumerate(LINES):
        ours = results[number, OURS]
        made = {name: text for name, text in ours.files.items() if name not in ours.before}
        if line.title == "sub-DAGs":
            made = {name: text for name, text in made.items() if not name.endswith(".condor.sub")}
        if ours.code:
            left = {name: ours.files.get(name) for name in ours.before}
            assert left == ours.before, f"{line.title}: {line.text}"
            assert made == {}, f"{line.title}: {line.text}"


def test_as_processes(access_point: AccessPoint, work: Path) -> None:
    lines = [Line.simple(text) for text in PROCESSES]
    ended = _run_all(access_point, work / "processes", lines, as_processes=True)
    for number, line in enumerate(lines):
        assert _differences(ended[number, STOCK], ended[number, OURS]) == {}, line.text

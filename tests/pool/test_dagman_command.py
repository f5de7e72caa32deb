"""condor_dagman's command line and log, beside the stock program's: many command lines, and the
levels of detail.

Nothing here needs a DAGMan job: both are run by hand, in directories of their own, all at once.
"""

from __future__ import annotations

import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory

pytestmark = pytest.mark.pool

AT_ONCE = 4
SHORT = "-f -l . -Dag t.dag -Dot"
LEVELS = (0, 1, 2, 3, 7)
LINES = Path(__file__).parent / "dagman_lines.txt"
FILES = {
    "t.dag": "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n",
    "u.dag": "JOB A a.sub\n",
    "bad.dag": "JOB A a.sub\nFROB\n",
    "log.dag": """\
JOB A a.sub
JOB B a.sub
JOB C a.sub
JOB D a.sub
PARENT A CHILD B
PARENT C CHILD D
SCRIPT PRE A pre.sh 0
SCRIPT PRE C pre.sh 3
RETRY C 1
""",
    "pre.sh": '#!/bin/sh\nexit "$1"\n',
}
# Said by HTCondor's libraries, of the command socket and the schedd, or of times.
LIBRARY = re.compile(
    r"Skipping |ERROR: Queue manager|If another version of HTCondor|Running: |Removing any/all"
    r"|Disabling log line|DAGMan Runtime|MultiLogFiles: |Registering |No HTCondor ID|argv\[0\]"
    r"|WARNING: failed to|DAGMAN will|Failed to create non-neg|Currently monitoring|\*\*"
    r"|Initializing user log|POST for Node"
)
# When the status table is shown, and the metrics of what is no run, are our own matter.
TABLE = re.compile(
    r"DAG status: |Of \d+ nodes total|[ =]+$|[ \d]+$| Done  |\d+ job proc|Wrote metrics"
)


class Line(NamedTuple):
    """A command line; `code` and `why` if ours ends otherwise."""

    text: str
    code: int | None = None
    why: str = ""


def load() -> list[Line]:
    """All command lines of the table."""
    lines = []
    for text in LINES.read_text().splitlines():
        if not text.startswith("#"):
            line, mark, remark = text.partition(" ## ")
            code, _, why = remark.partition(" ")
            lines.append(Line(line, int(code), why) if mark else Line(line))
    return lines


ROWS = load()
FLAGS = (
    "_CONDOR_DAGMAN_DEBUG=D_PID",
    "'_CONDOR_DAGMAN_DEBUG=D_SUB_SECOND, D_CAT|D_FDS D_TEST'",
    "'_CONDOR_ALL_DEBUG=D_PID D_CATEGORY' _CONDOR_DAGMAN_DEBUG=-D_PID",
    "'_CONDOR_DEFAULT_DEBUG=D_PID D_IDENT'",
    "_CONDOR_DAGMAN_DEBUG=D_TIMESTAMP",
    "_CONDOR_LOGS_USE_TIMESTAMP=true _CONDOR_DAGMAN_DEBUG=D_SUB_SECOND",
    "_CONDOR_DEBUG_TIME_FORMAT='%Y-%m-%d %H:%M:%S '",
    "_CONDOR_DEBUG_TIME_FORMAT='%H<%s>' _CONDOR_DAGMAN_DEBUG=D_SUB_SECOND",
)


class Answer(NamedTuple):
    """What a program makes of a command line."""

    code: int
    stdout: str
    stderr: str
    out: str

    def usage(self) -> bool:
        """Whether the usage was shown."""
        return "\nUsage: condor_dagman " in self.stdout

    def said(self) -> list[str]:
        """The lines of `.dagman.out` that are DAGMan's own, without times and what differs by
        nature."""
        text = re.sub(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d ", "", self.out, flags=re.M)
        text = re.sub(r"condor_dagman version \(.*?\$\)", "condor_dagman version ()", text)
        lines = [line.rstrip() for line in text[max(text.find("argv["), 0) :].splitlines()]
        apart = "Default node log file" if self.usage() else "    "  # details of ours
        return [
            line
            for line in lines
            if line and not (LIBRARY.match(line) or TABLE.match(line) or line.startswith(apart))
        ]


def call(access_point: AccessPoint, work: Path, line: str, flavour: str) -> Answer:
    """Run a command line in a new directory."""
    new_directory(work)
    for name, text in FILES.items():
        (work / name).write_text(text)
    (work / "pre.sh").chmod(0o755)
    words = shlex.split(line)
    environment = {"_CONDOR_DAGMAN_LOG": "x.out", "_CONDOR_DAGMAN_MAX_SUBMITS_PER_INTERVAL": "50"}
    while words and re.match(r"_?CONDOR_\w+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    program = access_point.stock_dagman if flavour == STOCK else access_point.our_dagman
    loaded = flavour == OURS and "CONDOR_CONFIG" not in environment  # read when they are loaded
    done = access_point.run(
        *[program, *words],
        cwd=work,
        environment=environment,
        check=False,
        loaded=loaded,
        errors="replace",
    )
    log = work / environment["_CONDOR_DAGMAN_LOG"]
    out = log.read_text(errors="replace") if log.exists() else ""
    answer = Answer(done.returncode, done.stdout, done.stderr, out)
    return Answer(*(text.replace(str(work), "HERE") if isinstance(text, str) else text
                    for text in answer))  # fmt: skip


@pytest.fixture(scope="module")
def answers(
    access_point: AccessPoint, place: Path, request: pytest.FixtureRequest
) -> dict[tuple[str, str], Answer]:
    """What both programs make of the lines that tests ask for."""
    asked = " ".join(item.name for item in request.session.items)
    rows = [row for number, row in enumerate(ROWS) if f"[{number:03}]" in asked]
    levels = [f"-f -l . -Debug {level} -Dag log.dag -DryRun" for level in LEVELS]
    lines = [row.text for row in rows] + (levels if "level" in asked else [])
    lines += [f"{flags} {SHORT}" for flags in FLAGS if "headers" in asked]
    pairs = [(line, flavour) for line in lines for flavour in (STOCK, OURS)]
    places = [place / "lines" / str(number) for number in range(len(pairs))]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = threads.map(lambda p, w: call(access_point, w, *p), pairs, places)
        return dict(zip(pairs, found))


def test_the_table_is_wide() -> None:
    assert len(ROWS) >= 100
    assert len({row.text for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("number", [f"{number:03}" for number in range(len(ROWS))])
def test_command_lines(answers: dict[tuple[str, str], Answer], number: str) -> None:
    row = ROWS[int(number)]
    stock, ours = answers[row.text, STOCK], answers[row.text, OURS]
    assert "Traceback" not in ours.stderr + ours.out
    if row.why:
        differs = (stock.code, stock.said(), stock.stderr) != (ours.code, ours.said(), ours.stderr)
        assert differs, f"{row.text}: is the same as in stock by now"
        assert ours.code == row.code, row
        return
    assert ours.code == stock.code, row
    assert ours.usage() == stock.usage(), row
    assert ours.said() == stock.said(), row
    for line in stock.stderr.splitlines():
        assert line in ours.stderr, row


@pytest.mark.parametrize("flags", FLAGS)
def test_line_headers_are_as_in_stock(answers: dict[tuple[str, str], Answer], flags: str) -> None:
    stock, ours = (answers[f"{flags} {SHORT}", flavour].out for flavour in (STOCK, OURS))
    for line in ("Parsing t.dag ...", 'argv[2] == "t.dag"', "** condor_dagman (CONDOR_DAGMAN)"):
        befores = [re.search(f"^.*(?={re.escape(line)})", out, re.M) for out in (stock, ours)]
        first, second = (re.sub(r"\d+", "0", before[0]) if before else "" for before in befores)
        assert first == second


def shape(line: str) -> str:
    return re.sub(r"-?\d+", "0", line)


def lines_at(answers: dict[tuple[str, str], Answer], flavour: str, level: int) -> set[str]:
    """Shapes of all lines that are said at a level."""
    out = answers[f"-f -l . -Debug {level} -Dag log.dag -DryRun", flavour].out
    return {shape(line[18:].rstrip()) for line in out.splitlines()}


@pytest.mark.parametrize("level", LEVELS)
def test_every_line_that_both_say_has_the_same_level(
    answers: dict[tuple[str, str], Answer], level: int
) -> None:
    both = lines_at(answers, STOCK, 7) & lines_at(answers, OURS, 7)
    assert len(both) > 60
    stock, ours = (lines_at(answers, flavour, level) & both for flavour in (STOCK, OURS))
    assert ours == stock


def test_a_dry_run_at_the_usual_level(answers: dict[tuple[str, str], Answer], place: Path) -> None:
    line = "-f -l . -Debug 3 -Dag log.dag -DryRun"
    stock, ours = answers[line, STOCK], answers[line, OURS]
    assert ours.code == stock.code
    start = "Processing node: "
    processed = [sorted(s for s in a.said() if s.startswith(start)) for a in (stock, ours)]
    assert processed[0] == processed[1] == [f"{start}{name}" for name in "AB"]

"""condor_dagman's command line and log, beside the stock program's: many command lines, and the
levels of detail.

Nothing here needs a DAGMan job: the program is run by hand, in a directory for each command line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.stock import Stock, plain

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
# Where stock crashed, or has not come to say what is its own.
CRASH = re.compile(r"Caught signal|Stack dump|/\S*\(|config Macros = |Daemon Log is logging|Using ")
# When the status table is shown, and the metrics of what is no run, are our own matter.
TABLE = re.compile(
    r"DAG status: |Of \d+ nodes total|[ =]+$|[ \d]+$| Done  |\d+ job proc|Wrote metrics"
)


OTHERS = (LIBRARY, CRASH, TABLE)


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
            if line and not (any(one.match(line) for one in OTHERS) or line.startswith(apart))
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
    pool = str(access_point.pool.directory)
    return Answer(*(text.replace(str(work), "HERE").replace(pool, "POOL")
                    if isinstance(text, str) else text for text in answer))  # fmt: skip


Ask = Callable[[str, str], Answer]


@pytest.fixture(scope="module")
def ask(access_point: AccessPoint, place: Path) -> Ask:
    """What one of the programs makes of a command line: it runs once."""
    answers: dict[tuple[str, str], Answer] = {}

    def answer(line: str, flavour: str) -> Answer:
        if (line, flavour) not in answers:
            work = place / "lines" / str(len(answers))
            answers[line, flavour] = call(access_point, work, line, flavour)
        return answers[line, flavour]

    return answer


def test_the_table_is_wide() -> None:
    assert len(ROWS) >= 100
    assert len({row.text for row in ROWS}) == len(ROWS)


def compared(answer: Answer) -> dict[str, Any]:
    """What is compared of an answer."""
    return {
        "code": answer.code,
        "usage": answer.usage(),
        "said": answer.said(),
        "stderr": answer.stderr.splitlines(),
    }


@pytest.mark.parametrize("number", [f"{number:03}" for number in range(len(ROWS))])
def test_command_lines(ask: Ask, stock: Stock, number: str) -> None:
    row = ROWS[int(number)]
    expected = stock(row.text, lambda: compared(ask(row.text, STOCK)))
    answer = ask(row.text, OURS)
    ours = plain(compared(answer))
    assert "Traceback" not in answer.stderr + answer.out
    if row.why:
        assert ours != expected, f"{row.text}: is the same as in stock by now"
        assert ours["code"] == row.code, row
        return
    for part in ("code", "usage", "said"):
        assert ours[part] == expected[part], row
    for line in expected["stderr"]:
        assert line in answer.stderr, row


@pytest.mark.parametrize("flags", FLAGS)
def test_line_headers_are_as_in_stock(ask: Ask, stock: Stock, flags: str) -> None:
    line = f"{flags} {SHORT}"
    expected = stock(line, lambda: headers(ask(line, STOCK).out))
    assert headers(ask(line, OURS).out) == expected
    assert "" not in expected


def headers(out: str) -> list[str]:
    """What stands before some lines of `.dagman.out`."""
    lines = ("Parsing t.dag ...", 'argv[2] == "t.dag"', "** condor_dagman (CONDOR_DAGMAN)")
    befores = [re.search(f"^.*(?={re.escape(line)})", out, re.M) for line in lines]
    return [re.sub(r"\d+", "0", before[0]) if before else "" for before in befores]


def shape(line: str) -> str:
    """A line without its numbers, and without the names of this machine."""
    return re.sub(r"-?\d+", "0", re.sub(r"<[^>]*&[^>]*>|/\S+", "PLACE", line))


def lines_at(ask: Ask, flavour: str, level: int) -> list[str]:
    """Shapes of all lines that are said at a level, but for the head, which names the machine."""
    out = ask(f"-f -l . -Debug {level} -Dag log.dag -DryRun", flavour).out
    lines = (shape(line[18:].rstrip()) for line in out.splitlines())
    return sorted({line for line in lines if not line.startswith("** Running as")})


@pytest.mark.parametrize("level", LEVELS)
def test_every_line_that_both_say_has_the_same_level(ask: Ask, stock: Stock, level: int) -> None:
    expected = {
        each: set(stock(f"level {each}", lambda each=each: lines_at(ask, STOCK, each)))
        for each in {level, 7}
    }
    both = expected[7] & set(lines_at(ask, OURS, 7))
    assert len(both) > 60
    assert set(lines_at(ask, OURS, level)) & both == expected[level] & both


def test_a_dry_run_at_the_usual_level(ask: Ask, stock: Stock) -> None:
    line = "-f -l . -Debug 3 -Dag log.dag -DryRun"
    expected = stock(line, lambda: processed(ask(line, STOCK)))
    assert plain(processed(ask(line, OURS))) == expected
    assert expected[1] == [f"Processing node: {name}" for name in "AB"]


def processed(answer: Answer) -> tuple[int, list[str]]:
    """The exit code of a dry run, and the nodes that it processed."""
    return answer.code, sorted(s for s in answer.said() if s.startswith("Processing node: "))

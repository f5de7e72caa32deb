"""Whoever looks at a DAG runs nothing of its author's, tells him nothing, and comes to an end.

Every way to look is tried: the subcommands, condor_dag_checker, functions of Python, addresses of
the page.  A new one must be added here, or named as one that acts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import htcondor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import condor_pydagman
from condor_pydagman.adapters.followed_files import Followed, owner_of
from condor_pydagman.adapters.foreign_texts import ask, read
from condor_pydagman.cli.checker_options import SPELLINGS
from condor_pydagman.cli.pydagman import SUBCOMMANDS
from condor_pydagman.errors import PydagmanError
from condor_pydagman.pool import step_down
from tests import locks
from tests.contract.hostile_dag import AUTHOR, COMMANDS, FILES, VALUE, HostileDag
from tests.opened import Opened
from tests.waiting import LIMIT_S

ROOT = os.geteuid() == 0
REPOSITORY = Path(__file__).parents[2]
JOBS = "condor_pydagman.adapters.described_jobs"

# Of each subcommand that looks: command lines, DAG for the DAG file, NODE for one of its nodes.
# The first line is tried with each DAG, the others with one that has all doors.
LOOKING: dict[str, list[str]] = {
    "allocations": ["allocations list"],
    "draw": ["draw DAG -o {here}/x.svg", "draw --grown DAG -o {here}/x.html"],
    "dry-run": ["dry-run DAG", "dry-run --nodes --commands DAG", "dry-run --json --bundle DAG"],
    "events": ["events DAG"],
    "explain": ["explain DAG", "explain --json DAG", "explain DAG NODE"],
    "flatten": ["flatten DAG", "flatten --grown DAG"],
    "knobs": ["knobs DAG", "knobs -config evil.config", "knobs --json --all DAG"],
    "limits": ["limits --dags"],
    "logs": ["logs DAG NODE", "logs --err DAG NODE"],
    "ls": ["ls", "ls --ended 3"],
    "metrics": ["metrics"],
    "nodes": ["nodes DAG", "nodes DAG --json", "nodes DAG NODE -af:h node description reason"],
    "report": [f"report --format {one} -o - DAG" for one in ("html", "csv", "json")],
    "rescue": ["rescue DAG", "rescue --nodes --json DAG"],
    "runs": ["runs", "runs --json"],
    "schema": ["schema"],
    "sites": ["sites list", "sites groups DAG", "sites list --json"],
    "tail": ["tail DAG"],
    "top": ["top --once", "top --json"],
    "watch": ["watch --once DAG", "watch --once --json DAG"],
    "web": [],  # see `PAGE`
}
ACTING = {"run", "steer", "transfer", "pool"}
CHECKS = [
    "-lint -checkjdl",
    "",
    "-lint -json -strict -bundle",
    "-json",
    "-statistics",
    "-lint -usedagdir",
]
CHECKS += ["-checkjdl -strict", "-checkexternalfiles", "-checkscripts -checksubdags"]
CHECKS += ["-allowillegalchars -nojoinnodes", "-joinnodes -checkjdl"]

# Beside failed.dag, which is looked at in all ways.
BRIEF = ["running.dag", "finished.dag", "table.dag", "included.dag", "spliced.dag", "linked.dag"]
BRIEF.append("fifos.dag")

FUNCTIONS = {name for name in condor_pydagman.__all__ if name.islower()}
ACTING_FUNCTIONS = {"run_requests", "steer", "submit_dag", "transfer_file", "write_rescue"}
ACTING_FUNCTIONS |= {"write_node_status"}
WAITING_FUNCTIONS = {"subscribe"}  # asks a DAGMan by its socket, and reads no file


@contextmanager
def _reachable() -> Iterator[Path]:
    """A directory that the author can enter: he could run nothing in those of pytest."""
    with tempfile.TemporaryDirectory(prefix="pydagman-doors-") as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.fixture
def top() -> Iterator[Path]:
    with _reachable() as made:
        yield made


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileDag]:
    with _reachable() as made:
        dag = HostileDag(made)
        dag.here.chmod(0o777)
        yield dag


def test_every_way_to_look_is_known() -> None:
    from tests.contract import looker

    assert set(LOOKING) | ACTING == set(SUBCOMMANDS)
    assert not set(LOOKING) & ACTING
    known = set(looker.FUNCTIONS) | ACTING_FUNCTIONS | WAITING_FUNCTIONS
    assert known >= FUNCTIONS
    options = {option.lower() for option in SPELLINGS} - {"help"}
    assert {word.lstrip("-") for check in CHECKS for word in check.split()} == options
    methods = {name for name in vars(condor_pydagman.DagRun) if not name.startswith("_")}
    asked = {name.partition(".")[2] for name in looker.FUNCTIONS if name.startswith("DagRun.")}
    acting = {"steer", "remove", "hold", "release", "wait", "wait_async", "events_async", "show"}
    assert methods == asked - {"_repr_mimebundle_"} | acting | {"cluster", "dag_file"}


def test_these_are_doors(top: Path) -> None:
    """HTCondor's readers run all of these commands, if they may, also as the author."""
    dag = HostileDag(top)
    dag.here.chmod(0o777)
    child = os.fork()
    if child == 0:
        try:
            _read_unprotected([dag.descriptions()[name] for name in COMMANDS])
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert dag.marks() == {f"ran-{name}" for name in COMMANDS}


def _read_unprotected(texts: list[str]) -> None:
    if ROOT:
        os.setgroups([])
        os.setgid(AUTHOR[1])
        os.setuid(AUTHOR[0])
    for text in texts:
        with suppress(Exception):
            list(htcondor2.Submit(text).itemdata() or ())


@st.composite
def descriptions(draw: st.DrawFn) -> str:
    """A form with its words cut, in other cases, and behind macros."""
    name = draw(st.sampled_from([*COMMANDS, *(set(FILES) - {"huge"})]))
    statements = {**COMMANDS, **FILES}[name].split("\n")
    lines = [_written(draw, line) for line in statements]
    if draw(st.booleans()):
        lines[:0] = draw(st.lists(st.sampled_from(ODD), max_size=3))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    return ending.join(["executable = /bin/true", *lines, ""])


ODD = ["if true", "x @=end", "# \\", "include : {here}/none", "use template : x", "y = 1 \\"]
ODD += ["@include : {run} |", "endif", "queue 0", "iterate a from {run} |", "error : {run} |"]


def _written(draw: st.DrawFn, line: str) -> str:
    word, blank, rest = line.partition(" ")
    if "=" in rest.split(" ")[0] or draw(st.integers(0, 2)) == 0:
        return line
    cut = draw(st.integers(0, len(word)))
    how = draw(st.sampled_from(["", "\\\n", "\\ \n  ", "\\\r\n\t"]))
    word = word[:cut] + how + word[cut:]
    case = draw(st.sampled_from([str, str.upper, str.title]))
    head = draw(st.sampled_from(["", " ", "\t", "@", " @", "\x0b"]))
    return head + case(word) + blank + rest


@given(text=descriptions())
def test_a_description_can_only_be_read(hostile: HostileDag, text: str) -> None:
    text = hostile.text(text, "drawn")
    owner = AUTHOR if ROOT else owner_of(str(hostile.here))
    with Opened(hostile.here, hostile.directory) as opened:
        said = [answer for answer in _answers(text, owner) if answer is not None]
    assert not hostile.marks()
    assert not opened.names & {VALUE, "fifo", "evil.so", "link"}
    if ROOT:  # else the secret is the author's own
        assert VALUE not in repr(said)


def _answers(text: str, owner: tuple[int, int]) -> Iterator[Any]:
    described = Followed(text, owner)
    for call in (
        lambda: read("condor_pydagman.adapters.described_jobs:commands", described, shape=object),
        lambda: read(
            "condor_pydagman.adapters.described_jobs:files", described, {}, 0, 3, shape=list
        ),
        lambda: ask("condor_pydagman.lint.description_reader:reading_of", owner, text, "x"),
        lambda: ask("condor_pydagman.lint.description_reader:unreadable_line", owner, text),
        lambda: ask(
            "condor_pydagman.features.common.adapters.submit_errors:first_unreadable", owner, text
        ),
        lambda: ask("condor_pydagman.lint.description_reader:mistakes", owner, [text]),
    ):
        try:
            yield call()
        except PydagmanError as error:
            yield str(error)


@pytest.mark.parametrize("who", ["root", "user"] if ROOT else ["user"])
def test_all_ways_to_look(top: Path, who: str) -> None:
    dag = HostileDag(top)
    dag.write()
    brief = BRIEF if who == "root" or not ROOT else ["linked.dag"]
    requests = [*_requests(dag, "failed.dag", all_of_them=True)]
    requests += [request for name in brief for request in _requests(dag, name)]
    with ExitStack() as stack:
        opened = stack.enter_context(Opened(dag.here, dag.directory))
        stack.enter_context(locks.held(dag.here / "running.dag.lock", "7\n"))
        answers = _looked(dag, who, requests)
    assert dag.marks() == set()
    assert not opened.names & {VALUE, "evil.so"}
    for request, (code, text) in zip(requests, answers):
        what = " ".join(request)
        assert code in (0, 1, 3), f"{what}: {code}\n{text}"
        assert "Traceback" not in text, f"{what}:\n{text}"
        assert not ROOT or VALUE not in text, f"{what}:\n{text}"
    assert _number_of_successes(answers) > len(requests) / 3


def _number_of_successes(answers: list[tuple[int, str]]) -> int:
    return sum(code == 0 for code, _ in answers)


def _requests(dag: HostileDag, name: str, *, all_of_them: bool = False) -> Iterator[list[str]]:
    from tests.contract import looker

    many = None if all_of_them else 1
    node = "L" if name == "linked.dag" else "printed"
    for lines in LOOKING.values():
        for line in lines[:many] if "DAG" in "".join(lines[:many]) or all_of_them else ():
            words = line.format(here=dag.here).split()
            yield ["command", *({"DAG": name, "NODE": node}.get(word, word) for word in words)]
    for check in CHECKS[:many]:
        yield ["checker", *check.split(), name]
    for function in looker.FUNCTIONS if all_of_them else ("lint_dag", "read_dag", "DagRun.report"):
        yield ["python", function, name]
    if all_of_them or name in ("running.dag", "linked.dag"):
        yield ["page", name]


def _looked(dag: HostileDag, who: str, requests: list[list[str]]) -> list[tuple[int, str]]:
    config = dag.secret.with_name("condor_config")
    config.write_text("CONDOR_HOST = 127.0.0.1\nCOLLECTOR_HOST = 127.0.0.1:1\nLOG = /nonexistent\n")
    words = [sys.executable, "-m", "tests.contract.looker"]
    if who == "user" and ROOT:
        words = [sys.executable, "-I", "-S", step_down.__file__, "namespace", "4711", "4711",
                 *words]  # fmt: skip
    environment = {
        **{name: value for name, value in os.environ.items() if "CONDOR" not in name.upper()},
        "PYTHONPATH": str(REPOSITORY),
        "CONDOR_CONFIG": str(config),
        "TOKEN": VALUE,
    }
    done = subprocess.run(
        words,
        input=json.dumps([str(dag.here), requests]),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=dag.secret.parent,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    return [(code, text) for code, text in json.loads(done.stdout)]

"""Nothing that commands print for people has control codes, whatever DAG files and logs say."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.adapters import knobs
from condor_pydagman.cli import dag_checker, pydagman, submit_dag
from condor_pydagman.cli.say import say
from condor_pydagman.workflow import program
from tests.dag_logs import DagLogs
from tests.examples import EXAMPLES, SPLICE

CLI = Path(pydagman.__file__).parent
# A title, a cleared screen, the clipboard, overrides of direction; bytes that are no UTF-8.
CODES = "\x1b]0;t\x07\x1b[2J\x1b]52;c;eA==\x07\x01\x7f\x80\x9b\u202e\u2066\u2069\udc9b"
BREAKS = "\r\v\f\x1c\x1e\x85\u2028\u2029x"  # which some take for the end of a word or line
UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\udc80-\udc9f]")

Main = Callable[[], object]


def checkers(dag: str) -> Iterator[Main]:
    """What reads a DAG before it runs."""
    for options in ([], ["-allowIllegalChars"], ["-statistics"], ["-lint"]):
        yield partial(dag_checker.main, [*options, dag])
    quick = ["-no_submit", "-force", "-dagman", "/opt/condor_dagman"]
    yield partial(submit_dag.main, [*quick, "-do_recurse", dag])
    for words in (
        ["dry-run", "--nodes", "--commands"],
        ["draw"],
        ["knobs"],
        ["flatten", "-o", "f"],
    ):
        yield partial(pydagman.main, [*words, dag])


def readers(dag: str, node: str) -> Iterator[Main]:
    """What tells of a run."""
    for words in (
        *(["explain", dag], ["explain", dag, node], ["explain", dag, f"{node}x"]),
        *(["report", dag], ["watch", "--once", dag], ["watch", dag], ["tail", dag], ["ls"]),
        *(["logs", dag, node], ["logs", dag, f"{node}x"], ["rescue", "--nodes", dag]),
        *(["nodes", dag], ["nodes", dag, f"{node}x"], ["nodes", dag, "-af:ltV", "node", node]),
        *(["steer", "hold", dag, node], ["steer", "hold", dag, "--" + node], ["steer", node]),
        *(["schema", node], ["limits", node], ["sites", "groups", dag], ["sites", "check", node]),
        *(["knobs", node], ["knobs", f"{node}.dag"], ["draw", dag], ["dry-run", "--nodes", dag]),
        *(["events", f"{node}.dag"], ["run", f"{node}.dag"], ["transfer", f"{node}.dap"]),
    ):
        yield partial(pydagman.main, words)
    yield partial(program.main, [f"{node}.dag"])


def printed(main: Main) -> str:
    """What a command writes to either output."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        with contextlib.suppress(SystemExit):
            main()
        out.flush()
    return out.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def directory(work_directory: Path) -> None:
    knobs.set_subsystem("TOOL")
    for name, text in SPLICE.items():
        Path(name).write_text(text)
    Path("x").write_text("executable = /bin/true\nqueue\n")


def with_each_word(example: str, codes: str) -> Iterator[str]:
    """The example again and again, with codes in another of the words of its last line."""
    *before, line = example.split("\n")
    words = line.split(" ")
    for place, word in enumerate(words):
        for changed in (word + codes, codes + word):
            yield "\n".join([*before, " ".join([*words[:place], changed, *words[place + 1 :]])])


@pytest.mark.parametrize("codes", [CODES, BREAKS], ids=["codes", "breaks"])
@pytest.mark.parametrize("word", EXAMPLES)
def test_codes_in_every_word_of_a_dag_file(word: str, codes: str) -> None:
    lines = "\n".join(with_each_word(EXAMPLES[word], codes))
    data = f"JOB A x\nJOB B x\nJOB C x\n{lines}\n".encode("utf-8", "surrogateescape")
    Path("t.dag").write_bytes(data)
    for main in checkers("t.dag"):
        assert UNSAFE.findall(printed(main)) == []


def test_codes_in_the_log_of_a_run(tmp_path: Path) -> None:
    node = "A" + CODES
    name = f"t{CODES.replace('/', '')}.dag"
    Path(name).write_text(
        f"JOB {node} x\nJOB B x\nPARENT {node} CHILD B\n", "utf-8", "surrogateescape"
    )
    logs = DagLogs(tmp_path, name).start()
    logs.submit(node, 7)
    logs.execute(7)
    logs.say(f"ERROR: {CODES}")
    logs.end(1)
    for main in readers(name, node):
        assert UNSAFE.findall(printed(main)) == []


@given(st.text())
def test_a_line_stays_a_line(text: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        say(text)
    assert out.getvalue()[-1] == "\n"
    assert out.getvalue()[:-1].isprintable()


# What is for programs, or is no text: by file, with what is handed over.
FOR_PROGRAMS = (
    *("json.dumps(", "as_json(", "event.to_json(", "'[\\n' + ',\\n'.join(ads)"),
    *("f'export ", "schema_text(", "piece", "metrics", "'\\r\\x1b[K'", "_styled("),
)
STOCKS = ("dag_checker.py", "submit_dag.py", "dagman.py")


def test_all_text_for_people_passes_one_place() -> None:
    """Of stock's messages, whatever is harmless stays as it is."""
    found = set()
    for path in CLI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and path.name != "say.py":
                how, what = ast.unparse(node.func), ast.unparse(node.args[0])
                if how == "print" or re.fullmatch(r"sys\.std(out|err)\.write|Console.*print", how):
                    found.add((path.name, what))
    stock = {(name, "escaped_lines(text)") for name in STOCKS}
    assert {one for one in found if not one[1].startswith(FOR_PROGRAMS)} == stock

"""A submit file that can't be read: the line, what is wrong with it, what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters import descriptions
from condor_pydagman.adapters.files import working_directory
from condor_pydagman.config import Config
from condor_pydagman.errors import PoolError
from condor_pydagman.features.common.adapters.submit_errors import explained
from condor_pydagman.graph.model import Dag, Variable
from condor_pydagman.language.description import template_of
from condor_pydagman.records.job_description import Workflow, describe


def described(file_text: str, *variables: Variable) -> str:
    dag = Dag(files=["t.dag"])
    dag.add_node("A", "a.sub")
    dag.variables[0] = variables
    dag.finish()
    flow = Workflow(12, "/run/./t.dag.nodes.log", Config(), "t.dag+12", "12.0")
    return describe(dag, 0, template_of(file_text), flow)


def reason(file_text: str, directory: Path, *variables: Variable) -> str:
    text = described(file_text, *variables)
    with pytest.raises(PoolError) as refused, working_directory(str(directory)):
        descriptions.parse(text)
    return explained(refused.value, text, file_text, str(directory))


@pytest.mark.parametrize(
    ("file_text", "begins"),
    [
        (
            "a = 1\nif $(a) == 1\nb = 2\nendif\nqueue\n",
            "line 2, 'if $(a) == 1': this is not a cond",
        ),
        ("a = 1\n\n# x\nendif\nqueue\n", "line 4, 'endif': no `if` is open"),
        ("a = 1\\\n 2\nb c\nqueue\n", "line 3, 'b c': expected `NAME = VALUE`"),
        ("a b = 1\nqueue\n", "line 1, 'a b = 1': 'a b' is not a name"),
        ("a : b\nqueue\n", "line 1, 'a : b': expected `NAME = VALUE`"),
        ("t @=end\nx\nqueue\n", "line 1, 't @=end': a line `@end` must end"),
        ("+t @=end\nx\n@end\nqueue\n", "line 1, '+t @=end': '+t' is not a name"),
        ("use template : nope\nqueue\n", "line 1, 'use template : nope': HTCondor's configuration"),
        ("error : no\nqueue\n", "line 1, 'error : no': the submit file itself says"),
        ("if false\nerror : a\nqueue 2\nendif\nb\nqueue\n", "line 5, 'b': expected"),
        ("a = 1\ninclude : ./none |\nqueue\n", "line 2, 'include : ./none |': the command could"),
        ("a = 1\r\nb c\r\nqueue\r\n", "line 2, 'b c': expected"),
    ],
)
def test_line_and_reason(file_text: str, begins: str, tmp_path: Path) -> None:
    assert reason(file_text, tmp_path).startswith(begins)


def test_a_line_of_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "outer.inc").write_text("a = 1\ninclude : $(name).inc\n")
    (tmp_path / "inner.inc").write_text("a = 2\nfoo bar\n")
    said = reason("name = inner\ninclude : outer.inc\nqueue\n", tmp_path)
    assert said.startswith(
        "line 2, 'include : outer.inc': line 2 of outer.inc, 'include : $(name).inc': "
        "line 2 of inner.inc, 'foo bar': expected"
    )


def test_files_that_can_not_be_included(tmp_path: Path) -> None:
    (tmp_path / "self.inc").write_text("include : self.inc\n")
    (tmp_path / "queue.inc").write_text("queue 2\n")
    assert reason("include : none.inc\nqueue\n", tmp_path).endswith(
        "none.inc can't be read: No such file or directory"
    )
    assert reason("include : self.inc\nqueue\n", tmp_path).endswith("self.inc includes itself")
    assert "queue.inc has a queue statement" in reason("include : queue.inc\nqueue\n", tmp_path)


def test_commands_are_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "say.sh").write_text("#!/bin/sh\necho >> times\necho a = 1\n")
    (tmp_path / "say.sh").chmod(0o755)
    assert "line 2, 'b c'" in reason("include : ./say.sh |\nb c\nqueue\n", tmp_path)
    assert (tmp_path / "times").read_text() == "\n"


def test_a_line_of_the_dag_file(tmp_path: Path) -> None:
    wrong = Variable("b c", "1", append=True)
    assert reason("a = 1\nqueue\n", tmp_path, wrong).startswith(
        "a line that does not stand in the submit file, 'b c = 1': 'b c' is not a name"
    )


def test_the_queue_statement(tmp_path: Path) -> None:
    text = "a = 1\nqueue x in (a\n"
    error = PoolError(
        "Reached end of file without finding closing brace ')' for Queue command on line 21",
        transient=False,
    )
    assert explained(error, described(text), text, str(tmp_path)) == (
        "line 2, 'queue x in (a': Reached end of file without finding closing brace ')' for Queue"
        " command"
    )


def test_other_errors_are_as_they_are(tmp_path: Path) -> None:
    error = PoolError("Failed to create job ad, errmsg=x", transient=False)
    assert explained(error, described("queue\n"), "queue\n", str(tmp_path)) == error.reason


@pytest.mark.parametrize(
    "line",
    [
        "include \\\n  : COMMAND |",
        "inc\\\nlude : COMMAND |",
        "include ifexist command : COMMAND",
        "include command into cache : COMMAND",
        "include : outer.inc",
    ],
)
def test_no_form_of_command_is_run_again(line: str, tmp_path: Path) -> None:
    (tmp_path / "outer.inc").write_text("name = inner\ninclude : $(name).inc\n")
    text = line + "\n" + "".join(f"c{number} = 1\n" for number in range(20)) + "a : b\nqueue\n"
    text = text.replace("COMMAND", f"/bin/sh {tmp_path}/command")
    (tmp_path / "command").write_text(f"echo b = 1 >> {tmp_path}/ran; echo b = 1\n")
    (tmp_path / "inner.inc").write_text(f"include : /bin/sh {tmp_path}/command |\n")
    assert "'a : b': expected `NAME = VALUE`" in reason(text, tmp_path)
    assert (tmp_path / "ran").read_text() == "b = 1\n"


def test_what_an_included_file_runs_is_to_blame(tmp_path: Path) -> None:
    (tmp_path / "a.inc").write_text("a = 1\ninclude : ./none |\n")
    found = reason("include : a.inc\nqueue\n", tmp_path)
    assert found.startswith("line 1, 'include : a.inc': line 2 of a.inc, 'include : ./none |':")


def test_a_file_that_includes_itself_by_ever_other_names(tmp_path: Path) -> None:
    (tmp_path / "a.inc").write_text("way = $(way)./\ninclude : $(way)a.inc\n")
    assert "included too deep" in reason("include : a.inc\nqueue\n", tmp_path)


def test_blanks_in_an_include_line_take_no_time(tmp_path: Path) -> None:
    blanks = " " * 20_000
    text = f"include : x{blanks}y{blanks}z\na : b\nqueue\n"
    assert "can't be read" in reason(text, tmp_path)

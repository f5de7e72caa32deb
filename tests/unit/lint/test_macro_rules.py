"""VARS against submit descriptions, and files that jobs write over each other's."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import Finding, Severity
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import PaperWorld

TWO = "JOB A x.sub\nJOB B x.sub\n"


def findings(dag: str, submit: str, **files: str) -> list[Finding]:
    more = {f"{name}.sub": text for name, text in files.items()}
    texts = {name: _with_program(text) for name, text in {"x.sub": submit, **more}.items()}
    world = PaperWorld({"t.dag": dag, "list.txt": "", **texts})
    return lint(["t.dag"], world, BuildOptions(strict=0)).kept


def _with_program(submit: str) -> str:
    return submit if "executable" in submit else f"executable = /bin/true\n{submit}"


def codes(dag: str, submit: str, **files: str) -> list[str]:
    return [finding.code for finding in findings(dag, submit, **files)]


def test_a_macro_that_nobody_uses() -> None:
    (finding,) = findings('JOB A x.sub\nVARS A name="1" nmae="2"\n', "arguments = $(NAME)\n")
    assert (finding.code, finding.line) == ("DAG401", 2)
    assert finding.text[finding.column - 1 :] == 'nmae="2"'


@pytest.mark.parametrize("name", ["Item", "dollar", "my_item"])
def test_a_macro_that_is_htcondors(name: str) -> None:
    submit = "arguments = $(item) $(dollar) $(my_item:x)\n"
    found = [one.message for one in findings(f'JOB A x.sub\nVARS A {name}="1"\n', submit)]
    why = f"but HTCondor sets $({name}) itself: my_{name} would work"
    assert found == [f"$({name}) is set for node A, {why}"] * (name != "my_item")


def test_item_is_a_macro_like_others_beside_items_of_other_variables() -> None:
    dag = 'JOB A x.sub\nVARS A item="1"\n'
    assert codes(dag, "arguments = $(item) $(x)\nqueue x in (a b)\n") == []


@pytest.mark.parametrize("kind", ["DATA", "FINAL"])
def test_a_macro_that_only_a_request_uses(kind: str) -> None:
    """ALL_NODES sets it for jobs, too."""
    dag = f'JOB A x.sub\n{kind} in in.sub\nVARS A server="http://h" nmae="2"\n'
    dag += 'VARS in server="http://h"\n'
    request = "dap_type = release\ndest_host = $(server)\n"
    files = {"t.dag": dag, "x.sub": "executable = /bin/true\nqueue\n", "in.sub": request}
    (finding,) = lint(["t.dag"], PaperWorld(files), BuildOptions(strict=0)).kept
    assert "nmae" in finding.message


@pytest.mark.parametrize(
    "submit",
    [
        "arguments = $(v)",
        "arguments = $(v:default)",
        "arguments = $INT(v,%03d)",
        "arguments = $Fpn(V)",
        "if defined v\narguments = 1\nendif",
        "include : $(file)",
        "arguments = 1\nqueue $(v)",
        "arguments = $(other)\nother = $(v)",
    ],
)
def test_macros_that_are_used_or_may_be(submit: str) -> None:
    assert "DAG401" not in codes('JOB A x.sub\nVARS A v="1"\n', submit + "\n")


def test_a_description_that_can_not_be_read() -> None:
    (finding,) = findings("JOB A x.sub\nJOB B x.sub\n", "executable = a\nnonsense\n")
    assert (finding.code, finding.line, finding.node) == ("DAG307", 1, "A")
    assert finding.message == (
        "submit file x.sub of node A can't be read: line 2, 'nonsense': no statement"
    )
    (finding,) = findings("JOB A {\nnonsense\n}\n", "")
    assert finding.message.startswith("the description of node A can't be read: line 2")


@pytest.mark.parametrize("line", ["include command : tool |", "queue a from tool |"])
def test_a_command_that_is_not_run(line: str) -> None:
    (finding,) = findings(TWO + "JOB C y.sub\n", f"{line}\nqueue\n", y="queue a in (b)\n")
    assert (finding.code, finding.line, finding.severity) == ("DAG317", 1, Severity.INFO)
    assert finding.message == (
        "submit file x.sub of node A is not checked in full: the command is not run"
    )


def test_vars_that_are_used_by_their_name() -> None:
    dag = 'JOB A x.sub\nVARS A request_memory="1" +Mine="2" My.Own="3" a="$(b)" b="4"\n'
    assert codes(dag, "arguments = $(a)\n") == []
    assert codes('JOB A x.sub\nVARS A request_memroy="1"\n', "") == ["DAG401"]


def test_a_macro_for_all_nodes_that_some_use() -> None:
    dag = 'JOB A x.sub\nJOB B y.sub\nVARS ALL_NODES v="1"\n'
    assert codes(dag, "arguments = $(v)\n", y="arguments = 1\n") == []
    assert codes(dag, "arguments = 2\n", y="arguments = 1\n") == ["DAG401"]


def test_a_macro_that_nobody_sets() -> None:
    (finding,) = findings("JOB A x.sub\n", "arguments = $(gone) $(Process) $(HOME_OF_ALL)\n")
    assert finding.code == "DAG402"
    assert "$(gone)" in finding.message


@pytest.mark.parametrize(
    "submit",
    [
        "arguments = $(v:1)",
        "v = 1\narguments = $(v)",
        "arguments = $$(v)",
        "arguments = $(v)\nqueue v from list.txt",
        "arguments = $ENV(v)",
        "arguments = $(JOB) $(RETRY) $(DAG_STATUS) $(ClusterId)",
    ],
)
def test_macros_that_have_a_value_from_elsewhere(submit: str) -> None:
    assert codes("JOB A x.sub\n", submit + "\n") == []


def test_nodes_that_write_the_same_file() -> None:
    (finding,) = findings(TWO + "JOB C x.sub\n", "output = all.out\n")
    assert finding.code == "DAG305"
    assert finding.message.startswith("3 nodes overwrite all.out;")


@pytest.mark.parametrize(
    "submit",
    [
        "output = /dev/null",
        "log = all.log",
        "output = $(JOB).out",
        "output = $(Cluster).$(Process).out",
        "output = $(v).out",
        "output = all.out\ninitialdir = $(v)",
        "output = all.out\nappend_files = all.out",
        "error = $$(x)",
        "output = $(where:x).out\nif defined where\nendif",
    ],
)
def test_files_that_are_not_shared_or_may_not_be(submit: str) -> None:
    dag = TWO + 'VARS A v="1"\nVARS B v="2"\n'
    assert "DAG305" not in codes(dag, submit + "\n")


def test_equal_values_of_vars_make_equal_files() -> None:
    dag = TWO + 'JOB C x.sub\nVARS A v="1"\nVARS B v="1"\nVARS C v="2"\n'
    (finding,) = findings(dag, "output = $(v).out\n")
    assert finding.message.startswith("2 nodes overwrite 1.out;")


def test_appended_vars_win_over_the_file_and_prepended_do_not() -> None:
    submit = "v = 0\noutput = $(v).out\n"
    assert codes(TWO + 'VARS A APPEND v="1"\nVARS B APPEND v="2"\n', submit) == []
    assert codes(TWO + 'VARS A v="1"\nVARS B v="2"\n', submit) == ["DAG305"]


def test_the_same_name_in_other_directories() -> None:
    world = PaperWorld(
        {"t.dag": "JOB A x.sub DIR a\nJOB B x.sub DIR b\n", "a/": "", "b/": ""}
        | {f"{name}/x.sub": "executable = /bin/true\noutput = o\n" for name in "ab"}
    )
    assert lint(["t.dag"], world, BuildOptions()).kept == []


def test_a_description_that_no_node_names() -> None:
    (finding,) = findings("SUBMIT-DESCRIPTION d {\nexecutable = x\n}\nJOB A x.sub\n", "")
    assert finding.code == "DAG407"


def test_the_match_of_a_group_sets_macros_for_its_nodes() -> None:
    dag = TWO + "SITE_GROUP g NODES A\n"
    (finding,) = findings(dag, "arguments = $(MATCH_Name) $(CLUSTER)\noutput = $(JOB)\n")
    assert (finding.code, finding.node) == ("DAG402", "B")
    assert "more" not in finding.message

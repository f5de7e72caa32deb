"""condor_pydagman dry-run --commands: what each node would run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import pydagman

pytestmark = pytest.mark.usefixtures("work_directory")

SUBMIT = """\
executable = a.sh
arguments = "$(JOB) $(RETRY) '$(v:none)'"
input = $(JOB).in
output = $(JOB).$(Cluster).$(Process)
error = /dev/null
queue
"""


def blocks(capsys: pytest.CaptureFixture[str], dag: str, **files: str) -> str:
    """What is said of the commands, without indentation."""
    Path("t.dag").write_text(dag)
    for name, text in {"a": SUBMIT, **files}.items():
        Path(f"{name}.sub").write_text(text)
    pydagman.main(["dry-run", "--commands", "t.dag"])
    said = capsys.readouterr().out.partition("Commands:\n")[2].partition("Nothing was")[0]
    return "\n".join(line[4:] for line in said.splitlines())


def of_json(capsys: pytest.CaptureFixture[str]) -> Any:
    pydagman.main(["dry-run", "--commands", "--json", "t.dag"])
    return json.loads(capsys.readouterr().out)["commands"]


def test_macros_files_and_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    dag = """\
JOB A a.sub
VARS A v="a b"
RETRY A 2
SCRIPT PRE A pre.sh $JOB $RETRY x
SCRIPT POST A post.sh $NODE $RETURN $MAX_RETRIES
SCRIPT HOLD A hold.sh
"""
    assert blocks(capsys, dag) == (
        "A\n    PRE: pre.sh A 0 x\n"
        "    a.sh A 0 'a b' < A.in > 'A.$(Cluster).0'\n"
        "    POST: post.sh A '$RETURN' 2\n    HOLD: hold.sh"
    )
    (node,) = of_json(capsys)
    assert node["node"] == "A"
    assert node["kind"] == "JOB"
    assert node["jobs"] == 1
    assert node["scripts"]["POST"] == ["post.sh", "A", "$RETURN", "2"]
    (command,) = node["commands"]
    assert command["words"] == ["a.sh", "A", "0", "a b"]
    assert command["text"] == "a.sh A 0 'a b' < A.in > 'A.$(Cluster).0'"


def test_nodes_of_splices_with_directories(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d").mkdir()
    Path("d/s.dag").write_text("JOB B {\nexecutable = b\ninitialdir = $(JOB)\n}\n")
    Path("d/c.sub").write_text("executable = c\n")
    said = blocks(capsys, "SPLICE S s.dag DIR d\nJOB C c.sub DIR d\n")
    assert said == "C, in d\n    c\nS+B, in d\n    b  # initialdir S+B"


def test_what_only_the_pool_knows_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    submit = """\
executable = b
arguments = $(Cluster) $INT(ClusterId) $$(Memory) $RANDOM_CHOICE(1,2) $random_integer(1,9) $(r)
r = $RANDOM_CHOICE(3,4) $ENV(HOME)
"""
    assert blocks(capsys, "JOB B b.sub\n", b=submit) == (
        "B\n    b '$(Cluster)' '$(Cluster)' '$$(Memory)' '$RANDOM_CHOICE(1,2)'"
        " '$random_integer(1,9)' '$RANDOM_CHOICE(3,4)' '$ENV(HOME)'"
    )


def test_macros_that_htcondor_sets(capsys: pytest.CaptureFixture[str]) -> None:
    submit = "executable = b\narguments = $(YEAR:1999) $(day) $(Cluster:5) $(Row:4) $(none:3)\n"
    said = blocks(capsys, 'JOB B b.sub\nVARS B Process="seven"\n', b=f"{submit}output=$(process)")
    assert said == "B\n    b '$(YEAR)' '$(DAY)' '$(Cluster)' 0 3 > seven"


def test_several_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    dag = "JOB A many.sub\nJOB B same.sub\n"
    many = "executable = b\narguments = $(x) $(Process)\nqueue x from (\np\nq\nr\ns\n)\n"
    assert blocks(capsys, dag, many=many, same="executable = c\nqueue 1000\n") == (
        "A\n    4 jobs, the first 3 of them:\n    b p 0\n    b q 1\n    b r 2\n"
        "B\n    1,000 jobs, all:\n    c"
    )


def test_containers_and_shell_lines(capsys: pytest.CaptureFixture[str]) -> None:
    container = "universe = container\ncontainer_image = docker://debian\n"
    dag = "JOB A one.sub\nJOB B two.sub\n"
    said = blocks(capsys, dag, one=container, two=f"{container}shell = echo hi | cat\n")
    assert said == (
        "A\n    (what its image runs)  # in docker://debian\n"
        "B\n    /bin/sh -c 'echo hi | cat'  # in docker://debian"
    )


def test_nodes_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    dag = """\
JOB A a.sub NOOP
JOB B a.sub DONE
JOB C gone.sub
JOB D runs.sub
JOB E quote.sub
DATA F request.sub
SUBDAG EXTERNAL S inner.dag
"""
    Path("inner.dag").write_text("JOB I i.sub\n")
    request = '[ dap_type = "transfer"; src_url = "file:///a"; dest_url = "file:///b"; ]\n'
    files = {"runs": "include : touch ran |\n", "quote": 'executable = e\narguments = "\'"\n'}
    said = blocks(capsys, dag, request=request, i="executable = i\n", **files)
    assert said.startswith("A\n    no job: NOOP\nC\n    gone.sub: No such file or directory\nD\n")
    assert "D\n    runs.sub: the command 'touch ran |' is not run\n" in said
    assert "E\n    quote.sub: Unbalanced quote" in said
    assert "F\n    the requests of request.sub" in said
    assert "S\n    the DAG inner.dag" in said
    assert said.endswith("Commands:\n    I\n        i")
    assert not Path("ran").exists()


def test_names_are_shown_as_codes(capsys: pytest.CaptureFixture[str]) -> None:
    said = blocks(capsys, "JOB A b.sub\n", b="executable = b\narguments = \x1b[2J\n")
    assert "\x1b" not in said
    assert "\\x1b[2J" in said

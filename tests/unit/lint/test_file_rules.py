"""Files that nodes need."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import Severity
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import SUBMIT, PaperWorld, codes, found


def test_a_missing_submit_file_is_an_error_only_where_nothing_can_write_it() -> None:
    dag = "JOB A no.sub\nJOB B no2.sub\nJOB C no3.sub\nSCRIPT PRE C pre.sh\nPARENT A C CHILD B\n"
    assert [(one.code, one.line, one.severity) for one in found(dag)] == [
        ("DAG301", 1, Severity.ERROR),
        ("DAG301", 2, Severity.WARNING),
        ("DAG301", 3, Severity.WARNING),
    ]


def test_nodes_that_need_no_submit_file() -> None:
    assert codes("JOB A no.sub NOOP\n") == []
    assert codes("JOB A no.sub DONE\n") == []
    assert codes("JOB A {\nexecutable = /bin/true\n}\n") == []
    assert codes("SUBMIT-DESCRIPTION x {\nexecutable = /bin/true\n}\nJOB A x\n") == []


def test_a_file_that_many_nodes_name_is_told_once() -> None:
    (finding,) = found("JOB A no.sub\nJOB B no.sub\nJOB C no.sub\n")
    assert finding.message == "submit file no.sub of node A and 2 other nodes does not exist"


def test_what_is_probably_wrong_with_a_name() -> None:
    (swapped,) = found("JOB a.sub A\n")
    assert swapped.hint == "a.sub is a file: the name of the node comes first, as in JOB A a.sub"
    (quoted,) = found("JOB A \u201ca.sub\u201d\n")
    assert quoted.hint.startswith("U+201C (left double quotation mark)")
    (name,) = found("JOB \u201cA\u201d a.sub\n")
    assert (name.code, name.line) == ("DAG420", 1)
    assert "has U+201C (left double quotation mark)" in name.message
    assert codes("JOB M\u00fcnchen a.sub\n") == []


def test_scripts() -> None:
    dag = "JOB A a.sub\nSCRIPT PRE A gone.sh 1\nSCRIPT POST A plain $JOB\nSCRIPT HOLD A pre.sh\n"
    missing, plain = found(dag)
    assert (missing.code, missing.line, missing.severity) == ("DAG302", 2, Severity.ERROR)
    assert (plain.code, plain.line, plain.severity) == ("DAG303", 3, Severity.WARNING)


def test_a_script_stands_in_the_directory_of_its_node() -> None:
    dag = "JOB A a.sub DIR d\nSCRIPT PRE A pre.sh\n"
    world = PaperWorld({"t.dag": dag, "d/": "", "d/a.sub": SUBMIT, "d/pre.sh": ""})
    assert lint(["t.dag"], world, BuildOptions()).kept == []


def test_a_dag_file_that_may_come_later() -> None:
    assert found("SUBDAG EXTERNAL S no.dag\n")[0].severity is Severity.ERROR
    late = found("JOB A a.sub\nSUBDAG EXTERNAL S no.dag\nPARENT A CHILD S\n")
    assert [(one.code, one.severity) for one in late] == [("DAG304", Severity.INFO)]


def test_a_dag_under_slash_tmp(monkeypatch: pytest.MonkeyPatch) -> None:
    world = PaperWorld({"/tmp/x/t.dag": "JOB A a.sub NOOP\n"})
    (finding,) = lint(["/tmp/x/t.dag"], world, BuildOptions()).kept
    assert finding.code == "DAG306"
    for known in Config(avoid_slash_tmp=False), Config(default_node_log="/home/@(DAG_FILE).log"):
        monkeypatch.setattr(world, "config", lambda known=known: known)
        assert lint(["/tmp/x/t.dag"], world, BuildOptions()).kept == []


def test_a_directory_for_a_file() -> None:
    for dag, code in (("JOB A d\n", "DAG307"), ("CONFIG d\nJOB A a NOOP\n", "DAG308")):
        world = PaperWorld({"t.dag": dag, "d/": ""})
        assert [one.code for one in lint(["t.dag"], world, BuildOptions()).kept] == [code]


def test_a_config_file_that_condor_submit_dag_refuses() -> None:
    dag = "CONFIG no.config\nJOB A a.sub\n"
    (finding,) = found(dag)
    assert (finding.code, finding.line, finding.severity) == ("DAG308", 1, Severity.ERROR)
    assert finding.message == "configuration file no.config does not exist"
    assert codes("CONFIG plain\nJOB A a.sub\n") == []
    assert codes("FOO\nCONFIG no.config\nJOB A a.sub\n") == ["DAG102", "DAG308"]


def test_a_second_config_file() -> None:
    assert codes("CONFIG plain\nCONFIG plain\nJOB A a.sub\n") == []
    (finding,) = found("CONFIG plain\nCONFIG a.sub\nJOB A a.sub\n")
    assert (finding.code, finding.line) == ("DAG308", 2)
    assert finding.message == "CONFIG names a.sub, but t.dag:1 names plain"
    assert finding.hint == "all DAG files together can have only one configuration file"


def test_a_config_file_beside_its_dag_file() -> None:
    world = PaperWorld({"d/t.dag": "CONFIG my\nJOB A a NOOP\n", "d/my": ""})
    for use_dag_dir, expected in ((True, []), (False, ["DAG308"])):
        options = BuildOptions(use_dag_dir=use_dag_dir)
        assert [one.code for one in lint(["d/t.dag"], world, options).kept] == expected


def test_the_program_of_a_feeder() -> None:
    (missing,) = found("JOB A a.sub\nFEEDER BELOW 1 PROGRAM gone $FEEDING\n")
    assert (missing.code, missing.line, missing.severity) == ("DAG302", 2, Severity.ERROR)
    assert missing.message == "FEEDER gone does not exist"
    (plain,) = found("JOB A a.sub\nFEEDER BELOW 1 PROGRAM plain\n")
    assert (plain.code, plain.line) == ("DAG303", 2)
    assert codes("JOB A a.sub\nFEEDER BELOW 1 PROGRAM pre.sh\n") == []


def test_files_of_dagman_in_a_directory_that_is_not_there() -> None:
    dag = "JOB A a.sub\nNODE_STATUS_FILE t.status\n{} gone/t.x\n"
    for word in ("JOBSTATE_LOG", "DOT"):
        (finding,) = found(dag.format(word))
        assert (finding.code, finding.line, finding.severity) == ("DAG319", 3, Severity.WARNING)
        assert finding.message == f"{word} names gone/t.x, and there is no directory gone"

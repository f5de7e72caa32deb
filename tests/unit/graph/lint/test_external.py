"""Scripts, configuration files and submit descriptions, where the options ask for them."""

from __future__ import annotations

from tests.unit.graph.lint.test_outline import issues


def test_scripts_with_and_without_arguments() -> None:
    text = "JOB A a\nSCRIPT PRE A good.sub 1 2\nSCRIPT POST A gone.sh 1\n"
    assert issues(text) == []
    assert issues(text, check_scripts=True) == ["t.dag:3 SCRIPT: Script file does not exist"]


def test_configuration_files() -> None:
    assert issues("CONFIG gone\nCONFIG good.sub\n") == [
        "t.dag:1 CONFIG: Configuration file /place/gone does not exist",
        "t.dag:2 CONFIG: DAG configuration file is already defined",
    ]


def test_submit_descriptions() -> None:
    text = "JOB A good.sub\nJOB B bad.sub\nJOB C gone.sub\nJOB D {\nbad\n}\nJOB E x DIR nodir\n"
    assert issues(text) == []
    assert issues(text, check_descriptions=True) == [
        "t.dag:2 JOB: bad description",
        "t.dag:4 JOB: bad description",
        "t.dag:7 JOB: No such file or directory",
    ]
    assert "t.dag:3 JOB: Submit JDL does not exist" in issues(
        text, check_descriptions=True, strict=True
    )


def test_a_description_with_a_name_is_checked_where_it_stands() -> None:
    text = "SUBMIT-DESCRIPTION x {\nbad\n}\nJOB A x\n"
    assert issues(text, check_descriptions=True, strict=True) == [
        "t.dag:1 SUBMIT_DESCRIPTION: bad description"
    ]

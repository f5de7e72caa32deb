"""Scripts, configuration files and submit descriptions, where the options ask for them."""

from __future__ import annotations

from tests.unit.lint.test_outline import issues


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


def strict(dag: str, **files: str) -> list[str]:
    """Issues with -CheckJDL -CheckSubDags -Strict."""
    return issues(dag, files, check_descriptions=True, check_subdags=True, strict=True)


DESCRIBED = "SUBMIT-DESCRIPTION d {\nexecutable = x\n}\n"


def test_a_description_may_stand_anywhere_in_the_dag() -> None:
    assert not strict("JOB A d\n" + DESCRIBED)
    assert not strict("JOB A d\nINCLUDE i\n", i=DESCRIBED)
    assert not strict("INCLUDE i\n" + DESCRIBED, i="JOB A d\n")
    assert not strict("SPLICE S i\n" + DESCRIBED, i="JOB A d\n")
    assert not strict("JOB A d\nSPLICE S i\n", i=DESCRIBED)


def test_a_description_of_another_dag_does_not_count() -> None:
    missing = "t.dag:1 SUBDAG: i:1>Submit JDL does not exist"
    assert strict("SUBDAG EXTERNAL S i\n" + DESCRIBED, i="JOB A d\n") == [missing]
    assert not strict("SUBDAG EXTERNAL S i\n", i="JOB A d\n" + DESCRIBED)


def test_a_missing_description_is_said_last_and_once_for_each_file() -> None:
    assert strict("JOB A x\nJOB B x\nRETRY Z 1\nINCLUDE i\n", i="JOB C x\n") == [
        "t.dag:3 RETRY: References undefined node Z",
        "t.dag:1 JOB: Submit JDL does not exist",
        "i:1 JOB: Submit JDL does not exist",
    ]


def test_what_is_warned_of_is_an_issue() -> None:
    found = strict("JOB A a\n", a="typo")
    assert found == ["t.dag:1 JOB: Submit warning: Submit:0:a has a typo"]


def test_lists_of_common_input_files_differ() -> None:
    differs = "Multiple differing common input transfer lists declared in DAG"
    dag = "JOB A a\nJOB B {\n no=list\n}\nJOB C b\nSPLICE S s\nSUBDAG EXTERNAL D s\nJOB E a\n"
    files = {"a": "common=1", "b": "common=2 typo", "s": "JOB X b\n"}
    assert strict(dag, **files) == [
        f"t.dag:5 JOB: {differs}",
        f"s:1 JOB: {differs}",
        "t.dag:7 SUBDAG: s:1>Submit warning: Submit:0:b has a typo",
    ]


def test_what_is_wrong_counts_before_the_list() -> None:
    found = strict("JOB A a\nJOB B b\n", a="bad common=1", b="common=2")
    assert found == ["t.dag:1 JOB: bad description"]

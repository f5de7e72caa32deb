"""What needs no schedd in the schedd's adapter: what refusals mean, and where submits happen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.adapters import schedd
from condor_pydagman.adapters.schedd import LostReply, ScheddAdapter
from condor_pydagman.errors import PoolError


@pytest.mark.parametrize(
    "text",
    [
        "Failed to connect to schedd.",
        "Unable to locate local daemon",
        "Failed to create new cluster.",
        "SECMAN:2007:Failed to end classad message.",
        "AUTHENTICATE:1003:Failed to authenticate with any method",
    ],
)
def test_nothing_can_have_reached_the_queue(text: str) -> None:
    error = schedd._submit_error(RuntimeError(text))
    assert error.transient
    assert not isinstance(error, LostReply)
    assert error.reason == text


def test_arguments_that_python_refuses_will_never_do() -> None:
    assert not schedd._submit_error(ValueError("whatever")).transient


@pytest.mark.parametrize(
    "text",
    [
        "Failed to commit and disconnect from queue.",
        "Failed to commit transaction",
        "words that nobody has ever seen",
        "",
    ],
)
def test_the_schedd_may_have_taken_it(text: str) -> None:
    error = schedd._submit_error(RuntimeError(text))
    assert isinstance(error, LostReply)
    assert error.transient


@pytest.mark.parametrize(
    "text",
    [
        "Failed to create job ad, errmsg=Submit:-1:Parse error in expression: requirements = (",
        "ERROR: No 'executable' parameter was provided",
        "can't open submit file",
    ],
)
def test_a_description_that_will_never_do(text: str) -> None:
    error = schedd._submit_error(RuntimeError(text))
    assert not error.transient
    assert not isinstance(error, LostReply)


def test_work_in_a_nodes_directory_ends_where_it_began(tmp_path: Path) -> None:
    home = os.getcwd()
    with pytest.raises(ZeroDivisionError), schedd._inside(str(tmp_path)):
        assert os.getcwd() == str(tmp_path)
        raise ZeroDivisionError
    assert os.getcwd() == home


def test_a_nodes_directory_that_is_not_there(tmp_path: Path) -> None:
    home = os.getcwd()
    with pytest.raises(PoolError, match=r"directory .*/nosuch: No such file"):
        ScheddAdapter(0).submit("executable = a\nqueue", str(tmp_path / "nosuch"))
    assert os.getcwd() == home


def test_a_dagman_without_a_job_asks_and_tells_nothing() -> None:
    adapter = ScheddAdapter(0)
    assert adapter.own_ad() == {}
    adapter.publish({"DAG_Status": "0"})


@pytest.mark.parametrize(
    ("text", "quoted"), [("a", '"a"'), ('a"b', '"a\\"b"'), ("a\\b", '"a\\\\b"')]
)
def test_texts_in_expressions_are_quoted(text: str, quoted: str) -> None:
    assert schedd._quoted(text) == quoted


def test_a_reason_is_one_line() -> None:
    assert schedd._reason(RuntimeError("a\n  b\t c \n")) == "a b c"
    assert schedd._reason(RuntimeError("")) == "RuntimeError"

"""Lists of common input files: which a description has, and what the DAG's list makes of them.

The expectations are what stock condor_dag_checker and condor_dagman 25.14.1 make of the same.
"""

from __future__ import annotations

import htcondor2
import pytest

from condor_pydagman.adapters import submit_checks
from condor_pydagman.adapters.submit_checks import MAX_LIST_LENGTH, FirstList, lists, token
from condor_pydagman.adapters.submit_checks import check_common_input as check
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import COMMON_INPUT_DIFFERS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("queue", []),
        ('MY.CommonInputFiles = "a, b"\nqueue', ["a, b"]),
        ('+CommonInputFiles = strcat("a","b")\nqueue', ["ab"]),
        ("MY.CommonInputFiles = Foo\nqueue", [None]),
        ("MY.CommonInputFiles = 3\nqueue", [None]),
        ('MY.CommonInputFiles = "\nqueue', [None]),
        ('MY.CommonInputFiles = ""\nqueue', [""]),
        ("transfer_common_input =  a , b,,c,\nqueue", ["a,b,c"]),
        ('transfer_common_input = "a,b"\nqueue', ["a,b"]),
        ('transfer_common_input = "a","b"\nqueue', ['a","b']),
        ('Transfer_Common_Input = " "\nqueue', [""]),
        ("transfer_common_input =\nqueue", []),
        ("transfer_common_input = $(nobody)\nqueue", [None]),
        ("CommonInputFiles = a\nqueue", ["a"]),
        ('transfer_common_input = a\nMY.CommonInputFiles = "b"\nqueue', ["b"]),
        ("c = a\ntransfer_common_input = $(c)\nqueue", ["a"]),
        ("transfer_common_input = $(x)\nqueue x in (a b)", ["a", "b"]),
        ("y = $(x)\ntransfer_common_input = $(y)\nqueue x in [1:] (a b c)", ["b", "c"]),
        ("transfer_common_input = $(Item)$(Step)\nqueue 2 in (a b)", ["a0", "a1", "b0", "b1"]),
        ("n = 2\ntransfer_common_input = $(Process)\nqueue $(n)", ["0", "1"]),
        ("transfer_common_input = $(Row)$(Process:9)\nqueue 1 in (a b)", ["00", "11"]),
        ("process = own\ntransfer_common_input = $(Process)\nqueue 1 in (a b)", ["own", "own"]),
        ("transfer_common_input = $(y)$(x)\nqueue x,y from (\na 1\nb 2\n)", ["1a", "2b"]),
        ("transfer_common_input = $(x)\nqueue x from no-such-file", []),
        ("max_materialize = 1\ntransfer_common_input = $(x)\nqueue x in (a b)", ["a"]),
    ],
)
def test_the_lists_of_a_description(text: str, expected: list[str | None]) -> None:
    description = htcondor2.Submit(text)
    before = dict(description)
    assert list(lists(description)) == expected
    assert dict(description) == before


def test_a_wrong_number_of_procs_keeps_nobody_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit_checks, "MAX_PROCS", 3)
    text = "transfer_common_input = $(Process)\nqueue 2000000000"
    assert list(lists(htcondor2.Submit(text))) == ["0", "1", "2"]


def checked(text: str, known: str) -> None:
    check(htcondor2.Submit(text), known)


def test_the_first_list_is_told() -> None:
    with pytest.raises(FirstList) as caught:
        checked("transfer_common_input = a\nqueue", "")
    assert caught.value.token == "a"
    checked('MY.CommonInputFiles = ""\nqueue', "")  # an empty one is none yet


def test_the_same_list_or_none_is_fine() -> None:
    checked("transfer_common_input = a, b\nqueue", "a,b")
    checked("queue", "a,b")


@pytest.mark.parametrize("value", ["b,a", "a", "A,b", '" "'])
def test_another_list_is_refused_for_good(value: str) -> None:
    with pytest.raises(PoolError, match=COMMON_INPUT_DIFFERS) as caught:
        checked(f"transfer_common_input = {value}\nqueue", "a,b")
    assert not caught.value.transient
    assert "that of the DAG is 'a,b'" in caught.value.reason


def test_one_proc_is_enough() -> None:
    with pytest.raises(PoolError, match="that of this job is 'b'"):
        checked("transfer_common_input = $(x)\nqueue x in (a b)", "a")


def test_a_long_list_is_told_from_others_all_the_same() -> None:
    long = "x" * (MAX_LIST_LENGTH + 1)
    assert len(token(long)) < MAX_LIST_LENGTH
    checked(f"transfer_common_input = {long}\nqueue", token(long))
    with pytest.raises(PoolError, match="that of the DAG is another"):
        checked(f"transfer_common_input = {long}y\nqueue", token(long))

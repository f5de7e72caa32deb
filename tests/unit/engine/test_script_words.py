"""Macros in script lines."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.script_words import NOT_IN_PRE, MacroError, exit_code_macros, expand
from condor_pydagman.vocabulary import ScriptKind

POST, PRE = ScriptKind.POST, ScriptKind.PRE


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("a.sh $NODE", ("a.sh", "N")),
        ("a.sh\t$node  $Node ", ("a.sh", "N", "N")),
        ("a.sh x$NODE $NODE. '$NODE", None),
        ("a.sh x$NODE 'q q'", ("a.sh", "x$NODE", "'q", "q'")),
        ("$NODE", ("N",)),
    ],
)
def test_whole_words_in_any_case_are_put_in(command: str, words: tuple[str, ...] | None) -> None:
    if words is None:
        with pytest.raises(MacroError, match=r"unrecognized macro \$NODE\. in node n POST"):
            expand(command, {"NODE": "N"}, POST, "n")
    else:
        assert expand(command, {"NODE": "N"}, POST, "n") == words


@pytest.mark.parametrize("name", sorted(NOT_IN_PRE))
def test_what_only_a_post_script_can_know(name: str) -> None:
    values = {name: "1"}
    assert expand(f"a ${name}", values, POST, "n") == ("a", "1")
    with pytest.raises(MacroError, match=f"{name} macro should not be used as a PRE script"):
        expand(f"a ${name}", values, PRE, "n")


def test_a_value_is_not_looked_at_again() -> None:
    assert expand("a $NODE", {"NODE": "$X b"}, POST, "n") == ("a", "$X b")


@pytest.mark.parametrize(
    ("codes", "want"),
    [
        ({}, ("", "", "", "0")),
        ({0: 0}, ("0", "0:1", "0", "0")),
        ({1: 3, 0: 0, 2: 0}, ("0,3", "0:2,3:1", "0,3,0", "0")),
        ({0: -9, 1: -11, 2: None}, ("-1", "-1:2", "-1,-1,", "1")),
    ],
)
def test_exit_code_macros(codes: dict[int, int | None], want: tuple[str, ...]) -> None:
    got = exit_code_macros(codes)
    assert tuple(got.values()) == want
    assert list(got) == ["EXIT_CODES", "EXIT_CODE_COUNTS", "EXIT_CODE_LIST", "JOB_ABORT_COUNT"]

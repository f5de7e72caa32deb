"""What conditions come to, by HTCondor's own ClassAds."""

from __future__ import annotations

import pytest

from condor_pydagman.features.run_if.adapters.evaluation import FALSE, TRUE, UNKNOWN, evaluate

AD = '[Parents=[n0=[n=5;s="x";ExitCode=0;Outcome="DONE"];n1=[Outcome="FUTILE"];];Done=1;Total=2;]'


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("Parents.n0.n > 3", TRUE),
        ('Parents.n0.s == "X"', TRUE),  # as all of HTCondor compares texts
        ('Parents.n0.s =?= "X"', FALSE),
        ('Parents.n1.Outcome == "DONE" || Done + 1 == Total', TRUE),
        ("isUndefined(Parents.n1.n)", TRUE),
        ("Parents.n1.n > 3", UNKNOWN),
        ("Parents.n1.n =?= 3", FALSE),
        ("Parents.n7.n > 3", UNKNOWN),
        ("1", UNKNOWN),
        ("error", UNKNOWN),
        ('"true"', UNKNOWN),
        ("true // a remark", TRUE),
        ("] ; x = [", UNKNOWN),
    ],
)
def test_values(expression: str, value: int) -> None:
    assert evaluate(expression, AD, ())[0] == value


def test_by_which_values() -> None:
    shown = [("Parents.A.n", "Parents.n0.n"), ("Parents.B.x", "Parents.n1.x"), ("Done", "Done")]
    assert evaluate("Parents.n0.n > 3", AD, shown) == (
        TRUE,
        "Parents.A.n is 5, Parents.B.x is undefined, Done is 1",
    )
    assert evaluate("Done", AD, shown[2:]) == (UNKNOWN, "it is 1, not true or false; Done is 1")


def test_numbers_that_are_none() -> None:
    """They are in no relation to any number, and are shown as PUBLISH has them."""
    ad = '[n = real("NaN"); l = {1, real("-INF")}; big = real("INF")]'
    assert evaluate("n < 1 || n >= 1", ad, [("A.n", "n")]) == (FALSE, 'A.n is real("NaN")')
    assert evaluate("big > 1e300", ad, [("A.l", "l")]) == (TRUE, 'A.l is {1,real("-INF")}')
    assert evaluate("n", ad, ()) == (UNKNOWN, 'it is real("NaN"), not true or false')


@pytest.mark.parametrize("more", ["", " || false" * 100])
def test_an_expression_comes_to_something_else_in_another_ad(more: str) -> None:
    expression, shown = f"Parents.n0.n > 3{more}", [("Parents.A.n", "Parents.n0.n")]
    other = AD.replace("n=5", "n=2")
    for _ in range(2):
        assert evaluate(expression, AD, shown) == (TRUE, "Parents.A.n is 5")
        assert evaluate(expression, other, shown) == (FALSE, "Parents.A.n is 2")

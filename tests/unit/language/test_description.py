"""What a text says of a submit description."""

from __future__ import annotations

import re

import htcondor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.language.description import SET, SPECIAL, SubmitDescription, expand, statements
from condor_pydagman.lint.value_rules import KEYWORDS


def test_values_and_references() -> None:
    text = "# c\nExecutable = a \\\n  $(b)\n+x = $(c:1)\nqueue 3\nignored = $(d)\n"
    read = SubmitDescription(text)
    assert [one.line for one in statements(text)] == [1, 2, 4, 5, 6]
    assert read.values == {"executable": "a $(b)", "+x": "$(c:1)"}
    assert (read.needed, read.mentioned) == (("b",), {"b", "c"})
    assert read.is_plain


@pytest.mark.parametrize(
    "text",
    ["include : f", "if a\nendif", "use template : x", "x @=end\n1\n@end", "$(a) = 1", "junk"],
)
def test_more_than_it_understands(text: str) -> None:
    assert not SubmitDescription(text + "\n").is_plain


def test_names_that_the_queue_statement_sets() -> None:
    assert {"a", "b"} <= SubmitDescription("queue 2 a, b from list").variables
    assert not SubmitDescription("queue x matching *.dat").is_plain
    assert SubmitDescription("iterate a from table(csv) t.csv").variables >= {"a"}
    assert not SubmitDescription("queue from table t.csv").is_plain  # who knows its columns?
    assert SubmitDescription("iter = 3\nqueue $(iter)").values == {"iter": "3"}


def test_names_in_functions() -> None:
    read = SubmitDescription("m = $(A) $INT(b,%d) $Fx(c) plain $$(d)")
    assert read.mentioned >= {"a", "b", "c"}


def test_expanding() -> None:
    values = {"a": "$(b)x", "b": "1", "loop": "$(loop)"}
    assert expand("$(a).$(c:2)", values.get) == "1x.2"
    assert expand("$(gone)", values.get) is None
    assert expand("$(loop)", values.get) is None
    assert expand("$(none:3)$(none:)$(a)", {"none": "", "a": "1"}.get) == "31"
    assert expand("$( a )", values.get) is None  # HTCondor takes it for none
    assert expand("$INT(b)", values.get) is None
    assert expand("plain", values.get) == "plain"
    asked = iter(["x" * 10_000] * 2)
    assert expand("$(a)" * 3, lambda _: next(asked)) is None  # and no more is asked for


# Against HTCondor's bindings.

NAMES = ("a", "b", "c", "cluster", "Process", "row", "JobId", "DOLLAR", "item", "IsLinux", "none")
TOKENS = (
    *(f"$({name})" for name in NAMES),
    *(f"$({name}:5)" for name in NAMES),
    *("$(none:", "$(b:", ")", "(", "$INT(a)", "$F(b)", "$(Request_CPUs:2)", "$$(Arch)", "$"),
    *("1", "x.y/z", "-", ",", ":", " ", "_", "\u00e9", "$ENV(NONE:3)", "$CHOICE(a,b,c)"),
)
VALUES = st.lists(st.sampled_from(TOKENS), max_size=6).map("".join).map(str.strip)


@given(VALUES, VALUES, VALUES, st.sampled_from(NAMES), VALUES)
def test_what_is_expanded_is_what_htcondor_makes_of_it(
    b: str, c: str, value: str, name: str, set_to: str
) -> None:
    """Each macro is made of those before it, as the bindings end at none that stands for itself."""
    values = {"a": "7", "b": b.replace("$(b", "x"), "c": c.replace("$(c", "x")}
    values[name.lower()] = re.sub(r"\$.*", "9", set_to)
    found = expand(value, values.get)
    if found is not None:
        lines = "".join(f"{key} = {text}\n" for key, text in values.items())
        submit = htcondor2.Submit(f"executable = j\n{lines}value = <{value}>\nqueue\n")
        assert submit.expand("value") == f"<{found}>"


def test_the_default_of_a_macro_that_htcondor_sets_counts_for_nothing() -> None:
    """As far as the bindings tell before the submission; the pool tests ask condor_submit."""
    names = sorted(SET | SPECIAL | KEYWORDS)
    lines = "".join(f"value{n} = <$({name}:x)>\n" for n, name in enumerate(names))
    submit = htcondor2.Submit(f"executable = j\n{lines}queue\n")
    found = {name for n, name in enumerate(names) if submit.expand(f"value{n}") != "<x>"}
    assert found - {"executable"} <= SET
    assert {"cluster", "process", "row", "request_cpus", "spool"} <= found
    assert all(expand(f"$({name}:x)", {}.get) is None for name in found & SET)
    assert all(expand(f"$({name}:x)", {name: ""}.get) == "x" for name in found & SET)

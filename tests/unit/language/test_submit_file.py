"""The simple reader of submit descriptions."""

from __future__ import annotations

import pytest

from condor_pydagman.language.submit_file import expand, mentioned, parse


def test_values_and_references() -> None:
    read = parse("# c\nExecutable = a \\\n  $(b)\n+x = $(c:1)\nqueue 3\nignored = $(d)\n")
    assert read.values == {"executable": "a $(b)", "+x": "$(c:1)"}
    assert read.needed == ("b",)
    assert read.mentioned == {"b", "c"}
    assert read.plain


@pytest.mark.parametrize(
    "text",
    ["include : f", "if a\nendif", "use template : x", "x @=end\n1\n@end", "$(a) = 1", "junk"],
)
def test_more_than_it_understands(text: str) -> None:
    assert not parse(text + "\n").plain


def test_names_that_the_queue_statement_sets() -> None:
    assert {"a", "b"} <= parse("queue 2 a, b from list").loops
    assert not parse("queue x matching *.dat").plain
    assert parse("iterate a from table(csv) t.csv").loops >= {"a"}
    assert not parse("queue from table(header csv) t.csv").plain  # who knows its columns?
    assert parse("iter = 3\nqueue $(iter)").values == {"iter": "3"}


def test_names_in_functions() -> None:
    assert mentioned("$(A) $INT(b,%d) $Fx(c) plain $$(d)") >= {"a", "b", "c"}


def test_expanding() -> None:
    values = {"a": "$(b)x", "b": "1", "loop": "$(loop)"}
    assert expand("$(a).$(c:2)", values.get) == "1x.2"
    assert expand("$(gone)", values.get) is None
    assert expand("$(loop)", values.get) is None
    assert expand("$(none:3)$(none:)$(a)", {"none": "", "a": "1"}.get) == "31"
    assert expand("$( a )", values.get) is None  # HTCondor takes it for none
    assert expand("$INT(b)", values.get) is None
    assert expand("plain", values.get) == "plain"

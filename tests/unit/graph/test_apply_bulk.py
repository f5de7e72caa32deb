"""Runs of simple lines mean what the same lines mean one by one, whatever stands around them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.unit.graph.texts import NO_BULK, outcome

BLANKS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t "])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\t\r\n", "\n\n", "\n# no\n"])
SPLICE = 'JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nVARS A x="s"\nPARENT A CHILD A2\nJOB A2 a\n'
INCLUDE = 'PARENT A CHILD D\nVARS B x="i"\nJOB I i.sub\nPARENT I CHILD B\n'
OTHERS = {"s.dag": SPLICE, "i.dag": INCLUDE}
JOBS = "".join(f"JOB {name} a.sub\n" for name in "ABCD")


known = st.sampled_from(["A", "B", "C", "D"])
strange = st.sampled_from(
    [
        *("Z", "S", "S+A", "S+Z", "0.A", "child", "CHILD", "PARENT", "parents", "ALL_NODES"),
        *("A CHILD", "CHILD A"),
        *("all-nodes", "ALL_NODE", "F", "a'b", '"A"', "é", "n%1", "A,B", "$(A)", "+A", "A/b"),
    ]
)
files = st.sampled_from(["a.sub", "b.sub", "c.condor.sub", "dir/x.sub", "{", "@=END", "x=1", "é"])
values = st.sampled_from(["", "1", "a b", "it's", "a=b", "[x]", r"\"q\"", r"a\\b", "é", "\t", "{}"])
keys = st.sampled_from(["x", "y", "Z", "_u", "n1"])
strange_keys = st.sampled_from(["queue", "Queues", "q", "+x", "My.x", "x.y", "1x", "APPEND", "é"])


def pair(key: st.SearchStrategy[str], quote: str = '"') -> st.SearchStrategy[str]:
    return st.builds("{}={}{}{}".format, key, st.just(quote), values, st.just(quote))


def line(*words: object) -> st.SearchStrategy[str]:
    """Words with blanks between them; a word may be a strategy of one or of several."""
    parts = [word if isinstance(word, st.SearchStrategy) else st.just(word) for word in words]
    return st.tuples(*parts).flatmap(_spaced)


def _spaced(words: tuple[object, ...]) -> st.SearchStrategy[str]:
    flat = [one for word in words for one in (word if isinstance(word, list) else [word])]
    blanks = st.lists(BLANKS, min_size=len(flat), max_size=len(flat))
    return blanks.map(
        lambda between: "".join(f"{b}{w}" for b, w in zip(between, flat))[len(between[0]) :]
    )


def some(of: st.SearchStrategy[str], most: int = 3) -> st.SearchStrategy[list[str]]:
    return st.lists(of, min_size=1, max_size=most)


def lines_naming(
    node: st.SearchStrategy[str], key: st.SearchStrategy[str]
) -> list[st.SearchStrategy[str]]:
    return [
        line("VARS", node, some(pair(key))),
        line("PARENT", node, "CHILD", some(node)),
        line("PARENT", some(node), "CHILD", some(node)),
        line("RETRY", node, st.sampled_from(["1", "2"])),
        line("SCRIPT", st.sampled_from(["PRE", "POST"]), node, "s.sh"),
    ]


new_names = st.sampled_from(["E", "F", "G", "H", "n.1"])
good = st.one_of(
    line("JOB", new_names, "a.sub"),
    *lines_naming(known, keys),
)
odd = st.one_of(
    line("JOB", st.one_of(known, new_names, strange), files),
    line("job", new_names, "a.sub"),
    line("JOB", new_names, "a.sub", st.sampled_from(["DONE", "NOOP", "x"])),
    *lines_naming(st.one_of(known, strange), st.one_of(keys, strange_keys)),
    line("VARS", known, "APPEND", pair(keys)),
    line("VARS", known, pair(keys, "'")),
    st.builds('VARS {} x="{}"{}y="2"'.format, known, values, st.sampled_from(["", "\r", ","])),
    line("PARENT", known, "CHILD", known, "CHILD", known),
    line("PARENT", known, "child", known),
    line("WEAK", "PARENT", known, "CHILD", known),
    line("VARS", "ALL_NODES", pair(keys)),
    line("FINAL", "F", "a.sub"),
    line("SPLICE", st.sampled_from(["S", "A", "E"]), st.sampled_from(["s.dag", "none.dag"])),
    line("INCLUDE", "i.dag"),
    line("PARENT", known, "\\\n  CHILD", known),
    st.sampled_from(["FOO", "RETRY A", "VARS A", "JOB", "PARENT A B", "  ", "// no", "{", "}"]),
)


def text_of(lines: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    ended = st.builds("{}{}".format, lines, ENDS)
    return st.builds(
        lambda before, rest, bare: (before + "".join(rest)).rstrip("\n" if bare else ""),
        st.sampled_from([JOBS, JOBS, ""]),
        st.lists(ended, max_size=12),
        st.booleans(),
    )


def same_in_bulk(texts: dict[str, str], names: list[str], **options: Any) -> None:
    found = [outcome(texts, names, shortest=n, **options) for n in (NO_BULK, 1, 2, 3)]
    for one in found:
        if "errors" in one and len(names) > 1:
            # What was applied of the first file before its error may be warned of in the second.
            del one["warnings"]
    assert found[1:] == found[:1] * 3


@settings(deadline=None)
@given(text_of(good), st.sampled_from([{}, {"default_append_vars": True}]))
def test_good_lines_in_any_order(text: str, options: dict[str, object]) -> None:
    same_in_bulk({"x.dag": text, **OTHERS}, ["x.dag"], **options)


@settings(deadline=None)
@given(text_of(st.one_of(good, odd)), st.integers(0, 3), st.booleans())
@example(JOBS + 'VARS A x="1"y="2"\n', 1, False)
@example(JOBS + 'VARS A x="1"\nVARS A x="2"\n', 3, False)
@example(JOBS + "PARENT A CHILD B CHILD C\n\n# no\nPARENT B CHILD Z\n", 1, False)
def test_odd_lines_among_them(text: str, strict: int, joins: bool) -> None:
    same_in_bulk({"x.dag": text, **OTHERS}, ["x.dag"], strict=strict, use_join_nodes=joins)


@settings(deadline=None)
@given(text_of(good), text_of(st.one_of(good, odd)), st.booleans())
def test_in_several_files_and_splices(one: str, two: str, munge: bool) -> None:
    main = "SPLICE T dir/t.dag DIR dir\nJOB A a.sub\n" + one + "\nSPLICE U two.dag\n"
    texts = {"main.dag": main, "two.dag": two, "dir/dir/t.dag": two, **OTHERS}
    same_in_bulk(texts, ["main.dag", "two.dag"], munge_node_names=munge)
    same_in_bulk(texts, ["two.dag", "main.dag"], munge_node_names=munge, use_dag_dir=True)


@settings(deadline=None)
@given(
    text_of(st.one_of(good, odd)), st.frozensets(st.integers(1, 20)), st.sampled_from([1, 2, 99])
)
def test_wherever_a_block_ends(text: str, cuts: frozenset[int], shortest: int) -> None:
    texts = {"x.dag": text, **OTHERS}
    whole = outcome(texts, ["x.dag"])
    assert outcome(texts, ["x.dag"], cuts, shortest) == whole


@settings(deadline=None)
@given(text_of(st.one_of(good, odd)), st.sampled_from([1, NO_BULK]))
def test_a_file_read_again_and_again_is_as_good_as_copies_of_it(text: str, shortest: int) -> None:
    numbers = range(1, 6)
    copies = {f"two{n}.dag": text for n in numbers}
    copies["main.dag"] = "".join(f"SPLICE S{n} two{n}.dag\n" for n in numbers)
    same = {"two1.dag": text}
    same["main.dag"] = "".join(f"SPLICE S{n} two1.dag\n" for n in numbers)
    found = []
    for texts in (same, copies):
        result = outcome({**OTHERS, **texts}, ["main.dag"], shortest=shortest)
        if "errors" in result:  # one that is met again and again is told once
            result = {"errors": result["errors"][:1]}
        found.append(re.sub(r"two\d", "two", repr(result)))
    assert found[0] == found[1]


def test_a_child_that_is_missing_at_the_end_of_a_line() -> None:
    same_in_bulk({"x.dag": JOBS + "PARENT A CHILD B CHILD\nPARENT B CHILD C\n"}, ["x.dag"])


def test_a_line_of_blanks_among_lines_that_are_not_as_simple_as_they_look() -> None:
    same_in_bulk({"x.dag": JOBS + "PARENT A CHILD B\n  \nPARENT A CHILD Z\n"}, ["x.dag"])


@pytest.mark.parametrize(
    "block",
    [
        "JOB B \\\nb.sub\n",
        "JOB B {\na = 1\nJOB X x\nb = 2\n} DONE\n",
        "JOB B @=JOB\nJOB X x\n@JOB\n",
    ],
)
def test_commands_of_several_lines_and_blocks(block: str) -> None:
    texts = {"x.dag": f"JOB A a.sub\n{block}JOB C c.sub\nPARENT A CHILD B C\n"}
    for cuts in (frozenset(range(1, 9)), frozenset({1}), frozenset({2}), frozenset({3, 4})):
        for shortest in (1, NO_BULK):
            found = outcome(texts, ["x.dag"], cuts, shortest)
            assert found == outcome(texts, ["x.dag"])
            assert found["names"] == ["A", "B", "C"]
            assert found["children"][0] == [1, 2]


def test_a_node_named_as_a_splice_inside_a_splice() -> None:
    files = {
        "x.dag": "SPLICE S s.dag\n",
        "s.dag": "SPLICE N9 t.dag\n" + "".join(f"JOB N{n} a.sub\n" for n in range(20)),
        "t.dag": "JOB X x.sub\n",
    }
    for shortest in (1, NO_BULK):
        result = outcome(files, ["x.dag"], shortest=shortest)
        assert "Node name N9 already associated with a splice" in repr(result["errors"])


def test_remarks_on_simple_lines_that_are_applied_one_by_one() -> None:
    lines = "".join(f"# {n}\nJOB N{n} a.sub\n" for n in range(20))
    same_in_bulk({"x.dag": lines + "RETRY ALL_NODES 3\nRETRY Z 1\n"}, ["x.dag"])

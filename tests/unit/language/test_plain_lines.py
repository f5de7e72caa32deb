"""Plain lines: what is found in them is what the regular expressions of `bulk` find."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condor_pydagman.language import bulk
from condor_pydagman.language.bulk import SimpleLines

NAMES = st.sampled_from(["A", "n1", "Child", "childish", "PARENT", "all_nodes", "x.y-z", "é", ""])
FILES = st.sampled_from(["a.sub", "d/b", "c.condor.sub", "x=1", "", "a b", "a\tb"])
PAIRS = st.sampled_from(['x="1"', '+y="a b"', 'q="1"', 'z=""', 'x="PARENT"', "x=1", ""])
BLANKS = st.sampled_from([" ", " ", " ", " ", "  ", "\t"])
ENDS = st.sampled_from(["", "", "", " ", "\r"])


def spaced(*words: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.tuples(*(st.tuples(word, BLANKS) for word in words))
    line = parts.map(lambda found: "".join(word + blank for word, blank in found)[:-1])
    return st.builds("{}{}".format, line, ENDS)


JOB = spaced(st.just("JOB"), NAMES, FILES)
VARS = spaced(st.just("VARS"), NAMES, PAIRS, PAIRS)
PARENT = spaced(st.just("PARENT"), NAMES, st.just("CHILD"), NAMES, NAMES)
RETRY = spaced(st.just("RETRY"), NAMES, st.sampled_from(["1", "22"]))
POST = spaced(st.just("SCRIPT POST"), NAMES, st.just("x.sh"), NAMES)
GOOD = {
    "JOB": "JOB A a.sub",
    "VARS": 'VARS A x="1" +y="a b"',
    "PARENT": "PARENT A CHILD B C",
    "RETRY": "RETRY A 3",
    "SCRIPT POST": "SCRIPT POST A x.sh $JOB",
}


def text_of(lines: list[str]) -> str:
    return "".join(f"\n{line}" for line in lines)


def searched(kind: str, text: str) -> list[tuple[str, str]]:
    """What the pattern for all of Unicode finds, with single blanks between children."""
    rows = bulk._pattern(kind, ascii=False).findall(text)
    return [(node, " ".join(rest.split()) if kind == "PARENT" else rest) for node, rest in rows]


def rows_of(edges: bulk.Edges) -> list[tuple[str, str]]:
    return list(zip(edges.parents, map(" ".join, zip(*edges.children))))


@given(st.lists(JOB, min_size=1, max_size=4))
@example(["JOB A", "JOB B b c"])
@example(["JOB A a", "JOB B b "])
def test_jobs(lines: list[str]) -> None:
    text = text_of(lines)
    found = bulk.jobs(text, len(lines))
    if found is not None:
        assert list(zip(*found)) == searched("JOB", text)
        assert len(found[0]) == len(lines)


@given(st.lists(PARENT, min_size=1, max_size=4))
@example(["PARENT A CHILD B", "PARENT A CHILD CHILD"])
@example(["PARENT child CHILD B"])
@example(["PARENT A B CHILD C"])
def test_edges(lines: list[str]) -> None:
    text = text_of(lines)
    found = bulk.edges(text, len(lines))
    if found is not None:
        assert rows_of(found) == searched("PARENT", text)
        assert len(found.parents) == len(lines)


@given(st.lists(VARS, min_size=1, max_size=4))
def test_variables(lines: list[str]) -> None:
    text = text_of(lines)
    found = bulk.variables(text, len(lines))
    if found is not None:
        assert found == searched("VARS", text)
        assert len(found) == len(lines)


@pytest.mark.parametrize("number", [1, 2, 1000])
def test_lines_as_programs_write_them_are_plain(number: int) -> None:
    jobs = bulk.jobs(text_of([GOOD["JOB"]] * number), number)
    assert jobs == (["A"] * number, ["a.sub"] * number)
    edges = bulk.edges(text_of([GOOD["PARENT"]] * number), number)
    assert edges == (["A"] * number, [["B"] * number, ["C"] * number])
    variables = bulk.variables(text_of([GOOD["VARS"]] * number), number)
    assert variables == [("A", 'x="1" +y="a b"')] * number


@pytest.mark.parametrize(
    "line", ["JOB A", "JOB A a b", "JOB A a.condor.sub", "JOB child a", "JOB A a\r", "FOO A a"]
)
def test_other_lines_among_jobs(line: str) -> None:
    assert bulk.jobs(text_of([GOOD["JOB"], line]), 2) is None
    assert bulk.jobs(text_of([line, GOOD["JOB"]]), 2) is None


def test_many_children_are_left_to_others() -> None:
    line = "PARENT A CHILD" + " B" * bulk.MAX_CHILDREN
    assert bulk.edges(text_of([line]), 1) is not None
    assert bulk.edges(text_of([line + " C"]), 1) is None


@given(
    st.lists(
        st.sampled_from([*GOOD, "JOB", "# no", ""]).map(lambda kind: GOOD.get(kind, kind)),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 5),
    st.lists(st.one_of(JOB, VARS, PARENT, RETRY, POST), max_size=2),
)
@example([GOOD["JOB"], GOOD["VARS"], GOOD["PARENT"]], 4, [])
@example([GOOD["JOB"], GOOD["VARS"], GOOD["VARS"]], 4, [])
@example([GOOD["VARS"], GOOD["JOB"]], 3, [GOOD["VARS"]])
@example([GOOD["VARS"], GOOD["JOB"]], 3, [GOOD["VARS"], GOOD["VARS"]])
def test_kinds_in_turn_are_found_as_by_a_search(
    lines: list[str], times: int, more: list[str]
) -> None:
    text = text_of([*lines * times, *more]) + "\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "MIN_LINES", 1)
        simple = bulk.find_lines(text, 1, 1)
        odd = bulk.find_lines(text, 1, 1, odd=True)
    assert (simple is None) == (odd is None)
    if simple is None or odd is None:
        return
    again = bulk.lines_found_before(text, 1, (1, simple.lines, len(simple.text)))
    for one in (simple, odd, again):
        compare(one, simple.text)


def compare(simple: SimpleLines, text: str) -> None:
    assert simple.text == text
    for kind in bulk.KINDS:
        rows = [(node, " ".join(rest.split())) for node, rest in searched(kind, text)]
        assert [(node, " ".join(rest.split())) for node, rest in simple.rows(kind)] == rows
        assert simple.has(kind) == bool(rows)
    edges = simple.edges()
    if edges is not None:
        assert rows_of(edges) == searched("PARENT", text)
    for numbers, word in ((simple.numbers(kind), kind) for kind in ("JOB", "PARENT")):
        expected = [n for n, line in simple.numbered() if line.startswith(word)]
        assert list(numbers) == expected

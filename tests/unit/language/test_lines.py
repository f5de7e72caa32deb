"""Logical lines, their places, and the blocks they come in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.language import bulk
from condor_pydagman.language import lines as module
from condor_pydagman.language.lines import Lines, in_blocks


def of(text: str) -> Lines:
    return Lines(in_blocks(text))


def logical(blocks: Iterable[str]) -> list[tuple[int, str]]:
    lines = Lines(blocks)
    return [(lines.number, line) for line in iter(lines.logical, None) if line is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a", [(1, "a")]),
        (" \t a b\t\n", [(1, "a b")]),
        ("# x\n// y\n\n a\r\n", [(4, "a")]),
        ("a # b", [(1, "a # b")]),
        ("/ a\n/", [(1, "/ a"), (2, "/")]),
        ("a \\\nb\nc", [(2, "a  b"), (3, "c")]),
        ("a\\\n\n# \\\n  b", [(4, "a b")]),
        ("a\\ \r\n\tb", [(2, "a b")]),
        ("a\nb\\", [(1, "a")]),
        ("a\\\n# end", []),
        ("\\\na", [(2, "a")]),
        ("a\\\n\\\n\\\nb\\\n\\\nc", [(6, "a b c")]),
        ("\f a \v", [(1, "a")]),
        ("a\\\\\nb", [(2, "a\\ b")]),
        ("\x85\u2028a", [(1, "\x85\u2028a")]),
    ],
)
def test_logical_lines(text: str, expected: list[tuple[int, str]]) -> None:
    assert logical([text]) == expected


def test_a_million_continued_lines_are_one() -> None:
    ((number, line),) = logical(in_blocks("a\\\n" * 1_000_000 + "b"))
    assert number == 1_000_001
    assert line.endswith("a a b")


def test_description_ends_at_its_word_and_drops_comments() -> None:
    lines = of("JOB A {\n x = \\\n\n#c\n}x\n  } DIR d\nrest")
    assert lines.logical() == "JOB A {"
    assert lines.description("}") == ("x = \\\n}x", "} DIR d")
    assert lines.number == 6
    assert lines.logical() == "rest"
    assert lines.logical() is None


def test_description_without_end() -> None:
    assert of("x\n}\tDIR").description("}") is None


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("\n\t a b\n", 2, (2, "\t a b", 4)),
        ("a \\\n\n  b \\\n c ", 0, (1, "a \\", 0)),
        ("a \\\n\n  b \\\n c ", 2, (1, "a \\", 2)),
        ("a \\\n\n  b \\\n c ", 3, (3, "  b \\", 2)),
        ("a \\\n\n  b \\\n c ", 6, (4, " c ", 1)),
        ("a \\\n\n  b \\\n c ", 7, (4, " c ", 2)),
        ("a", 99, (1, "a", 1)),
    ],
)
@pytest.mark.parametrize("per_line", [True, False])
def test_columns_are_found_again_in_the_text(
    text: str, column: int, expected: object, per_line: bool
) -> None:
    lines = Lines(text.splitlines(keepends=True) if per_line else [text])
    lines.logical()
    assert lines.where(column) == expected


def test_columns_after_a_description() -> None:
    lines = of("JOB A \\\n {\nx\n  } DIR d")
    assert lines.logical() == "JOB A  {"
    lines.description("}")
    assert lines.where(2) == (4, "  } DIR d", 4)


def test_columns_after_a_description_that_does_not_end() -> None:
    lines = of("JOB A {\nx\n")
    lines.logical()
    assert lines.description("}") is None
    assert lines.where(6) == (1, "JOB A {", 6)


def test_very_many_pieces_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PIECES", 3)
    lines = of("".join(f"{number} \\\n" for number in range(1, 10)) + "end")
    line = lines.logical()
    assert line is not None
    assert lines.where(0).number == 1
    assert lines.where(len(line) - 1).number == 10


def test_a_cut_off_command_is_told() -> None:
    lines = of("a\nb \\\n c \\\n#")
    assert (list(iter(lines.logical, None)), lines.cut_off) == (["a"], 2)
    assert of("a\nb").cut_off == 0


def test_the_first_line_of_a_command_and_whether_there_are_more() -> None:
    lines = of(" a \\\nb\nc\n")
    lines.logical()
    assert (lines.opening, lines.continued) == (" a \\", True)
    lines.logical()
    assert (lines.opening, lines.continued) == ("c", False)


pieces = st.sampled_from(
    ["a", " b\t", "c \\", "\\", "# x", "//", "", " ", "d\r", "}", "} x", "#\\"]
)


def texts(of: st.SearchStrategy[str] = pieces) -> st.SearchStrategy[str]:
    return st.builds(
        lambda found, end: "\n".join(found) + end,
        st.lists(of, max_size=12),
        st.sampled_from(["", "\n"]),
    )


def cut(text: str, sizes: list[int]) -> Iterable[str]:
    """The text in blocks of so many lines, empty ones among them."""
    whole = text.splitlines(keepends=True)
    for size in sizes:
        yield "".join(whole[:size])
        whole = whole[size:]
    yield "".join(whole)


@given(texts(), st.lists(st.integers(0, 3), max_size=8))
def test_lines_do_not_depend_on_blocks(text: str, sizes: list[int]) -> None:
    whole, parts = Lines([text]), Lines(cut(text, sizes))
    while True:
        line = whole.logical()
        assert parts.logical() == line
        assert (parts.number, parts.cut_off, parts.opening, parts.continued) == (
            whole.number,
            whole.cut_off,
            whole.opening,
            whole.continued,
        )
        if line is None:
            break
        assert [parts.where(n) for n in range(len(line))] == [
            whole.where(n) for n in range(len(line))
        ]


@given(texts(), st.lists(st.integers(0, 3), max_size=8))
def test_descriptions_do_not_depend_on_blocks(text: str, sizes: list[int]) -> None:
    whole, parts = Lines([text]), Lines(cut(text, sizes))
    assert whole.logical() == parts.logical()
    assert whole.description("}") == parts.description("}")
    assert (whole.number, whole.logical()) == (parts.number, parts.logical())


@given(st.text(alphabet="a#/\\ \r\n{}"))
def test_line_numbers_grow_and_stay_in_the_file(text: str) -> None:
    numbers = [number for number, _ in logical([text])]
    assert numbers == sorted(set(numbers))
    assert all(1 <= number <= text.count("\n") + 1 for number in numbers)


@given(st.text(alphabet="ab\n\r\u2028", max_size=60), st.integers(1, 9))
def test_blocks_end_at_line_feeds(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_LENGTH", size)
        blocks = list(in_blocks(text))
    assert "".join(blocks) == text
    assert all(block.endswith("\n") for block in blocks[:-1])
    assert all(blocks)
    assert all(len(block.rstrip("\n").rpartition("\n")[0]) <= size for block in blocks)


def test_a_nul_is_told_with_its_block() -> None:
    lines = Lines(["a\nb\n", "c\nd\0e\n\0\n", "e\0"])
    assert [lines.logical(), lines.nul] == ["a", None]
    assert [lines.logical(), lines.nul] == ["b", None]
    lines.logical()
    assert lines.nul == (4, "d\0e", 1)
    assert list(iter(lines.logical, None))[-1] == "e\0"
    assert lines.nul == (4, "d\0e", 1)
    lines = of("a\0")
    lines.logical()
    assert lines.nul == (1, "a\0", 1)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("short\n" + "x" * 11 + "\nmore\n", 2),
        ("short\n" + "x\\\n" * 11 + "y\nmore\n", 0),
        ("short\n" + "x" * 11, 2),
    ],
)
def test_a_command_can_be_too_long(text: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COMMAND_LENGTH", 10)
    lines = of(text)
    assert lines.logical() == "short"
    assert lines.logical() is None
    assert lines.too_long == number or (not number and 5 < lines.too_long <= 8)
    assert lines.cut_off == 0


def simple_text(count: int) -> str:
    return "".join(f"JOB n{number} x\n" for number in range(count))


def test_simple_lines_are_read_over_as_single_lines_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MIN_LINES", 2)
    lines = Lines([simple_text(5) + "FOO\n", simple_text(3), "JOB x"])
    taken = []
    found: list[object] = []
    while True:
        simple = lines.simple_lines()
        if simple is not None:
            taken.append((simple.line, simple.lines))
            found.append(lines.number)
            continue
        line = lines.logical()
        if line is None:
            break
        found.append((lines.number, line))
    assert taken == [(1, 5), (7, 3)]
    assert found == [5, (6, "FOO"), 9, (10, "JOB x")]


def test_few_simple_lines_are_not_read_in_bulk() -> None:
    assert Lines([simple_text(bulk.MIN_LINES - 1)]).simple_lines() is None
    assert Lines([simple_text(bulk.MIN_LINES)]).simple_lines() is not None
    assert Lines([]).simple_lines() is None
    assert Lines(["", "\n"]).simple_lines() is None


def test_where_few_simple_lines_follow_each_other_they_are_looked_for_less_often() -> None:
    text = ("FOO\n" + simple_text(3)) * 2000 + simple_text(4000)
    lines, looked = Lines([text]), 0
    with pytest.MonkeyPatch.context() as patch:
        find_lines = bulk.find_lines

        def counting(block: str, begin: int, line: int, *, odd: bool) -> bulk.SimpleLines | None:
            nonlocal looked
            looked += 1
            return find_lines(block, begin, line, odd=odd)

        patch.setattr(bulk, "find_lines", counting)
        simple = lines.simple_lines()
        while simple is None and lines.logical() is not None:
            simple = lines.simple_lines()
    assert simple is not None
    assert looked < 20


def test_simple_lines_that_are_known_are_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_SEARCH_GAP", 0)
    blocks = [
        "RETRY a 1 x\n" + simple_text(20) + "FOO\n" + simple_text(30),
        "FOO\n" + simple_text(20),
    ]

    def taken_from(lines: Lines) -> list[tuple[int, int, int]]:
        taken = []
        while True:
            simple = lines.simple_lines()
            if simple is not None:
                taken.append((simple.line, simple.lines, len(simple.text)))
            elif lines.logical() is None:
                return taken

    first = Lines(blocks)
    taken = taken_from(first)
    assert [(line, lines) for line, lines, _ in taken] == [(2, 20), (23, 30), (54, 20)]
    again = Lines(blocks, deque(taken))
    assert taken_from(again) == taken
    assert again.number == first.number == 73


def test_odd_lines_among_many_simple_ones_cost_little_each() -> None:
    lines, searched = Lines([(simple_text(100) + "FOO\n") * 500]), 0
    with pytest.MonkeyPatch.context() as patch:
        whole = bulk._whole

        def counting(text: str, line: int) -> bulk.SimpleLines | None:
            nonlocal searched
            searched += len(text)
            return whole(text, line)

        patch.setattr(bulk, "_whole", counting)
        while lines.simple_lines() is not None or lines.logical() is not None:
            pass
    assert searched < 4 * len(lines.block)

"""Text of unknown origin in messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.errors import DagFileError
from condor_pydagman.printable import MAX_MESSAGE_CHARS, escaped_line, message, printable


def test_a_long_message_is_cut() -> None:
    assert message("x" * 5000) == "x" * MAX_MESSAGE_CHARS + "..."
    assert message("x\ny\u00e9") == "x\\x0ay\u00e9"


@given(st.text())
def test_whatever_comes_is_printable(text: str) -> None:
    assert printable(text).isprintable()


@given(st.text())
def test_whatever_comes_is_one_line(text: str) -> None:
    assert len(escaped_line(text).splitlines()) <= 1
    assert escaped_line(escaped_line(text)) == escaped_line(text)


def test_a_file_name_can_be_anything() -> None:
    error = DagFileError("m", file="o\udcff\x1b" + "x" * 5000, line=1, column=1)
    assert str(error).isprintable()
    assert len(error.detail()) < 3000

"""Text in pictures."""

from __future__ import annotations

from xml.dom import minidom

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.picture import text


@given(st.text(st.characters()))
def test_any_text_can_stand_in_xml(name: str) -> None:
    safe = text.escaped(text.plain(name))
    found = minidom.parseString(f'<a b="{safe}">{safe}</a>'.encode()).documentElement
    assert found is not None
    assert found.getAttribute("b") == text.plain(name)


@given(st.text(), st.integers(5, 20))
def test_shortened_text_is_short(name: str, most: int) -> None:
    assert len(text.shortened(name, most)) <= most


def test_both_ends_of_a_long_name_are_kept() -> None:
    assert text.shortened("abcdefghijklmnopqrstuvwxyz", 9) == "abcd…wxyz"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert text.plain("a\udcff\x00b") == "a\\xff\\x00b"


@pytest.mark.parametrize(("narrow", "wide"), [("iii", "nnn"), ("nnn", "MMM"), ("nnn", "日本語")])
def test_widths_differ(narrow: str, wide: str) -> None:
    assert text.width(narrow, 12) < text.width(wide, 12)


def test_numbers_are_grouped() -> None:
    assert text.number(1234567) == "1,234,567"

"""Colours of pictures: readable in light and dark."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.shown_states import LOOKS, MIXED, Shown
from condor_pydagman.picture import style
from condor_pydagman.picture.sketch import Edge


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    colour = colour.lstrip("#")
    if len(colour) == 3:
        colour = "".join(digit * 2 for digit in colour)
    parts = [int(colour[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("state", Shown)
def test_text_is_readable_in_light_and_dark(state: Shown) -> None:
    paint = LOOKS[state].paint
    assert contrast(style.INK, paint.body) > 7
    assert contrast(style.DARK_INK, paint.dark_body) > 7


def test_every_kind_of_edge_but_the_plain_one_has_dashes_of_its_own() -> None:
    assert {edge.look for edge in Edge} - {""} == set(style.DASHES)
    assert len(set(style.DASHES.values())) == len(style.DASHES)


def test_both_style_sheets_have_all_states() -> None:
    for sheet in (style.css(), style.dark_css(".dark")):
        assert all(f".s-{look.key} .body" in sheet for look in LOOKS.values())
        assert ".s-mixed .body" in sheet
    assert LOOKS[Shown.DONE].paint.strong in style.css()
    assert MIXED.dark_strong in style.dark_css(".dark")

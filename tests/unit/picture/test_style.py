"""Colours: readable, different, each with a sign."""

from __future__ import annotations

from itertools import combinations

import pytest

from condor_pydagman.picture import style
from condor_pydagman.picture.states import State


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


@pytest.mark.parametrize("state", State)
def test_text_is_readable_in_light_and_dark(state: State) -> None:
    paint = style.PAINTS[state]
    assert contrast(style.INK, paint.body) > 7
    assert contrast(style.DARK_INK, paint.dark_body) > 7


def test_every_state_has_a_sign_and_a_class_of_its_own() -> None:
    assert len(set(style.SIGNS.values())) == len(State)
    assert len({style.class_of(state) for state in (*State, None)}) == len(State) + 1


def test_colours_differ() -> None:
    for one, other in combinations(style.PAINTS.values(), 2):
        assert one.strong != other.strong

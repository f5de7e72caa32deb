"""Charts are SVG whose bars are as long as the numbers say."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks import bars

SVG = "{http://www.w3.org/2000/svg}"


def drawn(values: list[float], logarithmic: bool = False) -> ElementTree.Element:
    group = bars.Group("some <label> & more", [bars.Bar("#123456", v, f"{v}") for v in values])
    text = bars.draw("Title", "note", [group], [("#abcdef", "one")], logarithmic=logarithmic)
    return ElementTree.fromstring(text)


def lengths(svg: ElementTree.Element) -> list[float]:
    found = [one for one in svg.iter(f"{SVG}rect") if one.get("fill") == "#123456"]
    return [float(one.get("width", "")) for one in found]


def test_bars_are_in_proportion() -> None:
    whole = bars.WIDTH - bars.LEFT - bars.RIGHT
    assert lengths(drawn([10.0, 5.0, 2.5])) == [whole, whole / 2, whole / 4]


def test_a_decade_is_as_long_as_the_next_on_a_logarithmic_scale() -> None:
    one, two, three = lengths(drawn([10.0, 100.0, 1000.0], logarithmic=True))
    assert three - two == pytest.approx(two - one, abs=0.01)


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0], [-3.0, 4.0], [1.0], [1e-9, 1e9]])
def test_odd_numbers_make_a_chart_too(values: list[float], logarithmic: bool) -> None:
    svg = drawn(values, logarithmic)
    assert svg.tag == f"{SVG}svg"
    whole = bars.WIDTH - bars.LEFT - bars.RIGHT
    assert all(0 < length <= whole for length in lengths(svg))


def test_texts_are_all_there() -> None:
    texts = [one.text for one in drawn([1.0]).iter(f"{SVG}text")]
    assert {"Title", "note", "one", "some <label> & more", "1.0"} <= set(texts)


def test_ticks_are_round() -> None:
    assert bars.Scale([37.0], False).ticks() == [0.0, 10.0, 20.0, 30.0]
    assert bars.Scale([1.0], False).ticks() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert bars.Scale([3.0, 9937.0], True).ticks() == [1.0, 10.0, 100.0, 1000.0, 10000.0]


def test_nothing_lies_outside_the_picture() -> None:
    svg = drawn([1.0, 2.0, 3.0])
    height = float(svg.get("height", ""))
    for one in svg.iter(f"{SVG}text"):
        assert 0 <= float(one.get("x", "")) <= bars.WIDTH
        assert 0 <= float(one.get("y", "")) <= height


def test_a_legend_of_all_programs_has_room() -> None:
    names = ["bare loop", "bare loop, together", "stock", "stock, tuned", "ours", "ours, together"]
    group = bars.Group("group", [bars.Bar("#123456", 1.0, "1")])
    svg = ElementTree.fromstring(bars.draw("", "", [group], [("#abcdef", name) for name in names]))
    places = {one.text: float(one.get("x", "")) for one in svg.iter(f"{SVG}text")}
    for name in names:
        assert 0 < places[name] + 7.2 * len(name) < bars.WIDTH

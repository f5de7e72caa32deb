"""The style sheet of a report."""

from __future__ import annotations

from condor_pydagman.report.charts import NAMES
from condor_pydagman.report.style_sheet import STYLE


def test_every_part_of_a_chart_has_a_colour_in_light_and_dark() -> None:
    assert STYLE.count("{") == STYLE.count("}")
    for part in NAMES:
        assert f".{part} {{ fill: var(--{part})" in STYLE
        assert STYLE.count(f"--{part}: #") == 2

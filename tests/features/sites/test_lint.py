"""SITE_POLICY: what the checker finds."""

from __future__ import annotations

import pytest

from tests.unit.lint.paper import codes, found


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ("REQUIREMENTS TARGET.Grid == MY.Grid && target.x > 1.5", []),
        ('REQUIREMENTS TARGT.Grid == "a.b"', ["DAG414"]),
        ("RANK Site.Cpus + Site.Memory + Slot.Disk", ["DAG414", "DAG414"]),
        ("REMATCH_IF Load > 0.9 || TARGE.Load > 2", ["DAG414"]),
        ("ATTRIBUTE Data = [ size = 4 ]", []),
        ("REQUIREMENTS TARGET.Free > Data.size", ["DAG414"]),
        ("REQUIREMENTS TARGET.Free > Data.size\nSITE_POLICY g ATTRIBUTE Data = [ size = 4 ]", []),
    ],
)
def test_words_before_a_point_name_an_ad(policy: str, found: list[str]) -> None:
    assert codes(f"JOB A a.sub\nSITE_GROUP g NODES A\nSITE_POLICY g {policy}\n") == found


@pytest.mark.parametrize("group", ["g", "ALL_GROUPS"])
def test_the_line_of_a_site_policy(group: str) -> None:
    dag = "JOB A a.sub\nSITE_GROUP g NODES A\nSITE_POLICY g WAIT 5m\n"
    (finding,) = found(dag + f"SITE_POLICY {group} RANK TARGT.Cpus\n")
    assert finding.line == 4

"""The JSON form of events, and which of them somebody wants."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from condor_pydagman.follow.dag_events import NAMES, DagEvent, EventFilter


def test_an_event_is_one_line_of_json_without_what_it_is_not_about() -> None:
    line = DagEvent("dag.end", 12.3456789, data={"exit_code": 1}, id="7", dag="t.dag").to_json()
    assert json.loads(line) == {
        "v": 1, "id": "7", "time": 12.346, "event": "dag.end", "dag": "t.dag", "exit_code": 1
    }  # fmt: skip


def test_names_that_would_break_a_line_are_escaped() -> None:
    line = DagEvent("node.state", 1.0, 'a"\n\udce9\u2028', 0, "7.0").to_json()
    assert line.isascii()
    assert "\n" not in line
    found = json.loads(line)
    assert found["node"] == 'a"\n\udce9\u2028'
    assert (found["attempt"], found["job"]) == (0, "7.0")


def test_every_name_that_the_package_uses_is_documented() -> None:
    package = Path(__file__).resolve().parents[3] / "condor_pydagman"
    modules = (
        *(
            path
            for path in package.glob("follow/*.py")
            if path.name not in ("notice.py", "failures.py")
        ),
        *package.glob("features/*/shown.py"),
    )
    # The causes of notices look like names of events.
    text = re.sub(r'Notice\(\s*"[^"]*"', "", "".join(path.read_text() for path in modules))
    used = set(re.findall(r'"((?:dag|group|bundle|node|job|data|script)\.[a-z_]+)"', text))
    assert used == set(NAMES)


# Which events somebody wants.


FAILED = DagEvent("node.state", 0.0, "A", data={"status": "ERROR", "value": 3})


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        ("*", True),
        ("node.state", True),
        ("node.*", True),
        ("dag.end,node.state", True),
        ("node.state=ERROR", True),
        ("node.state=3", True),
        ("node.*=DONE", False),
        ("dag.*", False),
        ("node", False),
    ],
)
def test_kinds(kinds: str, wanted: bool) -> None:
    assert EventFilter(kinds).wants(FAILED) is wanted

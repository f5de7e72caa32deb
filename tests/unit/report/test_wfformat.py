"""A run as a WfFormat instance.

wfcommons validates it where it is installed; its schema is on the network, so that what that
requires is written here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.report.wfformat import wfformat_text
from tests.unit.report.runs import make_dag, make_run

_TEXTS = {"type": "array", "items": {"type": "string"}}
_NUMBER = {"type": "number", "minimum": 0}
_TASK = {
    "type": "object",
    "required": ["name", "id", "parents", "children"],
    "properties": {"parents": _TEXTS, "children": _TEXTS, "inputFiles": _TEXTS,
                   "outputFiles": _TEXTS},
}  # fmt: skip
_EXECUTED = {
    "type": "object",
    "required": ["id", "runtimeInSeconds"],
    "properties": {
        "runtimeInSeconds": _NUMBER, "avgCPU": _NUMBER, "readBytes": _NUMBER,
        "writtenBytes": _NUMBER, "memoryInBytes": _NUMBER, "machines": _TEXTS,
        "coreCount": {"type": "number", "minimum": 1},
        "executedAt": {"type": "string", "format": "date-time"},
        "command": {"type": "object", "properties": {"program": {"type": "string"}}},
    },
}  # fmt: skip
SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["name", "schemaVersion", "workflow"],
    "properties": {
        "schemaVersion": {"enum": ["1.6"]},
        "createdAt": {"type": "string", "format": "date-time"},
        "workflow": {
            "type": "object",
            "required": ["specification", "execution"],
            "properties": {
                "specification": {
                    "type": "object",
                    "required": ["tasks"],
                    "properties": {"tasks": {"type": "array", "minItems": 1, "items": _TASK}},
                },
                "execution": {
                    "type": "object",
                    "required": ["makespanInSeconds", "executedAt", "tasks"],
                    "properties": {
                        "tasks": {"type": "array", "minItems": 1, "items": _EXECUTED},
                        "machines": {"type": "array", "items": {"required": ["nodeName"]}},
                    },
                },
            },
        },
    },
}


def stamp(when: float) -> str:
    return f"2026-11-23T00:{int(when) // 60 % 60:02d}:{int(when) % 60:02d}Z"


def instance() -> str:
    return wfformat_text(make_run(), make_dag(), "t.dag", "25.14.1", stamp, 1040.0)


def test_tasks_and_their_execution() -> None:
    found: dict[str, Any] = json.loads(instance())
    workflow = found["workflow"]
    tasks = {task["id"]: task for task in workflow["specification"]["tasks"]}
    assert tasks["A"]["children"] == ["B", "C"]
    assert set(tasks) == {"A", "B", "C", "D", *(t for t in tasks if t.startswith("_condor"))}
    execution = workflow["execution"]
    assert execution["makespanInSeconds"] == 40
    done = {task["id"]: task for task in execution["tasks"]}
    assert done["A"]["runtimeInSeconds"] == 6
    assert done["B"]["runtimeInSeconds"] == 3  # the attempt that has given the result
    assert done["A"]["memoryInBytes"] == 30 << 20
    assert done["A"]["machines"] == ["slot1@one"]
    assert execution["machines"] == [{"nodeName": "slot1@one"}]


def test_wfcommons_takes_it(tmp_path: Path) -> None:
    wfinstances = pytest.importorskip("wfcommons.wfinstances")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "t.json").write_text(instance())
    found = wfinstances.Instance(tmp_path / "t.json", str(tmp_path / "schema.json"))
    assert found.makespan == 40
    assert found.workflow.has_edge("A", "B")

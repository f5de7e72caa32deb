"""A run as a WfFormat instance.

wfcommons validates it where it is installed; its schema is on the network, so that what that
requires is written here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.follow.run_model import Run
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.report.wfformat import TaskDescription, wfformat_text
from tests.unit.report.runs import make_dag, make_run

_ID = {"type": "string", "minLength": 1, "pattern": "^[0-9a-zA-Z-_.]+$"}
_IDS = {"type": "array", "items": _ID}
_TEXTS = {"type": "array", "items": {"type": "string", "minLength": 1}}
_NUMBER = {"type": "number", "minimum": 0}
_TASK = {
    "type": "object",
    "required": ["name", "id", "parents", "children"],
    "properties": {"id": _ID, "parents": _IDS, "children": _IDS, "inputFiles": _IDS,
                   "outputFiles": _IDS},
}  # fmt: skip
_FILE = {
    "type": "object",
    "required": ["id", "sizeInBytes"],
    "properties": {"id": _ID, "sizeInBytes": {"type": "integer", "minimum": 0}},
}
_EXECUTED = {
    "type": "object",
    "required": ["id", "runtimeInSeconds"],
    "properties": {
        "id": _ID, "runtimeInSeconds": _NUMBER, "avgCPU": _NUMBER, "readBytes": _NUMBER,
        "writtenBytes": _NUMBER, "memoryInBytes": _NUMBER, "machines": _TEXTS,
        "coreCount": {"type": "number", "minimum": 1},
        "executedAt": {"type": "string", "format": "date-time"},
        "command": {
            "type": "object",
            "properties": {"program": {"type": "string", "minLength": 1}, "arguments": _TEXTS},
        },
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
            "required": ["specification"],
            "properties": {
                "specification": {
                    "type": "object",
                    "required": ["tasks"],
                    "properties": {
                        "tasks": {"type": "array", "minItems": 1, "items": _TASK},
                        "files": {"type": "array", "items": _FILE},
                    },
                },
                "execution": {
                    "type": "object",
                    "required": ["makespanInSeconds", "executedAt", "tasks"],
                    "properties": {
                        "tasks": {"type": "array", "minItems": 1, "items": _EXECUTED},
                        "machines": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "required": ["nodeName"],
                                "properties": {"nodeName": {"pattern": "^[0-9a-zA-Z.-]+$"}},
                            },
                        },
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
    assert done["A"]["machines"] == ["one"]
    assert execution["machines"] == [{"nodeName": "one"}]


def keeps(rule: Any, value: Any) -> bool:
    """Whether a value keeps those rules of a JSON schema that SCHEMA has."""
    if isinstance(value, dict):
        parts = rule.get("properties", {})
        has_all = all(name in value for name in rule.get("required", ()))
        return has_all and all(keeps(parts.get(name, {}), part) for name, part in value.items())
    if isinstance(value, list):
        enough = len(value) >= rule.get("minItems", 0)
        return enough and all(keeps(rule.get("items", {}), part) for part in value)
    if isinstance(value, str):
        known = value in rule.get("enum", (value,)) and len(value) >= rule.get("minLength", 0)
        return known and re.search(rule.get("pattern", ""), value) is not None
    is_whole = rule.get("type") != "integer" or isinstance(value, int)
    return is_whole and value >= rule.get("minimum", value)


def test_names_of_splices_and_files_keep_the_rules_of_the_schema() -> None:
    text = "JOB S+b a.sub\nJOB S_b a.sub\nPARENT S+b CHILD S_b\n"
    options = BuildOptions(allow_any_node_name_characters=True)
    splice = build(["t.dag"], lambda _: iter([text]), options)
    run = make_run()
    run.nodes = {"S+b": run.nodes["A"], "S_b": run.nodes["C"]}
    for name, node in run.nodes.items():
        node.name = name
    files = {
        "S+b": TaskDescription({"in put/1": 7}, {"mid": 8}, "/bin/cp", ("in put/1", "mid")),
        "S_b": TaskDescription({"mid": 8}, {}),
    }
    text = wfformat_text(run, splice, "t.dag", "25", stamp, 1040.0, files)
    found: dict[str, Any] = json.loads(text)
    assert keeps(SCHEMA, found)
    specification = found["workflow"]["specification"]
    first, second = specification["tasks"][:2]
    assert (first["name"], first["id"], second["parents"]) == ("S+b", "S_b-2", ["S_b-2"])
    assert first["outputFiles"] == second["inputFiles"] == ["mid"]
    assert "outputFiles" not in second
    assert specification["files"] == [
        {"id": "in_put_1", "sizeInBytes": 7}, {"id": "mid", "sizeInBytes": 8}
    ]  # fmt: skip
    ran = found["workflow"]["execution"]["tasks"]
    assert [task["id"] for task in ran] == ["S_b-2", "S_b"]
    assert ran[0]["command"] == {"program": "/bin/cp", "arguments": ["in put/1", "mid"]}
    assert "command" not in ran[1]


def test_what_is_not_known_is_left_out() -> None:
    found = json.loads(instance())
    assert keeps(SCHEMA, found)
    assert "files" not in found["workflow"]["specification"]
    empty = json.loads(wfformat_text(Run(), make_dag(), "t.dag", "", stamp, 1040.0))
    assert keeps(SCHEMA, empty)
    assert "execution" not in empty["workflow"]


def test_the_check_finds_what_is_wrong() -> None:
    found = json.loads(instance())
    found["workflow"]["specification"]["tasks"][0]["id"] = "S+b"
    assert not keeps(SCHEMA, found)


def test_wfcommons_takes_it(tmp_path: Path) -> None:
    wfinstances = pytest.importorskip("wfcommons.wfinstances")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "t.json").write_text(instance())
    found = wfinstances.Instance(tmp_path / "t.json", str(tmp_path / "schema.json"))
    assert found.makespan == 40
    assert found.workflow.has_edge("A", "B")

"""Writes the JSON schemas of what commands print, `condor_pydagman/schemas/*.json`.

`python -m tools.generate` writes them.  Names come from the tables and classes that the commands
themselves use, so that none can be forgotten; what only the code knows, the fields of each event,
is in `OF_EVENTS`.

A document of another version does not meet a schema, if it has one.  Within a version fields are
only added, so a schema permits those that it does not know.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

from condor_pydagman.cli import dag_table, lint_report, ls
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.explain.explanation import Explanation, Moment
from condor_pydagman.features.common.adapters import request_socket
from condor_pydagman.features.feeder.report import FeederReport
from condor_pydagman.features.shared_limits.overview import OwnPart
from condor_pydagman.follow import dag_events, overview
from condor_pydagman.follow.notice import ALL_CAUSES, Evidence, Weight
from condor_pydagman.follow.run_model import COUNTS, DagState, Usage
from condor_pydagman.follow.shown_states import COUNTED, KEYS, LOOKS
from condor_pydagman.lint.findings import ALL_CODES, Severity
from condor_pydagman.monitor.ended_dags import EndedDag
from condor_pydagman.monitor.queued_dags import QueuedDag
from condor_pydagman.report import node_list
from condor_pydagman.vocabulary import NodeKind, NodeStatus

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
_PLAIN = {"str": STRING, "int": INTEGER, "float": NUMBER, "bool": BOOLEAN, "Any": {}}


def one_of(*values: str) -> Schema:
    """One of these texts."""
    return {"enum": list(values)}


def array(items: Schema) -> Schema:
    """So many of them."""
    return {"type": "array", "items": items}


def by_name(values: Schema) -> Schema:
    """An object whose names can be any."""
    return {"type": "object", "additionalProperties": values}


def record(fields: Mapping[str, Schema], *optional: str) -> Schema:
    """An object with these fields, all but the optional ones of which it must have."""
    required = [name for name in fields if name not in optional]
    return {"type": "object", "properties": dict(fields), "required": required}


def of_class(described: type, **instead: Schema) -> Schema:
    """The fields of a class, by its annotations; `instead` of some of them others."""
    names: Mapping[str, str] = described.__annotations__
    return record({name: instead.get(name) or _annotated(names[name]) for name in names})


def _annotated(text: str) -> Schema:
    return _of_node(ast.parse(text, mode="eval").body)


def _of_node(node: ast.expr) -> Schema:
    if isinstance(node, ast.BinOp):  # X | None
        return {"anyOf": [_of_node(node.left), {"type": "null"}]}
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        kind = ast.unparse(node.value)
        return by_name(_of_node(inner[1])) if kind == "Mapping" else array(_of_node(inner[0]))
    return _PLAIN[ast.unparse(node)]


_STATUS = one_of(*(status.name for status in NodeStatus if status is not NodeStatus.FUTILE))
_REASON = {"reason": STRING}
_HOLD = {**_REASON, "code": INTEGER, "subcode": INTEGER}
_SCRIPT = {"script": one_of("PRE", "POST", "HOLD")}
_GROUP = {"group": STRING, "site": STRING, "round": COUNT, **_REASON}
_BUNDLE = {"bundle": COUNT}
_PLACEMENT = {
    **{"try": COUNT, "source": STRING, "destination": STRING, "way": STRING, "seconds": NUMBER}
}
_SIZE = {"type": "integer", "minimum": -1}
_USAGE = {"usage": by_name(of_class(Usage))}

# Of each event, what has happened, its own fields, and which of them it need not have.
OF_EVENTS: Mapping[str, tuple[str, Mapping[str, Schema], tuple[str, ...]]] = {
    "dag.start": ("DAGMan has started, or started again", {}, ()),
    "dag.halt": ("nothing is submitted any more", {}, ()),
    "dag.resume": ("the DAG was resumed", {}, ()),
    "dag.brake": (
        "more nodes have failed than a BRAKE allows",
        {"brake": STRING, "effect": one_of("HALT", "HOLD", "ABORT"), **_REASON},
        (),
    ),
    "dag.enough": (
        "an ENOUGH is reached: what is left of its nodes is not needed",
        {"enough": STRING, **_REASON},
        (),
    ),
    "dag.limits": ("throttles in force", {}, ()),
    "dag.status": ("nodes by state", {"status": INTEGER, **dict.fromkeys(COUNTS, COUNT)}, ()),
    "dag.rescue": ("a rescue file is written", {"file": STRING}, ()),
    "dag.end": ("DAGMan has ended", {"exit_code": INTEGER, "status": INTEGER}, ()),
    "dag.grow": (
        "nodes have been added to the DAG",
        {"piece": COUNT, "feeding": COUNT},
        ("feeding",),
    ),
    "dag.feeder": (
        "the FEEDER of the DAG has ended, or has failed",
        {"state": one_of("ended", "failed"), "feedings": COUNT, **_REASON},
        ("reason",),
    ),
    "group.match": ("a group of nodes has a site", _GROUP, ("reason",)),
    "group.leave": ("a group leaves its site", _GROUP, ("reason",)),
    "group.left": ("nothing of a group runs at its old site", _GROUP, ("reason",)),
    "group.cleaned": (
        "the clean-up node of a group has ended at the old site",
        _GROUP,
        ("reason",),
    ),
    "group.no_site": ("a group gets no site any more", _GROUP, ("reason",)),
    "bundle.made": ("nodes have been put into a bundle", {**_BUNDLE, "nodes": COUNT}, ()),
    "bundle.execute": ("the job of a bundle has started to run", {**_BUNDLE, "host": STRING}, ()),
    "bundle.evict": (
        "the job of a bundle has been taken from its machine",
        {**_BUNDLE, **_REASON},
        (),
    ),
    "bundle.hold": ("the job of a bundle is held", {**_BUNDLE, **_HOLD}, ()),
    "bundle.release": ("the job of a bundle is released", {**_BUNDLE, **_REASON}, ()),
    "bundle.end": ("a bundle has ended", {**_BUNDLE, "nodes": COUNT, **_REASON}, ()),
    "node.state": (
        "a node has another state",
        {
            **{"status": _STATUS, "was": _STATUS, "value": INTEGER, **_REASON},
            **{"skipped": BOOLEAN, "cached": BOOLEAN},
        },
        ("value", "reason", "skipped", "cached"),
    ),
    "node.retry": ("a failed node is tried again", {"retry": COUNT}, ()),
    "node.submit_failed": ("the jobs of a node could not be submitted", _REASON, ()),
    "node.decided": (
        "the RUN_IF of a node has been evaluated",
        {"value": {"enum": [1, 0, -1]}, **_REASON},
        (),
    ),
    "node.looked_up": (
        "it is decided whether a node with a CACHE command runs",
        {"value": {"enum": [1, 0]}, **_REASON},
        (),
    ),
    "dag.steered": (
        "a person has asked something of the whole DAG",
        {"command": STRING, "by": STRING, "options": STRING},
        (),
    ),
    "node.steered": (
        "a person has asked something of a node",
        {"command": STRING, "by": STRING, "options": STRING},
        (),
    ),
    "job.submit": ("a job is in the queue", {}, ()),
    "job.execute": ("a job has started to run", {"host": STRING}, ()),
    "job.evict": ("a job has been taken from its machine", _REASON, ()),
    "job.hold": ("a job is held", _HOLD, ()),
    "job.release": ("a held job is released", _REASON, ()),
    "job.late": ("a job takes longer than its TIMEOUT WARN", {"limit": COUNT, **_REASON}, ()),
    "job.terminate": ("a job has ended", {"value": INTEGER, **_USAGE}, ("value", "usage")),
    "job.abort": ("a job has been removed", _REASON, ("reason",)),
    "data.done": (
        "a placement of a DATA node is done",
        {**_PLACEMENT, "bytes": _SIZE, "moved": COUNT},
        (),
    ),
    "data.retry": (
        "an attempt at a placement has failed, and it is tried again",
        {**_PLACEMENT, **_REASON},
        (),
    ),
    "data.fail": ("a placement has failed", {**_PLACEMENT, **_REASON}, ()),
    "script.start": ("a script has started", _SCRIPT, ()),
    "script.end": (
        "a script has ended",
        {**_SCRIPT, "value": INTEGER, "deferred": BOOLEAN},
        ("value", "deferred"),
    ),
}
_OF_DAG = ("dag.", "group.", "bundle.")  # how events begin that are of no node
_WITH_JOB = ("job.", "data.")


def files() -> dict[str, str]:
    """Text of each schema, by its path below the root of the repository."""
    found = {
        "events": _events(),
        "watch": _watch(),
        "explain": _explain(),
        "info": _info(),
        "nodes": _nodes(),
        "ls": _ls(),
        "top": _row("top", QueuedDag),
        "runs": _row("runs", EndedDag),
        "checker": _checker(),
        "lint": _lint(),
    }
    return {
        f"condor_pydagman/schemas/{name}.json": json.dumps(schema, indent=1) + "\n"
        for name, schema in found.items()
    }


def _titled(name: str, version: int, title: str, schema: Schema) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:condor_pydagman:{name}:{version}",
        "title": title,
        **schema,
    }


def _events() -> Schema:
    """An event, by its name: what all have, and then its own fields."""
    version = dag_events.VERSION
    common = {
        "v": {"const": version},
        "id": STRING,
        "time": NUMBER,
        "event": one_of(*OF_EVENTS),
        "dag": STRING,
    }
    title = "A line of condor_pydagman events, and what NOTIFY sends"
    found = _titled("events", version, title, record(common, "dag"))
    found["allOf"] = [
        {"if": {"properties": {"event": {"const": name}}}, "then": _event(name)}
        for name in OF_EVENTS
    ]
    return found


def _event(name: str) -> Schema:
    meaning, fields, optional = OF_EVENTS[name]
    of_node: dict[str, Schema] = {}
    if not name.startswith(_OF_DAG):
        of_node = {"node": STRING, "attempt": COUNT}
        optional = (*optional, "attempt")
    if name.startswith(_WITH_JOB) or name.startswith("bundle."):
        of_node["job"] = STRING
        optional = (*optional, "job")
    found = record({**of_node, **fields}, *optional)
    found["description"] = meaning
    if name == "dag.limits":  # the name of the limit is that of the field
        found["patternProperties"] = {"^DAGMan_": INTEGER}
    return found


def _watch() -> Schema:
    """The fields of an Overview, and of what features add to it."""
    version, itself = overview.VERSION, {"$ref": "#"}
    placements = record(
        {
            **dict.fromkeys(("done", "skipped", "failed", "retried", "bytes"), COUNT),
            **{"per_second": NUMBER, "reasons": {}},
        }
    )
    found = of_class(
        overview.Overview,
        state=one_of(*(state.value for state in DagState)),
        counts=record(dict.fromkeys(("total", *COUNTED), COUNT)),
        not_run=by_name(COUNT) | {"propertyNames": one_of(*(look.key for look in LOOKS.values()))},
        longest=array(of_class(overview.Running)),
        held=array(of_class(overview.HeldGroup)),
        failures=array(of_class(overview.Failure)),
        subdags=array(itself),
        placements={"anyOf": [placements, {"type": "object", "maxProperties": 0}]},
        notices=array(_notice()),
    )
    del found["properties"]["of_features"]
    found["required"].remove("of_features")
    found["properties"] = {"v": {"const": version}, **found["properties"], **_of_features()}
    found["required"].insert(0, "v")
    return _titled("watch", version, "A line of condor_pydagman watch --json", found)


def _of_features() -> dict[str, Schema]:
    counts = ("open", "running", "held", "nodes")
    sites = record(
        {
            "at": by_name(COUNT),
            **dict.fromkeys(("leaving", "without", "waiting"), COUNT),
            "first": array(STRING),
            "reason": STRING,
        }
    )
    return {
        "brakes": by_name(STRING),
        "enough": by_name(STRING),
        "feeder": STRING,
        "bundles": record(dict.fromkeys(counts, COUNT)),
        "sites": {"anyOf": [sites, {"type": "object", "maxProperties": 0}]},
        "shared_limits": array(of_class(OwnPart)),
    }


def _notice() -> Schema:
    """As `watch` prints it."""
    found = _finding({"type": "object"})
    more = {"since": NUMBER, "command": STRING, "button": STRING}
    return record({**found["properties"], **more})


def _finding(inner: Schema) -> Schema:
    """A notice as `explain` prints it; `inner`: an explanation of a sub-DAG."""
    evidence = of_class(Evidence)
    evidence["required"] = ["source"]
    return record(
        {
            "cause": one_of(*ALL_CAUSES),
            "weight": one_of(*(weight.name.lower() for weight in Weight)),
            "sentence": STRING,
            "nodes": array(STRING),
            "evidence": array(evidence),
            "advice": array(STRING),
            "inner": array(inner),
        }
    )


def _explain() -> Schema:
    itself = {"$ref": "#"}
    found = of_class(Explanation, findings=array(_finding(itself)), life=array(of_class(Moment)))
    found["properties"]["wrong"] = BOOLEAN
    found["required"].append("wrong")
    return _titled("explain", 1, "What condor_pydagman explain --json prints", found)


def _info() -> Schema:
    """DAGMan's answer, with what features add to it."""
    fields = {
        "version": {"const": request_socket.VERSION},
        "id": {},
        "program": STRING,
        "protocol": {"const": request_socket.VERSION},
        "dag": STRING,
        **dict.fromkeys(("cluster", "pid", "nodes"), COUNT),
        "halted": BOOLEAN,
        "limits": record(dict.fromkeys(LimitsWanted._fields, COUNT)),
        "priority": INTEGER,
        "halt_file": STRING,
        "feeder": of_class(FeederReport),
        "limits_trouble": STRING,
    }
    title = "What condor_pydagman steer info --json prints"
    found = record(fields, "halt_file", "feeder", "limits_trouble")
    return _titled("info", request_socket.VERSION, title, found)


def _nodes() -> Schema:
    """All but the name may be left out, by the option -af."""
    told: dict[str, Schema] = {
        "node": STRING,
        "status": one_of(*(status.name for status in NodeStatus)),
        "state": one_of(*KEYS),
        "attempts": COUNT,
    }
    kinds = one_of(*(kind.name for kind in NodeKind))
    known = {
        **dict.fromkeys(("description", "job", "reason", "site", "category"), STRING),
        **dict.fromkeys(("attempt", "jobs", "holds", "evictions"), COUNT),
        **dict.fromkeys(("value", "pre_value", "post_value"), INTEGER),
        **{"hosts": array(STRING), "kind": kinds},
    }
    for name in node_list.FIELDS:
        if name not in told:
            told[name] = {"anyOf": [known.get(name, NUMBER), {"type": "null"}]}
    version = node_list.VERSION
    optional = [name for name in told if name != "node"]
    title = "A line of condor_pydagman nodes --json"
    return _titled("nodes", version, title, record({"v": {"const": version}, **told}, *optional))


def _ls() -> Schema:
    return _row("ls", ls.Row, place=one_of("queue", "history", "directory"))


def _row(name: str, of: type, **known: Schema) -> Schema:
    found, version = of_class(of, **known), dag_table.VERSION
    found["properties"] = {"v": {"const": version}, **found["properties"]}
    found["required"].insert(0, "v")
    return _titled(name, version, f"A line of condor_pydagman {name} --json", found)


def _checker() -> Schema:
    """What the stock tool prints, which has no version."""
    error = record(
        {"Reason": STRING, "SourceFile": STRING, "SourceLine": COUNT, "DagCommand": STRING},
        "DagCommand",
    )
    numbers = (
        *("NumArcs", "NumJoinNodes", "NumNodes", "NumServiceNodes", "NumSplices", "NumSubDAGs"),
        *("GraphHeight", "GraphWidth", "NumErrors"),
    )
    fields = {
        "DagFile": STRING,
        "TotalNodes": COUNT,
        **dict.fromkeys(numbers, COUNT),
        **dict.fromkeys(("FinalNode", "ProvisionerNode", "DetectedCycle"), STRING),
        "IsCyclic": BOOLEAN,
        "WidthByDepth": array(COUNT),
        "Errors": array(error),
    }
    optional = [name for name in fields if name not in ("DagFile", "TotalNodes")]
    schema = array(record(fields, *optional))
    return _titled("checker", 1, "What condor_dag_checker -json prints", schema)


def _lint() -> Schema:
    version = lint_report.SCHEMA
    codes = one_of(*ALL_CODES)
    texts = ("Title", "Message", "Hint", "SourceFile", "SourceText", "Node")
    finding = record(
        {
            "Code": codes,
            "Severity": one_of(*(severity.name.lower() for severity in Severity)),
            **dict.fromkeys(texts, STRING),
            **dict.fromkeys(("SourceLine", "SourceColumn"), COUNT),
        }
    )
    fields = {
        "Version": {"const": version},
        "DagFiles": array(STRING),
        **dict.fromkeys(("NumErrors", "NumWarnings", "NumInfos"), COUNT),
        "Counts": {**by_name(COUNT), "propertyNames": codes},
        "Findings": array(finding),
    }
    title = "What condor_dag_checker -lint -json prints"
    return _titled("lint", version, title, record(fields))

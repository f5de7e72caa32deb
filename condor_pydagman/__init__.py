"""condor_pydagman: DAGMan, the meta-scheduler of HTCondor, on HTCondor's Python bindings.

What `__all__` names is the supported Python interface (docs/python.md); it is imported when it is
first asked for (PEP 562), so that the commands and a running DAGMan load nothing of it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; `typing` need not be loaded for it
if TYPE_CHECKING:
    from condor_pydagman.adapters.request_client import SteeringAnswer, steer
    from condor_pydagman.api.dag_errors import DagError, DagProblem, Place
    from condor_pydagman.api.dag_history import dag_events, read_run
    from condor_pydagman.api.dag_lint import LintFinding, lint_dag
    from condor_pydagman.api.dag_reading import check_dag, parse_dag, read_dag
    from condor_pydagman.api.dag_run import DagRun
    from condor_pydagman.api.dag_state import DagStatus, dag_status
    from condor_pydagman.api.dag_submit import SubmittedDag, submit_dag
    from condor_pydagman.api.dag_subscription import subscribe
    from condor_pydagman.api.dag_view import Dag, Edge, Node
    from condor_pydagman.api.node_logs import NodeLogs
    from condor_pydagman.api.rescue_files import Rescue, read_rescue, write_rescue
    from condor_pydagman.api.run_end import DagTimeout
    from condor_pydagman.api.run_explanation import RunExplanation
    from condor_pydagman.api.run_report import RunReport
    from condor_pydagman.api.status_files import (
        NodeCounts,
        NodeStatusEntry,
        NodeStatusFile,
        read_node_status,
        write_node_status,
    )
    from condor_pydagman.errors import ConfigError, FileError, PoolError, PydagmanError, UsageError
    from condor_pydagman.explain.explanation import Moment
    from condor_pydagman.follow.dag_events import DagEvent
    from condor_pydagman.follow.notice import Evidence, Notice, Weight
    from condor_pydagman.follow.run_model import Attempt, Hold, NodeRun, Run, ScriptRun, Usage
    from condor_pydagman.graph.model import Abort, Retry, Script, Splice, Tolerance, Variable
    from condor_pydagman.lint.findings import Severity
    from condor_pydagman.monitor.found_state import DagState
    from condor_pydagman.placement.api import PlacementResult, run_requests, transfer_file
    from condor_pydagman.vocabulary import NodeKind, NodeStatus, ScriptKind
    from condor_pydagman.workflow.nodes import WorkflowNode, WorkflowNodes
    from condor_pydagman.workflow.workflow import Workflow

__version__ = "0.1.0"

__all__ = [
    "Abort",
    "Attempt",
    "ConfigError",
    "Dag",
    "DagError",
    "DagEvent",
    "DagProblem",
    "DagRun",
    "DagState",
    "DagStatus",
    "DagTimeout",
    "Edge",
    "Evidence",
    "FileError",
    "Hold",
    "LintFinding",
    "Moment",
    "Node",
    "NodeCounts",
    "NodeKind",
    "NodeLogs",
    "NodeRun",
    "NodeStatus",
    "NodeStatusEntry",
    "NodeStatusFile",
    "Notice",
    "Place",
    "PlacementResult",
    "PoolError",
    "PydagmanError",
    "Rescue",
    "Retry",
    "Run",
    "RunExplanation",
    "RunReport",
    "Script",
    "ScriptKind",
    "ScriptRun",
    "Severity",
    "Splice",
    "SteeringAnswer",
    "SubmittedDag",
    "Tolerance",
    "Usage",
    "UsageError",
    "Variable",
    "Weight",
    "Workflow",
    "WorkflowNode",
    "WorkflowNodes",
    "check_dag",
    "dag_events",
    "dag_status",
    "lint_dag",
    "parse_dag",
    "read_dag",
    "read_node_status",
    "read_rescue",
    "read_run",
    "run_requests",
    "steer",
    "submit_dag",
    "subscribe",
    "transfer_file",
    "write_node_status",
    "write_rescue",
]

# The modules that the names come from; a test holds this table and the imports above together.
_HOMES = {
    "api.dag_errors": ("DagError", "DagProblem", "Place"),
    "api.dag_history": ("dag_events", "read_run"),
    "api.dag_lint": ("LintFinding", "lint_dag"),
    "api.dag_reading": ("check_dag", "parse_dag", "read_dag"),
    "api.dag_run": ("DagRun",),
    "api.dag_state": ("DagStatus", "dag_status"),
    "api.dag_submit": ("SubmittedDag", "submit_dag"),
    "api.dag_subscription": ("subscribe",),
    "api.dag_view": ("Dag", "Edge", "Node"),
    "placement.api": ("PlacementResult", "run_requests", "transfer_file"),
    "adapters.request_client": ("SteeringAnswer", "steer"),
    "api.rescue_files": ("Rescue", "read_rescue", "write_rescue"),
    "api.node_logs": ("NodeLogs",),
    "api.run_end": ("DagTimeout",),
    "api.run_explanation": ("RunExplanation",),
    "api.run_report": ("RunReport",),
    "api.status_files": (
        "NodeCounts",
        "NodeStatusEntry",
        "NodeStatusFile",
        "read_node_status",
        "write_node_status",
    ),
    "errors": ("ConfigError", "FileError", "PoolError", "PydagmanError", "UsageError"),
    "lint.findings": ("Severity",),
    "graph.model": ("Abort", "Retry", "Script", "Splice", "Tolerance", "Variable"),
    "monitor.found_state": ("DagState",),
    "explain.explanation": ("Moment",),
    "follow.dag_events": ("DagEvent",),
    "follow.notice": ("Evidence", "Notice", "Weight"),
    "follow.run_model": ("Attempt", "Hold", "NodeRun", "Run", "ScriptRun", "Usage"),
    "vocabulary": ("NodeKind", "NodeStatus", "ScriptKind"),
    "workflow.nodes": ("WorkflowNode", "WorkflowNodes"),
    "workflow.workflow": ("Workflow",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})

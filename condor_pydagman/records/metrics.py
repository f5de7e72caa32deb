"""The metrics file: one JSON object about a finished run, in both versions of stock DAGMan.

The layout (order, blanks, decimals) is stock DAGMan's, because some readers use patterns on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.statistics import count_arcs, shape
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind, NodeStatus


class RunFacts(NamedTuple):
    """What only the process knows of a run."""

    program_version: str  # number alone, such as `25.14.1`
    # seconds since the epoch
    start: float
    end: float
    exit_code: int
    # clusters of this DAGMan and of the one above; 0 if none.  For a DAGMan that runs by hand,
    # without a job, stock writes -1 and 0.
    dagman_id: int = 0
    parent_dagman_id: int = 0
    rescue_number: int = 0  # of the rescue file that was run from, 0 if none


class _Tally(NamedTuple):
    total: int
    failed: int
    succeeded: int


def metrics_text(
    dag: Dag,
    report: Report,
    nodes: Iterable[NodeReport],
    run: RunFacts,
    version: int = 2,
    *,
    graph: bool = False,
    more: Iterable[_Pair] = (),
) -> str:
    """Text of the metrics file (manual: "Workflow Metrics").

    `version` is DAGMAN_METRICS_FILE_VERSION, 1 or 2; `graph` DAGMAN_REPORT_GRAPH_METRICS;
    `more` is what features add.
    """
    tallies = _tallies(dag, nodes, well=run.exit_code == 0)
    pairs = [*_head(run, version)]
    pairs += _first_counts(tallies) if version == 1 else _second_counts(dag, report, tallies)
    if graph:
        pairs += _graph(dag)
    pairs += more
    pairs += [(one.metric, one.value) for one in report.shown if one.metric]
    pairs.append(("DagStatus", int(report.dag_status)))
    body = ",\n".join(f'    "{key}":{_json(value)}' for key, value in pairs)
    return "{\n" + body + "\n}\n"


_Pair = tuple[str, "str | float"]  # a bool and an int are also a float to the type checker


def _head(run: RunFacts, version: int) -> list[_Pair]:
    pairs: list[_Pair] = [
        ("client", "condor_dagman"),
        ("version", run.program_version),
        ("type", "metrics"),
    ]
    if version != 1:
        pairs.append(("metrics_version", version))
    by_hand = run.dagman_id <= 0
    return [
        *pairs,
        ("start_time", float(run.start)),
        ("end_time", float(run.end)),
        ("duration", float(run.end - run.start)),
        ("exitcode", run.exit_code),
        ("dagman_id", "-1" if by_hand else str(run.dagman_id)),
        ("parent_dagman_id", str(run.parent_dagman_id or ("0" if by_hand else ""))),
        ("rescue_dag_number", run.rescue_number),
    ]


def _first_counts(tallies: dict[str, _Tally]) -> list[_Pair]:
    jobs, dags = tallies["node"], tallies["dag"]
    return [
        ("jobs", jobs.total),
        ("jobs_failed", jobs.failed),
        ("jobs_succeeded", jobs.succeeded),
        ("dag_jobs", dags.total),
        ("dag_jobs_failed", dags.failed),
        ("dag_jobs_succeeded", dags.succeeded),
        ("total_jobs", jobs.total + dags.total),
        ("total_jobs_run", _ended(jobs) + _ended(dags)),
    ]


def _second_counts(dag: Dag, report: Report, tallies: dict[str, _Tally]) -> list[_Pair]:
    nodes, dags, service = tallies["node"], tallies["dag"], tallies["service"]
    return [
        ("has_final_node", NodeKind.FINAL in dag.kinds),
        ("nodes", nodes.total),
        ("nodes_failed", nodes.failed),
        ("nodes_succeeded", nodes.succeeded),
        ("dag_nodes", dags.total),
        ("dag_nodes_failed", dags.failed),
        ("dag_nodes_succeeded", dags.succeeded),
        ("provisioner_nodes", dag.kinds.count(NodeKind.PROVISIONER)),
        ("service_nodes", service.total),
        ("service_nodes_failed", service.failed),
        ("service_nodes_succeeded", service.succeeded),
        ("total_nodes", nodes.total + dags.total + service.total),
        ("total_nodes_run", _ended(nodes) + _ended(dags) + _ended(service)),
        ("jobs_submitted", report.procs_submitted),
        ("jobs_succeeded", report.procs_completed),
        ("jobs_failed", report.procs_submitted - report.procs_completed),
    ]


def _graph(dag: Dag) -> list[_Pair]:
    """The DAG's shape; height is counted in edges, and SERVICE nodes have no place in it."""
    widths = shape(dag).widths
    return [
        ("graph_height", max(len(widths) - 1, 0)),
        ("graph_width", max(widths, default=0)),
        ("graph_num_edges", count_arcs(dag)),
        ("graph_num_vertices", len(dag) - dag.kinds.count(NodeKind.SERVICE)),
    ]


def _tallies(dag: Dag, nodes: Iterable[NodeReport], *, well: bool) -> dict[str, _Tally]:
    counts = Counter(
        (_group(dag, node.node), NodeStatus.NOT_READY if node.not_needed else node.status)
        for node in nodes
    )
    if well:  # a SERVICE node that ran until the DAG's end has done what it should
        counts["service", NodeStatus.DONE] += counts["service", NodeStatus.SUBMITTED]
        counts["service", NodeStatus.SUBMITTED] = 0
    return {
        group: _Tally(
            sum(count for (of, _), count in counts.items() if of == group),
            counts[group, NodeStatus.ERROR],
            counts[group, NodeStatus.DONE],
        )
        for group in ("node", "dag", "service")
    }


def _group(dag: Dag, node: int) -> str:
    if dag.kinds[node] == NodeKind.SERVICE:
        return "service"
    return "dag" if node in dag.subdags else "node"


def _ended(tally: _Tally) -> int:
    return tally.failed + tally.succeeded


def _json(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)

"""A run as a trace: one row for each attempt of a node, as CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.follow.shown_states import why_done
from condor_pydagman.graph.model import Dag
from condor_pydagman.report.spans import attempts_of, has_failed, job_parts, known_nodes
from condor_pydagman.vocabulary import NodeStatus

FIELDS = (
    "node", "attempt", "status", "description", "job", "jobs", "value", "reason",
    "pre_start", "pre_end", "pre_value", "submit", "execute", "end", "post_start", "post_end",
    "post_value", "hosts", "holds", "evictions", "waiting_s", "held_s", "running_s",
    "cpu_s", "bytes_sent", "bytes_received",
    "cpus_requested", "memory_mb_requested", "memory_mb_used", "disk_kb_requested", "disk_kb_used",
    "site",
)  # fmt: skip
RUN = "run"  # a further field, if there are attempts of several runs
_RESOURCES = (
    ("cpus", "Cpus", ("requested",)),
    ("memory_mb", "Memory (MB)", ("requested", "used")),
    ("disk_kb", "Disk (KB)", ("requested", "used")),
)


def rows(
    run: Run, dag: Dag | None, now: float, numbers: Mapping[int, int] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows, with all FIELDS; None where nothing is known. Times are seconds since the epoch.

    Args:
        now: end of what goes on.
        numbers: of the runs of all attempts (`all_runs.AllRuns`), for another field; None if they
            are all of one.
    """
    for node in known_nodes(run):
        yield from rows_of(node, dag, now, numbers)


def rows_of(
    node: NodeRun, dag: Dag | None, now: float, numbers: Mapping[int, int] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of a node; the last is of its last attempt."""
    number = dag.find(node.name) if dag is not None else None
    description = dag.submits[number] if dag is not None and number is not None else None
    for attempt, following in attempts_of(node):
        row = _row(node, attempt, description, now)
        if following is not None or node.ran_before:
            failed = has_failed(node, attempt, following)
            row["status"] = (NodeStatus.ERROR if failed else NodeStatus.DONE).name
        if numbers is not None:
            row[RUN] = numbers[id(attempt)]
        yield row
    reason = why_done(node) or None
    if not node.attempts or (node.ran_before and reason):
        told = {"node": node.name, "status": node.counted.name, "description": description}
        told["reason"] = reason
        yield {**dict.fromkeys(fields(all_runs=numbers is not None)), **told}


def fields(*, all_runs: bool) -> tuple[str, ...]:
    """The fields of a row."""
    return (*FIELDS, RUN) if all_runs else FIELDS


def csv_text(
    run: Run, dag: Dag | None, now: float, numbers: Mapping[int, int] | None = None
) -> Iterator[str]:
    """As CSV with a head (RFC 4180), line by line."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, fields(all_runs=numbers is not None))
    writer.writeheader()
    for row in rows(run, dag, now, numbers):
        writer.writerow({**row, "hosts": " ".join(row["hosts"] or ())})
        if buffer.tell() > 1 << 16:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def json_text(
    run: Run, dag: Dag | None, now: float, numbers: Mapping[int, int] | None = None
) -> Iterator[str]:
    """As JSON, one object a line."""
    for row in rows(run, dag, now, numbers):
        yield json.dumps(row) + "\n"


def _row(node: NodeRun, attempt: Attempt, description: str | None, now: float) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(FIELDS)
    row.update(node=node.name, attempt=attempt.number, description=description)
    row["status"] = node.counted.name
    row.update(job=attempt.job, jobs=attempt.procs, value=attempt.value)
    is_last = attempt is node.attempts[-1] and not node.ran_before
    row["reason"] = attempt.reason or (why_done(node) if is_last else "")
    for kind, script in (("pre", attempt.pre), ("post", attempt.post)):
        if script is not None:
            row[f"{kind}_start"], row[f"{kind}_end"] = _time(script.started), _time(script.ended)
            row[f"{kind}_value"] = script.value
    row.update(submit=_time(attempt.submitted), execute=_time(attempt.started))
    row.update(end=_time(attempt.ended) if not attempt.in_queue else None)
    row.update(hosts=list(attempt.hosts), holds=len(attempt.holds), evictions=attempt.evictions)
    for field, part in (("waiting_s", "idle"), ("held_s", "held"), ("running_s", "run")):
        lasted = [end - begin for kind, begin, end in job_parts(attempt, now) if kind == part]
        row[field] = round(sum(lasted), 3) if attempt.submitted else None
    row.update(cpu_s=attempt.cpu_s, bytes_sent=attempt.bytes_sent)
    row["bytes_received"] = attempt.bytes_received
    row["site"] = attempt.site or None
    for name, resource, kinds in _RESOURCES:
        usage = attempt.usage.get(resource)
        for kind in kinds:
            row[f"{name}_{kind}"] = getattr(usage, kind) if usage is not None else None
    return row


def _time(seconds: float) -> float | None:
    return round(seconds, 3) if seconds else None

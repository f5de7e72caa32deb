"""The stream of what happens in a DAG: names, fields, and the JSON form of an event.

The names and fields are an interface (docs/watching.md): within one VERSION they are only added to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

VERSION = 1

# Each name, and what has happened; `dag.status` has the numbers of nodes by state.
NAMES: Mapping[str, str] = {
    "dag.start": "DAGMan has started, or started again",
    "dag.halt": "nothing is submitted any more",
    "dag.resume": "a halt has been taken back",
    "dag.limits": "throttles in force",
    "dag.status": "nodes by state",
    "dag.rescue": "a rescue file is written",
    "dag.end": "DAGMan has ended",
    "node.state": "a node has another state",
    "node.retry": "a failed node is tried again",
    "node.submit_failed": "the jobs of a node could not be submitted",
    "job.submit": "a job is in the queue",
    "job.execute": "a job has started to run",
    "job.evict": "a job has been taken from its machine",
    "job.hold": "a job is held",
    "job.release": "a held job is released",
    "job.terminate": "a job has ended",
    "job.abort": "a job has been removed",
    "script.start": "a script has started",
    "script.end": "a script has ended",
}


class DagEvent(NamedTuple):
    """One event.

    Attributes:
        name: one of NAMES.
        time: when it happened, seconds since the epoch.
        node: the node's full name; '' for an event of the whole DAG.
        attempt: of the node, 0 for the first; -1 for an event of the whole DAG.
        job: `CLUSTER.PROC`, '' if it is about no job.
        data: further fields, by name (docs/watching.md).
        id: position in the stream; a stream that is asked for what comes after it begins with the
            next event.  Of the events of one moment only the last may have one.
        dag: the DAG file.
    """

    name: str
    time: float
    node: str = ""
    attempt: int = -1
    job: str = ""
    data: Mapping[str, Any] = {}
    id: str = ""
    dag: str = ""

    def to_json(self) -> str:
        """The event as one line of JSON, without the end of line.

        Bytes that are not UTF-8 are written as surrogate escapes, `\\udcXX`.
        """
        fields: dict[str, Any] = {"v": VERSION, "id": self.id, "time": round(self.time, 3)}
        fields["event"] = self.name
        if self.dag:
            fields["dag"] = self.dag
        if self.node:
            fields["node"] = self.node
        if self.attempt >= 0:
            fields["attempt"] = self.attempt
        if self.job:
            fields["job"] = self.job
        fields.update(self.data)
        return json.dumps(fields, separators=(",", ":"))

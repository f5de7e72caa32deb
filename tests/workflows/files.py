"""Writes a workflow down as a DAG that can be run: its jobs record in a ledger that they ran."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.workflows.shapes import Workflow, kind

LEDGER = "ledger"

# Each line is one write of the shell's own echo to a file opened for appending: lines never mix.
JOB = f"""\
#!/bin/sh
# job.sh NODE: writes down when it starts and when it ends
echo "$1 start $(date +%s.%N)" >> {LEDGER}
echo "$1 end $(date +%s.%N)" >> {LEDGER}
"""

SUBMIT = """\
universe = {universe}
executable = job.sh
arguments = $(JOB)
{more}queue
"""


def dag_text(workflow: Workflow) -> str:
    """The DAG file: a JOB line for each node, a PARENT line for each node that has parents."""
    parents: dict[str, list[str]] = {}
    for parent, child in workflow.edges:
        parents.setdefault(child, []).append(parent)
    lines = [f"JOB {node} {kind(node)}.sub" for node in workflow.nodes]
    lines += [f"PARENT {' '.join(names)} CHILD {child}" for child, names in parents.items()]
    return "\n".join(lines) + "\n"


def write(
    directory: Path,
    workflow: Workflow,
    *,
    name: str = "t.dag",
    universe: str = "scheduler",
    more: Iterable[str] = (),
) -> Path:
    """Write the DAG file, a submit file for each kind of node, and the jobs' program.

    Args:
        directory: exists; the DAG must be submitted from there.
        universe: of the jobs.  Scheduler universe jobs need no slot and start fastest.
        more: further lines for every submit file.

    Returns:
        The DAG file.
    """
    job = directory / "job.sh"
    job.write_text(JOB, encoding="ascii")
    job.chmod(0o755)
    text = SUBMIT.format(universe=universe, more="".join(f"{line}\n" for line in more))
    for what in {kind(node) for node in workflow.nodes}:
        (directory / f"{what}.sub").write_text(text, encoding="ascii")
    dag = directory / name
    dag.write_text(dag_text(workflow), encoding="ascii")
    return dag

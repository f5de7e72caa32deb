"""What pegasus-plan leaves in a submit directory beside the DAG, as far as monitord reads it.

The planner itself is Java and not on PyPI; monitord, pegasus-dagman and the tools that report are.
"""

from __future__ import annotations

import re
from pathlib import Path

WORKFLOW = "11111111-2222-3333-4444-555555555555"
SINCE = "2026-01-01T00:00:00.000000Z"
BRAINDUMP = """\
user: tester
submit_hostname: here
root_wf_uuid: {workflow}
wf_uuid: {workflow}
dax: workflow.yml
dax_label: sample
dax_index: '0'
dax_version: '5'
pegasus_wf_name: sample-0
timestamp: 20260101T000000-0000
basedir: {directory}
submit_dir: {directory}
planner: pegasus-plan
planner_version: 5.1.3
planner_arguments: none
jsd: jobstate.log
dag: {dag}
condor_log: sample.log
type: dag
notify: sample.notify
properties: pegasus.properties
"""
# Of each job, in its submit file.
ATTRIBUTES = """\
+pegasus_wf_xformation = "sample"
+pegasus_job_class = 1
+pegasus_site = "local"
"""


def plan(dag: Path) -> None:
    """Write the plan of a DAG that is there, and into its submit files what a planner adds."""
    directory = dag.parent
    words = {"workflow": WORKFLOW, "directory": directory, "dag": dag.name}
    (directory / "braindump.yml").write_text(BRAINDUMP.format(**words))
    master = f"pegasus.catalog.master.url = sqlite:///{directory}/master.db\n"
    for file in directory.glob("*.sub"):
        file.write_text(file.read_text().replace("queue", ATTRIBUTES + "queue"))
    (directory / "sample.notify").touch()
    (directory / "pegasus.properties").write_text(master)
    dag.with_suffix(".static.bp").write_text("".join(_static(dag.read_text())))


def _static(dag: str) -> list[str]:
    """The events that tell the database of the workflow's jobs and edges."""
    lines = []
    for name, file in re.findall(r"^JOB +(\S+) +(\S+)", dag, re.M):
        words = {"job.id": name, "submit_file": file, "type": "1", "type_desc": "compute"}
        words.update({"clustered": "0", "max_retries": "2", "task_count": "0"})
        words.update({"executable": "/bin/sh", "argv": ""})
        lines.append(_line("job.info", words))
    for parents, children in re.findall(r"^PARENT (.*) CHILD (.*)$", dag, re.M):
        for parent in parents.split():
            for child in children.split():
                words = {"parent.job.id": parent, "child.job.id": child}
                lines.append(_line("job.edge", words))
    return lines


def _line(event: str, words: dict[str, str]) -> str:
    pairs = " ".join(f'{name}="{value}"' for name, value in words.items())
    return f"ts={SINCE} event={event} level=Info xwf.id={WORKFLOW} {pairs}\n"

"""Run by the bps environment: prepare and submit a workflow as `bps submit` does after its quantum
graph has been made. A quantum graph needs a data butler; what follows it needs none.

    bps_workflow.py DIRECTORY STORY

The jobs are sh commands: `pipetaskInit`, four of `make` (of which `make_3` waits for a file `go`,
fails without it, is refused by the schedd or succeeds, as STORY says), two each in two groups,
which BPS makes into sub-DAGs, and a final job. Prints the id of the run.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from lsst.ctrl.bps import (
    BPS_DEFAULTS,
    BPS_SEARCH_ORDER,
    BpsConfig,
    GenericWorkflow,
    GenericWorkflowExec,
    GenericWorkflowGroup,
    GenericWorkflowJob,
)
from lsst.ctrl.bps.prepare import prepare
from lsst.ctrl.bps.submit import submit

# What the package on PyPI leaves out of BPS' own files, for groups: a POST script that keeps a
# group's exit code for later, and a job that ends with it.
PACKAGE = "python/lsst/ctrl/bps/htcondor"
LEFT_OUT = {
    "subdag_post.sh": '#!/bin/sh\necho "$2" > "$1.status"\nexit 0\n',
    "check_group_status.sh": '#!/bin/sh\nexit "$(cat "$1.status")"\n',
    "check_group_status.sub": """\
universe = local
executable = {}/check_group_status.sh
arguments = $(group_job_name)
queue
""",
}
DIRECTORY = Path(sys.argv[1]).resolve()
SERVICE = "lsst.ctrl.bps.htcondor.HTCondorService"
SHELL = GenericWorkflowExec("sh", "/bin/sh", False)


def settings(directory: Path) -> BpsConfig:
    """What a user's submit YAML says, as far as these stages read it."""
    config = BpsConfig(
        {
            "computeSite": "here",
            "site": {"here": {"memoryLimit": 4096}},
            "project": "test",
            "campaign": "clients",
            "payload": {"payloadName": "sample"},
            "operator": "tester",
            "submitPath": str(directory),
            "bpsUseShared": True,
            "overwriteJobFiles": False,
            "memoryLimit": 4096,
        },
        search_order=BPS_SEARCH_ORDER,
        defaults=BPS_DEFAULTS,
        wms_service_class_fqn=SERVICE,
    )
    config[".bps_defined.submitPath"] = str(directory)
    config[".bps_defined.uniqProcName"] = "sample"
    return config


def job(name: str, label: str, command: str) -> GenericWorkflowJob:
    script = DIRECTORY / f"{name}.sh"  # releases of BPS quote arguments differently
    script.write_text(command + "\n")
    made = GenericWorkflowJob(name, label=label, executable=SHELL, arguments=str(script))
    made.request_memory = 64
    made.quanta_counts[label] += 1
    return made


def command(story: str, go: Path) -> str:
    """What `make_3` does."""
    return {
        "waits": f"until test -e {go}; do sleep 0.2; done",
        "fails": f"test -e {go}",
        "refused": "true",
        "succeeds": "true",
    }[story]


def workflow(third: str) -> GenericWorkflow:
    """The jobs and what waits for what."""
    made = GenericWorkflow("sample")
    made.add_job(job("pipetaskInit", "pipetaskInit", "true"))
    for number in range(4):
        does = third if number == 3 else "true"
        made.add_job(job(f"make_{number}", "make", does), ["pipetaskInit"])
    for number in range(2):
        group = GenericWorkflowGroup(f"group_{number}", "group")
        for member in ("a", "b"):
            group.add_job(job(f"join_{number}_{member}", "join", "true"))
        made.add_job(group, [f"make_{2 * number}", f"make_{2 * number + 1}"])
    made.add_final(job("finalJob", "finalJob", "true"))
    made.run_attrs.update(
        {
            "bps_isjob": "True",
            "bps_project": "test",
            "bps_campaign": "clients",
            "bps_run": "sample",
            "bps_operator": "tester",
            "bps_payload": "sample",
            "bps_runsite": "here",
        }
    )
    return made


def complete(directory: Path) -> None:
    """Write what the package leaves out, and tell BPS where it is."""
    package = directory / "left_out" / PACKAGE
    package.mkdir(parents=True)
    for name, text in LEFT_OUT.items():
        (package / name).write_text(text.format(package))
        (package / name).chmod(0o755)
    os.environ["CTRL_BPS_HTCONDOR_DIR"] = str(directory / "left_out")


def use_left_out(directory: Path) -> None:
    """Make the DAG name the POST script that we have written."""
    dag = directory / "sample.dag"
    script = directory / "left_out" / PACKAGE / "subdag_post.sh"
    dag.write_text(re.sub(r"\S+/subdag_post\.sh", str(script), dag.read_text()))


def main() -> None:
    story = sys.argv[2]
    complete(DIRECTORY)
    config = settings(DIRECTORY)
    made = prepare(config, workflow(command(story, DIRECTORY / "go")), str(DIRECTORY))
    use_left_out(DIRECTORY)
    if story == "refused":
        description = DIRECTORY / "jobs" / "make" / "make_3.sub"
        text = description.read_text()
        description.write_text(text.replace("universe=vanilla", "universe=nosuch"))
    with open(DIRECTORY / "sample_config.yaml", "w") as file:
        config.dump(file)  # `bps restart` reads it
    submit(config, made)
    print(made.run_id)


if __name__ == "__main__":
    main()

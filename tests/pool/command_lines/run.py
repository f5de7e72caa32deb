"""Run many command lines of condor_submit_dag in one go, in directories that are there.

`python run.py PROGRAM ours|stock < jobs > results`: each of the jobs (JSON) has a directory, words
and an environment.  A PROGRAM that is ours is called within this process, in a child for each job
that reads the configuration anew; that saves the time of starting it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from typing import Any

import htcondor2

from condor_pydagman.cli import submit_dag
from condor_pydagman.dagman_job import nested_dags
from tests.waiting import LIMIT_S

assert nested_dags  # imported for those that need it
Job = dict[str, Any]


def main() -> None:
    """Read the jobs, write a list of exit code, output and errors for each."""
    program, ours = sys.argv[1], sys.argv[2] == "ours"
    jobs = json.load(sys.stdin)
    json.dump([_run(program, job, ours) for job in jobs], sys.stdout)


def _run(program: str, job: Job, ours: bool) -> tuple[int, str, str]:
    places = [job["directory"] + end for end in (".out", ".err")]
    environment = {**os.environ, **job["environment"]}
    if not ours:
        with open(places[0], "wb") as out, open(places[1], "wb") as err:
            code = subprocess.run(
                [program, *job["words"]], cwd=job["directory"], env=environment, stdout=out,
                stderr=err, stdin=subprocess.DEVNULL, check=False, timeout=LIMIT_S,
            ).returncode  # fmt: skip
    else:
        child = os.fork()
        if not child:
            _be_ours(program, job, places)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = []
    for place in places:
        with open(place, encoding="utf-8", errors="surrogateescape") as file:
            texts.append(file.read())
    return code, texts[0], texts[1]


def _be_ours(program: str, job: Job, places: list[str]) -> None:
    code = 70
    try:
        for descriptor, place in enumerate(places, 1):
            file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(file, descriptor)
        os.chdir(job["directory"])
        os.environ.update(job["environment"])
        sys.argv = [program, *job["words"]]
        htcondor2.reload_config()
        code = submit_dag.main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()

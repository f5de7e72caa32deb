"""A script that nothing but SIGKILL ends, while DAGMan is killed: HTCondor ends it as well."""

from __future__ import annotations

from tests.pool import dags
from tests.pool.dagmans import processes_in
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
STUBBORN = """\
JOB A job.sub
SCRIPT PRE A stubborn.sh
#== stubborn.sh
#!/bin/sh
trap '' TERM HUP INT QUIT
echo "began $$" >> scripts
until test -e go; do sleep 0.2; done
echo "ended" >> scripts
"""


def stubborn(s: Scene) -> set[int]:
    """Process ids of the stubborn scripts that run."""
    begun = [line for line in dags.scripts(s.work) if line.startswith("began")]
    return {int(line.split()[1]) for line in begun}.intersection(processes_in(s.work))


@STAGE.scene
def a_script_that_never_ends_when_dagman_is_killed(s: Scene) -> None:
    s.submit(STUBBORN)
    first = s.until(lambda: stubborn(s), "the script")
    s.restart()
    s.until(lambda: stubborn(s) - first, "the script again")
    assert len(stubborn(s)) == 1
    s.touch("go")
    assert s.ends() == 0
    assert dags.scripts(s.work).count("ended") == 1


test_running_dags_survive_faults_of_the_machine = STAGE.tests()

"""DAGs that a FEEDER adds to: from a list of work, across kills of DAGMan, failures and rescues."""

from __future__ import annotations

import json

from condor_pydagman.pool import processes
from tests.pool import dags
from tests.pool.scenes import FIRST, Scene, Stage
from tests.pool.test_steering import steer

STAGE = Stage()
# Hands out two lines of the list `work` at a time; which, the number of the feeding says.
HAND_OUT = """\
#== feed.sh
#!/bin/sh
echo "feeding $1 of ${PYDAGMAN_FED_COUNT}" >> fed
first=$((2 * $1 - 1))
sed -n "$first,$((first + 1))p" work | while read name submit code; do
    echo "JOB $name $submit"
    echo "VARS $name code=\\"${code:-0}\\""
done
test $((first + 1)) -lt "$(wc -l < work)" || exit 3
#== work
"""


def work(*lines: str) -> str:
    return HAND_OUT + "".join(line + "\n" for line in lines)


@STAGE.scene
def a_list_is_worked_through_though_dagman_is_killed(s: Scene) -> None:
    lines = ("a job.sub", "b told.sub", "c job.sub", "d told.sub", "e job.sub")
    s.submit("FEEDER BELOW 2 PROGRAM feed.sh $FEEDING\n" + work(*lines))
    s.ran("c 0")
    s.restart()
    s.has(PYDAGMAN_Feeder="waits, 2 feedings, 4 nodes")
    s.settled()
    assert "Submitting HTCondor Node e " not in s.out()
    s.touch("go.b", "go.d")
    assert s.ends() == 0
    assert dags.runs(s.work) == {f"{name} 0": 1 for name in "abcde"}
    fed = s.text("fed").splitlines()
    assert list(dict.fromkeys(fed)) == ["feeding 1 of 0", "feeding 2 of 2", "feeding 3 of 4"]
    told = s.run("condor_pydagman", "events", "t.dag")
    events = [json.loads(line) for line in told.splitlines()]
    found = [event for event in events if event["event"] == "dag.feeder"]
    assert [(event["state"], event["feedings"]) for event in found] == [("ended", 3)]


@STAGE.scene
def a_rescue_dag_goes_on_with_the_next_feeding(s: Scene) -> None:
    lines = ("a job.sub", "b job.sub", "c first.sub 3", "d job.sub", "e job.sub")
    s.submit("FEEDER BELOW 1 RETRIES 0 PROGRAM feed.sh $FEEDING\n" + work(*lines) + FIRST + LATE)
    s.ran("d 0")
    assert s.ends() == 1
    assert (
        "its FEEDER has failed: feeding 3: feed.sh ended with exit code 9: no lines yet" in s.out()
    )
    explain = "condor_pydagman", "explain", "t.dag"
    told = s.access_point.run(*explain, cwd=s.work, check=False).stdout
    assert "1. The FEEDER failed too often, so the DAG is not complete." in told
    assert s.text("t.dag.rescue001").count("GROWN ") == 2
    assert sorted(s.rescue()) == ["a", "b", "d"]
    (s.work / "feed.sh").write_text(s.text("feed.sh").replace("test $1 = 3 &&", "false &&"))
    s.submit_again()
    assert s.ends() == 0
    runs = dags.runs(s.work)
    assert runs == {"a 0": 1, "b 0": 1, "c 0": 2, "d 0": 1, "e 0": 1}
    assert s.text("fed").splitlines()[-1] == "feeding 3 of 4"


PARTS = """\
SUBDAG EXTERNAL part1 part1.dag
SUBDAG EXTERNAL part2 part2.dag
PARENT part1 CHILD part2
#== part1.dag
CONFIG few.config
FEEDER BELOW 2 PROGRAM feed.sh 0 $FED_COUNT $ROOM_COUNT
#== part2.dag
FEEDER BELOW 2 AT-MOST 3 PROGRAM feed.sh 3 $FED_COUNT $ROOM_COUNT
#== few.config
PYDAGMAN_MAX_GROWN_NODES = 3
#== feed.sh
#!/bin/sh
first=$(($1 + $2))
last=$((first + ($3 < 2 ? $3 : 2)))
sed -n "$((first + 1)),${last}p" work | while read name; do
    echo "JOB $name job.sub"
done
test "$last" -lt "$(wc -l < work)" || exit 3
#== work
"""


@STAGE.scene
def another_dag_goes_on_where_a_full_one_has_ended(s: Scene) -> None:
    s.submit(PARTS + "".join(f"n{number}\n" for number in range(1, 6)))
    assert s.ends() == 0
    assert dags.runs(s.work) == {f"n{number} 0": 1 for number in range(1, 6)}
    told = s.text("part1.dag.dagman.out")
    assert "The FEEDER ends: the DAG has PYDAGMAN_MAX_GROWN_NODES nodes" in told
    assert [s.text(f"part{part}.dag.grown").count("PIECE ") for part in (1, 2)] == [2, 1]


# In place of the program above: its third run fails.
LATE = """\
#== feed.sh
#!/bin/sh
echo "feeding $1 of ${PYDAGMAN_FED_COUNT}" >> fed
test $1 = 3 && { echo no lines yet >&2; exit 9; }
first=$((2 * $1 - 1))
sed -n "$first,$((first + 1))p" work | while read name submit code; do
    echo "JOB $name $submit"
    echo "VARS $name code=\\"${code:-0}\\""
done
test $((first + 1)) -lt "$(wc -l < work)" || exit 3
"""


@STAGE.scene
def the_example_of_a_feeder(s: Scene) -> None:
    s.bring("feeder")
    s.submit(s.text("feeder.dag"))
    assert s.ends() == 0
    assert [s.text(f"sample{n:02}.out") for n in range(1, 13)] == [
        f"sample{n:02}: {111 * n} reads aligned\n" for n in range(1, 13)
    ]


@STAGE.scene
def the_program_is_killed_with_the_dag(s: Scene) -> None:
    s.submit(
        "JOB A told.sub\nFEEDER BELOW 2 PROGRAM hang.sh\n"
        "#== hang.sh\n#!/bin/sh\necho $$ > hang.pid\nexec sleep 1000\n"
    )
    pid = s.until(lambda: s.text("hang.pid").strip(), "the program to run")
    info = json.loads(steer(s, "info", "--json"))
    assert info["feeder"] == {"state": "runs", "feedings": 0, "nodes": 0, "error": ""}
    s.remove()
    s.gone()
    s.until(lambda: not processes.stat_of(int(pid)).alive, "the end of the program", after_end=True)


test_feeder = STAGE.tests()

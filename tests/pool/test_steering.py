"""People steer nodes of DAGs that run: by the command, from Python, and across kills of DAGMan."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.pool.scenes import Scene, Stage
from tests.schemas import check

STAGE = Stage()
# A told to go on by `go.A`; K keeps the DAG alive until `go.K`.
PAIR = "JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\nJOB K told.sub\n"
PYTHON = """\
import json, sys
from condor_pydagman import steer
print(json.dumps([steer("t.dag", **json.loads(one)).fields for one in sys.argv[1:]]))
"""


SUBSCRIBER = """\
import time
from condor_pydagman import FileError, subscribe
last = ""
while last is not None:
    try:
        for event in subscribe("t.dag", last):
            last = event["id"] or last
            print(event["event"], flush=True)
        last = None
    except FileError:
        time.sleep(0.1)
"""


def steer(s: Scene, *words: str, code: int = 0) -> str:
    """`condor_pydagman steer WORDS...`; what it says."""
    command, *others = words
    argv = ["condor_pydagman", "steer", command, "t.dag", *others]
    done = s.answer(*argv)
    while "DAGMan is recovering" in done.stdout:
        done = s.answer(*argv)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@STAGE.scene
def from_python(s: Scene) -> None:
    s.submit(PAIR + "CATEGORY A big\nCATEGORY B big\n", started="A 0")
    requests = [
        {"command": "info"},
        {"command": "set", "category": "big", "priority": 4},
        {"command": "halt", "reason": "tea"},
        {"command": "limits", "jobs": 7},
        {"command": "resume"},
    ]
    argv = [sys.executable, "-c", PYTHON, *map(json.dumps, requests)]
    info, chosen, halted, limited, resumed = json.loads(s.run(*argv))
    check("info", info)
    assert info["cluster"] == s.cluster
    assert chosen["done"] == 1
    assert [one["node"] for one in chosen["refused"]] == ["A"]
    assert halted["halted"]
    assert limited["limits"]["jobs"] == 7
    assert not resumed["halted"]
    s.says("Halt reason: tea")
    s.touch("go.A", "go.K")
    assert s.ends() == 0


@STAGE.scene
def events_by_the_socket(s: Scene) -> None:
    """Each once, also across a kill of DAGMan."""
    s.submit(PAIR, started="A 0")
    argv = s.access_point.pool.command([sys.executable, "-c", SUBSCRIBER])
    environment = s.access_point.environment
    with (
        open(s.work / "told", "wb") as told_file,
        subprocess.Popen(argv, cwd=s.work, env=environment, stdout=told_file) as reader,
    ):
        try:
            s.kill()
            # It is told by the second DAGMan then.
            s.until(lambda: s.text("told").count("dag.start") == 2, "another start")
            s.touch("go.A", "go.K")
            assert s.ends() == 0
            s.until(lambda: reader.poll() is not None, "its end", after_end=True)
        finally:
            reader.kill()
    assert reader.returncode == 0
    told = s.text("told").split()
    events = s.run("condor_pydagman", "events", "--since", "0", "t.dag").splitlines()
    # Where the two logs tell of one moment, the order depends on when they are read.
    assert sorted(told) == sorted(json.loads(line)["event"] for line in events)


@STAGE.scene
def settings_are_in_the_next_submission(s: Scene) -> None:
    """And behind a kill, and in the rescue file."""
    s.submit("JOB A told.sub\nJOB B told.sub\nPARENT A CHILD B\nRETRY B 1\nJOB K told.sub\n")
    s.started("A 0")
    chosen = ("set", "B", "--var", '+Colour="red"', "--priority", "4", "--retries", "0")
    assert "1 node is changed" in steer(s, *chosen)
    steer(s, "priority", "7")
    s.kill()
    s.says("Restoring the priority of the DAG: 7")
    s.until(lambda: _attribute(s, "A", "JobPrio") == 7, "the job's priority")
    s.touch("go.A")
    s.started("B 0")
    assert _attribute(s, "B", "JobPrio") == 11
    assert _attribute(s, "B", "Colour") == "red"
    steer(s, "cancel", "B")
    s.touch("go.K")
    assert s.ends() == 1
    rescue = s.text("t.dag.rescue001")
    assert "PRIORITY B 4\n" in rescue
    assert 'VARS B PREPEND My.Colour="\\"red\\""\n' in rescue
    assert "RETRY B 0\n" in rescue


def _attribute(s: Scene, node: str, name: str) -> Any:
    """Of the node's job in the queue."""
    found = s.access_point.queue(f'DAGNodeName == "{node}" && DAGManJobId == {s.cluster}')
    return found[0].get(name) if found else None


test_steering = STAGE.tests()

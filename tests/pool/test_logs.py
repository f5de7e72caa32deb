"""condor_pydagman logs, of jobs that HTCondor runs: while they run, afterwards, from the queue and
the history, with and without file transfer; and dry-run --commands, beside what was run."""

from __future__ import annotations

import json
import os

from condor_pydagman.language.quoted_words import parse_quoted
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
DAG = """\
JOB Here here.sub
JOB Home home.sub
JOB Streamed streamed.sub
JOB Many many.sub
JOB Again again.sub
RETRY Again 1
SUBDAG EXTERNAL Sub inner.dag
SPLICE Part part.dag DIR below
BUNDLE packed SIZE 2 NODES Packed Other
JOB Packed packed.sub
JOB Other packed.sub
#== inner.dag
JOB I told.sub
#== below/part.dag
JOB P part.sub
#== below/part.sub
executable = /bin/echo
arguments = part $(JOB)
output = out/$(JOB).$(Cluster)
queue
#== here.sub
universe = local
executable = /bin/sh
arguments = "-c 'echo begun; until test -e go.Here; do sleep 0.3; done; echo ended; echo oh >&2'"
output = $(JOB).$(Cluster).$(Process)
error = err.$(JOB)
queue
#== home.sub
executable = /bin/sh
arguments = "-c 'echo begun; until test -e HERE/go.Home; do sleep 0.3; done; echo ended'"
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
output = home.out
queue
#== streamed.sub
executable = /bin/sh
arguments = "-c 'echo begun; until test -e HERE/go.Streamed; do sleep 0.3; done; echo ended'"
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
stream_output = true
output = streamed.out
queue
#== many.sub
executable = /bin/echo
arguments = $(word)
output = many.$(word).$(Process)
queue word in (one, two)
#== again.sub
universe = local
executable = /bin/sh
arguments = "-c 'echo attempt $(RETRY); exit $((1 - $(RETRY)))'"
output = again.$(RETRY)
log = again.$(RETRY).log
request_memory = 64 * ($(RETRY) + 1)
queue
#== packed.sub
executable = /bin/echo
arguments = packed $(JOB)
output = $(JOB).out
queue
"""


def logs(s: Scene, *words: str) -> tuple[int, str, str]:
    done = s.answer("condor_pydagman", "logs", "t.dag", *words)
    return done.returncode, done.stdout, done.stderr


@STAGE.scene
def what_jobs_write(s: Scene) -> None:
    """While they run, and when DAGMan has ended: then the history has their ads."""
    (s.work / "below/out").mkdir(parents=True)
    s.submit(DAG.replace("HERE", str(s.work)))
    s.until(lambda: logs(s, "Here")[1] == "begun\n", "the output of Here")
    s.until(lambda: logs(s, "Streamed")[1] == "begun\n", "the streamed output")
    s.until(lambda: "comes home when it has ended" in logs(s, "Home")[2], "Home runs")
    assert logs(s, "Home")[:2] == (3, "")
    s.touch("go.Streamed", "go.Home")
    assert logs(s, "Home", "--follow")[:2] == (0, "begun\nended\n")
    s.touch("go.Here", "go.I")
    assert logs(s, "Here", "--follow")[:2] == (0, "begun\nended\n")
    assert s.ends() == 0
    check_ended(s)
    check_commands(s)
    for name in ("here.sub", "many.sub", "below/part.sub"):
        (s.work / name).unlink()
    assert logs(s, "Part+P")[:2] == (0, "part Part+P\n")
    assert logs(s, "Here", "--err")[:2] == (0, "oh\n")


def check_ended(s: Scene) -> None:
    assert logs(s, "Part+P")[:2] == (0, "part Part+P\n")
    assert logs(s, "Packed")[:2] == (0, "packed Packed\n")
    assert logs(s, "Other")[:2] == (0, "packed Other\n")
    code, out, _ = logs(s, "Many")
    assert code == 0
    assert [line for line in out.splitlines() if "==>" not in line] == ["one", "two"]
    assert logs(s, "Again")[1] == "attempt 1\n"
    assert logs(s, "Again", "--attempt", "1")[1] == "attempt 0\n"
    ended = [logs(s, "Again", "-attempt", n, "--log")[1] for n in ("1", "2")]
    assert ["return value 1)" in text for text in ended] == [True, False]
    mine = f'DAGManJobId == {s.cluster} && DAGNodeName == "Again"'
    asked = s.run("condor_history", "-constraint", mine, "-af", "RequestMemory").split()
    assert sorted(asked) == ["128", "64"]  # more in each attempt
    assert "keeps no standard output" in logs(s, "Sub+I")[2]


def check_commands(s: Scene) -> None:
    """The ads of jobs have what dry-run says of their nodes, but for the number of the cluster."""
    found = json.loads(s.run("condor_pydagman", "dry-run", "--commands", "--json", "t.dag"))
    told = {one["node"]: one["commands"][-1] for one in found["commands"] if one["commands"]}
    mine = f"DAGManJobId == {s.cluster}"
    ads = json.loads(s.run("condor_history", "-json", "-limit", "20", "-constraint", mine))
    last = {ad["DAGNodeName"]: ad for ad in sorted(ads, key=lambda ad: -ad["DAGManNodeRetry"])}
    compared = sorted(told.keys() & last.keys())
    assert compared == ["Again", "Here", "Home", "Many", "Part+P", "Streamed"]
    for node in compared:
        ad, command = last[node], told[node]
        raw = ad.get("Arguments", "").replace('"', '""')
        words = parse_quoted(f'"{raw}"') if "Arguments" in ad else ad.get("Args", "").split()
        output = command["output"].replace("$(Cluster)", str(ad["ClusterId"]))
        if node != "Many":  # each of its jobs has its own
            assert (command["words"], output) == ([ad["Cmd"], *words], ad["Out"])
        assert os.path.basename(ad["Err"]) == (command["error"] or "null")


test_logs = STAGE.tests()

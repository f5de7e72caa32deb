"""condor_pydagman explain: one DAG that has failed in ten ways, while it runs and when it was
removed, and one that an exit code has ended.

While stock is recorded, stock's DAGs are explained too: the causes must be the same.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.pool.left_files import keep_for_later, left_by_stock
from tests.pool.scenes import Played, Scene, Stage
from tests.pool.stock import Stock, plain
from tests.schemas import check

STAGE = Stage()
TEN_WAYS = """\
JOB Exit fail.sub
VARS Exit code="3"
RETRY Exit 1
JOB After fail.sub
PARENT Exit CHILD After
JOB Signal kill.sub
JOB Pre fail.sub
SCRIPT DEBUG pre.log ALL PRE Pre /bin/ls nonexistent
JOB Post good.sub
SCRIPT POST Post script.sh 1
JOB Missing missing.sub
JOB Refused refused.sub
JOB Held held.sub
JOB NoExe noexe.sub
JOB NoMatch nomatch.sub
JOB Removed told.sub
SUBDAG EXTERNAL Inner inner.dag
JOB Good good.sub
#== inner.dag
JOB I fail.sub
VARS I code="9"
#== fail.sub
universe = scheduler
executable = /bin/sh
arguments = "-c 'echo no dataset of $(JOB) >&2; exit $(code)'"
error = $(JOB).err
queue
#== kill.sub
universe = scheduler
executable = /bin/sh
arguments = kill.sh
queue
#== kill.sh
kill -9 $$
#== good.sub
universe = scheduler
executable = /bin/true
queue
#== refused.sub
universe = nonexistent
executable = /bin/true
queue
#== held.sub
executable = /bin/true
transfer_input_files = nonexistent
should_transfer_files = yes
queue
#== noexe.sub
executable = nonexistent
queue
#== nomatch.sub
executable = /bin/true
requirements = TARGET.Arch == "VAX"
queue
"""
ENDED = {
    "node.exit": ["Exit"],
    "node.signal": ["Signal"],
    "node.pre": ["Pre"],
    "node.post": ["Post"],
    "node.submit": ["Missing", "Refused"],
    "node.removed": ["Removed"],
    "node.subdag": ["Inner"],
    "node.futile": ["After"],
}
LIVE = {"job.held": ["Held", "NoExe"], "job.no_match": ["NoMatch"]}


def explain(s: Scene, *words: str) -> Any:
    """What the command says; `code` is its exit code."""
    done = s.answer("condor_pydagman", "explain", "--json", *words)
    assert done.stdout, done.stderr
    said = json.loads(done.stdout)
    check("explain", said)
    return {**said, "code": done.returncode}


def nodes_by_cause(said: Any, weight: str = "problem") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in said["findings"]:
        if finding["weight"] == weight:
            found.setdefault(finding["cause"], []).extend(finding["nodes"])
    return {cause: sorted(nodes) for cause, nodes in found.items()}


def of(said: Any, cause: str, node: str) -> Any:
    """The finding of that cause about a node."""
    return next(f for f in said["findings"] if f["cause"] == cause and node in f["nodes"])


def causes(said: Any) -> list[Any]:
    """What a DAG under either program is compared by: each cause with its weight and its nodes."""
    found = [
        [one["cause"], one["weight"], sorted(one["nodes"])]
        for one in said["findings"]
        if one["cause"] != "dag.stalled"  # which is told after a while
    ]
    return [said["code"], *sorted(found)]


def of_cause(said: Any, cause: str) -> Any:
    return next(finding for finding in said["findings"] if finding["cause"] == cause)


def check_live(said: Any) -> None:
    """Each way is told with its reason."""
    failed = of(said, "node.exit", "Exit")
    assert "exit code 3 in the last of 2 attempts" in failed["sentence"]
    assert failed["evidence"][-1]["lines"] == ["no dataset of Exit"]
    assert "signal 9" in of(said, "node.signal", "Signal")["sentence"]
    assert "via condor_rm" in of(said, "node.removed", "Removed")["sentence"]
    assert "nonexistent" in of(said, "node.submit", "Refused")["sentence"]
    assert "No such file" in of(said, "node.submit", "Missing")["sentence"]
    assert "nonexistent" in of(said, "node.pre", "Pre")["evidence"][-1]["lines"][-1]
    assert "(HoldReasonCode 13)" in of(said, "job.held", "Held")["sentence"]
    assert "(HoldReasonCode 6)" in of(said, "job.held", "NoExe")["sentence"]
    assert 'TARGET.Arch == "VAX"' in of(said, "job.no_match", "NoMatch")["sentence"]
    inner = of(said, "node.subdag", "Inner")["inner"][0]
    assert of(inner, "node.exit", "I")["evidence"][-1]["lines"] == ["no dataset of I"]


def check_removed(said: Any) -> None:
    assert said["code"] == 1
    assert nodes_by_cause(said) == {**ENDED, "dagman.removed": []}
    assert nodes_by_cause(said, "note")["node.stopped"] == ["Held", "NoExe", "NoMatch"]
    assert said["findings"][0]["cause"] == "dagman.removed"
    assert "condor_submit_dag t.dag" in of_cause(said, "dag.rescue")["advice"][0]


@STAGE.by_both
def ten_ways_to_fail(s: Scene) -> list[Any]:
    s.submit(TEN_WAYS, started="Removed 0")
    s.run("condor_rm", str(s.job("Removed")))
    s.says(r"^.{17} +1 +0 +3 +0 +0 +0 +8 +1 *\n.* 2 job proc\(s\) currently held")
    live = explain(s, "t.dag")
    assert live["code"] == 1
    assert nodes_by_cause(live) == {**ENDED, **LIVE}
    check_live(live)
    s.remove()
    s.gone()
    removed = explain(s, "t.dag")
    check_removed(removed)
    keep_for_later(s, "ten_ways_to_fail")
    return [causes(live), causes(removed)]


@STAGE.by_both
def an_exit_code_that_ends_the_dag(s: Scene) -> list[Any]:
    s.submit('JOB A told.sub\nVARS A code="4"\nABORT-DAG-ON A 4 RETURN 1\nJOB B told.sub\n')
    s.applied("EXECUTE", "B")
    s.touch("go.A")
    assert s.ends() == 1
    s.gone()
    said = explain(s, "t.dag")
    assert nodes_by_cause(said) == {"dag.aborted": [], "node.exit": ["A"]}
    assert nodes_by_cause(said, "note") == {"node.stopped": ["B"], "dag.rescue": []}
    keep_for_later(s, "an_exit_code_that_ends_the_dag")
    return causes(said)


@pytest.mark.parametrize("name", STAGE.pairs)
def test_the_causes_are_those_of_a_dag_under_stock(played: Played, stock: Stock, name: str) -> None:
    assert plain(played.check(name)) == played.stock(name, stock)
    left_by_stock(name, stock)

"""Every command of the language is applied by something."""

from __future__ import annotations

import inspect

import pytest

from condor_pydagman.dagfile import commands
from condor_pydagman.graph.apply import apply
from condor_pydagman.graph.build import BuildOptions, ProcessingError
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import JOBS, build_text, seen

LINES = {
    commands.Job: "JOB D x",
    commands.Subdag: "SUBDAG EXTERNAL D x.dag",
    commands.Sweep: "SWEEP s{x} s OVER x IN 1..3",
    commands.SweepParent: "SWEEP s{x} s OVER x IN 1..3\nSWEEP_PARENT s{x} CHILD s{x} ONE_TO_ONE",
    commands.Splice: "SPLICE S s.dag",
    commands.Include: "INCLUDE s.dag",
    commands.SubmitDescription: "SUBMIT-DESCRIPTION s {\n}",
    commands.ParentChild: "PARENT A CHILD B",
    commands.Pin: "PIN_IN A 1",
    commands.Connect: "SPLICE S s.dag\nSPLICE T s.dag\nCONNECT S T",
    commands.ScriptLine: "SCRIPT PRE A x",
    commands.RetryLine: "RETRY A 1",
    commands.AbortDagOn: "ABORT-DAG-ON A 1",
    commands.Vars: "VARS A x=1",
    commands.Priority: "PRIORITY A 1",
    commands.PreSkip: "PRE_SKIP A 1",
    commands.ToleranceLine: "TOLERANCE A 1",
    commands.TimeoutLine: "TIMEOUT A TOTAL 1",
    commands.SiteGroupLine: "SITE_GROUP g NODES A",
    commands.SitePolicyLine: "SITE_GROUP g NODES A\nSITE_POLICY g WAIT 5",
    commands.SiteMatched: "SITE_GROUP g NODES A\nSITE_MATCHED g s 1",
    commands.SharedLimit: "SHARED_LIMIT a ALL_NODES",
    commands.RunIf: "RUN_IF A true",
    commands.Publish: "PUBLISH A FILE x",
    commands.Skipped: "SKIPPED A",
    commands.NodeResult: "NODE_RESULT A []",
    commands.Cache: "CACHE A INPUTS x",
    commands.ExtendLine: "EXTEND A more.dag",
    commands.ScatterLine: "SCATTER A list x-{item} x.sub",
    commands.SavePointFile: "SAVE_POINT_FILE A",
    commands.Choose: "CHOOSE FROM A",
    commands.BrakeLine: "BRAKE b 1 HALT",
    commands.FeederLine: "FEEDER BELOW 1 PROGRAM feed",
    commands.EnoughLine: "ENOUGH ALL_NODES 1",
    commands.NotNeeded: "NOT_NEEDED A",
    commands.Category: "CATEGORY A c",
    commands.Done: "DONE A",
    commands.MaxJobs: "MAXJOBS c 1",
    commands.NodeStatusFile: "NODE_STATUS_FILE s",
    commands.JobstateLog: "JOBSTATE_LOG j",
    commands.NotifyLine: "NOTIFY dag.end PROGRAM x",
    commands.Dot: "DOT d",
}
FOR_THE_MANAGER = {
    commands.ConfigFile: "CONFIG c",
    commands.SetJobAttr: "SET_JOB_ATTR a = b",
    commands.Env: "ENV GET HOME",
}
SPLICE = {"s.dag": "JOB X x\nPIN_IN X 1\nPIN_OUT X 1\n"}


def test_no_command_is_forgotten() -> None:
    known = {
        kind
        for _, kind in inspect.getmembers(commands, inspect.isclass)
        if issubclass(kind, tuple) and "line" in kind.__annotations__
    }
    of_rescue_files = {commands.Reject, commands.GrownLine, commands.LetGoLine, commands.NotDone}
    assert known == {*LINES, *FOR_THE_MANAGER, *of_rescue_files}


@pytest.mark.parametrize("line", [line for line in LINES.values() if line != "PIN_IN A 1"])
def test_a_command_leaves_something_in_the_dag(line: str) -> None:
    assert seen(build_text(JOBS + line, SPLICE)) != seen(build_text(JOBS))


@pytest.mark.parametrize("line", FOR_THE_MANAGER.values())
def test_commands_for_condor_submit_dag_change_nothing(line: str) -> None:
    assert seen(build_text(JOBS + line)) == seen(build_text(JOBS))


def test_one_command() -> None:
    building = Building(Dag(), BuildOptions())
    apply(building, commands.Job(3, "A", "a.sub", kind=NodeKind.SERVICE))
    assert building.dag.names == ["A"]
    assert building.special == {0}


def test_an_error_has_no_place_yet() -> None:
    building = Building(Dag(), BuildOptions())
    with pytest.raises(ProcessingError) as caught:
        apply(building, commands.RetryLine(3, "A", 1))
    assert (caught.value.file, caught.value.line) == ("", 0)

"""Each command of the language, as a method and as the line that it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from condor_pydagman import DagError
from condor_pydagman.language.keywords import manual
from condor_pydagman.workflow.workflow import Workflow
from tools.workflow_methods import BY_HAND, OF_RESCUE_FILES

OF_NODES: dict[str, list[tuple[Callable[[Any], Any], str]]] = {
    "PIN_IN": [(lambda a: a.pin_in(1), "PIN_IN A 1")],
    "PIN_OUT": [(lambda a: a.pin_out(2), "PIN_OUT A 2")],
    "SCRIPT": [
        (lambda a: a.script("PRE", "x.sh $JOB"), "SCRIPT PRE A x.sh $JOB"),
        (
            lambda a: a.script("HOLD", "x", defer_status=1, defer_seconds=60),
            "SCRIPT DEFER 1 60 HOLD A x",
        ),
    ],
    "RETRY": [
        (lambda a: a.retry(3), "RETRY A 3"),
        (lambda a: a.retry(3, unless_exit=[2, 4], delay=60), "RETRY A 3 UNLESS-EXIT 2,4 DELAY 60"),
    ],
    "ABORT_DAG_ON": [(lambda a: a.abort_dag_on(1, exit_code=0), "ABORT-DAG-ON A 1 RETURN 0")],
    "VARS": [
        (lambda a: a.vars(x=1, y="a b"), 'VARS A x="1" y="a b"'),
        (lambda a: a.vars({"My.k": None}, append=False), 'VARS A PREPEND My.k=""'),
    ],
    "PRIORITY": [(lambda a: a.priority(-5), "PRIORITY A -5")],
    "PRE_SKIP": [(lambda a: a.pre_skip(1), "PRE_SKIP A 1")],
    "TOLERANCE": [(lambda a: a.tolerance(5, percent=True), "TOLERANCE A 5%")],
    "TIMEOUT": [
        (lambda a: a.timeout(running=600), "TIMEOUT A RUNNING 600"),
        (lambda a: a.timeout(total=9, warn=True), "TIMEOUT A TOTAL 9 WARN"),
    ],
    "CATEGORY": [(lambda a: a.category("big"), "CATEGORY A big")],
    "RUN_IF": [(lambda a: a.run_if("true", otherwise="DONE"), "RUN_IF A ELSE DONE true")],
    "PUBLISH": [(lambda a: a.publish(attributes=["x", "y"]), "PUBLISH A ATTRIBUTES x,y")],
    "CACHE": [(lambda a: a.cache(inputs="in.txt"), "CACHE A INPUTS in.txt")],
    "EXTEND": [(lambda a: a.extend("more.dag", trusted=True), "EXTEND A more.dag TRUSTED")],
    "SCATTER": [
        (
            lambda a: a.scatter("l", "x{item}", "x.sub", pairs={"k": "{1}"}),
            "SCATTER A l x{item} x.sub VARS k={1}",
        )
    ],
    "SAVE_POINT_FILE": [(lambda a: a.save_point_file(file="s"), "SAVE_POINT_FILE A s")],
}
OF_DAG: dict[str, list[tuple[Callable[[Any, Any], Any], str]]] = {
    "SWEEP": [
        (
            lambda f, a: f.sweep("s{x}", "x.sub", dimensions=[("x", ("1", "2"), False)]),
            "SWEEP s{x} x.sub OVER x IN 1 2",
        ),
        (lambda f, a: f.sweep("s{x}", "x.sub", rows="t.csv"), "SWEEP s{x} x.sub ROWS t.csv"),
    ],
    "REJECT": [(lambda f, a: f.reject(), "REJECT")],
    "DOT": [(lambda f, a: f.dot("d.dot", update=True), "DOT d.dot UPDATE")],
    "NODE_STATUS_FILE": [(lambda f, a: f.node_status_file("s"), "NODE_STATUS_FILE s 60")],
    "JOBSTATE_LOG": [(lambda f, a: f.jobstate_log("j"), "JOBSTATE_LOG j")],
    "NOTIFY": [
        (lambda f, a: f.notify("dag.end", program="./tell"), "NOTIFY dag.end PROGRAM ./tell"),
        (lambda f, a: f.notify("*", url="https://x.org/"), "NOTIFY * URL https://x.org/"),
    ],
    "INCLUDE": [(lambda f, a: f.include("more.dag"), "INCLUDE more.dag")],
    "SWEEP_PARENT": [
        (lambda f, a: f.sweep_parent("s{x}", "t{x}", "x"), "SWEEP_PARENT s{x} CHILD t{x} BY x"),
        (lambda f, a: f.sweep_parent("s", "t", ()), "SWEEP_PARENT s CHILD t ONE-TO-ONE"),
    ],
    "CONNECT": [(lambda f, a: f.connect("S", "T"), "CONNECT S T")],
    "MAXJOBS": [(lambda f, a: f.maxjobs("big", 3), "MAXJOBS big 3")],
    "SITE_GROUP": [
        (lambda f, a: f.site_group("g", splice="S"), "SITE_GROUP g SPLICE S"),
        (lambda f, a: f.site_group("g"), "SITE_GROUP g ALL_NODES"),
    ],
    "SITE_POLICY": [
        (lambda f, a: f.site_policy("g", wait=60), "SITE_POLICY g WAIT 60"),
        (lambda f, a: f.site_policy("g", rank="Cpus"), "SITE_POLICY g RANK Cpus"),
        (lambda f, a: f.site_policy("g", old_site="NEVER"), "SITE_POLICY g OLD_SITE NEVER"),
    ],
    "CHOOSE": [(lambda f, a: f.choose("FROM", a), "CHOOSE FROM A")],
    "SHARED_LIMIT": [(lambda f, a: f.shared_limit("l", category="c"), "SHARED_LIMIT l CATEGORY c")],
    "ENOUGH": [
        (lambda f, a: f.enough(3), "ENOUGH ALL_NODES 3"),
        (lambda f, a: f.enough(3, of="S"), "ENOUGH ALL_NODES OF S 3"),
        (lambda f, a: f.enough(50, percent=True, parents=a), "ENOUGH PARENTS A 50%"),
    ],
    "BRAKE": [(lambda f, a: f.brake("b", 5, "HALT", last=9), "BRAKE b 5 OF 9 HALT")],
    "FEEDER": [(lambda f, a: f.feeder(9, "./more"), "FEEDER BELOW 9 PROGRAM ./more")],
    "BUNDLE": [
        (lambda f, a: f.bundle("b", chains=True), "BUNDLE b CHAINS ALL_NODES"),
        (lambda f, a: f.bundle("b", nodes="ALL_NODES"), "BUNDLE b ALL_NODES"),
        (lambda f, a: f.bundle("b", size=3, nodes=[a, "B"]), "BUNDLE b SIZE 3 NODES A B"),
    ],
    "CONFIG": [(lambda f, a: f.config("c"), "CONFIG c")],
    "SET_JOB_ATTR": [(lambda f, a: f.set_job_attr("x = 1"), "SET_JOB_ATTR x = 1")],
    "ENV": [(lambda f, a: f.env("PATH", set=False), "ENV GET PATH")],
}


def test_each_command_has_a_method() -> None:
    words = {one.word for one in manual() if OF_RESCUE_FILES not in one.summary}
    assert words - BY_HAND == {*OF_NODES, *OF_DAG} - BY_HAND


@pytest.mark.parametrize(("call", "line"), [one for some in OF_NODES.values() for one in some])
def test_what_is_said_of_a_node(call: Callable[[Any], Any], line: str) -> None:
    flow = Workflow()
    node = flow.job("A", "a.sub")
    assert call(node) is node
    assert line in flow.text().splitlines()


@pytest.mark.parametrize(("call", "line"), [one for some in OF_DAG.values() for one in some])
def test_what_is_said_of_the_dag(call: Callable[[Any, Any], Any], line: str) -> None:
    flow = Workflow()
    node = flow.job("A", "a.sub")
    flow.job("B", "a.sub")
    assert call(flow, node) is flow
    assert line in flow.text().splitlines()


def test_what_is_said_of_several_nodes_is_said_of_each() -> None:
    flow = Workflow()
    flow.layer("A", "a.sub", 2).retry(3)
    flow.all_nodes.priority(1)
    lines = flow.text().splitlines()
    assert {"RETRY A0 3", "RETRY A1 3", "PRIORITY ALL_NODES 1"} < set(lines)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, a: a.retry(-1), "Invalid max retry value '-1'"),
        (lambda f, a: a.retry("often"), "Invalid max retry value 'often'"),
        (lambda f, a: a.save_point_file(file="a\nb"), "is not a valid DAG command"),
        (lambda f, a: f.notify("no.such", program="x"), "no.such"),
        (lambda f, a: f.all_nodes.save_point_file(), "ALL_NODES cannot be used"),
        (lambda f, a: a.vars({"queue": 1}), "Illegal variable name"),
        (lambda f, a: a.category('a"b'), r":\d+: CATEGORY: a quote of 'a\"b' is not closed$"),
    ],
)
def test_what_no_line_says(call: Callable[[Any, Any], Any], message: str) -> None:
    flow = Workflow()
    with pytest.raises(DagError, match=message) as caught:
        call(flow, flow.job("A", "a.sub"))
    assert caught.value.errors[0].place.file == __file__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, a: f.bundle("b", nodes=a, category="c"), "give one of category, nodes"),
        (lambda f, a: f.notify("dag.end"), "give one of program, url"),
        (lambda f, a: a.script("LATER", "x"), "kind is one of PRE, POST, HOLD"),
        (lambda f, a: f.choose("FROM", 5), "names must be a text, not 5"),
    ],
)
def test_values_of_wrong_types(call: Callable[[Any, Any], Any], message: str) -> None:
    flow = Workflow()
    with pytest.raises(TypeError, match=message):
        call(flow, flow.job("A", "a.sub"))


def test_help_says_which_parameters_exclude_each_other() -> None:
    bundle = " ".join((Workflow.bundle.__doc__ or "").split())
    assert "Give one of `category`, `nodes`, or none: ALL_NODES." in bundle
    assert "Give one of `program`, `url`." in (Workflow.notify.__doc__ or "")


def test_what_dagman_would_read_otherwise_is_told() -> None:
    with pytest.raises(DagError, match="read as 300: if that is meant, write running=300"):
        Workflow().all_nodes.timeout(running="5m")  # type: ignore[arg-type]


def test_what_help_and_completion_show_is_for_users() -> None:
    by_hand = {"all_nodes", "check", "dag", "data", "description", "file", "final", "job", "layer"}
    by_hand |= {"provisioner", "read", "select", "service", "splice", "subdag", "submit", "text"}
    words = {about.word.lower() for about in manual()}
    shown = {name for name in dir(Workflow()) if not name.startswith("_")}
    assert shown - words - by_hand == {"write"}

"""The submit description of a node's job, and what it gets of a site."""

from __future__ import annotations

import htcondor2
import pytest

from condor_pydagman.config import Config
from condor_pydagman.errors import PoolError
from condor_pydagman.features.sites.adapters.description import with_site
from condor_pydagman.graph.model import Dag, Variable
from condor_pydagman.language.description import template_of
from condor_pydagman.records.job_description import (
    MAX_PARENT_NAMES_LENGTH,
    AtSubmission,
    Workflow,
    describe,
    inheritance,
    inherited,
    parent_names,
)
from condor_pydagman.vocabulary import DagStatus, NodeKind

JOB = template_of("queue\n")
WORKFLOW = Workflow(12, "/run/./t.dag.nodes.log", Config(), "t.dag+12", "12.0")


def chain(*names: str) -> Dag:
    dag = Dag(files=["t.dag"])
    for name in names:
        dag.add_node(name, f"{name}.sub")
    for number in range(1, len(names)):
        dag.add_edges([number - 1], [number])
    dag.finish()
    return dag


def described(
    dag: Dag, node: int, file_text: str = "queue\n", workflow: Workflow = WORKFLOW
) -> str:
    return describe(
        dag,
        node,
        template_of(file_text),
        workflow,
        AtSubmission(2, DagStatus.NODE_FAILED, 3),
    )


def test_order_of_everything() -> None:
    dag = chain("A", "B", "C")
    dag.priorities[1] = 5
    dag.variables[1] = (Variable("x", "a b", False), Variable("MY.Late", "3", True))
    text = described(dag, 1, "executable = /bin/true\nqueue 2\nexecutable = /bin/false\n")
    assert text == (
        "SUBMIT_FILE = B.sub\n"
        "My.JobSubmitMethod = 1\n"
        "JOB = B\n"
        "RETRY = 2\n"
        "DAG_STATUS = 2\n"
        "FAILED_COUNT = 3\n"
        "DAG_PARENT_NAMES = A\n"
        'My.DAGParentNodeNames = "$(DAG_PARENT_NAMES)"\n'
        "My.DAGManNodeRetry = 2\n"
        "batch_name = t.dag+12\n"
        "batch_id = 12.0\n"
        "priority = 5\n"
        "keep_claim_idle = 20\n"
        "x = a b\n"
        "executable = /bin/true\n"
        "dag_node_name = B\n"
        "submit_event_notes = DAG Node: B\n"
        "dagman_log = /run/./t.dag.nodes.log\n"
        'My.DAGManNodesMask = "0,1,2,4,5,7,8,9,10,11,12,13,16,17,24,27,35,36"\n'
        "My.DAGManJobId = 12\n"
        "DAGManJobId = 12\n"
        "MY.Late = 3\n"
        "queue 2\n"
    )


def test_a_node_without_parents_or_options_gets_no_conditional_lines() -> None:
    dag = chain("A")
    text = described(dag, 0, workflow=Workflow(0, "/n.log", Config(), " "))
    for key in (
        *("DAG_PARENT_NAMES =", "batch_name", "batch_id", "priority", "keep_claim_idle"),
        *("accounting", "DAGManJobId", "log =\n", "notification", "DAGLifetimeJob"),
    ):
        assert key not in text


def test_knobs_and_accounting() -> None:
    dag = chain("A", "B")
    dag.priorities[0] = -4
    config = Config(hold_claim_time=0, suppress_job_logs=True, suppress_notification=True)
    text = described(dag, 0, workflow=Workflow(1, "/n.log", config, "", "", "group_x", "user"))
    assert "priority = -4\naccounting_group = group_x\naccounting_group_user = user\n" in text
    assert "DAGManJobId = 1\nlog =\nnotification = NEVER\nqueue\n" in text
    assert "keep_claim_idle" not in text


def test_a_priority_of_zero_is_not_said() -> None:
    dag = chain("A")
    dag.priorities[0] = 0
    assert "priority" not in described(dag, 0)


def test_a_priority_that_a_person_has_set_counts() -> None:
    dag = chain("A")
    dag.priorities[0] = 5
    text = describe(dag, 0, JOB, WORKFLOW, AtSubmission(priority=-7))
    assert "priority = -7\n" in text
    assert "priority = 5" not in text


def test_service_jobs_live_as_long_as_the_dag() -> None:
    dag = Dag()
    dag.add_node("V", "v.sub", NodeKind.SERVICE)
    dag.finish()
    assert "My.DAGLifetimeJob = true\nqueue\n" in described(dag, 0)


def test_a_backslash_at_the_end_of_a_variable_does_not_eat_the_next_line() -> None:
    dag = chain("A")
    dag.variables[0] = (Variable("x", "a\\", False),)
    assert "x = a\\$(DAGMAN_NOTHING:)\n" in described(dag, 0)


@pytest.mark.parametrize("value", ["1\nexecutable = /bin/sh\nqueue", "1\n", "1\0"])
@pytest.mark.parametrize("append", [True, False])
def test_a_variable_of_several_lines_is_refused(value: str, append: bool) -> None:
    dag = chain("A")
    dag.variables[0] = (Variable("x", value, append),)
    with pytest.raises(PoolError, match=r"^the value of x has more than one line: 1\\"):
        described(dag, 0)


@pytest.mark.parametrize("where", ["nodes_log", "batch_name", "accounting_group"])
def test_a_name_of_several_lines_is_refused(where: str) -> None:
    dag = chain("A")
    with pytest.raises(PoolError, match=r"^a name or path has more than one line: a\\x0aqueue"):
        described(dag, 0, workflow=WORKFLOW._replace(**{where: "a\nqueue"}))


@pytest.mark.parametrize("key", ["dag_node_name", "DAGMan_Log"])
def test_nothing_that_is_appended_hides_a_job_from_dagman(key: str) -> None:
    dag = chain("A")
    dag.variables[0] = (Variable(key, "other", append=True),)
    read = htcondor2.Submit(described(dag, 0))
    assert read.expand("dag_node_name") == "A"
    assert read.expand("dagman_log") == WORKFLOW.nodes_log


def test_parent_names_once_each() -> None:
    dag = chain("A", "B")
    dag.add_node("C", "c.sub")
    dag.add_edges([0, 1], [2, 1])
    dag.add_edges([0], [2])
    dag.finish()
    assert parent_names(dag, 2) == "A,B"
    assert parent_names(dag, 0) == ""


@pytest.mark.parametrize(("width", "listed"), [(100, 20), (7, 251), (900, 3)])
def test_a_long_list_of_parents_ends_with_a_whole_name(width: int, listed: int) -> None:
    dag = Dag()
    for number in range(300):
        dag.add_node(f"{number:03d}".ljust(width, "x"), "n.sub")
    child = dag.add_node("Z", "n.sub")
    dag.add_edges(range(300), [child])
    dag.finish()
    names = parent_names(dag, child)
    assert names.split(",") == dag.names[:listed]
    assert len(names) >= MAX_PARENT_NAMES_LENGTH


@pytest.mark.parametrize(
    ("text", "body", "queue"),
    [
        ("", "", "queue\n"),
        ("a = 1", "a = 1\n", "queue\n"),
        ("a = 1 \\\n", "a = 1 \\$(DAGMAN_NOTHING:)\n", "queue\n"),
        ("a = 1\nqueue", "a = 1\n", "queue\n"),
        ("a = 1\n\x0cqueue 4\n", "a = 1\n", "\x0cqueue 4\n"),
        ("a = 1\x1cqueue 4\n", "a = 1\x1cqueue 4\n", "queue\n"),
        ("a = 1\r\nQueue 3\r\n", "a = 1\n", "Queue 3\n"),
        ("  queue 2 x from list.txt\nb = 1\nqueue\n", "", "  queue 2 x from list.txt\n"),
        ("queued = 1\nqueue_x = 2\nqueue\n", "queued = 1\nqueue_x = 2\n", "queue\n"),
        ("a = b \\\nqueue\nqueue 2\n", "a = b \\\nqueue\n", "queue 2\n"),
        ("a = b \\  \nqueue\nqueue 2\n", "a = b \\  \nqueue\n", "queue 2\n"),
        ("# not me \\\nqueue 2\n", "# not me \\\n", "queue 2\n"),
        ("queue \\\n 3\nb = 1\n", "", "queue \\\n 3\n"),
        ("a @=END\nqueue\n@END\nqueue 2\n", "a @=END\nqueue\n@END\n", "queue 2\n"),
        ("a @= END\nqueue\n  @END \nqueue 2\n", "a @= END\nqueue\n  @END \n", "queue 2\n"),
        ("a = b @=END\nqueue 2\n", "a = b @=END\n", "queue 2\n"),
        ("a @=END\nqueue\n", "a @=END\nqueue\n", "queue\n"),
        ("a = 1\nITER 2\nqueue\n", "a = 1\n", "ITER 2\n"),
        ("ite\\\n  rate 2\nb = 1\n", "", "ite\\\n  rate 2\n"),
        ("iter = 3\nqueue\n", "iter = 3\n", "queue\n"),
        ("iterate @=END\nqueue\n@END\n", "iterate @=END\nqueue\n@END\n", "queue\n"),
    ],
)
def test_where_a_file_is_cut(text: str, body: str, queue: str) -> None:
    assert template_of(text) == ((body, queue),)


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("queue x in (a b c)", "queue x in (a b c)\n"),
        ("queue x in (\n a\n b\n)", "queue x in (\n a\n b\n)\n"),
        ("queue x,y from [1:] (\n a, b\n c, d)\n)", "queue x,y from [1:] (\n a, b\n c, d)\n)\n"),
        ("queue x from (\n# remark\n\n a\n)", "queue x from (\n# remark\n\n a\n)\n"),
        ("queue x matching files (*.dat)", "queue x matching files (*.dat)\n"),
        ("iterate x in (\n a\n)", "iterate x in (\n a\n)\n"),
        ("queue from table(csv) (\n a\n)", "queue from table(csv) (\n a\n)\n"),
        ("queue from table(csv) t.csv", "queue from table(csv) t.csv\n"),
    ],
)
def test_inline_items_belong_to_the_statement(statement: str, kept: str) -> None:
    assert template_of(f"{statement}\nb = 1\nqueue 9\n") == (("", kept),)


def test_items_without_an_end_reach_to_the_end_of_the_file() -> None:
    assert template_of("queue x in (\nqueue 9") == (("", "queue x in (\nqueue 9\n"),)


def test_statements_in_an_if_block_do_not_end_the_file() -> None:
    dag = chain("A")
    text = "if false\nqueue 3\nendif\nb = 1\nqueue 2\nc = 1\n"
    parts = ("if false\n", "queue 3\n"), ("endif\nb = 1\n", "queue 2\n")
    assert template_of(text) == parts
    shown = described(dag, 0, text)
    assert shown.count("dag_node_name = A\n") == 2
    assert shown.endswith("DAGManJobId = 12\nqueue 2\n")


def test_if_block_with_the_only_statement() -> None:
    assert template_of("if true\nqueue 3\nendif\n")[-1] == ("endif\n", "queue\n")


def test_jobs_for_a_person_go_on_hold() -> None:
    dag = chain("A", "B")
    text = describe(dag, 0, JOB, WORKFLOW, AtSubmission(hold=True))
    assert "hold = true\nkeep_claim_idle = 20\n" in text
    assert "hold" not in described(dag, 1)


def test_machine_attributes_are_recorded_before_vars() -> None:
    dag = chain("A")
    dag.variables[0] = (Variable("x", "1", False),)
    config = Config(record_machine_attrs="Arch, OpSys Memory")
    flow = WORKFLOW._replace(config=config, inherited=(("In_Foo", '"a b"'), ("In_Sum", "3 + 4")))
    assert (
        "job_ad_information_attrs ="
        " MachineAttrArch0,MachineAttrOpSys0,MachineAttrMemory0,DAGNodeName\n"
        "job_machine_attrs = Arch, OpSys Memory\n"
        'My.In_Foo = "a b"\n'
        "My.In_Sum = 3 + 4\n"
        "x = 1\n"
    ) in described(dag, 0, workflow=flow)


def test_inherited_attributes_have_one_prefix_however_deep_the_dag() -> None:
    config = Config(inherit_attrs="Foo, bar,Nope Foo", inherit_attrs_prefix="In_")
    top = inheritance(config, sub_dag=False)
    assert top == {"In_Foo": "Foo", "In_bar": "bar", "In_Nope": "Nope"}
    assert inherited(top, {"Foo": "1", "bar": "2"}) == (("In_Foo", "1"), ("In_bar", "2"))
    inner = inheritance(config, sub_dag=True)
    assert inner == {"In_Foo": "In_Foo", "In_bar": "In_bar", "In_Nope": "In_Nope"}
    assert inheritance(Config(), sub_dag=False) == {}


def test_the_wish_for_no_batch_name_reaches_sub_dags() -> None:
    dag = Dag()
    dag.add_node("S", "s.dag.condor.sub", NodeKind.SUBDAG)
    dag.add_node("A", "a.sub")
    dag.finish()
    flow = WORKFLOW._replace(batch_name=" ")
    assert 'My.JobBatchName = " "\n' in described(dag, 0, workflow=flow)
    assert "JobBatchName" not in described(dag, 1, workflow=flow)
    assert "JobBatchName" not in described(dag, 0, workflow=flow._replace(batch_name=""))


def test_a_dollar_in_a_node_name_or_directory_begins_no_macro() -> None:
    """Recovery finds the node by the name in its submit event, and the log by its path."""
    dag = chain("N$(X)z")
    text = described(dag, 0, workflow=WORKFLOW._replace(nodes_log="/run/a$(Y)/n.log"))
    assert "dag_node_name = N$(DOLLAR)(X)z\n" in text
    assert "submit_event_notes = DAG Node: N$(DOLLAR)(X)z\n" in text
    assert "dagman_log = /run/a$(DOLLAR)(Y)/n.log\n" in text


# What a submit description gets of a site.


VALUES = {"Name": "north", "Cpus": 4, "Fast": True, "odd name": 1, "Say": 'a "b" $(X)\nc'}


def lines_of(text: str, **environment: str) -> list[str]:
    template = with_site(template_of(text), "north", VALUES, environment)
    return "".join(body + queue for body, queue in template).splitlines()


def test_macros_stand_before_and_attributes_after() -> None:
    lines = lines_of("executable = x\nqueue\n")
    at = lines.index("executable = x")
    assert "MATCH_Name = north" in lines[:at]
    assert "MATCH_Cpus = 4" in lines[:at]
    assert "MATCH_Fast = true" in lines[:at]
    assert 'MATCH_Say = a "b" $(DOLLAR)(X) c' in lines[:at]
    assert 'My.MATCH_Name = "$(MATCH_Name)"' in lines[at:]
    assert "My.MATCH_Fast = $(MATCH_Fast)" in lines[at:]
    assert 'My.MATCH_Say = "a \\"b\\" $(DOLLAR)(X) c"' in lines[at:]
    assert 'My.PYDAGMAN_Site = "north"' in lines[at:]
    assert not any("odd name" in line for line in lines)


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("", "environment = \"A=1 B='x ''y'''\""),
        ("environment = \"M=1 O='a b'\"", "environment = \"M=1 O='a b' A=1 B='x ''y'''\""),
        ("Environment = M=1;O=2;", "environment = M=1;O=2;A=1"),
        ('env = ""', "environment = \"A=1 B='x ''y'''\""),
        ("# environment = X=1", "environment = \"A=1 B='x ''y'''\""),
    ],
)
def test_variables_stand_beside_those_of_the_description(line: str, written: str) -> None:
    lines = lines_of(f"executable = x\n{line}\nqueue\n", A="1", B="x 'y'")
    assert lines[-2] == written


def test_no_variables() -> None:
    assert not any("environment" in line for line in lines_of("executable = x\nqueue\n"))


def test_each_queue_statement_has_them() -> None:
    text = "executable = /bin/true\nif defined x\nqueue 1\nelse\nqueue 2\nendif\n"
    template = with_site(template_of(text), "north", {"Name": "north"}, {})
    assert sum("My.PYDAGMAN_Site" in body for body, _ in template) == len(template)

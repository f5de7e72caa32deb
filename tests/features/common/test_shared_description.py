"""One description for several nodes: when it is possible, and what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.common.shared_description import NodeLines, obstacle, shared
from condor_pydagman.language.description import template_of

PLAIN = "executable = /bin/x\narguments = $(JOB) $(v)\n"
TEMPLATE = template_of(PLAIN)


def lines(name: str, value: str = "1", more: str = "") -> NodeLines:
    return NodeLines(f"JOB = {name}\nRETRY = 0\nv = {value}\n", f"dag_node_name = {name}\n{more}")


def test_what_differs_is_an_item_of_the_queue_statement() -> None:
    text, count = shared(TEMPLATE, [lines("A", "1"), lines("B", "x y")])
    assert count == 2
    assert text == (
        "JOB = $(PYDAGMAN_A)\nRETRY = 0\nv = $(PYDAGMAN_B)\n"
        + PLAIN
        + "dag_node_name = $(PYDAGMAN_C)\n"
        "submit_event_user_notes = one of several DAG nodes in its cluster\n"
        "queue PYDAGMAN_NUMBER,PYDAGMAN_A,PYDAGMAN_B,PYDAGMAN_C from (\n"
        "0\x1fA\x1f1\x1fA\n1\x1fB\x1fx y\x1fB\n)\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "",
        PLAIN,
        "arguments = $(JOB) $(RETRY) process cluster step\n",
        "output = $(Cluster).$(Process).out\nerror = e.$(CLUSTERID)-$(ProcId)\n",
        "arguments = $(ClusterId).$(Process) $(cluster).$(procid)\n",
        "universe = vanilla\n",
        "universe = 5\n",
        "max_retries = 3\n",
        "# queue of clusters\n",
    ],
)
def test_files_that_can_be_shared(body: str) -> None:
    for queue in ("queue\n", "Queue 1\n", "iterate 1\n", ""):
        assert not obstacle(template_of(body + queue))


@pytest.mark.parametrize(
    "body",
    [
        "output = $(Cluster).out\n",
        "output = $(Process).out\n",
        "output = $(Cluster).$(Process).$(Step)\n",
        "arguments = $(Cluster) $(Process)\n",
        "arguments = $INT(Process)\n",
        "arguments = $(ItemIndex)\n",
        "+Which = ProcId + 1\n",
        "requirements = ClusterId > 3\n",
        "if $(RETRY) > 0\nx = 1\nendif\n",
        "include : more.sub\n",
        "use template : x\n",
        "warning : look\n",
        "max_materialize = 3\n",
        "My.JobMaterializeLimit = 3\n",
        "universe = parallel\n",
        "universe = $(u)\n",
        "+JobUniverse = 11\n",
        "copy_to_spool = true\n",
        "transfer_common_input = a\n",
        'MY.CommonInputFiles = "a"\n',
        "submit_event_user_notes = mine\n",
        "x @=end\na\n@end\n",
        "x = a\x1fb\n",
    ],
)
def test_files_that_can_not(body: str) -> None:
    assert obstacle(template_of(body + "queue\n"))


@pytest.mark.parametrize("queue", ["queue 2", "queue $(n)", "queue in (a)", "iter x from f"])
def test_queue_statements_that_can_not(queue: str) -> None:
    assert obstacle(template_of(f"{PLAIN}{queue}\n"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a = 1\n  output = $(Cluster).out\nqueue\n", "cluster or proc: output = $(Cluster).out"),
        ("a = 1\nif defined x\na = 2\nendif\nqueue\n", "several nodes: if defined x"),
        ("a = 1\nx @=end\nb\n@end\nqueue\n", "several nodes: x @=end"),
        ("queue 2\n", "nor `queue 1`: queue 2"),
        ("if true\nqueue\nendif\nqueue\n", "between `if` and `endif`"),
    ],
)
def test_the_obstacle_is_named(text: str, part: str) -> None:
    assert part in obstacle(template_of(text))


@pytest.mark.parametrize(
    "other",
    [
        lines("C", "$(Process)"),
        lines("C", more="arguments = $(Cluster)\n"),
        lines("C", more="w = 1\n"),
        NodeLines("JOB = C\nRETRY = 0\nw = 1\n", "dag_node_name = C\n"),
        lines("C", "a\x1fb"),
        lines("C", more="x @=end\na\n@end\n"),
    ],
)
def test_the_first_node_that_does_not_fit_ends_the_description(other: NodeLines) -> None:
    nodes = [lines("A"), lines("B"), other, lines("D")]
    text, count = shared(TEMPLATE, nodes)
    assert count == 2
    assert (text, count) == shared(TEMPLATE, nodes[:2])
    assert shared(TEMPLATE, [other, lines("A")])[1] < 2 or "$(" not in other.before


def test_many_columns_have_names_of_letters() -> None:
    def row(number: int) -> NodeLines:
        return NodeLines("".join(f"v{column} = {number}\n" for column in range(60)), "")

    used = " ".join(f"$(v{column})" for column in range(60))
    text, _ = shared(template_of(f"arguments = {used}\n"), [row(1), row(2)])
    names = text.split("queue ")[1].split(" from")[0].split(",")
    assert len(set(names)) == 61
    assert all(name.replace("_", "").isalpha() for name in names)


@given(st.lists(st.text("ab =#),(\\", min_size=1, max_size=6), min_size=2, max_size=5))
def test_items_are_lines_of_their_own(values: list[str]) -> None:
    """Whatever the values, the description has an item for each node."""
    nodes = [lines(f"N{n}", f"{n}{v}{n}") for n, v in enumerate(values)]
    text, count = shared(TEMPLATE, nodes)
    assert count == len(values)
    items = text.split(" from (\n")[1].removesuffix(")\n").splitlines()
    assert [item.split("\x1f")[0] for item in items] == [str(n) for n in range(count)]


def test_macros_of_the_queue_statement_are_not_the_users() -> None:
    assert obstacle(template_of("arguments = $(pydagman_a)\n"))

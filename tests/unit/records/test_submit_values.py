"""Names, paths and values come back from HTCondor's reader of descriptions as they went in."""

from __future__ import annotations

import re

import htcondor2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condor_pydagman.adapters import descriptions
from condor_pydagman.config import Config
from condor_pydagman.errors import PoolError
from condor_pydagman.graph.model import Dag, Variable
from condor_pydagman.language.description import template_of
from condor_pydagman.records.job_description import Workflow, describe, literal, whole

JOB = template_of("queue\n")
TWO = template_of("universe = scheduler\nmine = [$(JOB)]\nqueue 2\n")

# What begins or ends a macro, a value or a line, among other characters. HTCondor's files are
# lines, and no character of theirs is NUL.
SPECIAL = [
    "$",
    "$$",
    "$(",
    ")",
    "(X)",
    "$(JOB)",
    "$ENV(HOME)",
    "$INT(x)",
    "\\",
    '"',
    "'",
    "#",
    "@=",
]
SPECIAL += ["=", " ", "\t", "\v", "\f", "\x85", "\u2028", "[1]", ":", ",", "a", "b/c", "queue", "é"]
TEXTS = st.one_of(
    st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=8).map("".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), min_size=1),
).filter(lambda text: "$(dollar" not in text.lower())

COULD_BECOME_A_MACRO = re.compile(r"\$[(\[$]|\$\Z")


@given(TEXTS)
@example("a\\")
@example("$$(X)$$$(X)")
@example(" a\\ ")
def test_a_literal_comes_back(text: str) -> None:
    read = htcondor2.Submit(f"X = 7\ndag_node_name = {literal(text)}\nnext = 1\nqueue\n")
    assert _expanded(read, "dag_node_name") == text
    assert read["next"] == "1"


@given(TEXTS)
def test_a_value_is_read_back_whole(text: str) -> None:
    """Its macros count, so only what the language cuts off and joins is kept from it."""
    plain = text.replace("$", "%")
    read = htcondor2.Submit(f"a = {whole(plain)}\nnext = 1\nqueue\n")
    assert _expanded(read, "a") == plain
    assert read["next"] == "1"


@given(name=TEXTS, path=TEXTS, other=TEXTS, value=TEXTS)
@example(name="a\\", path="/p$$q/x", other='b"c\\', value="x\\")
def test_every_name_in_a_description_comes_back(
    name: str, path: str, other: str, value: str
) -> None:
    dag = Dag(files=["t.dag"])
    dag.add_node("parent " + other, "n.sub")
    dag.add_node(name, path)
    dag.add_edges([0], [1])
    dag.variables[1] = (Variable("v", value.replace("$", "%"), append=False),)
    dag.finish()
    flow = Workflow(12, path, Config(), f"[{other}]", "12.0", name, other)
    text = describe(dag, 1, TWO, flow)
    try:
        read = descriptions.parse(text)
    except PoolError as error:
        assert error.reason.startswith("JOB has text that could become a macro")
        assert COULD_BECOME_A_MACRO.search(name)
        return
    expected = {
        "JOB": name, "SUBMIT_FILE": path, "dag_node_name": name, "dagman_log": path,
        "submit_event_notes": f"DAG Node: {name}", "batch_name": f"[{other}]",
        "mine": f"[{name}]", "DAG_PARENT_NAMES": f"parent {other}", "accounting_group": name,
        "accounting_group_user": other, "v": value.replace("$", "%"), "batch_id": "12.0",
    }  # fmt: skip
    if COULD_BECOME_A_MACRO.search(other):  # it is not used: else it would be refused
        del expected["DAG_PARENT_NAMES"]
    assert {key: _expanded(read, key) for key in expected} == expected
    assert read.getQArgs() == "2"


def _expanded(description: htcondor2.Submit, name: str) -> str:
    try:
        return str(description.expand(name))
    except KeyError:  # nothing is left of it
        return ""


def described(name: str, use: str) -> str:
    """The arguments of a node's job."""
    dag = Dag(files=["t.dag"])
    dag.add_node(name, "n.sub")
    dag.add_node("child", "n.sub")
    dag.add_edges([0], [1])
    dag.finish()
    text = describe(
        dag,
        int("PARENT" in use),
        template_of(f"arguments = {use}\nqueue\n"),
        Workflow(12, "/l", Config()),
    )
    return _expanded(descriptions.parse(text), "arguments")


@pytest.mark.parametrize("macro", ["JOB", "DAG_PARENT_NAMES"])
def test_a_name_is_no_macro_whoever_uses_it(macro: str) -> None:
    """A job may have given it."""
    assert described("$ENV(HOME)", f"$({macro})") == "$ENV(HOME)"
    with pytest.raises(PoolError, match=rf"^{macro} has text that could become a macro: n\$\$"):
        described("n$$([1])", f"$({macro})")
    assert described("a$b", f"$Fn({macro})") == "a$b"
    with pytest.raises(PoolError, match=r"would expand the \$ in \$ENV\(HOME\)"):
        described("$ENV(HOME)", f"$BASENAME({macro})")


@pytest.mark.parametrize(
    ("parent", "value"),
    [('x"y', '"x\\"y"'), ("a\\", '"a\\"'), ('\\"', '"\\\\""'), ('"$(X)', '"\\"$(X)"')],
)
def test_names_of_parents_make_an_attribute_whatever_they_are(parent: str, value: str) -> None:
    """In the old syntax of ClassAds, which submit descriptions have."""
    dag = Dag(files=["t.dag"])
    dag.add_node(parent, "n.sub")
    dag.add_node("B", "n.sub")
    dag.add_edges([0], [1])
    dag.finish()
    text = describe(dag, 1, JOB, Workflow(1, "/x", Config()))
    assert htcondor2.Submit(text).expand("My.DAGParentNodeNames") == value


def test_a_path_with_a_backslash_before_a_slash_is_not_shortened() -> None:
    dag = Dag(files=["t.dag"])
    dag.add_node("A", "n.sub")
    dag.finish()
    text = describe(dag, 0, JOB, Workflow(1, "/x\\/./n.log", Config()))
    assert htcondor2.Submit(text).expand("My.DAGManNodesLog") == '"/x\\/./n.log"'

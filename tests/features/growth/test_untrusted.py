"""What a job may add to its DAG, and what it may not."""

from __future__ import annotations

import re

import pytest

from condor_pydagman.features.growth.commands import Piece, growth_of
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.untrusted import Named, is_plain
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.graph.stepwise import at_once
from tests.unit.graph.texts import build_text

DAG = """\
JOB A a.sub
JOB B b.sub DIR sub
JOB C {
executable = /bin/true
}
SUBMIT-DESCRIPTION common {
executable = /bin/false
}
SUBDAG EXTERNAL S inner.dag
DATA D request.ad
JOB L a.sub
SCATTER L list n-{number} scattered.sub
"""


def piece(text: str, **options: bool) -> Piece:
    dag = build_text(DAG)
    given = PieceText("p", {"p": text}, BuildOptions(**options), untrusted=True)
    return at_once(read_piece(dag, given, named=Named(dag)))


@pytest.mark.parametrize(
    "text",
    [
        "JOB X a.sub\n",
        "JOB X ./a.sub NOOP\n",
        "JOB X b.sub DIR sub\n",
        "JOB X common DIR any/where\n",
        "JOB X scattered.sub\nEXTEND X more.dag BETWEEN PREFIX x\n",
        "JOB X a.sub\nSCATTER X l n-{item} a.sub VARS k={item}\n",
        'JOB X a.sub\nJOB Y a.sub\nPARENT A CHILD X\nPARENT X CHILD Y\nVARS X part="1" b="c d"\n',
        "JOB X a.sub\nRETRY X 3\nPRIORITY X 4\nCATEGORY X c\nMAXJOBS c 2\nABORT-DAG-ON X 3\n",
        "JOB X a.sub\nPARENT A CHILD X\nRUN_IF X true\nPUBLISH X FILE r/x.ad\nTIMEOUT X TOTAL 60\n",
        "JOB X a.sub\nCACHE X INPUTS in.txt ./b.x\nDONE X\n",
        "JOB X a.sub\nJOB Y a.sub\nJOB Z a.sub\nPARENT A X CHILD Y Z\n",
    ],
)
def test_what_a_job_may_add(text: str) -> None:
    assert piece(text).size


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("JOB X new.sub\n", "names no submit description new.sub"),
        ("JOB X b.sub\n", "names no submit description b.sub"),
        ("JOB X a.sub DIR sub\n", "names no submit description a.sub"),
        ("JOB X /tmp/a.sub\n", "names no submit description /tmp/a.sub"),
        ("JOB X inner.dag.condor.sub\n", "JOB keyword for nested DAGs is prohibited"),
        ("JOB X a.sub\nSCATTER X l n-{item} new.sub\n", "names no submit description new.sub"),
        ("JOB X {\nexecutable = /bin/sh\n}\n", "X has a description of its own"),
        ("SUBMIT-DESCRIPTION d {\na = b\n}\n", "can't have SUBMIT_DESCRIPTION"),
        ("JOB X a.sub DIR /tmp\n", "can't name /tmp"),
        ("JOB X common DIR ../..\n", "can't name ../.."),
        ("JOB X a.sub\nSCRIPT PRE X evil.sh\n", "can't have SCRIPT"),
        ("JOB X a.sub\nSCRIPT POST ALL_NODES evil.sh\n", "can't have SCRIPT"),
        ("INCLUDE private\n", "can't have INCLUDE"),
        ("SPLICE T other.dag\n", "can't have SPLICE"),
        ("SUBDAG EXTERNAL T other.dag\n", "can't have SUBDAG"),
        ("SWEEP n{a} a.sub OVER a IN 1 2\n", "can't have SWEEP"),
        ("SWEEP n{a} a.sub ROWS /etc/passwd\n", "can't have SWEEP"),
        ("JOB X a.sub\nSAVE_POINT_FILE X f\n", "can't have SAVE_POINT_FILE"),
        ("JOB X a.sub\nEXTEND X more.dag TRUSTED\n", "can't trust what comes next"),
        ("JOB X a.sub\nEXTEND X /srv/private\n", "can't name /srv/private"),
        ("JOB X a.sub\nSCATTER X ../l n-{item} a.sub\n", "can't name ../l"),
        ("JOB X a.sub\nPUBLISH X FILE /etc/passwd\n", "can't name /etc/passwd"),
        ("JOB X a.sub\nPUBLISH X FILE $(where)\n", r"can't name \$\(where\)"),
        ("JOB X a.sub\nCACHE X INPUTS /etc/shadow\n", "can't name /etc/shadow"),
        ('JOB X a.sub\nVARS X universe="local"\n', "VARS universe would change"),
        ('JOB X a.sub\nVARS X Executable="/bin/sh"\n', "VARS Executable would change"),
        ('JOB X a.sub\nVARS X +Owner="me"\n', "VARS My.Owner would change"),
        ('JOB X a.sub\nVARS X My.Cmd="me"\n', "VARS My.Cmd would change"),
        ('JOB X a.sub\nVARS X APPEND a="me"\n', "VARS can't have APPEND"),
        ("JOB X a.sub\nSCATTER X l n-{item} a.sub VARS cmd={item}\n", "VARS cmd would change"),
        ('JOB X a.sub\nVARS X include:/tmp/evil="|"\n', "VARS include:/tmp/evil would change"),
        ('JOB X a.sub\nVARS X SUBMIT.executable="me"\n', "VARS SUBMIT.executable would change"),
        ('JOB X a.sub\nVARS X if="me"\n', "VARS if would change"),
        ('JOB X a.sub\nVARS X Job="me"\n', "VARS Job would change"),
        ('JOB X a.sub\nVARS X DAGMAN_NOTHING="me"\n', "VARS DAGMAN_NOTHING would change"),
        ('JOB X a.sub\nVARS X s_oauth_permissions="w"\n', "VARS s_oauth_permissions would change"),
        ('JOB X a.sub\nVARS X JobMaterializeLimit="9"\n', "VARS JobMaterializeLimit would change"),
        ('JOB X a.sub\nVARS X ec2_parameter_x="9"\n', "VARS ec2_parameter_x would change"),
        ('JOB X a.sub\nVARS X db_container_port="22"\n', "VARS db_container_port would change"),
        ("JOB X link/../a.sub\n", "names no submit description link/../a.sub"),
        ("JOB X ../a.sub DIR link\n", "names no submit description ../a.sub"),
        ("JOB ../../X a.sub\n", "can't name a node ../../X"),
        ("JOB /tmp/X a.sub\n", "can't name a node /tmp/X"),
        ("DATA X a.sub\n", "can't have DATA"),
        ("JOB X a.sub\nSCATTER X .ssh/key n-{number} a.sub VARS k={item}\n", "can't name .ssh/key"),
        ("JOB X a.sub\nEXTEND X sub/.netrc\n", "can't name sub/.netrc"),
        ("JOB X request.ad\n", "names no submit description request.ad"),
    ],
)
def test_what_a_job_may_not_add(text: str, why: str) -> None:
    with pytest.raises(DagFileErrors) as error:
        piece(text)
    found = error.value.detail()
    assert len(error.value.errors) == 1
    assert re.search(why, found), found


def test_values_of_a_job_are_text() -> None:
    found = piece(
        'JOB X a.sub\nVARS X v="$ENV(SECRET)"\nSCATTER X l n-{item} a.sub VARS k=$(x){item}\n',
        default_append_vars=True,
    )
    (variable,) = found.dag.variables[0]
    assert (variable.value, variable.append) == ("$(DAGMAN_DOLLAR)ENV(SECRET)", False)
    assert growth_of(found.dag).extensions[0].pairs == (("k", "$(DAGMAN_DOLLAR)(x){item}"),)


@pytest.mark.parametrize(
    "pair", ['+Owner="me"', 'request_foo="1"', 'remote_foo="1"', 'cmd="x"', 'a="$ENV(HOME)"']
)
def test_many_lines_are_read_as_one(pair: str) -> None:
    jobs = "".join(f"JOB X{number} a.sub\n" for number in range(20))
    text = jobs + "".join(f'VARS X{number} part="b=c" {pair}\n' for number in range(20))
    if "$" in pair:
        values = {one.key: one.value for one in piece(text).dag.variables[0]}
        assert values == {"part": "b=c", "a": "$(DAGMAN_DOLLAR)ENV(HOME)"}
        return
    with pytest.raises(DagFileErrors, match="would change"):
        piece(text)
    assert not is_plain(text)


@pytest.mark.parametrize("name", ["../X", "/tmp/X"])
def test_many_nodes_have_names_as_one_has(name: str) -> None:
    with pytest.raises(DagFileErrors, match="can't name a node"):
        piece("".join(f"JOB {name}{number} a.sub\n" for number in range(20)))


def test_plain_lines_are_known_as_such() -> None:
    assert is_plain('JOB X a=b.sub\nVARS X part="b=c" n = "1"\n\n# x\n')


@pytest.mark.parametrize("text", ["\n" * 1_000_000, "a" * 1_000_000, " " * 1_000_000])
def test_no_text_takes_the_square_of_its_length(text: str) -> None:
    assert is_plain(text)  # would take an hour


def test_what_is_recorded_is_read_again_whatever_is_refused_today() -> None:
    dag = build_text(DAG)
    text = 'JOB X a.sub\nVARS X request_foo="$x"\n'
    given = PieceText("p", {"p": text}, BuildOptions(), untrusted=True)
    found = at_once(read_piece(dag, given))
    assert found.dag.variables[0][0].value == "$(DAGMAN_DOLLAR)x"

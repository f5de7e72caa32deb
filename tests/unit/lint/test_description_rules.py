"""What submission would refuse, and files that are not there."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import Finding, Severity
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import SUBMIT, PaperWorld

GOOD = "executable = /bin/true\n"
FILES = {
    "a.sub": SUBMIT,
    "pre.sh": "",
    "there": "",
    "d/": "",
    "d/in": "",
    "a": "",
    "items": "# i\nthere\ngone\n",
}


def found(submit: str, dag: str = "JOB X x.sub\n", *, limit_is_known: bool = True) -> list[Finding]:
    world = PaperWorld({"t.dag": dag, "x.sub": submit, **FILES})
    world.no_limit = not limit_is_known
    return lint(["t.dag"], world, BuildOptions(strict=0)).kept


def codes(submit: str, dag: str = "JOB X x.sub\n") -> list[str]:
    return [one.code for one in found(submit, dag)]


@pytest.mark.parametrize(
    "line",
    [
        "",
        'arguments = "a b',
        "notification = no",
        "+Foo = (",
        "rank = (",
        "my.x = (",
        "request_x = (",
    ],
)
def test_what_submission_refuses(line: str) -> None:
    (finding,) = found(f"{GOOD if line else ''}{line}\nqueue\n")
    assert (finding.code, finding.severity, finding.line) == ("DAG310", Severity.ERROR, 1)
    assert finding.message.startswith("x.sub of node X: ")


def test_values_of_vars_are_looked_at() -> None:
    dag = 'JOB A x.sub\nJOB B x.sub\nJOB C x.sub\nVARS A x="a"\nVARS B x="b"\nVARS C x="\\""\n'
    (finding,) = found(f'{GOOD}arguments = "$(x)"\nqueue\n', dag)
    assert (finding.code, finding.node, finding.line) == ("DAG310", "C", 3)
    assert codes(f"{GOOD}queue\n", 'JOB X x.sub\nVARS X arguments="\\"a"\n') == ["DAG310"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("executable = gone", "DAG311"),
        ("executable = gone\nuniverse = docker\ndocker_image = x", ""),
        ("executable = gone\ntransfer_executable = false", ""),
        ("executable = gone\nMY.TransferExecutable = false", ""),
        ("executable = gone\ncontainer_image = x", ""),
        ("executable = gone\nshould_transfer_files = NO", ""),
        ("executable = there", "DAG318"),
        ("executable = there\nshould_transfer_files = YES", ""),
        ("executable = there\nshould_transfer_files = YES\nuniverse = local", "DAG318"),
        ("executable = there\nshould_transfer_files = NO", "DAG318"),
        ("executable = there\ntransfer_executable = false", "DAG318"),
        ("executable = pre.sh", ""),
        ("executable = $(x)", ""),
        ("executable = $(JOB)", "DAG311"),
        ("transfer_input_files = there, gone", "DAG320"),
        ("transfer_input_files = there, https://x/y, d/", ""),
        ("transfer_input_files = gone\nshould_transfer_files = NO", ""),
        ("initialdir = d\ntransfer_input_files = in", ""),
        ("initialdir = d\ntransfer_input_files = there", "DAG320"),
        ("input = gone", "DAG320"),
        ("output = out/$(Cluster).txt", "DAG320"),
        ("output = d/$(Cluster).txt", ""),
        ("output = $(Cluster)/x.txt", ""),
        ("output = out/$(JOB).out", "DAG320"),
        ("output = $(JOB)_out/x.txt", "DAG320"),
        ("output = d/$(JOB).out", ""),
        ("output = /scratch/x.txt", "DAG320"),
        ("output = /scratch/x.txt\nshould_transfer_files = NO", ""),
        ("log = /scratch/x.txt", ""),
        ("output = out/x.txt\nshould_transfer_files = YES", ""),
        ("output = out/x.txt\nshould_transfer_files = NO", "DAG311"),
        ('input = gone\n+ShouldTransferFiles = "YES"', "DAG311"),
        ("input = gone\nShouldTransferFiles = NO", ""),
        ("transfer_input = false", ""),
        ("input = $(f)\nqueue e, f from (\na,,there\n)", ""),
        ("input = there$(RETRY)", "DAG320"),
        ("input = in.$(Process)\nqueue 1", "DAG320"),
        ("initialdir = $(f)\ninput = in\nqueue f in (d)", ""),
        ("initialdir = $(f)\ninput = in\nqueue f in (d, e)", "DAG312"),
        ("input = $(f)\nqueue g, f from (\n1, there\n2 gone\n)", "DAG320"),
        ("input = $(f)\nqueue f from items", "DAG320"),
        ("input = $(f)\nqueue f from [:1] items", ""),
        ("input = $(f)\nqueue f from table(csv) gone2", "DAG312"),
        ("output = $(YEAR:out)/x.txt", ""),
        ("output = $(n:out)/x.txt\nqueue n in (d)", ""),
        ("output = $(n:out)/x.txt", "DAG320"),
        ("output = out/x.txt", "DAG320"),
        ("output = d/x.txt", ""),
        ("initialdir = gone", "DAG312"),
        ("iwd = gone", "DAG312"),
        ("iwd = there", "DAG312"),
        ("initialdir = $(x)", ""),
        ("x509userproxy = gone", "DAG312"),
        ("x509userproxy = there", ""),
        ("queue f from gone", "DAG312"),
        ("queue f, g from [1:3] gone", "DAG312"),
        ("queue f from there", ""),
        ("iter f from table(csv) gone", "DAG312"),
        ("queue from table there", ""),
        ("include : gone", "DAG312"),
        ("include : there", ""),
        ("queue f from (\na\n)", ""),
        ("queue f from (a\nb\n)", ""),
    ],
)
def test_what_is_not_there(line: str, code: str) -> None:
    """It is told of a node that nothing runs before; what others are given may be made by those."""
    submit = f"{'' if 'executable' in line else GOOD}{line}\n"
    submit += "" if "queue" in line else "queue\n"
    told = [one for one in codes(submit) if one != "DAG402"]
    assert told == ([code] if code else [])
    for dag in (
        "JOB A a.sub\nJOB X x.sub\nPARENT A CHILD X\n",
        "JOB X x.sub\nSCRIPT PRE X pre.sh\n",
        "JOB X x.sub\nPROVISIONER P a.sub\n",
        "JOB X x.sub DONE\n",
    ):
        assert [one for one in codes(submit, dag) if one != "DAG402"] == [], dag


def test_the_inputs_of_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.lint.description_rules.MAX_JOBS", 50)
    text = f"{GOOD}input = $(i)\ntransfer_input_files = {'there,' * 1000}\nqueue i from items\n"
    monkeypatch.setitem(FILES, "items", "".join(f"d{n}\n" for n in range(30)))
    assert codes(text) == ["DAG320"] * 5


def test_what_is_done_writes_nothing_any_more() -> None:
    dag = "JOB A a.sub DONE\nJOB X x.sub\nPARENT A CHILD X\n"
    assert codes(f"{GOOD}input = gone\nqueue\n", dag) == ["DAG320"]


def test_what_many_nodes_share_is_told_once() -> None:
    (finding,) = found(f"{GOOD}input = gone\n", 'JOB A x.sub\nJOB B x.sub\nVARS B universe="5"\n')
    assert finding.message == "x.sub of node A: input gone does not exist"


def test_files_of_one_name_in_several_directories() -> None:
    dag = "JOB A /x.sub DIR d\nJOB B /x.sub DIR e\nJOB C /x.sub DIR e\n"
    world = PaperWorld({"t.dag": dag, "/x.sub": f"{GOOD}input = gone\nqueue\n", "d/": "", "e/": ""})
    first, second = lint(["t.dag"], world, BuildOptions(strict=0)).kept
    assert first.message == "/x.sub of node A: input gone does not exist in d"
    assert second.message == "/x.sub of node B: input gone does not exist in e"


@pytest.mark.parametrize("queue", ["x from (", "x in (a b"])
def test_a_list_without_an_end(queue: str) -> None:
    """A PRE script may still write another file."""
    text, script = f"{GOOD}queue {queue}\na\nb\n", "SCRIPT PRE X pre.sh\n"
    for dag, severity in (("", Severity.ERROR), (script, Severity.WARNING)):
        (finding,) = found(text, f"JOB X x.sub\n{dag}")
        assert (finding.code, finding.severity) == ("DAG307", severity)
        assert finding.message.endswith(f"no line with ) ends the list of queue {queue}")


def test_a_node_with_vars_hides_no_other() -> None:
    dag = 'JOB A x.sub\nJOB B x.sub\nVARS A APPEND input="there"\n'
    (finding,) = found(f"{GOOD}input = gone\n", dag)
    assert finding.node == "B"


def test_a_command_that_each_item_sets() -> None:
    assert found("queue executable from there\n") == []


def test_characters_of_word_processors() -> None:
    dag = 'JOB X x.sub\nVARS X v="\u201chello\u201d"\nSCRIPT POST X pre.sh \u2013n\n'
    variable, script = found(f"{GOOD}arguments = $(v)\n", dag)
    assert (variable.code, variable.line, variable.severity) == ("DAG420", 2, Severity.WARNING)
    assert variable.message == "VARS v of node X has U+201C (left double quotation mark)"
    assert (script.code, script.line) == ("DAG420", 3)
    assert codes(f"{GOOD}arguments = \u201ca b\u201d\nqueue\n") == ["DAG420"]
    assert codes(f"{GOOD}arguments = \u00fc \u4e2d\nqueue\n") == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ABORT-DAG-ON A 5 RETURN 3", 3),
        ("ABORT-DAG-ON A 5 RETURN 2", 0),
        ("ABORT-DAG-ON A 5 RETURN 0", 0),
        ("ABORT-DAG-ON A 5", 5),
        ("ABORT-DAG-ON A 1", 0),
        ("ABORT-DAG-ON A 256", 0),
    ],
)
def test_a_dag_that_the_schedd_starts_again_and_again(line: str, code: int) -> None:
    told = [one for one in found(SUBMIT, f"JOB A a.sub\n{line}\n") if one.code == "DAG419"]
    assert [one.line for one in told] == ([2] if code else [])
    assert all(f"with exit code {code}, " in one.message for one in told)


def test_a_limit_that_is_not_defined() -> None:
    dag = "JOB A a.sub\nSHARED_LIMIT tape NODES A\n"
    (finding,) = found(SUBMIT, dag, limit_is_known=False)
    assert (finding.code, finding.line, finding.severity) == ("DAG421", 2, Severity.ERROR)
    assert found(SUBMIT, dag) == []


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("argument = x", "did you mean arguments?"),
        ("request_cpu = 5", "did you mean request_cpus?"),
        ("request_memroy = 5", "did you mean request_memory?"),
        ("zzz = 5", "check its spelling; an attribute of the job begins with My. or +"),
    ],
)
def test_a_line_that_nothing_uses(line: str, hint: str) -> None:
    dag = 'JOB X x.sub\nJOB Y x.sub\nVARS Y v="$(vv)"\n'
    (finding,) = found(f"{GOOD}{line}\nvv = 3\noutput = $(v:)\nqueue\n", dag)
    assert (finding.code, finding.node, finding.hint) == ("DAG422", "X", hint)
    assert finding.message == f"x.sub of node X: nothing uses the line {line}"


@pytest.mark.parametrize(
    "text",
    [
        "a = 5\narguments = $(a)\nqueue\n",
        "a = 5\nb = $(a)\narguments = $(b:1)\nqueue\n",
        "a = 5\nqueue $(a)\n",
        "My.A = 5\n+B = 6\nqueue\n",
        "request_widgets = 1\nrequest_tpus = 2\nqueue\n",
        "request_memroy = 1\narguments = $(request_memroy)\nqueue\n",
        "if true\na = 5\nendif\nqueue\n",
    ],
)
def test_lines_that_are_used_or_may_be(text: str) -> None:
    assert codes(GOOD + text) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("request_cpus = two\nqueue\n", "DAG321"),
        ("request_cpus = c\n+C = 2\nqueue\n", ""),
        ("request_memory = 1.5 Gb\nrequest_disk = DiskUsage * 2\nqueue\n", ""),
        ('cmd = "/bin/true"\nqueue\n', "DAG311"),
        ("queue 0\n", "DAG321"),
        ("queue 0 in (a)\n", "DAG321"),
        ("queue 2 4\n", "DAG307"),
        ("queue 2, 4 in (a)\n", "DAG307"),
        ("queue two\n", "DAG307"),
        ("queue 2 + 4\n", ""),
        ("arguments = $(x)\nqueue 2 x in (a)\n", ""),
    ],
)
def test_numbers_and_names_that_htcondor_takes_otherwise(text: str, told: str) -> None:
    assert codes(("" if "cmd" in text else GOOD) + text) == ([told] if told else [])


def test_what_a_line_of_the_dag_file_makes_use_of() -> None:
    dag = 'JOB X x.sub\nVARS X run="1"\nCACHE X COUNTS version run OUTPUTS x.out\n'
    assert codes(f"{GOOD}version = 3\nqueue\n", dag) == ["DAG413"]  # which is about CACHE
    assert set(codes(f"{GOOD}verzion = 3\nqueue\n", dag)) == {"DAG413", "DAG422"}


def test_a_universe_that_vars_choose() -> None:
    dag = 'JOB X x.sub\nJOB Y x.sub\nVARS Y universe="grid"\n'
    assert codes(f"{GOOD}grid_resource = x\nqueue\n", dag) == []
    assert codes(f"{GOOD}grid_resource = x\nqueue\n") == ["DAG422"]

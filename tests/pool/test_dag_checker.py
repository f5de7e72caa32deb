"""Our condor_dag_checker beside the stock one: the same DAGs, options, output and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.corpora import by_topic, dag_cases, write
from tests.pool.access_point import AccessPoint
from tests.pool.stock import Stock, plain

TOPICS = by_topic(dag_cases())

OPTIONS = (
    (),
    ("-json",),
    ("-stat", "-nojoin"),
    ("-checkscr", "-checksub", "-strict", "-allow"),
    ("-checkjdl",),
)
COMMAND_LINES = (
    ("t.dag", "bad.dag"),
    ("-json", "t.dag", "bad.dag", "gone.dag", "."),
    ("-Statistics", "t.dag", "cycle.dag"),
    ("-usedagdir", "d/t.dag"),
    ("-STAT", "-json", "t.dag"),
    ("-statx", "t.dag"),
    ("-checks", "t.dag"),
    ("-",),
    (),
)
HINT = ["condor_dag_checker -help shows all options\n"]
DAGS = {
    "t.dag": "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n",
    "bad.dag": "JOB A\nFOO\nRETRY Z 1\nPARENT A CHILD B\nREJECT\n",
    "cycle.dag": "JOB A a\nJOB B b\nJOB C c\nPARENT A CHILD B\nPARENT B CHILD C\n"
    "PARENT C CHILD B\n",
    "d/t.dag": "SPLICE S s.dag\nINCLUDE i.dag\nPARENT S CHILD I\n",
    "d/s.dag": "JOB X x\n",
    "d/i.dag": "JOB I i\n",
}
# Submit descriptions that the bindings can tell to be wrong as stock does.
DESCRIPTIONS = {
    "executable = /bin/true\nqueue 2": 0,
    "executable = /bin/true\njunk": 1,
    "executable = /bin/true\nif a && b\nendif": 1,
    "executable = /bin/true\nif false\nelif version > 25\nendif": 1,
    "arguments = 1": 1,
    "executable = /bin/true\nuniverse = blah": 1,
    "executable = /bin/true\nqueue x from gone": 1,
}


# What stock warns of, and so do we.
WARNED = """\
zork = 1
Zork = a  b|Blah =|foo.bar = 1|+plus = 1|MY.x = $(y)|y = 1
arguments = $(a)|a = $(b:$(c))|c = 1
arguments = $F(f)$INT(i)|f = a|i = 1
JOB = 1|RETRY = 1|DAG_STATUS = 1|FAILED_COUNT = 1|SubmitFailEmptyFields = 1|NodeName = 1
arguments = a|args = b
request_foo = 1|request_cpu = 1|request_gpu = 1
x @=end|a|b|@end
x = 1|if $(x)|y = 2|endif
queue x,y in (a b)
arguments = $(Item)|queue in (a b)
n = 2|arguments = $(x)|queue $(n) x in (a b)
universe = local|machine_count = 2|docker_image = x
universe = grid|grid_resource = batch slurm|batch_queue = q|vm_memory = 1
cron_window = 1|deferral_window = 1
cron_window = 1|cron_minute = 1
tool_daemon_args = 1|gpus_minimum_memory = 1|request_gpus = 1
nice_user = true|accounting_group = g|requirements = Memory > 1 && Disk > 1|zork = 1
output_destination = x|job_lease_duration = 1
zork = w|warning : first|warning : $(zork)
retry_request_memory = 2000|retry_request_memory_increase = 3
priority = 1|prio = 2|initialdir = /|initial_dir = /|stdout = x|output = y
transfer_common_input = a|CommonInputFiles = b
v = true|if defined nope|if $(v)|arguments = 1|endif|endif
v = true|if true|arguments = 1|elif $(v)|arguments = 2|endif
v = 1|if true|arguments = 1|elif defined v|arguments = 2|endif
v = 1|if false|elif defined v|arguments = 2|endif
v = 1|if false|include : $(v)|warning : $(v)|error : $(v)|endif
v = 1|if no|if true|else|endif|elif 1|if defined v|endif|endif
v = 1|if version > 8.0|if defined v|endif|endif
v = 1|if ! defined V|endif
if defined v|arguments = 1|endif|v = 1
true = 1|version = 2|defined = 3|if true|endif|if version > 8.0|endif|if defined nope|endif
a = v|v = true|if defined $(a)|endif
a = v|v = true|if $($(a))|endif
a = $(v)|v = true|if $(a)|endif
v = a|v = $(v) more
v = 1|MY.x = 1|# $(v)
v = 1|include : lines
v = 1|f = lines|include : $(f)
v = 1|queue|if defined v|endif
a = 1|b = 1|c = 1|arguments = $ENV(a)$RANDOM_CHOICE(b,c)
lo = 1|hi = 3|arguments = $RANDOM_INTEGER(lo,hi)
n = 0|a = 1|b = 2|arguments = $CHOICE(n,a,b)
n = 1|l = a,b|s = abc|arguments = $CHOICE(n,l)$SUBSTR(s,n)
a = 1|b = 2|arguments = $$(a) $( b )
x = 1|arguments = $(nope:x)
x = $(y:$(z))|y = 1|z = 2|arguments = $(x)
n = 1|r = 1.5|t = 2|p = a/b|arguments = $INT(n,%d)$REAL(r)$STRING(t)$EVAL(n + r)$Fpn(p)
p = a/b|q = c/d|arguments = $DIRNAME(p)$BASENAME(q)
v = 1|arguments = $(v
"""
COMMON = """\
transfer_common_input = a, b ,,c
MY.CommonInputFiles = "a,b,c"
transfer_common_input = "a,b,c"
+CommonInputFiles = strcat("a,b", ",c")
transfer_common_input = a,c,b
MY.CommonInputFiles = ""
transfer_common_input =
MY.CommonInputFiles = Foo
transfer_common_input = $(x)|queue x in ("a,b,c" d)
MY.CommonInputFiles = "a, b,c"
"""


Answer = tuple[int, str, str]


def check(
    access_point: AccessPoint, cwd: Path, *arguments: str, ours: bool, loaded: bool = True
) -> Answer:
    """Exit code, output and errors, without the part of the usage that is ours."""
    command = access_point.which("condor_dag_checker", ours=ours)
    done = access_point.run(command, *arguments, cwd=cwd, check=False, loaded=loaded and ours)
    output = done.stdout.partition("\nOptions of condor_pydagman")[0]
    here = str(cwd)
    return done.returncode, output.replace(here, "HERE"), done.stderr.replace(here, "HERE")


def compare(
    access_point: AccessPoint,
    stock: Stock,
    name: str,
    cwd: Path,
    *arguments: str,
    loaded: bool = True,
    key: Callable[[Answer], Any] = tuple,
) -> Answer:
    """Check that ours answers as stock does, which is kept under `name`; returns the answer.

    Args:
        key: what is compared of an answer.
    """
    ours = check(access_point, cwd, *arguments, ours=True, loaded=loaded)
    expected = stock(name, lambda: key(check(access_point, cwd, *arguments, ours=False)))
    assert plain(key(ours)) == expected, arguments
    return ours


def is_different(name: str, text: str) -> bool:
    """Whether ours differs for a reason (see the man page)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    odd = "\0" in text or text.startswith("\ufeff") or "DATA " in text
    # stock takes a file that is called like an option for one
    return odd or name.startswith(("join", "stat", "strict"))


@pytest.mark.parametrize("topic", TOPICS)
def test_the_corpus(access_point: AccessPoint, work: Path, stock: Stock, topic: str) -> None:
    """Each case's text as one DAG file."""
    cases = {name.partition("/")[2]: dag_cases()[name].text for name in TOPICS[topic]}
    texts = {f"{name}.dag": text for name, text in cases.items() if not is_different(name, text)}
    write(texts, work / "c")

    def answers(*, ours: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for options in OPTIONS:
            words = (*options, *sorted(texts))
            code, output, errors = check(access_point, work / "c", *words, ours=ours)
            if "-json" in options:  # each DAG on one line
                output = [json.dumps(ad) for ad in json.loads(output)]
            said = code, output, errors
            is_same = bool(options) and said == found[""]
            found[" ".join(options)] = "as without options" if is_same else said
        return found

    if texts:
        expected = stock(f"corpus {topic}", lambda: answers(ours=False))
        assert plain(answers(ours=True)) == expected


@pytest.mark.parametrize("arguments", COMMAND_LINES, ids=lambda words: " ".join(words) or "nothing")
def test_command_lines(
    access_point: AccessPoint, work: Path, stock: Stock, arguments: tuple[str, ...]
) -> None:
    (work / "d").mkdir()
    for name, text in DAGS.items():
        (work / name).write_text(text)
    name = " ".join(["condor_dag_checker", *arguments])
    expected = stock(name, lambda: check(access_point, work, *arguments, ours=False))
    ours = plain(check(access_point, work, *arguments, ours=True, loaded=False))
    if arguments and expected[1] and "Usage: " in str(expected[1]):
        assert ours[1] == HINT, arguments  # instead of a usage in which the message is lost
        assert (ours[0], ours[2]) == (expected[0], expected[2])
    else:
        assert ours == expected, arguments


@pytest.mark.parametrize("text", DESCRIPTIONS, ids=range(len(DESCRIPTIONS)))
def test_submit_descriptions(
    access_point: AccessPoint, work: Path, stock: Stock, text: str
) -> None:
    (work / "t.dag").write_text(f"JOB A {{\n{text}\n}}\n")
    ours = compare(access_point, stock, text, work, "-checkjdl", "t.dag")
    assert ours[0] == DESCRIPTIONS[text]


def test_warnings_are_those_of_stock(access_point: AccessPoint, work: Path, stock: Stock) -> None:
    """All descriptions in one DAG, as files and in place."""
    (work / "lines").write_text("if defined v\nendif\n")
    dag = ""
    for number, line in enumerate(WARNED.splitlines()):
        text = "executable = /bin/true\n" + line.replace("|", "\n") + "\n"
        (work / f"{number}.sub").write_text(text)
        dag += f"JOB F{number} {number}.sub\nJOB I{number} {{\n{text}}}\n"
        dag += f"SUBMIT-DESCRIPTION d{number} {{\n{text}}}\n"
    (work / "t.dag").write_text(dag)

    def by_line(answer: Answer) -> Any:
        ad = json.loads(answer[1])[0]  # where there are more than 16, the errors have no order
        return {**ad, "Errors": sorted(ad["Errors"], key=lambda error: error["SourceLine"])}

    compare(access_point, stock, "warnings", work, "-checkjdl", "-json", "t.dag", key=by_line)


def test_lists_of_common_input_files(access_point: AccessPoint, work: Path, stock: Stock) -> None:
    dag = ""
    for number, line in enumerate(COMMON.splitlines()):
        text = line.replace("|", "\n")
        dag += f"JOB N{number} {{\nexecutable = /bin/true\n{text}\n}}\n"
    (work / "s.dag").write_text(dag)
    (work / "t.dag").write_text(f"SUBDAG EXTERNAL D s.dag\n{dag}SPLICE S s.dag\n")
    words = ("-checkjdl", "-checksub", "s.dag", "t.dag")
    assert "differing" in compare(access_point, stock, "common input files", work, *words)[1]


def test_descriptions_after_their_nodes(
    access_point: AccessPoint, work: Path, stock: Stock
) -> None:
    described = "SUBMIT-DESCRIPTION d {\nexecutable = /bin/true\n}\n"
    (work / "t.dag").write_text(f"JOB A d\nJOB B x\nJOB C x\nRETRY Z 1\n{described}")
    words = ("-checkjdl", "-strict", "t.dag")
    compare(access_point, stock, "descriptions after their nodes", work, *words)


def test_numbers_that_programs_read(access_point: AccessPoint, work: Path, stock: Stock) -> None:
    (work / "t.dag").write_text(DAGS["t.dag"])

    def read(answer: Answer) -> Any:
        return json.loads(answer[1])

    ours = compare(access_point, stock, "-json t.dag", work, "-json", "t.dag", key=read)
    assert read(ours)[0]["TotalNodes"] == 2

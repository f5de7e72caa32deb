"""Command lines given to stock condor_submit_dag and to ours, in twin directories: submit file,
output, exit code and files left must be the same.  Then the submit files of sub-DAG nodes.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.pool.access_point import OURS, STOCK, AccessPoint

pytestmark = pytest.mark.pool
ROOT = str(Path(__file__).resolve().parents[2])


@dataclass(frozen=True)
class Case:
    """A command line, files that are there beforehand, and variables of the environment."""

    line: str
    files: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def words(self) -> list[str]:
        """The line at its blanks; `~` stands for a blank within a word, `''` for an empty one."""
        words = [word.replace("~", " ") for word in self.line.split()]
        return ["" if word == "''" else word for word in words]


DAG = {"t.dag": "JOB A j.sub\n", "u.dag": "JOB B j.sub\n"}
COMMANDS = {
    "t.dag": 'CONFIG c1\nSET_JOB_ATTR a = 3\nset_job_attr b="x"\nENV SET Q=1;R=2\n'
    'ENV GET a,b c\nenv set "Z=1 Y=2"\nJOB A j.sub\n',
    "c1": "DAGMAN_MANAGER_JOB_APPEND_GETENV=QQ\nDAGMAN_AUTO_RESCUE=false\n",
}
RESCUES = {"t.dag.rescue001": "", "t.dag.rescue002": "", "t.dag.condor.sub": "x", "t.dag.halt": ""}
OLD = {"t.dag.condor.sub": 'arguments = "-f -l . -MaxIdle 5 -MaxPre 7 -maxpost 8"\nqueue\n'}
GAP = {"t.dag.rescue001": "", "t.dag.rescue003": ""}


def _dag(last: str) -> dict[str, str]:
    return {"t.dag": f"JOB A j.sub\n{last}\n"}


NESTED = {
    "t.dag": "SUBDAG EXTERNAL A n1.dag\nsubdag external B \\\n n2.dag\n# SUBDAG EXTERNAL C x\n",
    "s.dag": "ENV SET OUTER=1\nCONFIG c1\nSUBDAG EXTERNAL A n1.dag\n",
    "v.dag": "SUBDAG EXTERNAL A n2.dag\n",
    "n1.dag": "JOB A j.sub\nENV SET INNER=1\nSUBDAG EXTERNAL A n3.dag\n",
    "n2.dag": "CONFIG c2\nSET_JOB_ATTR a = 3\n",
    "n3.dag": "JOB A j.sub\n",
    "d/t.dag": "SUBDAG EXTERNAL A n3.dag\n",
    "c1": "DAGMAN_MANAGER_JOB_APPEND_GETENV=QQ\n",
    "c2": "DAGMAN_DISABLE_PORT=True\n",
}

CASES = [
    Case("t.dag"),
    Case("t.dag u.dag"),
    Case("-terse t.dag"),
    Case("-maxidle 0 -maxpre 3 -maxpost 2 -maxhold 9 -maxjobs 4 -maxjobs 5 t.dag"),
    Case("-maxjobs -5 t.dag"),
    Case("-alwaysr -dorecov -debug 7 t.dag"),
    Case("-DontAlways -suppress -notification always t.dag"),
    Case("-autorescue 0 -priority -3 t.dag"),
    Case('-batch-name "a~b" t.dag'),
    Case("-outfile_dir o/ -usedagdir -v -allow t.dag"),
    Case("-dagman a~b t.dag"),
    Case("-include_env A,B -include_env C~D t.dag"),
    Case("-insert_env A=1;B=x~y -insert_env \"A=2~C='p~~q'\" t.dag"),
    Case("-lockfile l -submitm 1 t.dag"),
    Case('-a +Foo="b" -a x~=~y t.dag'),
    Case("-schedd-add a/b -schedd-d c t.dag"),
    Case("-f -u -n -p 3 -m 3 -b foo t.dag"),
    Case("-include X -insert_env K=1 t.dag", COMMANDS),
    Case("-config ./c1 t.dag", COMMANDS),
    Case("-config nosuch t.dag"),
    Case("t.dag", RESCUES),
    Case("-autorescue 0 t.dag", RESCUES),
    Case("-force t.dag", RESCUES),
    Case("-dorescuefrom 2 t.dag", RESCUES),
    Case("-dorescuefrom 3 t.dag", RESCUES),
    Case("-rescuefile r t.dag", {"r": ""}),
    Case("t.dag", GAP),
    Case("t.dag u.dag", {"t.dag_multi.rescue001": ""}),
    Case("-update -maxjobs 9 t.dag", OLD),
    Case("t.dag", OLD),
    Case("-insert_sub b t.dag", {"b": "\n# c\n  y = 2  \n\n"}),
    Case("-insert_sub nosuch t.dag"),
    Case("t.dag", {"a": "x=1\n"}, {"_CONDOR_DAGMAN_INSERT_SUB_FILE": "a"}),
    Case("t.dag", {}, {"_CONDOR_DAGMAN_DISABLE_PORT": "true"}),
    Case("-include X t.dag", {}, {"_CONDOR_DAGMAN_MANAGER_JOB_APPEND_GETENV": "A,B"}),
    Case("t.dag", {}, {"_CONDOR_DAGMAN_ON_EXIT_REMOVE": "true"}),
    Case("d/t.dag", {"d/t.dag": "CONFIG c\n", "c": ""}),
    Case("-usedagdir d/t.dag", {"d/t.dag": "CONFIG c\n", "d/c": ""}),
    Case("a~b.dag", {"a b.dag": ""}),
    Case(""),
    Case("-foo t.dag"),
    Case("-maxjobs"),
    Case("-maxjobs x t.dag"),
    Case("-batch-name '' t.dag"),
    Case("-batch-name -foo t.dag"),
    Case("-alwaysrunpost -dontalwaysrunpost t.dag"),
    Case("-rescuefile f -dorescuefrom 3 t.dag"),
    Case("-dorescuefrom -1 t.dag"),
    Case("t.dag -debug"),
    Case("nosuch.dag"),
    Case("-insert_env A t.dag"),
    Case("t.dag", _dag("CONFIG")),
    Case("t.dag", _dag("SET_JOB_ATTR")),
    Case("t.dag", _dag("ENV FOO x")),
    Case("t.dag", _dag("FOO-bar x")),
    Case("t.dag", _dag("CONFIG a\nCONFIG b")),
    Case("-do_recurse t.dag", NESTED),
    Case(
        "-do_recurse -priority -4 -maxjobs 3 -config c1 -batch-name x -insert_env A=it's~~it"
        " -include_env Q~R -suppress -notification error -outfile_dir o -v -allow s.dag v.dag",
        NESTED,
    ),
    Case("-do_recurse -f -terse -autorescue 0 -submitmethod 1 t.dag", {**NESTED, **RESCUES}),
    Case("-do_recurse -usedagdir d/t.dag", NESTED),
    Case(
        "-do_recurse -dorescuefrom 2 s.dag",
        {**NESTED, "n1.dag.rescue002": "", "s.dag.rescue002": ""},
    ),
    Case(
        "-do_recurse -update -maxjobs 2 s.dag",
        {**NESTED, "n1.dag.condor.sub": OLD["t.dag.condor.sub"]},
    ),
    Case("-load_save s t.dag"),
]
NAMES = [f"{n}: {case.line or '(nothing)'}" for n, case in enumerate(CASES)]


@dataclass
class Result:
    """What a command line did: `submit_file` and `stdout` as lines that can be compared."""

    code: int
    stdout: list[str]
    stderr: list[str]
    submit_file: list[str]
    files: list[str]


def _run(access_point: AccessPoint, case: Case, directory: Path, flavour: str) -> Result:
    for name, text in {**DAG, **case.files}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    directory.chmod(0o777)
    command = access_point.which("condor_submit_dag", ours=flavour == OURS)
    done = access_point.run(
        command, "-no_submit", *case.words(), cwd=directory, check=False,
        environment=case.environment,
    )  # fmt: skip
    written = sorted(path for path in directory.rglob("*.condor.sub") if path.is_file())
    text = "".join(path.read_text() for path in written)
    return Result(
        done.returncode,
        [line for line in done.stdout.splitlines() if not line.startswith("    -")],  # usage
        done.stderr.replace(str(directory), "HERE").splitlines(),
        _comparable(text, directory) if done.returncode == 0 else [],
        sorted(str(path.relative_to(directory)) for path in directory.rglob("*")),
    )


def _comparable(text: str, directory: Path) -> list[str]:
    """The lines of a submit file without what is each flavour's own."""
    text = re.sub(r"-CsdVersion \$CondorVersion.*?'\$", "-CsdVersion V", text)
    text = re.sub(r"/\S*/condor_dagman\b", "DAGMAN", text)
    return text.replace(str(directory), "HERE").splitlines()


@pytest.fixture(scope="module")
def results(access_point: AccessPoint, place: Path) -> dict[tuple[int, str], Result]:
    """Every case with both commands."""
    home = place / "submit_dag"

    def run(key: tuple[int, str]) -> Result:
        number, flavour = key
        directory = home / flavour / str(number)
        directory.mkdir(parents=True)
        return _run(access_point, CASES[number], directory, flavour)

    keys = [(number, flavour) for number in range(len(CASES)) for flavour in (STOCK, OURS)]
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(keys, pool.map(run, keys)))


Results = dict[tuple[int, str], Result]
numbers = pytest.mark.parametrize("number", range(len(CASES)), ids=NAMES)


@numbers
def test_exit_code_and_output(results: Results, number: int) -> None:
    stock, ours = results[number, STOCK], results[number, OURS]
    assert ours.code == stock.code
    assert sorted(ours.stdout) == sorted(stock.stdout)  # stock's buffers mix it up


@numbers
def test_submit_file(results: Results, number: int) -> None:
    stock, ours = results[number, STOCK], results[number, OURS]
    assert ours.submit_file == stock.submit_file


@numbers
def test_an_error_begins_as_stocks_does(results: Results, number: int) -> None:
    stock, ours = results[number, STOCK], results[number, OURS]
    assert bool(ours.stderr) == bool(stock.stderr)
    if stock.stderr:
        assert ours.stderr[0].startswith(stock.stderr[0].rstrip("."))


@numbers
def test_files_left_behind(results: Results, number: int) -> None:
    stock, ours = results[number, STOCK], results[number, OURS]
    if stock.code == 0:
        assert ours.files == stock.files
    else:  # stock leaves half a submit file after some errors
        assert set(ours.files) <= set(stock.files)
        given = {**DAG, **CASES[number].files}
        assert [name for name in ours.files if "." in name and name not in given] == []


# What we do otherwise, and why.
def test_the_rescue_dag_that_was_asked_for_is_the_one_that_is_named(
    access_point: AccessPoint, work: Path
) -> None:
    """Stock names the newest."""
    ours = _run(access_point, Case("-dorescuefrom 1 t.dag", RESCUES), work, OURS)
    assert ours.code == 0
    assert "Running rescue DAG 1" in ours.stdout
    assert "-DoRescueFrom 1" in "\n".join(ours.submit_file)


def test_a_description_without_an_end_is_found_before_anything_is_submitted(
    access_point: AccessPoint, work: Path
) -> None:
    """Stock leaves it to DAGMan."""
    case = Case("t.dag", _dag("JOB B {\nexecutable = x\n"))
    ours = _run(access_point, case, work, OURS)
    assert ours.code == 1
    assert ours.stderr[0].startswith("ERROR: t.dag:2 ")
    assert ours.files == sorted(DAG)


def test_recursion_into_a_directory(access_point: AccessPoint, work: Path) -> None:
    """Stock takes the word behind DIR, and NOOP and DONE too, for the name of the DAG file."""
    files = {
        "t.dag": "SUBDAG EXTERNAL A n.dag DIR d DONE\nSUBDAG EXTERNAL B x.dag NOOP\n",
        "d/n.dag": "SUBDAG EXTERNAL A m.dag DIR e\n",
        "d/e/m.dag": "",
    }
    ours = _run(access_point, Case("-do_recurse t.dag", files), work, OURS)
    assert ours.code == 0
    made = [name for name in ours.files if name.endswith(".condor.sub")]
    assert made == ["d/e/m.dag.condor.sub", "d/n.dag.condor.sub", "t.dag.condor.sub"]


@pytest.mark.parametrize(
    "line", ["SUBDAG EXTERNAL A nosuch.dag", "SUBDAG EXTERNAL A bad.dag", "SUBDAG EXTERNAL A",
             "SUBDAG INTERNAL A u.dag", "SUBDAG EXTERNAL A u.dag DIR nosuch"]
)  # fmt: skip
def test_recursion_that_fails(access_point: AccessPoint, work: Path, line: str) -> None:
    """As with stock, what is found to be wrong is told, the rest is prepared, nothing submitted."""
    files = {"t.dag": f"{line}\n", "bad.dag": "FOO\n"}
    results = []
    for flavour in (STOCK, OURS):
        (work / flavour).mkdir()
        results.append(
            _run(access_point, Case("-do_recurse t.dag", files), work / flavour, flavour)
        )
    stock, ours = results
    assert ours.code == stock.code == 1
    assert ours.stdout == stock.stdout
    told = "Recursive submit(s) failed; exiting without attempting top-level submit"
    assert ours.stderr[-1] == [line for line in stock.stderr if line][-1] == told
    failed = [line for line in stock.stderr if "failed on DAG file" in line]
    assert [line for line in ours.stderr if "failed on DAG file" in line] == failed
    assert ours.files == stock.files


PREPARE = """\
import os
import sys

from condor_pydagman.adapters import knobs
from condor_pydagman.adapters.files import DagFiles, read_text
from condor_pydagman.cli.options import parse_dagman
from condor_pydagman.daemon.subdags import CannotPrepare, prepare
from condor_pydagman.graph.build import build
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.records.condor_sub import old_arguments

options = parse_dagman(old_arguments(read_text("t.dag.condor.sub")))
config = knobs.load(os.environ["_CONDOR_DAGMAN_CONFIG_FILE"])
dag = build(options.dag_files, DagFiles().read, BuildOptions(priority=options.priority))
for node in dag.subdags:
    try:
        prepare(dag, node, options, priority=dag.priorities.get(node, 0), retry=0, config=config,
                say=lambda text: print(text, file=sys.stderr))
    except CannotPrepare as error:
        print(error, file=sys.stderr)
"""
SUBDAGS = {
    "t.dag": "CONFIG c\nENV SET OUTER=1\nSUBDAG EXTERNAL A n1.dag\nPRIORITY A 5\n"
    "SUBDAG EXTERNAL B n2.dag DIR d\nSUBDAG EXTERNAL C nosuch.dag\nFINAL F f.dag.condor.sub\n",
    "c": "DAGMAN_MANAGER_JOB_APPEND_GETENV=QQ\n",
    "n1.dag": "JOB A j.sub NOOP\n",
    "f.dag": "JOB A j.sub NOOP\n",
    "d/n2.dag": "CONFIG c2\nENV SET INNER=1\nJOB A j.sub NOOP\n",
    "d/c2": "DAGMAN_DISABLE_PORT=True\n",
}


def _made(directory: Path, said: str) -> tuple[dict[str, list[str]], list[str]]:
    """The submit files in a directory, and the commands that were said to make them."""
    files = {
        str(path.relative_to(directory)): _comparable(path.read_text(), directory)
        for path in directory.rglob("*.condor.sub")
    }
    commands = re.findall(r"Recursive submit command: <.*>", said)
    return files, sorted(re.sub(r"/\S*/condor_dagman\b", "DAGMAN", line) for line in commands)


def _stock_prepares(access_point: AccessPoint, directory: Path, words: str) -> Any:
    """Run the DAG under stock condor_dagman, which finds its condor_submit_dag on PATH."""
    stock = access_point.stock_dagman
    path = f"{Path(stock).parent}:{access_point.environment['PATH']}"
    case = Case(f"-dagman {stock} {words}", SUBDAGS, {"PATH": path})
    assert _run(access_point, case, directory, STOCK).code == 0
    access_point.run("condor_submit", "t.dag.condor.sub", cwd=directory, environment={"PATH": path})
    access_point.wait(directory / "t.dag")
    return _made(directory, (directory / "t.dag.dagman.out").read_text())


def _we_prepare(access_point: AccessPoint, directory: Path, words: str) -> Any:
    case = Case(f"-dagman {access_point.our_dagman} {words}", SUBDAGS)
    assert _run(access_point, case, directory, OURS).code == 0
    environment = {"_CONDOR_DAGMAN_CONFIG_FILE": f"{directory}/c", "PYTHONPATH": ROOT}
    done = access_point.run(
        sys.executable, "-c", PREPARE, cwd=directory, check=False, environment=environment
    )
    assert "failed for node C. Provided file path does not exist: nosuch.dag" in done.stderr
    return _made(directory, done.stderr)


def test_submit_files_of_sub_dag_nodes(access_point: AccessPoint, work: Path) -> None:
    """Those that stock condor_dagman makes, and ours from the same command line."""
    words = "-priority 3 -maxjobs 9 -include_env X,Y -insert_env A=b~c -notif never -f -v t.dag"
    for directory in (work / STOCK, work / OURS):
        (directory / "d").mkdir(parents=True)
        (directory / "d").chmod(0o777)
    stock = _stock_prepares(access_point, work / STOCK, words)
    ours = _we_prepare(access_point, work / OURS, words)
    made = ["d/n2.dag.condor.sub", "f.dag.condor.sub", "n1.dag.condor.sub", "t.dag.condor.sub"]
    assert sorted(stock[0]) == made
    assert ours == stock


@pytest.mark.parametrize("option", ["-setuponly", "-remote x"])
def test_an_option_that_we_do_not_have_yet_is_refused(
    access_point: AccessPoint, work: Path, option: str
) -> None:
    ours = _run(access_point, Case(f"{option} t.dag"), work, OURS)
    assert ours.code == 1
    assert "not supported" in ours.stderr[0]
    assert option.split()[0][1:5] in ours.stderr[0].lower()
    assert ours.files == sorted(DAG)

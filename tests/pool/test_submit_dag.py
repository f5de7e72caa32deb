"""What condor_submit_dag does that its submit file does not show: the submission itself, beside
that of stock; what we do otherwise; the submit files of sub-DAG nodes.

`test_submit_files.py` compares the rest.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory

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
RESCUES = {"t.dag.rescue001": "", "t.dag.rescue002": "", "t.dag.condor.sub": "x", "t.dag.halt": ""}


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
    case = Case("t.dag", {"t.dag": "JOB A j.sub\nJOB B {\nexecutable = x\n"})
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
from condor_pydagman.dagman_job.options import parse_dagman
from condor_pydagman.daemon.subdag_nodes import CannotPrepare, prepare
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
        new_directory(directory / "d")
    stock = _stock_prepares(access_point, work / STOCK, words)
    ours = _we_prepare(access_point, work / OURS, words)
    made = ["d/n2.dag.condor.sub", "f.dag.condor.sub", "n1.dag.condor.sub", "t.dag.condor.sub"]
    assert sorted(stock[0]) == made
    assert ours == stock


WRONG = [
    "x y z",
    "= 3",
    "include : nosuch",
    "My.x = (",
    "priority = abc",
    "My.A.B = 3",
    "notification = bogus",
    "executable = /none/such",
    'arguments = a "b',
]
HELD = ["foo = bar", "foo = $(bar)", "request_memroy = 5", "My.foo = 1", "priority = 3"]
HELD.append('My.foo @=end\n"one"\n@end\nMy.other = "two"')  # a value in lines of its own
HELD.append("My.foo @=end\n{1,\n2}\n@end")


def _submit_both(
    access_point: AccessPoint, work: Path, words: list[list[str]]
) -> list[tuple[Any, Any]]:
    """Submit a DAG with each list of words, by stock and by ours; what the commands said."""

    def run(key: tuple[int, str]) -> Any:
        number, flavour = key
        directory = new_directory(work / f"{flavour}{number}")
        (directory / "t.dag").write_text("JOB A j.sub NOOP\n")
        command = access_point.which("condor_submit_dag", ours=flavour == OURS)
        return access_point.run(command, *words[number], "t.dag", cwd=directory, check=False)

    keys = [(number, flavour) for number in range(len(words)) for flavour in (STOCK, OURS)]
    with ThreadPoolExecutor(2) as pool:
        ended = dict(zip(keys, pool.map(run, keys)))
    return [(ended[number, STOCK], ended[number, OURS]) for number in range(len(words))]


def test_jobs_that_cannot_be_submitted(access_point: AccessPoint, work: Path) -> None:
    """As with stock the command fails, with its words; a wrong line is shown."""
    words = [["-append", "hold = true", "-append", line] for line in WRONG]
    for line, (stock, ours) in zip(WRONG, _submit_both(access_point, work, words)):
        assert (stock.returncode, ours.returncode) == (1, 1), line
        told = [text.strip() for text in stock.stderr.splitlines() if text.strip()]
        for text in told:
            if not text.startswith("Submit:"):  # of the parser, which tells only condor_submit
                same = re.sub(r"job \d+", "job N", text)
                assert same in re.sub(r"job \d+", "job N", ours.stderr), line
        assert ours.stderr.endswith("\nERROR: condor_submit failed; aborting.\n")
        assert "submitted to cluster" not in ours.stdout


def test_messages_about_a_submitted_job_are_those_of_stock(
    access_point: AccessPoint, work: Path
) -> None:
    """And of lines that are taken, but mean nothing."""
    words = [["-append", "hold = true", "-append", line] for line in HELD]
    words.append(["-append", "hold = true", "-terse"])
    clusters = []
    for line, (stock, ours) in zip([*HELD, "-terse"], _submit_both(access_point, work, words)):
        said = []
        for done in (stock, ours):
            assert done.returncode == 0, line
            found = re.search(r"cluster (\d+)\.|^(\d+)\.0 - ", done.stdout, re.M)
            assert found, line
            clusters.append(found.group(1) or found.group(2))
            text = re.sub(r"clusters? \d+|\d+\.0", "N", f"{done.stdout}{done.stderr}")
            said.append(sorted(text.splitlines()))  # stock's buffers mix it up
        assert said[0] == said[1], line
    constraint = " || ".join(f"ClusterId == {cluster}" for cluster in clusters)
    ads = {str(ad["ClusterId"]): ad for ad in access_point.queue(constraint)}
    access_point.run("condor_rm", *clusters)
    for one, other in zip(clusters[::2], clusters[1::2]):
        stock_ad, our_ad = (_without_its_own(ads[cluster], cluster) for cluster in (one, other))
        assert our_ad == stock_ad


# The schedd gives AutoClusterId and AutoClusterAttrs to a job when it next looks at all of them.
OWN = """
AutoClusterAttrs AutoClusterId ClusterId CondorPlatform CondorVersion DiskUsage EnteredCurrentStatus
ExecutableSize GlobalJobId ImageSize Iwd LastHoldTime QDate ServerTime SubmitVersion
TransferInputSizeMB UserLog
"""


def _without_its_own(ad: dict[str, Any], cluster: str) -> dict[str, Any]:
    """A DAGMan job's ad without what is each job's own: place, time, size of the program."""
    left = {key: _neutral(value) for key, value in ad.items()}
    for key in OWN.split():
        left.pop(key, None)
        left.pop(f"{key}_RAW", None)
    left["OtherJobRemoveRequirements"] = left["OtherJobRemoveRequirements"].replace(cluster, "N")
    return left


def test_a_schedd_that_does_not_answer(access_point: AccessPoint, work: Path) -> None:
    """The address that a schedd left behind when it died."""
    dead = work / "dead"
    dead.write_text("<127.0.0.1:9?addrs=127.0.0.1-9>\n$CondorVersion: 25.14.1 2026-10-16 $\n"
                    "$CondorPlatform: X86_64-Debian_ $\n")  # fmt: skip
    options = ["-schedd-address-file", str(dead), "-schedd-daemon-ad-file", "/none/such"]
    nobody = ["-schedd-address-file", "/none/such", "-schedd-daemon-ad-file", "/none/such"]
    for stock, ours in _submit_both(access_point, work, [options, nobody]):
        assert (stock.returncode, ours.returncode) == (1, 1)
        for text in stock.stderr.splitlines():
            assert text in ours.stderr
    assert (work / "ours0" / "t.dag.condor.sub").exists()  # to be submitted later
    assert not (work / "ours1" / "t.dag.condor.sub").exists()  # nobody to submit it to


SPOOLED = """
LeaveJobInQueue JobSubmitMethod ShouldTransferFiles TransferInput Cmd WhenToTransferOutput
LastHoldReason ReleaseReason Args JobUniverse OnExitRemove RemoveKillSig Out Err UserLog
JobSubmitFile
"""


def test_remote_submission(access_point: AccessPoint, work: Path) -> None:
    """The schedd gets a copy of condor_dagman and what the submit file says, and nothing else."""
    name = access_point.run("condor_status", "-schedd", "-af", "Name").stdout.split()[0]
    words = [["-remote", name, "-append", "transfer_input_files = t.dag"],
             ["-r", "nobody@nowhere.invalid"], ["-r", "nowhere"]]  # fmt: skip
    (stock, ours), *wrong = _submit_both(access_point, work, words)
    clusters = []
    for done in (stock, ours):
        assert done.returncode == 0, done.stderr
        clusters.append(int(re.findall(r"submitted to cluster (\d+)\.", done.stdout)[0]))
    assert len(stock.stdout.splitlines()) == len(ours.stdout.splitlines())
    both = " || ".join(f"ClusterId == {cluster}" for cluster in clusters)
    ended = f"JobStatus == 4 && ({both})"
    ads = access_point.wait_for(lambda: [ad for ad in [access_point.queue(ended)] if len(ad) == 2])
    access_point.run("condor_rm", "-forcex", "-constraint", ended, check=False)
    first, second = sorted(ads[0], key=lambda ad: bool(ad["ClusterId"] == clusters[1]))
    assert (first["ExitCode"], second["ExitCode"]) == (0, 0)
    for key in SPOOLED.split():
        one, other = (_neutral(ad.get(key)) for ad in (first, second))
        assert one == other, key
    for stock, ours in wrong:
        assert (stock.returncode, ours.returncode) == (1, 1)
        for text in stock.stderr.splitlines():
            assert text in ours.stderr


def _neutral(value: Any) -> Any:
    """A job attribute without what is each flavour's own."""
    if not isinstance(value, str):
        return value
    value = re.sub(r"\$CondorVersion.*?\$", "V", value)
    value = re.sub(r"/\S*/spool/\S*/", "SPOOL/", value)
    return re.sub(r"/\S*/condor_dagman\b", "DAGMAN", value)


@pytest.mark.parametrize("flavour", [STOCK, OURS])
def test_a_dag_that_runs_is_not_submitted_again(
    access_point: AccessPoint, work: Path, flavour: str
) -> None:
    """Stock takes the log and the rescue file from it; the DAGMan that it submits dies at once."""
    dag = dags.write(work, 'JOB A job.sub\nVARS A seconds="60"\n')
    cluster = access_point.submit(work, "t.dag", stock=flavour == STOCK)
    access_point.wait_for(lambda: (work / "t.dag.nodes.log").exists(), say="DAGMan", dag=dag)
    (work / "t.dag.rescue001").write_text("DONE A\n")
    names = ("t.dag.dagman.log", "t.dag.lib.err", "t.dag.condor.sub", "t.dag.rescue001")
    before = [(work / name).stat().st_ino for name in names]
    command = access_point.which("condor_submit_dag", ours=True)
    for words in (["-f"], []):
        done = access_point.run(command, *words, "t.dag", cwd=work, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"ERROR: DAGMan is running t.dag (as job {cluster}; " in done.stderr
        assert f"condor_rm {cluster}" in done.stderr
    access_point.run("condor_hold", str(cluster))
    held = f"ClusterId == {cluster} && JobStatus == 5"
    access_point.wait_for(lambda: access_point.queue(held), say="its hold")
    access_point.wait_for(
        lambda: "is on hold" in access_point.run(command, "t.dag", cwd=work, check=False).stderr,
        say="the end of its process, which has the lock until then",
    )
    for words in (["-f"], []):
        done = access_point.run(command, *words, "t.dag", cwd=work, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"ERROR: Job {cluster}, which runs t.dag, is on hold." in done.stderr
    assert [(work / name).stat().st_ino for name in names] == before
    access_point.run("condor_rm", str(cluster))
    access_point.wait_for(lambda: access_point.gone(cluster), say="its end")
    again = access_point.submit(work, "-f", "-append", "hold = true", "t.dag")
    access_point.run("condor_rm", str(again))


def test_a_dag_that_dagman_would_refuse_is_not_submitted(
    access_point: AccessPoint, work: Path
) -> None:
    """Stock submits it; its DAGMan ends a second later."""
    dag = dags.write(work, "JOB A job.sub\nPARENT A CHILD B\n")
    (work / "t.dag.halt").write_text("")
    before = sorted(path.name for path in work.iterdir())
    command = access_point.which("condor_submit_dag", ours=True)
    done = access_point.run(command, "t.dag", cwd=work, check=False)
    assert done.returncode == 1
    assert "ERROR: Unknown child node B specified\nProcessing error at t.dag:2" in done.stderr
    assert sorted(path.name for path in work.iterdir()) == before
    off = {"_CONDOR_PYDAGMAN_CHECK_DAG": "False"}
    done = access_point.run(command, "-terse", "t.dag", cwd=work, environment=off)
    assert access_point.wait(dag).code == 1
    assert "Unknown child node B" in (work / "t.dag.dagman.out").read_text()

"""What condor_submit_dag does that its submit file does not show: the submission itself, as stock
does it; the submit files of sub-DAG nodes.

`test_submit_files.py` compares the rest.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.bindings import alike
from tests.pool.scenes import Scene
from tests.pool.stock import Stock, plain

ROOT = str(Path(__file__).resolve().parents[2])


def _comparable(access_point: AccessPoint, text: str, directory: Path) -> list[str]:
    """The lines of a submit file without what is each flavour's or this machine's own."""
    text = re.sub(r"-CsdVersion \$CondorVersion.*?'\$", "-CsdVersion V", text)
    text = re.sub(r"/\S*/condor_dagman\b", "DAGMAN", text)
    text = text.replace(str(access_point.pool.directory), "POOL")
    return text.replace(str(directory), "HERE").splitlines()


PREPARE = """\
import os
import sys

from condor_pydagman.adapters import knobs
from condor_pydagman.adapters.files import DagFiles, read_text
from condor_pydagman.dagman_job.options import parse_dagman
from condor_pydagman.dagman_job.nested_dags import prepare
from condor_pydagman.errors import CannotPrepare
from condor_pydagman.graph.build import build
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.dagman_job.condor_sub import old_arguments

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
WORDS = ["-priority", "3", "-maxjobs", "9", "-include_env", "X,Y", "-insert_env", "A=b c"]
WORDS += ["-notif", "never", "-f", "-v"]


def _made(
    access_point: AccessPoint, directory: Path, said: str
) -> tuple[dict[str, list[str]], list[str]]:
    """The submit files in a directory, and the commands that were said to make them."""
    files = {
        str(path.relative_to(directory)): _comparable(access_point, path.read_text(), directory)
        for path in directory.rglob("*.condor.sub")
    }
    commands = re.findall(r"Recursive submit command: <.*>", said)
    return files, sorted(re.sub(r"/\S*/condor_dagman\b", "DAGMAN", line) for line in commands)


def _prepare(access_point: AccessPoint, directory: Path, flavour: str, path: str = "") -> None:
    """Write the files, and have one of the programs make the submit file of the outer DAG."""
    for name, text in SUBDAGS.items():
        (directory / name).write_text(text)
    command = access_point.which("condor_submit_dag", ours=flavour == OURS)
    dagman = access_point.our_dagman if flavour == OURS else access_point.stock_dagman
    words = ["-no_submit", "-dagman", dagman, *WORDS, "t.dag"]
    environment = {"PATH": path} if path else {}
    access_point.run(command, *words, cwd=directory, environment=environment)


def _stock_prepares(access_point: AccessPoint, directory: Path) -> Any:
    """Run the DAG under stock condor_dagman, which finds its condor_submit_dag on PATH."""
    path = f"{Path(access_point.stock_dagman).parent}:{access_point.environment['PATH']}"
    _prepare(access_point, directory, STOCK, path)
    access_point.run("condor_submit", "t.dag.condor.sub", cwd=directory, environment={"PATH": path})
    access_point.wait(directory / "t.dag")
    return _made(access_point, directory, (directory / "t.dag.dagman.out").read_text())


def _we_prepare(access_point: AccessPoint, directory: Path) -> Any:
    _prepare(access_point, directory, OURS)
    environment = {"_CONDOR_DAGMAN_CONFIG_FILE": f"{directory}/c", "PYTHONPATH": ROOT}
    done = access_point.run(
        sys.executable, "-c", PREPARE, cwd=directory, check=False, environment=environment
    )
    assert "failed for node C. Provided file path does not exist: nosuch.dag" in done.stderr
    return _made(access_point, directory, done.stderr)


def test_submit_files_of_sub_dag_nodes(access_point: AccessPoint, work: Path, stock: Stock) -> None:
    """Those that stock condor_dagman makes, and ours from the same command line."""
    for directory in (work / STOCK, work / OURS):
        new_directory(directory / "d")
        directory.chmod(0o777)
    expected = stock("sub-DAG nodes", lambda: _stock_prepares(access_point, work / STOCK))
    made = ["d/n2.dag.condor.sub", "f.dag.condor.sub", "n1.dag.condor.sub", "t.dag.condor.sub"]
    assert sorted(expected[0]) == made
    assert plain(_we_prepare(access_point, work / OURS)) == expected


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


class Submission(NamedTuple):
    """What condor_submit_dag said; `cluster` is 0 if nothing was submitted."""

    code: int
    stdout: str
    stderr: str
    cluster: int

    def errors(self) -> list[str]:
        """The lines of its errors, without numbers of jobs."""
        text = re.sub(r"job \d+", "job N", self.stderr)
        return [line.strip() for line in text.splitlines() if line.strip()]


def _submit(
    access_point: AccessPoint, directory: Path, words: list[str], flavour: str
) -> Submission:
    """Submit a DAG with some words; what the command said, `cluster` if it submitted a job."""
    new_directory(directory)
    (directory / "t.dag").write_text("JOB A j.sub NOOP\n")
    ours = flavour == OURS
    command = access_point.which("condor_submit_dag", ours=ours)
    done = access_point.run(command, *words, "t.dag", cwd=directory, check=False, loaded=ours)
    found = re.search(r"cluster (\d+)\.|^(\d+)\.0 - ", done.stdout, re.M)
    return Submission(
        done.returncode, done.stdout, done.stderr, int(found[1] or found[2]) if found else 0
    )


@pytest.mark.parametrize("line", WRONG, ids=range(len(WRONG)))
def test_jobs_that_cannot_be_submitted(
    access_point: AccessPoint, work: Path, stock: Stock, line: str
) -> None:
    """As with stock the command fails, with its words; a wrong line is shown."""
    words = ["-append", "hold = true", "-append", line]
    ours = _fails_like_stock(access_point, work, stock, f"not submitted: {line}", words)
    assert ours.stderr.endswith("\nERROR: condor_submit failed; aborting.\n")
    assert not ours.cluster


@pytest.mark.parametrize("line", [*HELD, "-terse"], ids=range(len(HELD) + 1))
def test_messages_about_a_submitted_job_are_those_of_stock(
    access_point: AccessPoint, work: Path, stock: Stock, line: str
) -> None:
    """And of lines that are taken, but mean nothing; the job's ad is that of stock."""
    words = ["-append", "hold = true", *(["-terse"] if line == "-terse" else ["-append", line])]

    def told(flavour: str) -> tuple[int, list[str], dict[str, Any]]:
        done = _submit(access_point, work / flavour, words, flavour)
        assert done.code == 0, done.stderr
        (ad,) = access_point.queue(f"ClusterId == {done.cluster}")
        access_point.run("condor_rm", str(done.cluster))
        said = re.sub(r"clusters? \d+|\d+\.0", "N", f"{done.stdout}{done.stderr}")
        lines = sorted(said.splitlines())  # stock's buffers mix it up
        return done.code, lines, _without_its_own(access_point, ad)

    *expected, stocks = stock(f"submitted: {line}", lambda: told(STOCK))
    *ours, ad = plain(told(OURS))
    assert ours == expected
    assert alike(ad, access_point.version) == alike(stocks, access_point.version)


# The schedd gives AutoClusterId and AutoClusterAttrs to a job when it next looks at all of them.
OWN = """
AutoClusterAttrs AutoClusterId ClusterId CondorPlatform CondorVersion DiskUsage EnteredCurrentStatus
ExecutableSize GlobalJobId ImageSize Iwd LastHoldTime QDate ServerTime SubmitVersion
TransferInputSizeMB UserLog
"""


def _without_its_own(access_point: AccessPoint, ad: dict[str, Any]) -> dict[str, Any]:
    """A DAGMan job's ad without what is each job's own: place, time, size of the program; and
    without the names of the user and the machine."""
    left = {key: _neutral(value) for key, value in ad.items()}
    for key in OWN.split():
        left.pop(key, None)
        left.pop(f"{key}_RAW", None)
    cluster, pool = str(ad["ClusterId"]), str(access_point.pool.directory)
    user, _, domain = ad["User"].partition("@")
    left["OtherJobRemoveRequirements"] = left["OtherJobRemoveRequirements"].replace(cluster, "N")
    left["Environment"] = _environment(access_point, ad["Environment"])
    masks = {pool: "POOL", user: "USER", domain: "DOMAIN", f"+{cluster}": "+N"}
    for key, value in left.items():
        for name, mask in masks.items() if isinstance(value, str) else ():
            left[key] = left[key].replace(name, mask)
    return dict(sorted(left.items()))


def _environment(access_point: AccessPoint, text: str) -> list[str]:
    """A job's environment without what it has from that of the command, which is the machine's."""
    given = access_point.environment
    entries = [entry.partition("=") for entry in shlex.split(text)]
    own = sorted(f"{name}={value}" for name, _, value in entries if given.get(name) != value)
    return [entry.replace(str(access_point.pool.directory), "POOL") for entry in own]


def test_a_schedd_that_does_not_answer(access_point: AccessPoint, work: Path, stock: Stock) -> None:
    """The address that a schedd left behind when it died; and none at all."""
    dead = work / "dead"
    dead.write_text("<127.0.0.1:9?addrs=127.0.0.1-9>\n$CondorVersion: 25.14.1 2026-10-16 $\n"
                    "$CondorPlatform: X86_64-Debian_ $\n")  # fmt: skip
    none = "/none/such"
    left = {str(dead): True, none: False}  # whether there is a submit file, to be submitted later
    for address, is_left in left.items():
        words = ["-schedd-address-file", address, "-schedd-daemon-ad-file", none]
        place = work / str(is_left)
        _fails_like_stock(access_point, place, stock, f"no schedd {is_left}", words)
        assert (place / OURS / "t.dag.condor.sub").exists() == is_left


def _fails_like_stock(
    access_point: AccessPoint, place: Path, stock: Stock, name: str, words: list[str]
) -> Submission:
    """Check that ours fails, and says each line that stock says; returns what ours said."""

    def stock_says() -> tuple[int, list[str]]:
        done = _submit(access_point, place / STOCK, words, STOCK)
        return done.code, done.errors()

    code, told = stock(name, stock_says)
    ours = _submit(access_point, place / OURS, words, OURS)
    assert (code, ours.code) == (1, 1)
    for text in told:
        if not text.startswith("Submit:"):  # of the parser, which tells only condor_submit
            assert text in "\n".join(ours.errors())
    return ours


SPOOLED = """
LeaveJobInQueue JobSubmitMethod ShouldTransferFiles TransferInput Cmd WhenToTransferOutput
LastHoldReason ReleaseReason Args JobUniverse OnExitRemove RemoveKillSig Out Err UserLog
JobSubmitFile
"""


def test_remote_submission(access_point: AccessPoint, work: Path, stock: Stock) -> None:
    """The schedd gets a copy of condor_dagman and what the submit file says, and nothing else."""
    name = access_point.run("condor_status", "-schedd", "-af", "Name").stdout.split()[0]
    words = ["-remote", name, "-append", "transfer_input_files = t.dag"]

    def told(flavour: str) -> dict[str, Any]:
        done = _submit(access_point, work / flavour, words, flavour)
        assert done.code == 0, done.stderr
        ended = f"ClusterId == {done.cluster} && JobStatus == 4"
        (ad,) = access_point.wait_for(lambda: access_point.queue(ended), say="its end")
        access_point.run("condor_rm", "-forcex", str(done.cluster), check=False)
        spooled = {key: _neutral(ad.get(key)) for key in SPOOLED.split()}
        return {"exit code": ad["ExitCode"], "lines": done.stdout.count("\n"), **spooled}

    expected = stock("remote", lambda: told(STOCK))
    ours = plain(told(OURS))
    assert alike(ours, access_point.version) == alike(expected, access_point.version)
    assert expected["exit code"] == 0


@pytest.mark.parametrize("name", ["nobody@nowhere.invalid", "nowhere"])
def test_a_remote_schedd_that_nobody_knows(
    access_point: AccessPoint, work: Path, stock: Stock, name: str
) -> None:
    _fails_like_stock(access_point, work, stock, f"-r {name}", ["-r", name])


def _neutral(value: Any) -> Any:
    """A job attribute without what is each flavour's own."""
    if not isinstance(value, str):
        return value
    value = re.sub(r"\$CondorVersion.*?\$", "V", value)
    value = re.sub(r"/\S*/spool/\S*/", "SPOOL/", value)
    return re.sub(r"/\S*/condor_dagman\b", "DAGMAN", value)


def test_a_dag_that_runs_is_not_submitted_again(
    access_point: AccessPoint, work: Path, stock: Stock
) -> None:
    """Stock takes the log and the rescue file from it; the DAGMan that it submits dies at once.

    While stock is recorded, it is a DAG under stock too that ours does not submit again.
    """

    def told(flavour: str) -> list[str]:
        return _submitted_again(Scene(access_point, new_directory(work / flavour), 0, flavour))

    assert plain(told(OURS)) == stock("a DAG that runs", lambda: told(STOCK))


def _submitted_again(s: Scene) -> list[str]:
    """What ours says of a DAG that runs, and of one that is on hold."""
    s.submit("JOB A told.sub\n", started="A 0")
    (s.work / "t.dag.rescue001").write_text("DONE A\n")
    names = ("t.dag.dagman.log", "t.dag.lib.err", "t.dag.condor.sub", "t.dag.rescue001")
    before = [(s.work / name).stat().st_ino for name in names]
    said = _refusals(s)
    assert f"ERROR: DAGMan is running t.dag (as job {s.cluster}; " in said[-1]
    assert f"condor_rm {s.cluster}" in said[-1]
    s.hold()  # its process has the lock until it ends
    s.until(lambda: s.ad().get("JobStatus") == 5, "its hold")
    said += _refusals(s)
    assert f"ERROR: Job {s.cluster}, which runs t.dag, is on hold." in said[-1]
    assert [(s.work / name).stat().st_ino for name in names] == before
    s.remove()
    s.gone()
    again = s.access_point.submit(s.work, "-f", "-append", "hold = true", "t.dag")
    s.run("condor_rm", str(again))
    numbers = {str(s.cluster): "JOB"}
    return [re.sub(r"\d+", lambda n: numbers.get(n[0], "N"), text) for text in said]


def _refusals(s: Scene) -> list[str]:
    """What is said when the DAG is submitted once more, in two ways."""
    command = s.access_point.which("condor_submit_dag", ours=True)
    said = []
    for words in (["-f"], []):
        done = s.answer(command, *words, "t.dag")
        assert (done.returncode, done.stdout) == (1, "")
        said.append(done.stderr)
    return said

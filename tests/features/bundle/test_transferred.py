"""The runner of a bundle in a transferred job: each task has a directory of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.features.bundle.bundle_job import BundleJob, changed
from tests.waiting import until


@pytest.fixture
def job(tmp_path: Path) -> BundleJob:
    found = BundleJob(tmp_path / "scratch", transferred=True)
    (found.path / "3").write_text("data\n")
    return found


def left(job: BundleJob) -> dict[str, str]:
    """What is in `out`: names, and contents of files."""
    out = job.path / "out"
    return {
        str(path.relative_to(out)): "" if path.is_dir() else path.read_text()
        for path in out.rglob("*")
    }


def missing(job: BundleJob) -> list[list[str]]:
    return [line["missing"] for _, line in sorted(job.ended().items())]


def test_inputs_are_there_and_the_directory_goes(job: BundleJob) -> None:
    (job.path / "dir").mkdir()
    (job.path / "dir" / "4").write_text("deep\n")
    inputs = [["3", "a b"], ["dir/4", "sub/in\n"], ["dir", "d"]]
    job.add('cat "a b" sub/* d/4; pwd; ls -A', inputs=inputs, output="o")
    job.run()
    text = f"data\ndeep\ndeep\n{job.path}/work/1\na b\nd\nsub\n"
    assert left(job) == {"1": "", "1/_stdout": text}
    assert not [*(job.path / "work").iterdir()]
    assert (job.path / "dir" / "4").exists()
    assert missing(job) == [[]]


def test_a_program_that_was_transferred(job: BundleJob) -> None:
    (job.path / "9").write_text("#!/bin/sh\necho $0 $1\n")
    (job.path / "9").chmod(0o644)
    for _ in range(2):
        job.add(program="/abs/it s", sandboxed="9", arguments=["x"], output="o", outputs=[])
    job.add(program="/abs/none", sandboxed="no", output="o")
    job.run()
    assert left(job)["2/_stdout"] == f"{job.path}/work/2/it s x\n"
    assert job.outcomes() == [(0, 0), (0, 0), (127, 0)]
    assert job.ended()[3]["error"] == f"{job.path}/work/3/none: No such file or directory"


def test_a_script_finds_its_neighbours(job: BundleJob) -> None:
    """As Python does, which follows symbolic links."""
    (job.path / "9").write_text('#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/other"\n')
    job.add(program="/abs/it", sandboxed="9", inputs=[["3", "other"]], output="o")
    job.run()
    assert left(job)["1/_stdout"] == "data\n"


def test_streams(job: BundleJob) -> None:
    job.add(
        "cat; echo bad >&2", inputs=[["3", "in.txt"]], input="/abs/in.txt", output="o", error="e"
    )
    job.add("echo a; echo b >&2; echo c", output="/abs/o", error="/abs/./o")
    job.add("echo bad >&2", error="e")
    job.add("echo nowhere")
    job.add("cat", input="none", output="o")
    job.run()
    found = {name: text for name, text in left(job).items() if "/" in name}
    assert found == {
        "1/_stdout": "data\n",
        "1/_stderr": "bad\n",
        "2/_stdout": "a\nb\nc\n",
        "3/_stderr": "bad\n",
    }
    assert not (job.path / "out" / "4").exists()
    assert job.ended()[5]["error"] == "none: No such file or directory"


def test_outputs_by_default(job: BundleJob) -> None:
    """All files that are new or changed; no directories, no inputs."""
    job.add(
        "echo 1 > new; mkdir dir; echo 2 > dir/x; mkfifo pipe; ln -s none link; ln -s dir to_dir;"
        " rm replaced; echo 3 > replaced; ln -s new to_new; ln -s $PWD/dir/x absolute",
        inputs=[["3", "same"], ["3", "replaced"]],
    )
    job.run()
    assert left(job) == {
        **{"1": "", "1/new": "1\n", "1/replaced": "3\n", "1/to_new": "1\n", "1/absolute": "2\n"}
    }
    assert job.text("3") == "data\n"
    assert missing(job) == [[]]


def test_outputs_that_are_named(job: BundleJob) -> None:
    job.add(
        "mkdir -p d/e s; echo 1 > d/e/x; echo 2 > s/y; echo 3 > s/z; echo 4 > f; echo 5 > other;"
        " ln -s other link",
        outputs=["d/", "d/e/x", "s/y", "./f", "link", "none", "s/none", "."],
        output="o",
    )
    job.add("exit 1", outputs=["none"])
    job.run()
    assert left(job) == {
        **{"1": "", "1/d": "", "1/d/e": "", "1/d/e/x": "1\n", "1/s": "", "1/s/y": "2\n"},
        **{"1/f": "4\n", "1/link": "5\n", "1/_stdout": ""},
    }
    assert missing(job) == [["none", "s/none", "."], ["none"]]


def test_no_outputs_are_named(job: BundleJob) -> None:
    job.add("echo > new", outputs=[])
    job.run()
    assert left(job) == {}


def test_what_would_put_the_whole_job_on_hold(job: BundleJob) -> None:
    """HTCondor can transfer no link to a directory, nor what can't be read or written."""
    job.add(
        "mkdir -p d/ro; ln -s .. d/up; ln -s /tmp d/tmp; mkfifo d/pipe; ln -s none d/none;"
        " echo 1 > d/ro/x; chmod 0 d/ro/x; chmod 555 d/ro; echo 2 > f; chmod 0 f;"
        " ln -s ../f d/f; ln -s d to_d; chmod 500 .",
        outputs=["d", "f", "to_d"],
    )
    job.run()
    out = job.path / "out" / "1"
    assert left(job) == {
        **{"1": "", "1/d": "", "1/d/ro": "", "1/d/ro/x": "1\n", "1/d/f": "2\n", "1/f": "2\n"}
    }
    assert [(out / name).stat().st_mode & 0o777 for name in ("d/ro", "d/ro/x", "f")] == [
        *(0o755, 0o400, 0o400)
    ]
    assert sorted(missing(job)[0]) == ["d/none", "d/pipe", "d/tmp", "d/up", "to_d"]


def test_an_input_that_is_an_output(job: BundleJob) -> None:
    """Each task changes its own copy."""
    (job.path / "dir").mkdir()
    (job.path / "dir" / "x").write_text("x\n")
    inputs = [["3", "both"], ["dir", "d"]]
    for _ in range(2):
        job.add("echo more >> both; echo more >> d/x", inputs=inputs, outputs=["both", "d/x"])
    job.run()
    assert left(job)["2/both"] == "data\nmore\n"
    assert left(job)["2/d/x"] == "x\nmore\n"
    assert (job.text("3"), job.text("dir/x")) == ("data\n", "x\n")


def test_an_input_that_is_changed_without_being_named(job: BundleJob) -> None:
    """By default it is an output, as for a job of its own; later tasks find it changed."""
    job.add("cat in; echo more >> in", inputs=[["3", "in"]], output="o")
    job.add("cat in", inputs=[["3", "in"]], output="o")
    job.add("echo more >> in", inputs=[["3", "in"]])
    job.run()
    assert left(job) == {
        **{"1": "", "1/in": "data\nmore\n", "1/_stdout": "data\n"},
        **{"2": "", "2/_stdout": "data\nmore\n", "3": "", "3/in": "data\nmore\nmore\n"},
    }


def test_outputs_from_elsewhere(job: BundleJob, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    job.add(f"echo 1 > {elsewhere}/x; echo 2 > ../y", outputs=[f"{elsewhere}/x", "../y", "/no/x"])
    job.run()
    found = {name: text for name, text in left(job).items() if text}
    assert found == {f"1{elsewhere}/x": "1\n", "1/y": "2\n"}
    assert (elsewhere / "x").exists()
    assert missing(job) == [["/no/x"]]


@pytest.mark.parametrize("then", ["", "; ln -s $OTHER $PWD", "; echo > $PWD"])
def test_a_task_that_removes_its_directory(job: BundleJob, tmp_path: Path, then: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").write_text("mine")
    job.environment["OTHER"] = str(other)
    job.add(f"echo gone; rm -r $PWD{then}", output="o", outputs=["x"])
    job.run()
    assert left(job) == {"1": "", "1/_stdout": "gone\n"}
    assert missing(job) == [["x"]]
    assert not [*(job.path / "work").iterdir()]
    assert (other / "mine").exists()


def test_names_that_are_taken(job: BundleJob) -> None:
    job.add("mkdir _stdout; echo > _stderr; echo 1", output="o", outputs=["_stdout", "_stderr"])
    job.run()
    assert left(job) == {"1": "", "1/_stdout": "1\n"}
    assert missing(job) == [["_stderr"]]


def test_deep_directories(job: BundleJob) -> None:
    name = "/".join(["d"] * 1200)
    job.add(f"mkdir -p {name}; echo 1 > {name}/x", outputs=["none"])
    job.add(f"mkdir -p {name}; echo 1 > {name}/x", outputs=["d"])
    job.run()
    assert (job.path / "out" / "2" / name / "x").read_text() == "1\n"
    assert not [*(job.path / "work").iterdir()]
    subprocess.run(["rm", "-r", job.path / "out" / "2"], check=True)


def test_the_environment_is_that_of_a_job_of_its_own(job: BundleJob) -> None:
    scratch = str(job.path)
    job.environment |= {"TMPDIR": scratch, "TMP": "/tmp", "_CONDOR_JOB_IWD": scratch}
    job.add('echo "$_CONDOR_SCRATCH_DIR $TMPDIR $TMP $_CONDOR_JOB_IWD"', output="o")
    job.run()
    own = f"{scratch}/work/1"
    assert left(job)["1/_stdout"] == f"{own} {own} /tmp {own}\n"


def test_the_directory_of_outputs_is_always_there(job: BundleJob) -> None:
    job.run()
    assert (job.path / "out").is_dir()


def test_it_goes_on_elsewhere(job: BundleJob, tmp_path: Path) -> None:
    """With what HTCondor has kept: `results` and `out`."""
    job.head["parallel"] = 2
    job.add("echo 1; echo 1 > x", output="o")
    job.add("echo begun; echo > ../../begun; [ -e again ] || sleep 1000; echo 2 > x", output="o")
    process = job.start()
    job.wait_for("begun", process)
    until(lambda: 1 in job.ended(), "the first has ended")
    process.terminate()
    assert process.wait() == 22
    assert left(job) == {"1": "", "1/_stdout": "1\n", "1/x": "1\n"}
    other = BundleJob(tmp_path / "other", transferred=True)
    other.tasks = job.tasks
    (other.path / "3").write_text("")
    other.tasks[1]["inputs"] = [["3", "again"]]
    shutil.copytree(job.path / "out", other.path / "out")
    shutil.copy(job.path / "results", other.path)
    other.run()
    assert left(other) == {
        **{"1": "", "1/_stdout": "1\n", "1/x": "1\n", "2": "", "2/_stdout": "begun\n", "2/x": "2\n"}
    }
    assert {*other.ended()} == {1, 2}


LINE = '{"run": %d, "host": "h", "time": 1.0}\n'


@pytest.mark.parametrize(
    ("starts", "results", "code"),
    [(0, "", 0), (1, "", 24), (1, LINE % 0, 0), (2, LINE % 0, 24), (2, LINE % 0 + LINE % 1, 0)],
)
def test_one_that_may_have_released_tasks_needs_the_results(
    job: BundleJob, starts: int, results: str, code: int
) -> None:
    """Else it would run what runs elsewhere: its machine was lost, and the results with it."""
    job.head["release"] = 1.0
    job.add("exit 0", output="o")
    (job.path / "ad").write_text(f"NumJobStarts = {starts}\n")
    job.environment["_CONDOR_JOB_AD"] = str(job.path / "ad")
    (job.path / "results").write_text(results)
    said = job.run(code)
    assert {*job.ended()} == (set() if code else {1})
    assert (job.path / "out").is_dir()
    assert ("not known here" in said) == bool(code)


@pytest.mark.parametrize("streams", [True, False])
def test_one_that_shares_its_files_may_have_run_where_it_did_not(
    tmp_path: Path, streams: bool
) -> None:
    """With IF_NEEDED, that is another machine's matter; results go to standard output then."""
    job = BundleJob(tmp_path / "job")
    job.head.update(release=1.0, stream=streams)
    job.add("exit 0")
    (job.path / "ad").write_text("NumJobStarts = 1\n")
    job.environment["_CONDOR_JOB_AD"] = str(job.path / "ad")
    job.run(24 if streams else 0)


def test_what_an_earlier_attempt_has_left(job: BundleJob) -> None:
    for place in ("work/1", "out/1"):
        (job.path / place).mkdir(parents=True)
        (job.path / place / "old").write_text("")
    (job.path / "out" / "2").mkdir()
    job.add("ls", output="o")
    job.run()
    assert left(job) == {"1": "", "1/_stdout": "", "2": ""}


def test_a_full_disk_when_a_task_has_ended(job: BundleJob) -> None:
    """It is tried again; the task has its result when its outputs are there."""
    job.command = changed(
        "real = os.rename; calls = []\n"
        "def rename(*names):\n"
        "    calls.append(1)\n"
        "    if len(calls) < 3: raise OSError(28, 'No space left on device')\n"
        "    return real(*names)\n"
        "m.os.rename = rename; m.PAUSE_S = 0.01; m.PATIENCE_S = 1000"
    )
    job.add("echo 1 > x", outputs=["x"])
    job.run()
    assert left(job) == {"1": "", "1/x": "1\n"}


def test_a_disk_that_stays_full(job: BundleJob) -> None:
    job.command = changed(
        "def link(*names): raise OSError(28, 'No space left on device')\n"
        "m.link = link; m.PATIENCE_S = 0.1"
    )
    job.add("exit 0")
    job.add("exit 0", inputs=[["3", "x"]])
    assert "No space left" in job.run(23)
    assert {*job.ended()} == {1}

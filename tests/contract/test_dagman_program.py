"""condor_dagman as a program, without a pool: what it says and how it ends before a run begins, and
the runs that need no schedd."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman import compiled
from tests.waiting import LIMIT_S, until

PROGRAM = [sys.executable, "-m", "condor_pydagman.cli.dagman"]
DAG = """\
JOB A a.sub
JOB B a.sub NOOP
SUBDAG EXTERNAL S s.dag
PARENT A CHILD B S
SCRIPT PRE A pre.sh 0 A
SCRIPT POST A pre.sh 0 post
FINAL F a.sub
"""
SCRIPT = '#!/bin/sh\necho "$2" >> scripts\nexit $1\n'

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "t.dag").write_text(DAG)
    (tmp_path / "pre.sh").write_text(SCRIPT)
    (tmp_path / "pre.sh").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if "CONDOR" not in name}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    environment["CONDOR_CONFIG"] = "ONLY_ENV"
    environment["_CONDOR_DAGMAN_AVOID_SLASH_TMP"] = "False"
    environment["_CONDOR_DAGMAN_LOG"] = "out"
    return environment


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """Runs condor_dagman with words, in an environment with changes."""

    def call(*words: str, **changes: str) -> subprocess.CompletedProcess[str]:
        changed = {**environment, **{f"_CONDOR_{k}": v for k, v in changes.items()}}
        return subprocess.run(
            [*PROGRAM, *words],
            cwd=tmp_path,
            env=changed,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    return call


def said(place: Path, name: str = "out") -> list[str]:
    """Lines of `.dagman.out`, without their times."""
    return [line[18:] for line in (place / name).read_text().splitlines()]


@pytest.mark.parametrize("kept", ["7", "x", "99"])
def test_what_cannot_be_gone_on_with_after_a_sleep(
    environment: dict[str, str], tmp_path: Path, kept: str
) -> None:
    """It starts as ever, obeys signals, and has none of what was left open for it."""
    (tmp_path / "t.dag").write_text("JOB A a.sub NOOP\nSCRIPT PRE A told.sh\n")
    (tmp_path / "told.sh").write_text(
        "#!/bin/sh\nls -l /proc/$PPID/fd > fds; touch began; sleep 99\n"
    )
    (tmp_path / "told.sh").chmod(0o755)
    before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        words = ["-f", "-l", ".", "-Dag", "t.dag", "-Lockfile", "t.dag.lock"]
        process = subprocess.Popen(
            ["/bin/sh", "-c", 'exec 7< t.dag 8< t.dag; exec "$0" "$@"', *PROGRAM, *words],
            cwd=tmp_path,
            env={**environment, "PYDAGMAN_MEMORY": kept, "PYDAGMAN_WOKEN": "nodes log"},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    until((tmp_path / "began").exists, "the script")
    process.send_signal(signal.SIGTERM)
    assert process.wait(180) == 3
    assert "t.dag.lock\n" in (tmp_path / "fds").read_text()
    assert "t.dag\n" not in (tmp_path / "fds").read_text()
    assert "Awake" not in (tmp_path / "out").read_text()


def test_a_wrong_word_is_told_everywhere(run: Run, tmp_path: Path) -> None:
    done = run("-f", "-l", ".", "-Dag", "t.dag", "-FromTheFuture", "1")
    assert done.returncode == 1
    message = "Error: Unknown flag '-fromthefuture' provided"
    assert done.stderr.splitlines()[0] == message
    assert done.stdout.startswith("Executing condor dagman ... \nUsage: condor_dagman ")
    lines = said(tmp_path)
    assert message in lines
    assert 'argv[1] == "-Dag"' in lines
    assert "To view condor_dagman usage look at <DAG File>.lib.out" in lines
    assert re.fullmatch(r"\*\*\*\* condor_dagman .* EXITING WITH STATUS 1", lines[-1])


def test_help(run: Run, tmp_path: Path) -> None:
    done = run("-f", "-l", ".", "-help")
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nUsage: condor_dagman " in done.stdout


@pytest.mark.parametrize("words", ["-v", "-f -l . -Dag t.dag -version"])
def test_version_opens_no_log(run: Run, tmp_path: Path, words: str) -> None:
    done = run(*words.split())
    assert done.returncode == 0
    assert done.stdout.startswith("$CondorVersion: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", ["--version --verbose", "-v -verbose"])
def test_the_version_tells_more_with_verbose(run: Run, words: str) -> None:
    done = run(*words.split())
    assert done.stdout == f"{run('-version').stdout}sleep: {compiled.sleep()}\n"


@pytest.mark.parametrize("lock", [False, True])
def test_a_log_that_cannot_be_opened(run: Run, tmp_path: Path, lock: bool) -> None:
    """A run that is to be recovered must not lose its jobs over it."""
    if lock:
        (tmp_path / "t.dag.lock").write_text("7\n")
    done = run("-f", "-l", ".", "-Dag", "t.dag", DAGMAN_LOG="nosuch/out")
    assert done.returncode == (3 if lock else 1)
    assert f"Cannot open log file '{tmp_path}/nosuch/out'" in done.stderr
    assert "No such file or directory" in done.stderr


@pytest.mark.parametrize("lock", [False, True])
def test_without_bindings(
    run: Run, tmp_path: Path, environment: dict[str, str], lock: bool
) -> None:
    """They are not there while pip replaces them; a run that has begun keeps its jobs meanwhile."""
    if lock:
        (tmp_path / "t.dag.lock").write_text("7\n")
    part = "ImportError('libssl.so.9: cannot open', name='htcondor2.htcondor2_impl')"
    (tmp_path / "htcondor2.py").write_text(f"raise {part}\n")
    environment["PYTHONPATH"] += f":{tmp_path}"
    done = run("-f", "-l", ".", "-Dag", "t.dag")
    assert done.returncode == (3 if lock else 1)
    needed = "ERROR: HTCondor's Python bindings are needed (libssl.so.9: cannot open)"
    later = "; starting again later" if lock else ""
    assert done.stderr == f"{needed}; to install them: pip install htcondor{later}\n"


@pytest.mark.parametrize("file", ["out", "t.dag", "t.dag.nodes.log", "t.dag.lock"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.ESTALE])
def test_a_trouble_of_the_machine_is_waited_for(
    run: Run, tmp_path: Path, environment: dict[str, str], file: str, number: int
) -> None:
    """Nothing has begun, and yet the schedd is to start DAGMan again."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import os\nreal = os.open\ndef fails(path, *rest, **more):\n"
        f"    if str(path).endswith({file!r}):\n"
        f"        raise OSError({number}, os.strerror({number}))\n"
        f"    return real(path, *rest, **more)\nos.open = fails\n"
    )
    environment["PYTHONPATH"] += f":{tmp_path}"
    done = run("-f", "-l", ".", "-Dag", "t.dag")
    assert done.returncode == 3
    told = done.stderr if file == "out" else "\n".join(said(tmp_path))
    assert os.strerror(number) in told
    assert not (tmp_path / "t.dag.lock").exists()


@pytest.mark.parametrize("lock", [None, "", "7\n"])
def test_a_nodes_log_that_cannot_be_opened(run: Run, tmp_path: Path, lock: str | None) -> None:
    if lock is not None:
        (tmp_path / "t.dag.lock").write_text(lock)
    (tmp_path / "t.dag.nodes.log").mkdir()
    done = run("-f", "-l", ".", "-Dag", "t.dag")
    assert done.returncode == (3 if lock else 1)
    assert any("can't write the nodes log" in line for line in said(tmp_path))
    assert (tmp_path / "t.dag.lock").exists() == bool(lock)


@pytest.mark.parametrize("target", ["7\n", ""])
def test_a_lock_file_that_cannot_be_opened(run: Run, tmp_path: Path, target: str) -> None:
    """A link that somebody has planted is no sign of a run."""
    (tmp_path / "lock").write_text(target)
    (tmp_path / "t.dag.lock").symlink_to("lock")
    done = run("-f", "-l", ".", "-Dag", "t.dag")
    assert done.returncode == 1
    assert any("can't write lock file" in line for line in said(tmp_path))


def test_a_schedd_that_does_not_give_our_own_ad(
    run: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The ad may say that the DAG has ended, or how far it is: nothing is begun without it."""
    environment["CONDOR_ID"] = "7.0"
    (tmp_path / "t.dag.nodes.log").write_text("what has been\n")
    done = run("-f", "-l", ".", "-Dag", "t.dag", SCHEDD_ADDRESS_FILE="none", COLLECTOR_HOST=":1")
    assert done.returncode == 3
    assert any(
        line.startswith("ERROR: the schedd does not give the DAGMan job's own ad (can't locate")
        for line in said(tmp_path)
    )
    assert (tmp_path / "t.dag.nodes.log").read_text() == "what has been\n"
    assert not (tmp_path / "t.dag.lock").exists()


def test_a_configuration_that_is_not_there(run: Run, environment: dict[str, str]) -> None:
    environment["CONDOR_CONFIG"] = "/nonexistent/config"
    done = run("-f", "-l", ".", "-Dag", "t.dag")
    assert done.returncode == 1
    assert '"/nonexistent/config" does not exist.' in done.stderr


@pytest.mark.parametrize("lock", [None, "", "7\n"])
def test_a_wrong_knob_is_told_in_both_logs(run: Run, tmp_path: Path, lock: str | None) -> None:
    if lock is not None:  # an empty one: no run had begun
        (tmp_path / "t.dag.lock").write_text(lock)
    done = run("-f", "-l", ".", "-Dag", "t.dag", DAGMAN_USE_STRICT="much")
    assert done.returncode == (3 if lock else 1)
    assert "DAGMAN_USE_STRICT" in done.stderr
    assert any("DAGMAN_USE_STRICT = much" in line for line in said(tmp_path))


@pytest.mark.parametrize("lock", [None, "7\n"])
@pytest.mark.parametrize("text", ["A = 1\nthis is no line (\n", "LOCAL_CONFIG_FILE = /none\n"])
def test_a_configuration_at_which_the_bindings_exit(
    run: Run, tmp_path: Path, environment: dict[str, str], text: str, lock: str | None
) -> None:
    """They do so while they are imported; a DAG that has begun must not lose its jobs over it."""
    (tmp_path / "config").write_text(text)
    environment["CONDOR_CONFIG"] = str(tmp_path / "config")
    if lock is not None:
        (tmp_path / "t.dag.lock").write_text(lock)
    done = run("-f", "-l", ".", "-Dag", "t.dag")
    assert done.returncode == (3 if lock else 1)
    assert "ERROR: HTCondor's Python bindings ended the program" in done.stderr
    lines = said(tmp_path)
    assert lines[0].startswith("ERROR: HTCondor's Python bindings ended the program")
    assert "(exit code 1)" in lines[0]
    assert lines[1].endswith(f"EXITING WITH STATUS {done.returncode}")


@pytest.mark.parametrize("knob", ["NO_DNS", "ENABLE_CLASSAD_CACHING", "DAGMAN_AUTO_RESCUE"])
def test_a_knob_of_a_wrong_type_starts_no_dagman_again_and_again(run: Run, knob: str) -> None:
    """Bindings before 25.1 end the process with 4 at some of them, newer ones have a default."""
    done = run("-f", "-l", ".", "-Dag", "t.dag", **{knob: "maybe"})
    assert done.returncode == 1
    assert f"{knob}" in done.stderr


def test_without_a_name_the_log_is_stock_s(
    run: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    del environment["_CONDOR_DAGMAN_LOG"]
    assert run("-f", "-l", "nosuchdir", "-Dag", "t.dag", "-Dot").returncode == 0
    assert (tmp_path / "default.dagman.out").exists()


def test_dot_touches_nothing_of_another_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text(DAG + "DOT t.dot\n")
    (tmp_path / "t.dag.lock").write_text("7\n")
    (tmp_path / "t.dag.metrics").write_text("of a real run")
    assert run("-f", "-l", ".", "-Lockfile", "t.dag.lock", "-Dag", "t.dag", "-Dot").returncode == 0
    assert '"A" [shape=ellipse' in (tmp_path / "t.dot.0").read_text()
    assert (tmp_path / "t.dag.lock").read_text() == "7\n"
    assert (tmp_path / "t.dag.metrics").read_text() == "of a real run"
    assert not (tmp_path / "t.dag.nodes.log").exists()


def test_dot_without_a_dot_command(run: Run, tmp_path: Path) -> None:
    assert run("t.dag", "-Dot").returncode == 0
    assert "Unable to write .dot file, no DOT filename specified" in said(tmp_path)


def test_a_dry_run(run: Run, tmp_path: Path) -> None:
    done = run("-f", "-l", ".", "-Dag", "t.dag", "-DryRun")
    assert (done.returncode, done.stderr) == (0, "")
    lines = said(tmp_path)
    assert [line for line in lines if line.startswith("Processing")] == [
        f"Processing node: {name}" for name in "ABSF"
    ]
    assert (tmp_path / "scripts").read_text() == "A\n"
    assert not (tmp_path / "t.dag.lock").exists()
    assert json.loads((tmp_path / "t.dag.metrics").read_text())["exitcode"] == 0
    assert not (tmp_path / "s.dag.condor.sub").exists()


def test_a_dry_run_of_a_dag_that_grows(run: Run, tmp_path: Path) -> None:
    dag = "JOB A a.sub\nSCATTER A l x-{item} a.sub\nFEEDER BELOW 5 PROGRAM pre.sh 0 fed\n"
    (tmp_path / "t.dag").write_text(dag)
    (tmp_path / "l").write_text("1\n2\n")
    assert run("-f", "-l", ".", "-Dag", "t.dag", "-DryRun").returncode == 0
    lines = said(tmp_path)
    assert "SCATTER: node A would add 2 nodes by l as it is now: x-1, x-2" in lines
    assert any(line.startswith("FEEDER: pre.sh 0 fed would run") for line in lines)
    assert [line for line in lines if line.startswith("Processing")] == ["Processing node: A"]
    assert not (tmp_path / "scripts").exists()


def test_a_dry_run_that_fails_leaves_no_rescue_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text("JOB A a.sub\nJOB B a.sub\nSCRIPT PRE A pre.sh 3 A\n")
    assert run("-f", "-l", ".", "-Dag", "t.dag", "-DryRun").returncode == 1
    assert "PRE Script of Node A failed with status 3" in said(tmp_path)
    assert not (tmp_path / "t.dag.rescue001").exists()


def test_a_dry_run_does_not_forget_an_interrupted_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.dag.lock").write_text("7\n")
    (tmp_path / "t.dag.nodes.log").write_text("precious\n")
    assert run("-f", "-l", ".", "-Dag", "t.dag", "-DryRun").returncode == 1
    assert any("-DryRun would forget how far it came" in line for line in said(tmp_path))
    assert (tmp_path / "t.dag.lock").read_text() == "7\n"
    assert (tmp_path / "t.dag.nodes.log").read_text() == "precious\n"


def test_setup_only_starts_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text(DAG + "JOBSTATE_LOG js\n")
    done = run("-f", "-l", ".", "-Dag", "t.dag", "-SetupOnly")
    assert (done.returncode, done.stderr) == (0, "")
    lines = said(tmp_path)
    assert "Exiting after DAG setup (-SetupOnly)." in lines
    assert not [line for line in lines if line.startswith(("Running", "Submitting"))]
    assert not (tmp_path / "scripts").exists()
    assert not (tmp_path / "t.dag.lock").exists()
    assert (tmp_path / "js").read_text().splitlines()[-1].endswith("*** DAGMAN_FINISHED 0 ***")


def test_setup_only_leaves_an_interrupted_run_to_be_recovered(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.dag.lock").write_text("7\nrescue 0\n")
    (tmp_path / "t.dag.nodes.log").write_text("")
    assert run("-f", "-l", ".", "-Dag", "t.dag", "-SetupOnly").returncode == 0
    assert any("Running in RECOVERY mode" in line for line in said(tmp_path))
    assert (tmp_path / "t.dag.lock").exists()


@pytest.mark.parametrize(
    ("version", "words", "code", "start"),
    [
        ("junk", "", 1, "Error: the version (junk) of this DAG's"),
        ("junk", "-AllowVersionMismatch", 0, "Warning: the version (junk) of this DAG's"),
        ("$CondorVersion: 99.0.0 2040-01-01 $", "", 0, "Warning: the version ($Cond"),
        ("$CondorVersion: 8.0.0 Jan 01 2013 $", "", 0, "Note: the version ($Cond"),
    ],
)
def test_versions(
    run: Run, tmp_path: Path, version: str, words: str, code: int, start: str
) -> None:
    line = ["-f", "-l", ".", "-Dag", "t.dag", "-Dot", "-CsdVersion", version, *words.split()]
    assert run(*line).returncode == code
    assert [text for text in said(tmp_path) if text.startswith(start)]


def test_submit_method_0_is_obeyed_in_our_own_way(run: Run, tmp_path: Path) -> None:
    assert run("-f", "-l", ".", "-Dag", "t.dag", "-SubmitMethod", "0", "-DryRun").returncode == 0
    assert any("jobs are submitted directly" in line for line in said(tmp_path))


def test_another_condor_submit_is_loudly_not_run(run: Run, tmp_path: Path) -> None:
    knobs = {"DAGMAN_USE_DIRECT_SUBMIT": "False", "DAGMAN_CONDOR_SUBMIT_EXE": "/opt/wrapper"}
    assert run("-f", "-l", ".", "-Dag", "t.dag", "-DryRun", **knobs).returncode == 0
    assert any("/opt/wrapper has NO EFFECT" in line for line in said(tmp_path))


@pytest.mark.parametrize(
    ("flags", "before"),
    [
        ("D_PID", r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d \(pid:\d+\) "),
        ("D_SUB_SECOND D_CAT", r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d\.\d\d\d \(D_ALWAYS\) "),
        ("D_TIMESTAMP D_FDS", r"\d{10} \(fd:\d+\) "),
    ],
)
def test_line_headers_are_as_in_stock(run: Run, tmp_path: Path, flags: str, before: str) -> None:
    run("-f", "-l", ".", "-Dag", "t.dag", "-Dot", DAGMAN_DEBUG=flags)
    text = (tmp_path / "out").read_text()
    assert re.search(rf"^{before}Parsing t.dag \.\.\.$", text, re.M)
    assert re.search(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d \*\* condor_dagman", text, re.M)


@pytest.mark.parametrize(
    ("level", "there", "missing"),
    [
        ("0", 'argv[1] == "-Debug"', "Setting DAGMan throttles:"),
        ("2", "Setting DAGMan throttles:", "Bootstrapping..."),
        ("3", "Bootstrapping...", "      Node Name: A"),
        ("7", "      Node Name: A", ""),
        ("-3", 'argv[1] == "-Debug"', "Setting DAGMan throttles:"),
    ],
)
def test_levels(run: Run, tmp_path: Path, level: str, there: str, missing: str) -> None:
    run("-f", "-l", ".", "-Debug", level, "-Dag", "t.dag", "-SetupOnly")
    lines = said(tmp_path)
    assert "** condor_dagman (CONDOR_DAGMAN) STARTING UP" in lines
    assert there in lines
    assert missing not in lines
    assert lines[-1].endswith("EXITING WITH STATUS 0")


def _started(tmp_path: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A DAGMan whose PRE script goes on until it is told, or its directory is removed."""
    (tmp_path / "t.dag").write_text("JOB A a.sub\nSCRIPT PRE A wait.sh\n")
    (tmp_path / "wait.sh").write_text(
        "#!/bin/sh\n: > begun\nuntil test -e go || ! test -e wait.sh; do sleep 0.1; done\n"
    )
    (tmp_path / "wait.sh").chmod(0o755)
    words = ["-f", "-l", ".", "-Dag", "t.dag", "-DryRun"]
    started = subprocess.Popen([*PROGRAM, *words], cwd=tmp_path, env=environment)
    until((tmp_path / "begun").exists, "the beginning of the script", pause_s=0.02)
    return started


@pytest.mark.parametrize(
    ("number", "code", "line", "lock"),
    [
        (signal.SIGINT, 3, "Got SIGINT.", True),
        (signal.SIGTERM, 3, "Got SIGTERM. Performing graceful shutdown.", True),
        (signal.SIGQUIT, 3, "Got SIGQUIT.  Performing fast shutdown.", True),
        (signal.SIGUSR1, 2, "Received SIGUSR1", False),
        (signal.SIGUSR2, 0, "", False),
        (signal.SIGHUP, 0, "", False),
    ],
)
def test_signals(
    tmp_path: Path, environment: dict[str, str], number: int, code: int, line: str, lock: bool
) -> None:
    dagman = _started(tmp_path, environment)
    dagman.send_signal(number)
    if not code:
        (tmp_path / "go").touch()
    assert dagman.wait(180) == code
    (tmp_path / "go").touch()
    assert not line or line in said(tmp_path)
    assert (tmp_path / "t.dag.lock").exists() == lock


def test_a_log_that_is_taken_away_is_made_anew(tmp_path: Path, environment: dict[str, str]) -> None:
    dagman = _started(tmp_path, environment)
    (tmp_path / "out").rename(tmp_path / "out.1")
    time.sleep(1.1)  # it looks once a second
    (tmp_path / "go").touch()
    assert dagman.wait(180) == 0
    assert said(tmp_path)[-1].endswith("EXITING WITH STATUS 0")


def test_a_full_disk_under_the_log_does_not_matter(run: Run, tmp_path: Path) -> None:
    done = run("-f", "-l", ".", "-Dag", "t.dag", "-DryRun", DAGMAN_LOG="/dev/full")
    assert done.returncode == 0
    assert "can't write /dev/full: No space left on device" in done.stderr


def test_a_bug_of_ours_is_told_in_both_logs_and_keeps_the_jobs(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "broken.py").write_text(
        "from condor_pydagman.engine import engine\n"
        "engine.Engine.handle = lambda *words: 1 / 0\n"
        "from condor_pydagman.cli import dagman\n"
        "dagman.run_and_leave()\n"
    )
    done = subprocess.run(
        [sys.executable, "broken.py", "-f", "-l", ".", "-Dag", "t.dag"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 4
    assert "ZeroDivisionError" in done.stderr
    lines = said(tmp_path)
    assert "ZeroDivisionError: division by zero" in lines
    assert "ERROR: this is a bug in condor_pydagman; please report it:" in lines
    assert lines[-1].endswith("EXITING WITH STATUS 4")
    assert (tmp_path / "t.dag.lock").exists()


def test_a_script_has_no_descriptor_of_dagman(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text("JOB A a.sub NOOP\nSCRIPT PRE A fds.sh\nSCRIPT POST A fds.sh\n")
    (tmp_path / "fds.sh").write_text("#!/bin/sh\nls -l /proc/self/fd >> fds\n")
    (tmp_path / "fds.sh").chmod(0o755)
    assert run("-f", "-l", ".", "-Dag", "t.dag").returncode == 0
    lines = (tmp_path / "fds").read_text().splitlines()
    open_files = [line.split(" -> ")[1] for line in lines if " -> " in line]
    assert len(open_files) == 8, "three streams and the directory that ls lists, twice"
    own = {"/dev/null", f"{tmp_path}/fds"}
    assert all(file in own or file.startswith("/proc/") for file in open_files)


@pytest.mark.parametrize("log", ["out", "{place}/out"])
def test_a_directory_that_is_gone(tmp_path: Path, environment: dict[str, str], log: str) -> None:
    """As after stock, the schedd does not start DAGMan again; the log has why, if there is one."""
    gone = tmp_path / "gone"
    gone.mkdir()
    words = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *PROGRAM, "-f", "-Dag", "t.dag"]
    environment["_CONDOR_DAGMAN_LOG"] = log.format(place=tmp_path)
    done = subprocess.run(
        words,
        cwd=gone,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    why = "ERROR (2): unable to get working directory: No such file or directory"
    assert (done.returncode, done.stderr) == (1, f"{why}\n")
    assert not gone.exists()
    if log != "out":
        assert why in said(tmp_path)
        assert said(tmp_path)[-1].endswith("EXITING WITH STATUS 1")


EARLY = """\
import os, signal
from condor_pydagman.daemon import startup
real = startup.read_dag
def read_dag(*words):
    os.kill(os.getpid(), signal.{name})
    return real(*words)
startup.read_dag = read_dag
from condor_pydagman.cli import dagman
dagman.run_and_leave()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 3), ("SIGUSR1", 2), ("SIGQUIT", 3)])
def test_a_signal_that_comes_while_the_dag_is_read(
    tmp_path: Path, environment: dict[str, str], name: str, code: int
) -> None:
    (tmp_path / "early.py").write_text(EARLY.format(name=name))
    (tmp_path / "t.dag").write_text("JOB A a.sub\nSCRIPT PRE A wait.sh\n")
    (tmp_path / "wait.sh").write_text(
        "#!/bin/sh\nuntil test -e go || ! test -e wait.sh; do sleep 0.1; done\n"
    )
    (tmp_path / "wait.sh").chmod(0o755)
    done = subprocess.run(
        [sys.executable, "early.py", "-f", "-l", ".", "-Dag", "t.dag"],
        cwd=tmp_path,
        env=environment,
        timeout=LIMIT_S,
        check=False,
    )
    (tmp_path / "go").touch()
    assert done.returncode == code
    begins = {"SIGUSR1": "Received SIGUSR1"}.get(name, f"Got {name}.")
    assert any(line.startswith(begins) for line in said(tmp_path))
    assert (tmp_path / "t.dag.lock").exists() == (code == 3)

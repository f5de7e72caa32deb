"""Command lines of condor_pydagman, and the error messages of all commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman import __version__
from condor_pydagman.cli import dag_checker, pydagman, steer, submit_dag, version_report
from condor_pydagman.cli.pydagman import _commands, _parser, parse
from condor_pydagman.dagman_job.options import nearest
from condor_pydagman.engine import FORM


def understood(*words: str) -> dict[str, object]:
    return vars(parse(_parser(), words))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        parse(_parser(), words)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert len(err.splitlines()) <= 2, "a few lines, not the whole usage"
    return out + err


def test_options_of_draw_and_flatten_as_htcondors() -> None:
    for word in ("--usedagdir", "-usedagdir", "-UseDagDir", "--UseDagDir"):
        assert understood("draw", word, "x.dag")["usedagdir"]
        assert understood("flatten", "x.dag", word)["usedagdir"]
    assert understood("draw", "-Fold=7", "x.dag")["fold"] == 7
    assert understood("draw", "-o", "a.svg", "-direction", "LR", "x.dag")["output"] == "a.svg"
    assert understood("flatten", "--", "-usedagdir")["dag_files"] == ["-usedagdir"]


def test_run_takes_the_options_of_condor_submit_dag_as_it_does() -> None:
    for word in ("-f", "-F", "-force", "--Force", "-for"):
        assert understood("run", word, "x.dag")["submit_Force"]
    assert understood("run", "-maxi", "5", "-json", "x.dag")["submit_MaxIdle"] == ["5"]
    assert understood("run", "--choose-from", "A", "x.dag")["submit_choose_from"] == ["A"]
    assert understood("run", "-no-check-dag", "x.dag")["submit_no_check_dag"]


def test_one_spelling_of_options() -> None:
    for word in ("--choose_from", "-choose_from", "--choose-from", "-Choose-From"):
        assert understood("dry-run", word, "A", "x.dag")["submit_choose_from"] == ["A"]
    assert understood("dry-run", "-choose_all", "-f", "x.dag")["submit_Force"]
    assert understood("draw", "-no_status", "x.dag")["no_status"]
    assert understood("steer", "set", "x.dag", "A", "-new_category", "c")["new_category"] == "c"


def test_no_command_abbreviates_by_itself() -> None:
    """What `argparse` would take for an abbreviation depends on the options that there are."""
    for name in pydagman.SUBCOMMANDS:
        (inner,) = [p for word, p in _commands(_parser(name)).items() if word == name]
        assert not any(one.allow_abbrev for one in (inner, *_commands(inner).values())), name


def test_options_of_pool_stand_on_either_side_of_the_action() -> None:
    for words in (["--dir", "d", "stop"], ["-dir", "d", "stop"], ["stop", "-Dir=d"]):
        assert understood("pool", *words)["dir"] == "d"
    assert understood("pool", "-slots", "3", "start", "-dir", "d")["slots"] == 3


def test_the_command_of_pool_run_is_not_changed() -> None:
    words = ["ls", "-All", "--dir", "x", "help"]
    assert understood("pool", "run", "-dir", "d", *words)["command"] == words
    assert understood("pool", "run", *words)["command"] == words


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("konbs", "there is no command konbs; did you mean knobs?"),
        ("lint x.dag", "condor_dag_checker -lint"),
        ("zzz", "there is no command zzz; choose one of run, "),
        ("rerun x", "there is no command rerun; condor_pydagman steer changes a DAG that runs"),
        ("status x", "there is no command status; watch and ls show how far DAGs are"),
        ("pool kill", "there is no action kill; choose one of start, "),
        ("pool strat", "condor_pydagman pool: there is no action strat; did you mean start?"),
        ("draw --fld 3 x.dag", "condor_pydagman draw: unknown option --fld; did you mean --fold?"),
        ("draw -zzz x.dag", "condor_pydagman draw: unknown option -zzz\n"),
        ("draw", "DAGFILE"),
        ("pool start x", "condor_pydagman pool start: unexpected word x"),
        ("ls my.dag", "it is about all DAGs; condor_pydagman watch my.dag shows a single one"),
    ],
)
def test_errors_suggest_the_nearest_word(
    line: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.dag").touch()
    assert says in refused(capsys, *line.split())


def test_actions_of_a_feature_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(steer, "_COMMANDS", {})
    said = refused(capsys, "steer", "rerun", "x.dag")
    assert "there is no action rerun; this installation has none\n" in said


@pytest.mark.parametrize("line", ["", "pool"])
def test_without_arguments_the_help_is_shown(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(_parser(), line.split())
    assert ended.value.code == 2
    assert capsys.readouterr().out.startswith("usage: condor_pydagman")


@pytest.mark.parametrize("line", ["-help", "--help", "-h", "help", "draw -Help", "help draw"])
def test_help(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        pydagman.main(line.split())
    assert ended.value.code == 0
    name = "condor_pydagman draw" if "draw" in line else "condor_pydagman"
    assert capsys.readouterr().out.startswith(f"usage: {name} [-h]")


@pytest.mark.parametrize("line", ["-version", "--version", "version"])
def test_version(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        pydagman.main([line])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{__version__} ({FORM})\n"


@pytest.mark.parametrize("line", ["--version --verbose", "-Version -Verbose", "version -verbose"])
def test_all_versions(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        pydagman.main(line.split())
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{version_report.text()}\n"


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("--maxjobs", "-MaxJobs"),
        ("-maxjbs", "-MaxJobs"),
        ("-Maxjob=5", "-MaxJobs"),
        ("-qqq", ""),
        ("-for", "-Force"),
        ("-f", ""),
    ],
)
def test_nearest(typed: str, near: str) -> None:
    assert nearest(typed, ["-MaxJobs", "-MaxIdle", "-Force"]) == near


@pytest.mark.parametrize(
    ("main", "words", "hint"),
    [
        (submit_dag.main, ["-maxjbs", "3", "t.dag"], "Did you mean -MaxJobs?"),
        (submit_dag.main, ["--forc", "t.dag"], "Did you mean -Force?"),
        (dag_checker.main, ["-lnt", "t.dag"], "Did you mean -Lint?"),
        (dag_checker.main, ["-checkscript=1", "t.dag"], "Did you mean -CheckScripts?"),
    ],
)
def test_a_wrong_option_of_the_drop_ins(
    main: pydagman.Action, words: list[str], hint: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, work_directory: Path,
) -> None:  # fmt: skip
    """The message is not to be lost in a long usage, as it is with stock."""
    code = main(words)  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert "-help shows all options" in out
    assert hint in err or main is dag_checker.main  # of it programs read standard error
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(words) == code  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert hint in err
    assert len((out + err).splitlines()) == 3
    assert "-help shows all options" in out
    main([])  # type: ignore[arg-type]
    assert capsys.readouterr().out.startswith("Usage: ")


NO_BINDINGS = """\
import sys
sys.modules.update(htcondor2=None, classad2=None)
from condor_pydagman.cli import pydagman
sys.exit(pydagman.main())
"""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("--version --verbose", 0, "bindings          "),
        ("ls", 1, "to install them: pip install htcondor"),
        ("nonsense", 1, "to install them: pip install htcondor"),
    ],
)
def test_without_bindings(words: str, code: int, said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_BINDINGS, *words.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr

"""No Python process that the package starts loads a module of its working directory."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from condor_pydagman.adapters import detached_process, foreign_texts
from condor_pydagman.adapters.followed_files import UNKNOWN
from condor_pydagman.adapters.foreign_texts import ask
from condor_pydagman.adapters.python_child import python_command
from condor_pydagman.api import live_view
from condor_pydagman.api.run_identity import RunIdentity
from condor_pydagman.features.data import jobs
from condor_pydagman.placement import child_supervisor, gfal_copy, placement_ad
from condor_pydagman.pool import choice, configuration
from condor_pydagman.pool.privileges import Identity
from condor_pydagman.web import queue_answers
from tests.waiting import until

PACKAGE = Path(jobs.__file__).parents[2]
# What a child loads of ours, of HTCondor's and of Python's own before anything else.
LOADED = (
    *("condor_pydagman", "htcondor2", "classad2", "htcondor_cli"),
    *("json", "os", "re", "subprocess", "signal", "ctypes", "fcntl", "struct", "told", "socket"),
)
FOREIGN = "import _io; _io.open({found!r}, 'a').close(); raise ImportError('not the one')\n"


def _run(words: list[str]) -> None:
    subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, check=False)


def _detached(elsewhere: Path) -> None:
    (elsewhere / "detached_told.py").write_text(
        f"import json, re, socket\ndef main(): open({str(elsewhere / 'ran')!r}, 'w').close()\n"
    )
    detached_process.start("detached_told", b"")
    until((elsewhere / "ran").exists, "the process")


def _page(_elsewhere: Path) -> None:
    answer = queue_answers.output_of("condor_pydagman.cli.pydagman", ["--version"], 600)
    with ThreadPoolExecutor(1) as other:  # the tests of pages leave a loop in this thread
        assert "Python" in other.submit(asyncio.run, answer).result()


def _notebook(elsewhere: Path) -> None:
    (elsewhere / "t.dag").write_text("JOB A a.sub\n")
    process = live_view._started(RunIdentity(str(elsewhere / "t.dag")), 1)
    process.communicate()


def _worker(_elsewhere: Path) -> None:
    command = jobs.worker_command()
    assert command.program == sys.executable
    _run([command.program, *command.arguments, "/nonexistent/order"])


def _edits(_elsewhere: Path) -> None:
    placement_ad._start("1.0").communicate()


def _isolated(elsewhere: Path) -> None:
    """Programs that are files: Python would look for modules beside them first."""
    user = Identity("nobody", 65534, 65534, "account")
    _run(user.command(["/bin/true"]))
    for program in (child_supervisor, gfal_copy):
        _run([sys.executable, "-I", "-S", program.__file__, str(elsewhere)])


def _htcondor(elsewhere: Path) -> None:
    command = elsewhere / "htcondor"
    command.write_text(configuration.htcondor_command(sys.executable))
    done = subprocess.run(["sh", str(command), "--help"], capture_output=True, check=False)
    assert done.returncode == 0


def _reader(_elsewhere: Path) -> None:
    foreign_texts._server().end()  # one that was started elsewhere
    (problem,) = ask("condor_pydagman.lint.description_reader:mistakes", UNKNOWN, ["1 +"])
    assert problem
    foreign_texts._server().end()


STARTS: dict[str, Callable[[Path], object]] = {
    "adapters/detached_process.py": _detached,
    "adapters/foreign_texts.py": _reader,
    "api/live_view.py": _notebook,
    "features/data/jobs.py": _worker,
    "pool/choice.py": lambda _elsewhere: choice.of_configuration(),
    "pool/personal.py": _htcondor,
    "pool/privileges.py": _isolated,
    "placement/child_process.py": _isolated,
    "placement/gfal_way.py": _isolated,
    "placement/placement_ad.py": _edits,
    "web/queue_answers.py": _page,
}
ONLY_NAMED = {  # in a sentence, or to find what lies beside it
    "adapters/cedar.py",
    "adapters/installation.py",
    "cli/version_report.py",
    "dagman_job/prepare_job.py",
    "picture/graphviz.py",
}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is searched for modules, beside a working directory of another user, which
    Python searches too when a person types."""
    foreign, found = tmp_path / "foreign", tmp_path / "found"
    foreign.mkdir()
    for name in LOADED:
        (foreign / f"{name}.py").write_text(FOREIGN.format(found=str(found)))
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.chdir(foreign)
    monkeypatch.setenv("CONDOR_CONFIG", "/dev/null")
    monkeypatch.setattr(sys, "argv", ["condor_pydagman"])
    monkeypatch.setattr(sys, "path", ["", *sys.path, str(own)])
    return own


@pytest.mark.parametrize("start", STARTS)
def test_the_working_directory_is_not_searched(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    if start == "features/data/jobs.py":  # where nothing is installed beside Python
        monkeypatch.setattr(jobs.os, "access", lambda *_: False)
    STARTS[start](elsewhere)
    assert not (elsewhere.parent / "found").exists()


def test_other_places_of_modules_are(elsewhere: Path) -> None:
    """Of PYTHONPATH, and of `pip install --user`."""
    (elsewhere / "only_there.py").write_text("")
    done = subprocess.run(python_command("import only_there"), check=False)
    assert done.returncode == 0


def test_every_start_of_python_is_tried() -> None:
    """Whoever names the interpreter or `python_command` is here; with one exception, a start of
    the interpreter isolates it."""
    naming, open_to_all = set(), set()
    for path in PACKAGE.rglob("*.py"):
        name = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.Attribute, ast.Name)):
                if ast.unparse(node) in ("sys.executable", "python_command"):
                    naming.add(name)
            elif isinstance(node, ast.List) and "sys.executable" in map(ast.unparse, node.elts):
                words = [ast.unparse(word) for word in node.elts]
                if words[:3] != ["sys.executable", "'-I'", "'-S'"]:
                    open_to_all.add(name)
    ours = "adapters/python_child.py"
    assert naming - ONLY_NAMED - {ours} == set(STARTS)
    assert open_to_all == {ours}

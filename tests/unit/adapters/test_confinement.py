"""What a process can do that has given up its rights: nothing but compute and answer."""

from __future__ import annotations

import _ctypes
import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import confined_reader, foreign_texts
from condor_pydagman.adapters.confined_reader import MAX_ANSWER_BYTES
from condor_pydagman.adapters.followed_files import UNKNOWN
from condor_pydagman.errors import PoolError
from condor_pydagman.pool import step_down
from tests import waiting

ROOT = os.geteuid() == 0
REPOSITORY = Path(__file__).parents[3]
WHO = ["root", "user"] if ROOT else ["user"]
PROBE = "tests.unit.adapters.confined_probe"


def probe(directory: Path, who: str, *names: str) -> dict[str, tuple[str, Any]]:
    """What is wrong, and what was answered, by name."""
    words = [sys.executable, "-m", PROBE, *names]
    if who == "user" and ROOT:
        words = [sys.executable, "-I", "-S", step_down.__file__, "namespace", "65534", "65534",
                 *words]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TOKEN": "of nobody's business"}
    done = subprocess.run(
        words, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {
        name: (problem, json.loads(text) if text else None)
        for name, (problem, text) in json.loads(done.stdout).items()
    }


@pytest.mark.parametrize("who", WHO)
def test_nothing_but_to_compute(tmp_path: Path, who: str) -> None:
    shutil.copy(_ctypes.__file__, tmp_path / "evil.so")
    ctypes.CDLL(str(tmp_path / "evil.so"))
    found = probe(tmp_path, who, "calls", "library", "program", "secrets", "descriptors")
    problem, (refused, errors) = found["calls"]
    assert not problem
    assert not refused
    opening = {"open", "openat"} & set(errors)
    assert {errors[name] for name in opening} == {"ENOENT"}
    assert errors.pop("newer") == "ENOSYS"
    assert {name: said for name, said in errors.items() if said != "EPERM"} == dict.fromkeys(
        opening, "ENOENT"
    )
    assert len(errors) > 25
    assert "No such file" in found["library"][1][1]
    assert found["program"][1][1] != "0"
    assert set(found["secrets"][1][1]) <= set(confined_reader._KEPT)
    assert found["descriptors"][1][1] == [0, 1, 2, 3]
    assert os.listdir(tmp_path) == ["evil.so"]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="calls of i386 are x86_64's alone")
@pytest.mark.parametrize("who", WHO)
def test_calls_of_another_processor_end_it(tmp_path: Path, who: str) -> None:
    assert probe(tmp_path, who, "other_processor")["other_processor"] == (
        confined_reader._ENDED,
        None,
    )


@pytest.mark.parametrize("who", WHO)
def test_what_has_no_end_is_ended(tmp_path: Path, who: str) -> None:
    names = ("endless", "without_signals", "sleeping", "memory", "long_answer")
    found = probe(tmp_path, who, *names, "long_file", "answer", "refused")
    assert {name: found[name] for name in names} == dict.fromkeys(
        names, (confined_reader._ENDED, None)
    )
    assert found["long_file"] == ("", [False, "File too large"])
    assert found["answer"] == ("", [False, ["ä", 1, None, {"a": [True]}]])
    assert found["refused"] == ("", [True, "a mistake"])


@pytest.mark.skipif(not ROOT, reason="only root becomes somebody else")
def test_root_becomes_the_owner(tmp_path: Path) -> None:
    owners = {"1234:567": [1234, 567], "0:0": [65534, 65534], "-1:-1": [65534, 65534]}
    owners["1234:0"] = [1234, 65534]
    found = probe(tmp_path, "root", *(f"identity@{owner}" for owner in owners))
    assert {name.partition("@")[2]: said[1][1] for name, said in found.items()} == {
        owner: [user, user, group, group] for owner, (user, group) in owners.items()
    }


def test_without_a_filter_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, said = probe(tmp_path, "user", "odd_processor")["odd_processor"]
    assert problem == "this system does not let a process give up its rights (seccomp)"
    assert said is None
    monkeypatch.setattr(foreign_texts._Server, "ask", lambda *_: problem)
    with pytest.raises(foreign_texts.NotRead, match="give up its rights"):
        foreign_texts.ask(f"{PROBE}:answer", UNKNOWN)


def test_the_process_that_is_asked() -> None:
    assert foreign_texts.ask(f"{PROBE}:answer", UNKNOWN) == ["ä", 1, None, {"a": [True]}]
    with pytest.raises(PoolError, match="a mistake"):
        foreign_texts.ask(f"{PROBE}:refused", UNKNOWN)
    server = foreign_texts._server()
    with pytest.raises(foreign_texts.NotRead, match="more than"):
        foreign_texts.ask(f"{PROBE}:long_answer", UNKNOWN)
    assert foreign_texts._server() is server  # it outlives its copies
    for _ in range(confined_reader.MAX_ENDED):
        with pytest.raises(foreign_texts.NotRead, match="more than"):
            foreign_texts.ask(f"{PROBE}:long_answer", (77, 77))
    with pytest.raises(foreign_texts.NotRead, match="others of the same user"):
        foreign_texts.ask(f"{PROBE}:answer", (77, 77))
    server._process.kill()
    server._process.wait()
    assert foreign_texts.ask(f"{PROBE}:secrets", UNKNOWN)  # and is started again
    assert MAX_ANSWER_BYTES == 1 << 20


def test_who_is_interrupted_leaves_no_answer_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    server = foreign_texts._server()

    def interrupted() -> bytes:
        raise KeyboardInterrupt

    output = SimpleNamespace(readline=interrupted, close=server._process.stdout.close)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(server._process, "stdout", output)
        foreign_texts.ask(f"{PROBE}:identity", UNKNOWN)
    assert foreign_texts.ask(f"{PROBE}:answer", UNKNOWN) == ["ä", 1, None, {"a": [True]}]


def test_whoever_asks_a_process_that_has_been_ended_is_told() -> None:
    server = foreign_texts._server()
    server.end()  # as another thread does that has seen its end before
    assert server.ask([f"{PROBE}:answer", *UNKNOWN, []]) == (
        "the process that reads such texts has ended"
    )


def test_a_copy_that_does_not_read_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined_reader, "READING_TIMEOUT_S", 1)
    copy = confined_reader._Copy([f"{PROBE}:deaf", *UNKNOWN])
    assert copy.answer([]) == ("", "[false, 1]\n")
    assert copy.answer(["x" * (1 << 22)]) == (confined_reader._ENDED, "")


def test_a_copy_ends_with_the_process_that_made_it() -> None:
    text = f"""
import os, signal
from condor_pydagman.adapters import confined_reader
copy = confined_reader._Copy(["{PROBE}:deaf", -1, -1])
assert copy.answer([])[1]
print(copy._pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, check=False
    )
    copy = int(done.stdout)
    waiting.until(lambda: waiting.is_gone(copy), "the end of the copy")


SHAPES = [
    (1, int, True),
    ("1", int, False),
    (None, frozenset((str, type(None))), True),
    (["a"], [str], True),
    (["a", 1], [str], False),
    ({"a": 1}, [str], False),
    (["a", 1], (str, int), True),
    (["a"], (str, int), False),
    (3, (str, int), False),
    ({"a": "b", "c": 1}, {"a": str}, True),
    ({"c": 1}, {"a": str}, False),
    ([["a"]], {"a": str}, False),
]


@pytest.mark.parametrize(("value", "shape", "fits"), SHAPES)
def test_an_answer_of_another_shape_is_none(
    monkeypatch: pytest.MonkeyPatch, value: Any, shape: Any, fits: bool
) -> None:
    monkeypatch.setattr(foreign_texts._Server, "ask", lambda *_: (False, value))
    if fits:
        assert foreign_texts.ask(f"{PROBE}:answer", UNKNOWN, shape=shape) == value
    else:
        with pytest.raises(foreign_texts.NotRead, match="can be understood"):
            foreign_texts.ask(f"{PROBE}:answer", UNKNOWN, shape=shape)

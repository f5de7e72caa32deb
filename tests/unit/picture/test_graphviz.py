"""dot from the package or from PATH, and what people are told where neither is there."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.picture.graphviz import find_dot

GRAPHS = ["digraph{0;1;0->1;}\n", "digraph{0;}\n"]
# What the program dot 2.43.0 makes of them.
RECORDED = """\
digraph {
\tgraph [bb="0,0,54,108"];
\tnode [label="\\N"];
\t0\t[height=0.5,
\t\tpos="27,90",
\t\twidth=0.75];
\t1\t[height=0.5,
\t\tpos="27,18",
\t\twidth=0.75];
\t0 -> 1\t[pos="e,27,36.104 27,71.697 27,63.983 27,54.712 27,46.112"];
}
digraph {
\tgraph [bb="0,0,54,36"];
\tnode [label="\\N"];
\t0\t[height=0.5,
\t\tpos="27,18",
\t\twidth=0.75];
}
"""

needs_package = pytest.mark.skipif(
    sys.version_info < (3, 10), reason="pip has no pygraphviz for Python 3.9"
)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No package, and no program but what a test puts there."""
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(programs: Path, script: str) -> None:
    dot = programs / "dot"
    dot.write_text(f"#!/bin/sh\n{script}\n")
    dot.chmod(0o755)


def test_where_nothing_is_installed_the_error_says_what_to_install(programs: Path) -> None:
    with pytest.raises(PydagmanError, match="the package graphviz of your distribution") as caught:
        find_dot()
    assert f"{sys.executable} -m pip install pygraphviz" in str(caught.value)


@needs_package
def test_the_package_answers_each_graph_and_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    large = "digraph{" + "".join(f"{n};" for n in range(1200)) + "}\n"
    first, second, third = find_dot()([*GRAPHS, large])
    assert first.startswith("digraph")
    assert "0 -> 1" in first
    assert 'pos="' in second
    assert third.count('pos="') == 1200
    print("heard", file=sys.stderr)
    assert capfd.readouterr().err == "heard\n"


@needs_package
def test_the_package_refuses_what_is_no_graph() -> None:
    with pytest.raises(PydagmanError, match="could not lay the DAG out"):
        find_dot()(["digraph{"])


def test_the_program_answers_as_the_package_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    try:
        run = find_dot()
    except PydagmanError:
        pytest.skip("there is no program dot")
    first, second = run(GRAPHS)
    assert "0 -> 1" in first
    assert 'pos="' in second
    assert run([]) == []


def test_the_program_s_answers_are_told_apart(programs: Path) -> None:
    (programs / "recorded").write_text(RECORDED)
    put(programs, f"PATH={os.defpath} cat {programs}/recorded")
    first, second = find_dot()(GRAPHS)
    assert "0 -> 1" in first
    assert second.count("pos=") == 1


def test_all_graphs_go_to_one_process(programs: Path) -> None:
    put(programs, f"echo once >>{programs}/log; printf 'digraph {{\\n1;\\n}}\\n%.0s' 1 2")
    assert len(find_dot()(GRAPHS)) == 2
    assert (programs / "log").read_text() == "once\n"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo trouble >&2; exit 3", "dot could not lay the DAG out: trouble"),
        ("exit 3", "dot could not lay the DAG out: exit code 3"),
        ("echo hello", "dot could not lay the DAG out: exit code 0"),
    ],
)
def test_a_program_that_fails_is_an_error_with_its_words(
    programs: Path, script: str, words: str
) -> None:
    put(programs, script)
    with pytest.raises(PydagmanError, match=words):
        find_dot()(GRAPHS)


def test_a_program_that_can_not_be_run_is_named(programs: Path) -> None:
    put(programs, "")
    run = find_dot()
    os.unlink(programs / "dot")
    with pytest.raises(PydagmanError, match=r"can't run .*dot: No such file"):
        run(GRAPHS)


def test_a_package_that_can_not_be_loaded_is_passed_over(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pygraphviz")
    (programs / "pygraphviz.py").write_text("raise ImportError('libcgraph.so.6')")
    monkeypatch.syspath_prepend(str(programs))
    importlib.invalidate_caches()
    put(programs, "printf 'digraph {\\n}\\ndigraph {\\n}\\n'")
    assert len(find_dot()(GRAPHS)) == 2

"""Installations by pip that fetch from the index: as docs/installing.md shows it for a machine
without a network, and by the pip of 2021 as by that of today."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, NoReturn

import pytest

import condor_pydagman
from tests.installation import CHECKOUT, OLDEST, copy_checkout, oldest_python
from tests.waiting import LIMIT_S

pytestmark = pytest.mark.long

COMMANDS = ("condor_dag_checker", "condor_dagman", "condor_pydagman", "condor_submit_dag")
NOT_TRIED = "INSTALLATIONS BY PIP WERE NOT TRIED"
NEWER = "9.9.9"
# What pip is told of the build, with the packages that Enterprise Linux 9 has, and the newest.
TOOLS = {
    "2021": (("pip==21.3.1", "setuptools==53.0.0", "wheel"), "--no-build-isolation"),
    "today": (("pip",), ""),
}
TRY = """
~/pydagman/bin/condor_pydagman --version
~/pydagman/bin/condor_dag_checker t.dag
"""
Skip = Callable[[str, str], NoReturn]


def run(script: str, cwd: Path, **variables: str) -> str:
    """What a script prints.

    Raises:
        AssertionError: it failed.
    """
    own = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=cwd,
        env={**own, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
    assert not done.returncode, (script, done.stdout[-4000:])
    return done.stdout


@pytest.fixture(scope="module")
def oldest(skip: Skip) -> str:
    """The oldest Python that we support."""
    return oldest_python() or skip(NOT_TRIED, f"there is no Python {OLDEST} with ensurepip")


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., Path]:
    """Makes an environment, by its name, Python, and what pip installs; returns its Python."""

    def make(name: str, python: str, *requirements: str) -> Path:
        run(f"{python} -m venv {name}", tmp_path)
        made = tmp_path / name / "bin/python"
        run(f"{made} -m pip install --upgrade {' '.join(requirements)}", tmp_path)
        return made

    return make


def shown(heading: str) -> list[str]:
    """The blocks of commands below a heading of the page."""
    page = (CHECKOUT / "docs/installing.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"(?:^    .*\n)+", section, re.M)


def test_a_directory_of_wheels_serves_without_a_network(
    environment: Callable[..., Path], oldest: str, tmp_path: Path, skip: Skip
) -> None:
    """Collected and installed by the page's own commands."""
    if os.geteuid():
        skip(NOT_TRIED, "a namespace without a network needs root")
    collect, install = shown("Without a network")
    copy_checkout(tmp_path / "checkout")
    tools = environment("collector", sys.executable, "pip").parent
    collect = collect.replace("/path/to/this/checkout", "./checkout")
    run(collect, tmp_path, PATH=f"{tools}:{os.environ['PATH']}")
    there = tmp_path / "there"
    there.mkdir()
    (tmp_path / "wheels").rename(there / "wheels")
    (there / "t.dag").write_text("JOB A a.sub NOOP\n", encoding="utf-8")
    (there / "bin").mkdir()
    (there / "bin/python3").symlink_to(oldest)
    (there / "script").write_text(install + TRY, encoding="utf-8")
    clean = f"PATH={there}/bin:/usr/bin:/bin HOME={there}"
    said = run(f"unshare --net env -i {clean} sh -eu script", there)
    assert f"\n{condor_pydagman.__version__} " in said


@pytest.mark.parametrize("year", TOOLS)
def test_one_checkout_serves_two_environments_through_an_upgrade(
    environment: Callable[..., Path], tmp_path: Path, request: pytest.FixtureRequest, year: str
) -> None:
    """Each has the version that was there when it was installed or upgraded, and commands that
    start its own Python."""
    python = request.getfixturevalue("oldest") if year == "2021" else sys.executable
    requirements, option = TOOLS[year]
    copy_checkout(tmp_path / "checkout")
    first, second = (environment(name, python, *requirements) for name in ("first", "second"))

    def install(python: Path) -> None:
        run(f"{python} -m pip install --upgrade {option} ./checkout", tmp_path)

    ours = condor_pydagman.__version__
    install(first)
    init = tmp_path / "checkout/condor_pydagman/__init__.py"
    init.write_text(init.read_text(encoding="utf-8").replace(f'"{ours}"', f'"{NEWER}"'), "utf-8")
    install(second)
    assert [version(first), version(second)] == [ours, NEWER]
    install(first)
    assert [version(first), version(second)] == [NEWER, NEWER]


def version(python: Path) -> str:
    """The version of the installed commands, all of which start this Python."""
    for command in COMMANDS:
        text = (python.parent / command).read_text(encoding="utf-8")
        assert text.startswith(f"#!{python}\n"), command
    said = run(f"{python.parent}/condor_pydagman --version --verbose", python.parent)
    assert re.search("(?m)^sleep +possible$", said) or not shutil.which("cc"), said
    return said.split()[1]

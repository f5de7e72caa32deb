"""What `pip install` puts in place, and what it takes away again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from sysconfig import get_platform

import pytest

from tests.installation import (
    CHECKOUT,
    COMPILES,
    OLDEST,
    Installation,
    copy_checkout,
    oldest_python,
)

COMMANDS = ["condor_dag_checker", "condor_dagman", "condor_pydagman", "condor_submit_dag"]
DOC = "share/doc/condor_pydagman"
WAITER = "condor_pydagman/libexec/condor_dagman"

# Where in the checkout, which files, where they are installed.
BESIDE = [
    ("man", "*.1", "share/man/man1"),
    ("man", "*.5", "share/man/man5"),
    ("man", "*.7", "share/man/man7"),
    *((f"share/{one}", "**/*", f"share/{one}") for one in ("bash-completion", "fish", "zsh")),
    ("share/monitoring", "*", f"{DOC}/monitoring"),
    ("docs", "*.md", f"{DOC}/docs"),
    ("docs/how-to", "*.md", f"{DOC}/docs/how-to"),
    ("etc/condor_config.d", "*", f"{DOC}/condor_config.d"),
    ("examples/diamond", "*", f"{DOC}/examples/diamond"),
]


@pytest.mark.parametrize(("folder", "pattern", "place"), BESIDE, ids=[b[2] for b in BESIDE])
def test_what_is_beside_the_package(
    installation: Installation, folder: str, pattern: str, place: str
) -> None:
    for source in filter(Path.is_file, (CHECKOUT / folder).glob(pattern)):
        target = installation.prefix / place / source.relative_to(CHECKOUT / folder)
        assert target.read_bytes() == source.read_bytes()
        assert target.stat().st_mode & 0o111 == source.stat().st_mode & 0o111


def test_readme_and_changes_are_there(installation: Installation) -> None:
    for name in ("README.md", "CHANGES.md"):
        assert (installation.prefix / DOC / name).read_text() == (CHECKOUT / name).read_text()


def test_every_link_of_the_readme_is_there(installation: Installation) -> None:
    text = (installation.prefix / DOC / "README.md").read_text()
    for target in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (installation.prefix / DOC / target).exists(), target


def test_the_package_is_whole_and_nothing_else_is_installed(installation: Installation) -> None:
    with zipfile.ZipFile(installation.wheel) as file:
        names = file.namelist()
    package = {name for name in names if name.startswith("condor_pydagman/")}
    sources = (CHECKOUT / "condor_pydagman").rglob("*.py")
    page = (CHECKOUT / "condor_pydagman" / "web" / "page").iterdir()
    schemas = (CHECKOUT / "condor_pydagman" / "schemas").iterdir()
    expected = {str(path.relative_to(CHECKOUT)) for path in (*sources, *page, *schemas)}
    compiled = {WAITER} if COMPILES else set()
    assert package == expected | compiled | {"condor_pydagman/py.typed"}
    machine = re.sub(r"\W", "_", get_platform()) if COMPILES else "any"
    assert installation.wheel.name.endswith(f"-py3-none-{machine}.whl")
    rest = {name.split("/")[0].partition("-")[0] for name in names} - {"condor_pydagman"}
    assert not rest


def test_the_waiter_can_be_executed(installation: Installation) -> None:
    """And ends, since it is told nothing."""
    if not COMPILES:
        pytest.skip("there is no C compiler")
    assert installation.run(str(installation.site / WAITER), check=False).returncode == 3
    said = installation.run("condor_dagman", "--version", "--verbose").stdout
    assert said == f"{installation.run('condor_dagman', '-version').stdout}sleep: possible\n"


@pytest.mark.parametrize(
    "variable", ["CC=false", pytest.param("CONDOR_PYDAGMAN_WAITER=0", marks=pytest.mark.long)]
)
def test_a_wheel_without_the_waiter(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(*variable.split("="))
    wheel = installation.build_wheel(tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as file:
        assert WAITER not in file.namelist()


def test_a_waiter_that_is_demanded_but_cannot_be_built(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDOR_PYDAGMAN_WAITER", "1")
    monkeypatch.setenv("CC", "/nonexistent/cc")
    with pytest.raises(AssertionError, match=r"the waiter can't be built: .*/nonexistent/cc"):
        installation.build_wheel(tmp_path)


@pytest.mark.long
def test_a_compiled_engine_plays_the_seeds_of_the_simulator(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not COMPILES:
        pytest.skip("there is no C compiler")
    monkeypatch.setenv("CONDOR_PYDAGMAN_COMPILE", "1")
    wheel = installation.build_wheel(tmp_path)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    (tmp_path / "tests").symlink_to(CHECKOUT / "tests")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    for words, said in (
        (["-c", "from condor_pydagman.engine import report; print(report.__file__)"], ".so\n"),
        (["-m", "tests.sim.run", "--seed", "1", "--count", "30", "--quiet"], "failed: none\n"),
    ):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True
        )
        assert said in done.stdout, done


def test_no_file_is_in_the_wheel_twice(installation: Installation) -> None:
    """As the licence, which the metadata has."""
    with zipfile.ZipFile(installation.wheel) as file:
        contents = [file.read(info) for info in file.infolist() if info.file_size]
    assert len(contents) == len(set(contents))


def test_an_index_can_show_the_readme(installation: Installation) -> None:
    """Its links to files of the repository would lead nowhere there."""
    with zipfile.ZipFile(installation.wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = file.read(name).decode()
    assert "Description-Content-Type: text/markdown" in metadata
    assert re.findall(r"\]\((?!https:|#)[^)]*\)", metadata) == []


def test_the_source_archive_holds_what_the_checkout_does(installation: Installation) -> None:
    with tarfile.open(installation.archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    for folder in ("benchmarks", "docs", "etc", "examples", "man", "scripts", "tests", "tools"):
        for path in (CHECKOUT / folder).rglob("*"):
            name = str(path.relative_to(CHECKOUT))
            if path.is_file() and path.suffix != ".pyc" and "/." not in name:  # caches of tools
                assert name in names


def test_the_commands_run_through_links(installation: Installation) -> None:
    assert installation.commands() == COMMANDS
    for command, word in zip(COMMANDS, ("-help", "-version", "--version", "-version")):
        assert installation.run(command, word).stdout
    version = installation.run("condor_submit_dag", "-version").stdout
    assert version.startswith("$CondorVersion: ")
    assert installation.run("condor_dagman", "-version").stdout.startswith("$CondorVersion: ")


def test_condor_submit_dag_finds_the_condor_dagman_of_its_own_installation(
    installation: Installation, tmp_path: Path
) -> None:
    """Though it is called by a link: the job must not depend on the link."""
    (tmp_path / "t.dag").write_text("JOB A a.sub NOOP\n")
    installation.run("condor_submit_dag", "-no_submit", "t.dag", cwd=tmp_path)
    text = (tmp_path / "t.dag.condor.sub").read_text()
    (program,) = re.findall(r"^executable\s*= (.*)$", text, re.M)
    assert Path(program) == (installation.prefix / "bin" / "condor_dagman").resolve()
    assert program.endswith("dagman")


# Of the standard library (what Python itself needs to start is out of reach), of others, of ours.
SHADOWS = ("re", "typing", "signal", "select", "argparse", "htcondor2", "condor_pydagman")


@pytest.mark.parametrize("command", COMMANDS)
def test_modules_of_pythonpath_come_last(
    installation: Installation, tmp_path: Path, command: str
) -> None:
    for name in SHADOWS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not the one')\n")
    path = f":{tmp_path}"
    done = installation.run(command, "-h", python_path=path, cwd=tmp_path, check=False)
    assert done.stderr == ""
    assert "sage" in done.stdout


def test_our_own_place_may_be_named_in_pythonpath(
    installation: Installation, tmp_path: Path
) -> None:
    """As after `pip install --target`: what is installed there is what counts."""
    target = tmp_path / "target"
    installation.pip("install", "--no-deps", "--target", str(target), str(installation.wheel))
    init = target / "condor_pydagman/__init__.py"
    init.write_text(init.read_text() + "print('the one')\n")
    program = target / "bin/condor_pydagman"
    done = installation.run(str(program), "--version", python_path=f"/none:{target}")
    assert done.stdout.startswith("the one\n")


def test_the_commands_begin_alike() -> None:
    heads = []
    for command in COMMANDS:
        text = (CHECKOUT / "scripts" / command).read_text()
        (head,) = re.findall(r"(?s)# What PYTHONPATH names.*in theirs\)\n", text)
        heads.append(re.sub(r"(?m)^ +", "", head))
    assert heads == [heads[0]] * len(COMMANDS)


@pytest.fixture
def taken_away(installation: Installation) -> Iterator[None]:
    """The package is not there, as while it is being replaced."""
    aside = installation.package.with_name("aside")
    installation.package.rename(aside)
    try:
        yield
    finally:
        aside.rename(installation.package)


@pytest.mark.parametrize(("lock", "code"), [("7\n", 3), ("", 1), (None, 1)])
@pytest.mark.usefixtures("taken_away")
def test_a_dag_that_has_begun_survives_a_package_that_is_not_there(
    installation: Installation, tmp_path: Path, lock: str | None, code: int
) -> None:
    """The schedd starts a job again that ends with 3; for 1 it takes the DAG's jobs away. An empty
    lock file is that of a DAGMan that ended before the DAG had begun."""
    if lock is not None:
        (tmp_path / "t.dag.lock").write_text(lock)
    words = ["-f", "-l", ".", "-Lockfile", "t.dag.lock", "-Dag", "t.dag"]
    done = installation.run("condor_dagman", *words, cwd=tmp_path, check=False)
    assert done.returncode == code
    assert "No module named 'condor_pydagman'" in done.stderr


# What an earlier pip did without a build backend, and what a person may do.
STEPS = (["build"], ["install", "--skip-build", "--single-version-externally-managed"])
OLD_WAY = (["install", "--single-version-externally-managed"],)


@pytest.mark.long
@pytest.mark.parametrize("left_by", [OLD_WAY, STEPS], ids=["installation", "steps"])
def test_one_checkout_serves_two_environments(
    installation: Installation, tmp_path: Path, left_by: tuple[list[str], ...]
) -> None:
    """Whatever an installation into the first has left in the checkout, and though the files of
    the new version are older than that."""
    checkout = tmp_path / "checkout"
    copy_checkout(checkout)
    first, second = (environment(tmp_path / name, installation) for name in ("first", "second"))
    for words in left_by:
        record = ["--record", str(tmp_path / "record")] if words[0] == "install" else []
        subprocess.run(
            [first, "setup.py", "-q", *words, *record],
            cwd=checkout,
            check=True,
            capture_output=True,
        )
    (checkout / "condor_pydagman/names.py").rename(checkout / "condor_pydagman/renamed.py")
    init = checkout / "condor_pydagman/__init__.py"
    init.write_text('__version__ = "9.9.9"\n')
    for path in checkout.rglob("*"):
        os.utime(path, (10**9, 10**9))
    pip = ["-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps"]
    words = [*pip, "--no-build-isolation", str(checkout)]
    subprocess.run([second, *words], check=True, capture_output=True)
    for command in COMMANDS:
        (line, *_) = (second.parent / command).read_text().splitlines()
        assert line == f"#!{second}"
        assert (first.parent / command).read_text().startswith(f"#!{first}\n")
    (package,) = second.parents[1].glob("lib/python*/site-packages/condor_pydagman")
    assert (package / "__init__.py").read_text() == init.read_text()
    assert (package / "renamed.py").exists()
    assert not (package / "names.py").exists()


def environment(directory: Path, lender: Installation) -> Path:
    """An environment that has what `lender` has but the package; its Python."""
    words = ["-m", "venv", "--without-pip", str(directory)]
    subprocess.run([sys.executable, *words], check=True)
    site = directory / lender.site.relative_to(lender.prefix)
    shutil.copy(lender.site / "lent.pth", site)
    return directory / "bin" / "python"


def test_the_oldest_python_can_run_it(installation: Installation) -> None:
    python = oldest_python()
    if not python:
        pytest.skip(f"there is no Python {OLDEST}")
    code = (
        f"import sys; sys.path.insert(0, {str(installation.site)!r}); sys.argv[1:] = ['-help']; "
        "from condor_pydagman.cli.entry import condor_dag_checker as main; sys.exit(main())"
    )
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert "Usage: condor_dag_checker" in done.stdout, done.stderr


def test_pip_takes_everything_away_again(installation: Installation, tmp_path: Path) -> None:
    """Tried on a second installation, since others use the first."""
    target = tmp_path / "prefix"
    python = environment(target, installation)
    before = set(target.rglob("*"))
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    for command in (["install", "--no-index", "--no-deps"], ["uninstall", "-y"]):
        what = str(installation.wheel) if command[0] == "install" else "condor_pydagman"
        installation.run(*pip, *command, what)
        there = {path for path in set(target.rglob("*")) - before if not path.is_dir()}
        assert bool(there) is (command[0] == "install")

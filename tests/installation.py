"""What pip makes of this checkout: a source archive, a wheel made of it, and that installed.

Nothing is fetched.  The environment of the tests lends setuptools, pip and the bindings.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
OLDEST = "3.9"  # Python that we support
LONGEST_S = 3600  # of a command: a C compiler takes minutes, and more beside other work
# The compiler, of which the waiter needs one; None if there is none.
COMPILES = shutil.which(os.environ.get("CC", "cc"))


class Installation:
    """An environment of its own with nothing but this package in it.

    Attributes:
        archive: the source archive.
        wheel: what was made of the archive.
        prefix: where it is installed.
        links: a directory with links to its commands, as an administrator makes them.
    """

    def __init__(self, directory: Path) -> None:
        self.archive = _archive(directory)
        self.wheel = self.build_wheel(directory)
        self.prefix = directory / "prefix"
        _run(sys.executable, "-m", "venv", "--without-pip", str(self.prefix))
        self.python = self.prefix / "bin" / "python"
        where = self.run(
            str(self.python), "-c", "import sysconfig as s; print(s.get_path('purelib'))"
        )
        self.site = Path(where.stdout.strip())
        (self.site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.pip("install", "--no-deps", str(self.wheel))
        self.links = directory / "links"
        self.links.mkdir()
        for command in self.commands():
            (self.links / command).symlink_to(self.prefix / "bin" / command)

    def build_wheel(self, directory: Path) -> Path:
        """Make a wheel of the source archive, in a directory."""
        return _wheel(self.archive, directory)

    @property
    def package(self) -> Path:
        """The directory of the package."""
        return self.site / "condor_pydagman"

    def commands(self) -> list[str]:
        """The names of its commands."""
        return sorted(path.name for path in (self.prefix / "bin").glob("condor_*"))

    def pip(self, *words: str) -> str:
        """Run pip in the environment; returns what it prints."""
        options = ("--disable-pip-version-check", "--no-cache-dir")
        index = ("--no-index",) if words[0] == "install" else ()
        done = self.run(str(self.python), "-m", "pip", words[0], *index, *options, *words[1:])
        return done.stdout

    def run(
        self,
        *words: str,
        cwd: Path | None = None,
        check: bool = True,
        python_path: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, of ours by the link to it."""
        program = self.links / words[0] if words[0].startswith("condor_") else words[0]
        return _run(str(program), *words[1:], cwd=cwd, check=check, python_path=python_path)


def _run(
    *words: str,
    cwd: Path | None = None,
    check: bool = True,
    python_path: str | None = None,
) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PIP_PREFIX")}
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
    return done


def oldest_python() -> str:
    """The oldest Python that we support, on PATH or of pyenv, with ensurepip; '' if there is
    none."""
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for name in (f"python{OLDEST}", *map(str, home.glob(f"versions/{OLDEST}.*/bin/python"))):
        words = [name, "-c", "import ensurepip, sys; print(sys.executable)"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            continue
        if not done.returncode:  # not every one of pyenv on PATH can be run
            return done.stdout.strip()
    return ""


def copy_checkout(copy: Path) -> None:
    """Copy what belongs to this checkout, so that nothing is left in it."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(None, _run(*words, cwd=CHECKOUT).stdout.split("\0")):
        if (CHECKOUT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((CHECKOUT / name).read_bytes())
            (copy / name).chmod((CHECKOUT / name).stat().st_mode)


def _archive(directory: Path) -> Path:
    copy = directory / "copy"
    copy_checkout(copy)
    _run(sys.executable, "setup.py", "-q", "sdist", "-d", str(directory), cwd=copy)
    (archive,) = directory.glob("*.tar.gz")
    return archive


def _wheel(archive: Path, directory: Path) -> Path:
    _run("tar", "-xzf", str(archive), cwd=directory)
    source = directory / archive.name[: -len(".tar.gz")]
    words = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    _run(sys.executable, "-m", "pip", "wheel", *words, "-w", str(directory), str(source))
    (wheel,) = directory.glob("*.whl")
    return wheel

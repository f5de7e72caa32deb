"""The packages that this checkout makes, and what is in them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.installation import CHECKOUT, copy_checkout

MAIN, DEFAULT = "condor-pydagman", "condor-pydagman-default"
PYTHON = "/usr/bin/python3"  # the system's, which packages are for
TOOLS = {
    "deb": ("dpkg-buildpackage", "dh", "dh_python3", "g++"),
    "rpm": ("rpmbuild", "rpm"),
}
# The RPMs are tried with Debian's Python, which looks here.
OPTIONS = {"deb": (), "rpm": ("--define", "python3_sitelib /usr/lib/python3/dist-packages")}


def obstacle(kind: str) -> str:
    """Why packages of a kind can't be built here; '' if they can."""
    missing = [tool for tool in TOOLS[kind] if not shutil.which(tool)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    code = "import setuptools, sys; sys.exit(sys.version_info < (3, 9))"
    if subprocess.run([PYTHON, "-c", code], capture_output=True, check=False).returncode:
        return f"{PYTHON} is older than Python 3.9, or has no setuptools"
    return ""


def build(kind: str, into: Path, checkout: Path = CHECKOUT) -> dict[str, Path]:
    """Build the packages of a kind ("deb" or "rpm"); their files by name, sources left out."""
    words = [f"{checkout}/packaging/build-{kind}", into.name, *OPTIONS[kind]]
    done = subprocess.run(
        words,
        cwd=into.parent,
        env={**os.environ, "PYTHON": PYTHON},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert not done.returncode, done.stderr
    found = [path for path in into.glob(f"*.{kind}") if not path.name.endswith(".src.rpm")]
    return {re.split(r"[-_]\d", path.name)[0]: path for path in found}


def contents(package: Path, modes: str = "[^d]") -> set[str]:
    """The paths of what a package installs, directories left out; or of what has such modes."""
    command = ["rpm", "-qlvp"] if package.suffix == ".rpm" else ["dpkg-deb", "--contents"]
    lines = _output(*command, str(package)).splitlines()
    found = (line.partition(" -> ")[0] for line in lines if re.match(modes, line))
    return {line.split()[-1].lstrip(".") for line in found}


def requirements(package: Path) -> list[str]:
    """What an RPM requires."""
    return _output("rpm", "--query", "--requires", "--package", str(package)).splitlines()


def lintian(packages: dict[str, Path]) -> str:
    """What lintian says of Debian packages; it has findings of ours and fails then."""
    words = ["lintian", "--allow-root", *map(str, packages.values())]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    return done.stdout


def newer(kind: str, version: str, into: Path) -> Path:
    """The package of a kind as if it were of a later version, which condor_dagman says in its log,
    and condor_pydagman --version; records of RUN_IF have another name there."""
    copy = into / "copy"
    copy_checkout(copy)
    replace(copy / f"packaging/{MAIN}.spec", "(?m)^Version: .*$", f"Version: {version}")
    replace(copy / "packaging/debian/changelog", r"\(.*\)", f"({version}-1)")
    site = copy / "condor_pydagman"
    replace(site / "__init__.py", r'__version__ = ".*"', f'__version__ = "{version}"')
    replace(site / "records/banner.py", "STARTING UP", f"STARTING UP ({version})")
    for file in ("feature_table.py", "features/run_if/run.py", "features/run_if/shown.py"):
        replace(site / file, '"CONDITION"', '"CONDITION_2"')
    return build(kind, into / kind, copy)[MAIN]


def replace(file: Path, pattern: str, by: str) -> None:
    """Replace what a pattern finds in a file, which must be there."""
    text, count = re.subn(pattern, by, file.read_text(encoding="utf-8"))
    assert count, (file, pattern)
    file.write_text(text, encoding="utf-8")


def _output(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    return done.stdout

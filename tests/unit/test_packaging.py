"""The recipes in `packaging/` say what setup.cfg does, and are understood by their tools."""

from __future__ import annotations

import configparser
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import classad2
import pytest

import condor_pydagman
from condor_pydagman.adapters.installation import PACKAGED
from tests.installation import CHECKOUT

PACKAGING = CHECKOUT / "packaging"
PLACE = "/usr/lib/condor_pydagman"
# Where the version stands that a file is for.
VERSIONS = {
    "condor-pydagman.spec": r"(?m)^Version: +(\S+)$",
    "debian/changelog": r"condor-pydagman \((.*)-\d+\)",
    "conda/recipe.yaml": r'version: "(.*)"',
}


def text(name: str) -> str:
    return (PACKAGING / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", VERSIONS)
def test_versions(file: str) -> None:
    (version,) = re.findall(VERSIONS[file], text(file))
    assert version == condor_pydagman.__version__


def test_requirements() -> None:
    """Each kind has its own name for the bindings, but the same versions."""
    setup = configparser.ConfigParser()
    setup.read(CHECKOUT / "setup.cfg", encoding="utf-8")
    bindings, cryptography = setup["options"]["install_requires"].split("\n")[1:]
    recipe = text("conda/recipe.yaml").replace(",<", ", <")
    assert f"- python-{bindings}\n" in recipe
    assert f"- {cryptography}\n" in recipe
    (least,) = re.findall(r"htcondor >=(.*),", bindings)
    assert f"condor (>= {least})" in text("debian/control")
    assert f"python3-condor >= {least}\n" in text("condor-pydagman.spec")
    (python,) = re.findall(r">=(.*)", setup["options"]["python_requires"])
    assert f'- "{python}"' in text("conda/variants.yaml")
    for name in ("debian/control", "condor-pydagman.spec"):
        assert "python3-cryptography" in text(name)


def test_the_default_package_stays_when_the_other_is_upgraded() -> None:
    """If it needed a certain version, apt would remove it, and with it the default of all users."""
    assert re.findall(r"(?m)^Depends: condor-pydagman\b(.*?),", text("debian/control")) == [""]
    assert re.findall(r"(?m)^Requires: +%\{name\}(.*)$", text("condor-pydagman.spec")) == [""]


def test_the_image_has_what_its_packages_are_built_with() -> None:
    """And build-essential, without which dpkg-buildpackage refuses."""
    (line,) = re.findall(r"(?m)^Build-Depends: (.*)$", text("debian/control"))
    needed = {re.split(r"[ -]compat", name)[0].strip() for name in line.split(",")}
    (first,) = re.findall(r"--no-install-recommends \\\n +(.*) \\", text("Containerfile"))
    assert set(first.split()) == {"build-essential", *needed}


@pytest.mark.skipif(sys.version_info < (3, 10), reason="it needs Python 3.10")
def test_rattler_build_understands_the_conda_recipe() -> None:
    """It refuses unknown keys and values."""
    conda = importlib.import_module("rattler_build")
    variants = conda.VariantConfig.from_file(str(PACKAGING / "conda/variants.yaml"))
    (rendered,) = conda.Stage0Recipe.from_yaml(text("conda/recipe.yaml")).render(variants)
    recipe = rendered.recipe.to_dict()
    assert recipe["package"]["version"] == condor_pydagman.__version__
    assert recipe["build"]["python"]["version_independent"]
    assert "python >=3.9" in recipe["requirements"]["run"]
    (source,) = recipe["source"]
    assert (PACKAGING / "conda" / source["path"]).resolve() == CHECKOUT


def test_hadolint_finds_nothing_in_the_containerfile() -> None:
    program = Path(sys.executable).with_name("hadolint")
    words = [str(program), "--no-color", str(PACKAGING / "Containerfile")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_looks_where_the_packages_have_it() -> None:
    site = "/usr/lib/python3/dist-packages/condor_pydagman"
    assert os.path.normpath(f"{site}/{PACKAGED}") == f"{PLACE}/bin"
    for name in ("place-files", "profile/condor_pydagman.sh", "profile/condor_pydagman.csh"):
        assert PLACE in text(name)


@pytest.mark.parametrize(
    ("shell", "said"), [("sh -eu", f"{PLACE}/bin:/bin"), ("csh -ef", f"{PLACE}/bin:/bin")]
)
def test_a_profile_read_twice_changes_path_once(shell: str, said: str) -> None:
    assert profile(shell, {"PATH": "/bin"}).stdout == f"{said}\n"


@pytest.mark.parametrize("shell", ["sh -eu", "csh -ef"])
def test_a_profile_is_no_error_without_path(shell: str) -> None:
    """A shell that ends with an error in a profile lets nobody log in."""
    assert profile(shell, {}).stderr == ""


def profile(shell: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What a shell does that reads its profile twice and prints PATH."""
    program, flags = shell.split()
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"there is no {program}")
    file = PACKAGING / f"profile/condor_pydagman.{program}"
    read = {"sh": f". '{file}'", "csh": f"source '{file}'"}[program]
    script = f"{read}; {read}; printenv PATH || :"
    return subprocess.run(
        [path, flags, "-c", script], env=environment, capture_output=True, text=True, check=False
    )


def test_the_source_archive_is_put_where_the_caller_says(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    environment = {**os.environ, "PYTHON": sys.executable}
    words = [PACKAGING / "source-archive", "out"]
    subprocess.run(words, cwd=tmp_path / "here", env=environment, check=True)
    (archive,) = (tmp_path / "here/out").iterdir()
    assert archive.name == f"condor_pydagman-{condor_pydagman.__version__}.tar.gz"


@pytest.mark.parametrize(
    ("job", "is_ours"),
    [
        ('JobUniverse = 7; Cmd = "/usr/bin/condor_dagman"', True),
        ('JobUniverse = 7; Cmd = "/bin/condor_dagman"', True),  # whose PATH begins with /bin
        ('JobUniverse = 7; Cmd = "/home/ada/condor_dagman"', False),
        ('JobUniverse = 7; Cmd = "/bin/condor_dagman"; WantStockDagman = true', False),
        ('JobUniverse = 5; Cmd = "/usr/bin/condor_dagman"', False),
        (f'JobUniverse = 7; Cmd = "{PLACE}/bin/condor_dagman"', False),
    ],
)
def test_what_the_job_transform_concerns(job: str, is_ours: bool) -> None:
    for file in ("etc/condor_config.d/70-condor-pydagman-default.config", "docs/administrators.md"):
        lines = (CHECKOUT / file).read_text(encoding="utf-8").replace("\\\n", "")
        (condition,) = re.findall(r"(?m)^ +REQUIREMENTS (.*)$", lines)
        ad = classad2.ClassAd(f"[ {job}; Concerned = {condition} ]")
        assert ad.eval("Concerned") is is_ours


def test_scripts_can_be_run() -> None:
    for path in PACKAGING.rglob("*"):
        if path.is_file() and path.read_bytes().startswith(b"#!"):
            assert path.stat().st_mode & 0o111, path

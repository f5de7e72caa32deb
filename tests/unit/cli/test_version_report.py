"""`condor_pydagman --version --verbose`."""

from __future__ import annotations

import configparser
import re
import sys
from pathlib import Path

import htcondor2
import pytest

import condor_pydagman
from condor_pydagman import compiled
from condor_pydagman.cli import version_report
from condor_pydagman.engine import FORM

SETUP = Path(__file__).resolve().parents[3] / "setup.cfg"


def rows() -> dict[str, str]:
    """What is told, by the word at the start; of those that are indented the last."""
    lines = version_report.text().splitlines()
    return {line[:18].strip(): line[18:] for line in lines}


def test_versions_and_places() -> None:
    found, text = rows(), version_report.text()
    assert found["condor_pydagman"].startswith(f"{condor_pydagman.__version__} ({FORM})")
    assert found["Python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert found["bindings"].startswith(f"{htcondor2.version().split()[1]} ")
    for place in (
        condor_pydagman.__path__[0],
        sys.executable,
        str(Path(htcondor2.__file__).parent),
    ):
        assert f"  from            {place}\n" in text
    assert re.fullmatch(r"\d+\.\d+.*", found["cryptography"])


def test_sleep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waiter = tmp_path / "waiter"
    monkeypatch.setattr(compiled, "WAITER", str(waiter))
    assert rows()["sleep"].startswith(f"not possible: {waiter} is missing")
    waiter.touch(0o755)
    assert rows()["sleep"] == "possible"
    monkeypatch.setattr(compiled, "form", lambda engine: compiled.COMPILED)
    assert rows()["sleep"] == "not possible: the engine is compiled"


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_report, "EXTRAS", {"draw": ("no-such-package", "pytest")})
    expected = f"pytest {pytest.__version__}; not installed: no-such-package"
    assert rows()["extra draw"] == expected


def test_an_extra_of_many_packages_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tuple(f"no-such-package-{number}" for number in range(20))
    monkeypatch.setattr(version_report, "EXTRAS", {"many": packages})
    text = version_report.text().partition("extra many")[2]
    assert all(package in text for package in packages)
    assert max(map(len, text.splitlines())) <= 80


def test_without_bindings_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "htcondor2", None)
    found = rows()
    assert found["bindings"].startswith("not usable: ")
    assert "schedd" not in found
    assert "extra draw" in found


def test_the_schedd(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1 $"
    where = "condor_pydagman.adapters.schedd.schedd_version"
    monkeypatch.setattr(where, lambda: said)
    assert rows()["schedd"] == "25.14.1"
    monkeypatch.setattr(where, lambda: "")
    assert rows()["schedd"].startswith("unknown")


def test_extras_are_those_of_the_package() -> None:
    file = configparser.ConfigParser()
    file.read(SETUP)
    given = {
        extra: tuple(re.split(r"[ \[<>;]", line)[0] for line in lines.split("\n") if line)
        for extra, lines in file["options.extras_require"].items()
    }
    ours = given.keys() - {"test", "docs", "mutants", "all"}
    told = {extra: given[extra] for extra in given if extra in ours}
    assert told == version_report.EXTRAS

"""What we depend on: named with a range each, and without a known vulnerability.

pip-audit asks the package index, which knows the advisories of each release.  Where that does not
answer, or knows nothing of vulnerabilities, the test is skipped, loudly: a build without a network
is no worse than the one before.
"""

from __future__ import annotations

import configparser
import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
AUDIT_TIMEOUT_S = 120
# A release with advisories: who does not know of them can't tell us of ours.
CANARY = "jinja2==2.10"


class Report(NamedTuple):
    """What an audit says.

    Attributes:
        vulnerable: `name version: advisory (mended in ...)`.
        clean: packages that the service knows, and knows nothing bad of.
        silent: why nothing is known: of some packages, or of all.
    """

    vulnerable: list[str]
    clean: list[str]
    silent: list[str]


def read(output: str, complaint: str) -> Report:
    """Take in what pip-audit printed."""
    report = Report([], [], [])
    try:
        found = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = [line for line in complaint.splitlines() if line.strip()]
        report.silent.append(lines[-1].strip() if lines else "pip-audit said nothing")
        return report
    for package in found:
        if "vulns" not in package:
            report.silent.append(package.get("skip_reason", package["name"]))
            continue
        for advisory in package["vulns"]:
            mended = ", ".join(advisory["fix_versions"]) or "no release yet"
            named = f"{package['name']} {package['version']}: {advisory['id']}"
            report.vulnerable.append(f"{named} (mended in {mended})")
        if not package["vulns"]:
            report.clean.append(package["name"])
    return report


def audit(*what: str) -> Report:
    command = [sys.executable, "-m", "pip_audit", "-f", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(
            [*command, "--timeout", "15", *what],
            capture_output=True,
            text=True,
            timeout=AUDIT_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Report([], [], ["it took too long to answer"])
    return read(done.stdout, done.stderr)


# It asks the network, whose answer no change of ours alters; what an answer means is tested below.
@pytest.mark.long
def test_no_dependency_has_a_known_vulnerability(tmp_path: Path, notices: list[str]) -> None:
    """Ours, those of the tests, and what these need."""
    report = audit("--path", sysconfig.get_path("purelib"), "--skip-editable")
    assert not report.vulnerable, "\n".join(report.vulnerable)
    reason = f"the index said of {len(report.silent)} packages nothing: {report.silent[:3]}"
    if report.clean:
        (tmp_path / "canary").write_text(f"{CANARY}\n")
        canary = audit("-r", str(tmp_path / "canary"), "--no-deps", "--disable-pip")
        if canary.vulnerable and "htcondor" in report.clean:
            return
        if not canary.vulnerable:
            reason = f"the index knows nothing of the advisories of {CANARY}: {canary.silent}"
    notices.append(f"*** THE DEPENDENCIES WERE NOT AUDITED: {reason} ***")
    pytest.skip(f"no audit of the dependencies: {reason}")


VULNERABLE = {
    "name": "jinja2",
    "version": "2.10",
    "vulns": [{"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"], "aliases": []}],
}
UNKNOWN = {"name": "htcondor", "skip_reason": "Dependency not found: htcondor (25.14.1)"}


@pytest.mark.parametrize(
    ("output", "complaint", "report"),
    [
        (
            {"dependencies": [VULNERABLE, {"name": "x", "version": "1", "vulns": []}]},
            "Found 1 known vulnerability",
            (["jinja2 2.10: PYSEC-2019-217 (mended in 2.10.1)"], ["x"], []),
        ),
        ({"dependencies": [UNKNOWN]}, "", ([], [], ["Dependency not found: htcondor (25.14.1)"])),
        (
            None,
            "Traceback\nConnectionError: no network\n",
            ([], [], ["ConnectionError: no network"]),
        ),
        ({"message": "down"}, "", ([], [], ["pip-audit said nothing"])),
    ],
)
def test_what_an_audit_says(
    output: object, complaint: str, report: tuple[list[str], list[str], list[str]]
) -> None:
    assert read(json.dumps(output) if output else "", complaint) == report


def test_every_dependency_has_a_range() -> None:
    """A release that we have not seen can't come by itself."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = setup["options"]["install_requires"].splitlines()
    for text in setup["options.extras_require"].values():
        lines += text.splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("condor_pydagman[")]
    assert len(lines) > 8
    for line in lines:
        assert re.fullmatch(
            r'[\w-]+(\[\w+\])? >=[\d.]+, <[\d.]+(; python_version >= "[\d.]+")?', line
        ), line


def test_all_is_what_users_may_want() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = setup["options.extras_require"]
    ours = set(extras) - {"all", "docs", "test", "mutants"}
    assert extras["all"].strip() == f"condor_pydagman[{','.join(e for e in extras if e in ours)}]"


def test_the_product_needs_the_bindings_and_cryptography_alone() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    needed = setup["options"]["install_requires"].split()
    assert [word for word in needed if word[0].isalpha()] == ["htcondor", "cryptography"]

"""The name we were called by: what pegasus-dagman makes of it, and what everybody else gets."""

from __future__ import annotations

import pytest

from condor_pydagman.daemon.initialize import parent_command, program_name

OURS = "/opt/bin/condor_dagman"
SHELL = ["/bin/sh", "/usr/bin/pegasus-dagman", "-p", "0"]
PYTHON = ["python3", "/usr/lib/pegasus/pegasus-dagman.py", "-p", "0"]


@pytest.mark.parametrize(
    ("path", "job", "parent", "name"),
    [
        (OURS, "12.0", SHELL, "condor_scheduniv_exec.12.0"),
        (OURS, "12.0", PYTHON, "condor_scheduniv_exec.12.0"),
        (OURS, "", PYTHON, "condor_dagman"),
        (OURS, "12.0", [], "condor_dagman"),
        (OURS, "12.0", ["condor_schedd", "-f"], "condor_dagman"),
        (OURS, "12.0", ["/bin/sh", "-c", "x"], "condor_dagman"),
        ("/spool/condor_scheduniv_exec.7.0", "", [], "condor_scheduniv_exec.7.0"),  # a copy
        ("/src/condor_pydagman/cli/dagman.py", "", [], "condor_dagman"),
        ("", "", [], "condor_dagman"),
    ],
)
def test_names(path: str, job: str, parent: list[str], name: str) -> None:
    assert program_name(path, {"CONDOR_ID": job} if job else {}, parent) == name


def test_our_own_parent_has_a_command() -> None:
    assert parent_command()

"""The name we were called by: what pegasus-dagman makes of it, and what everybody else gets."""

from __future__ import annotations

import pytest

from condor_pydagman.daemon.initialize import parent_command, program_name

OURS = "/opt/bin/condor_dagman"
SHELL = ["/bin/sh", "/usr/bin/pegasus-dagman", "-p", "0"]
PYTHON = ["python3", "/usr/lib/pegasus/pegasus-dagman.py", "-p", "0"]


@pytest.mark.parametrize("parent", [SHELL, PYTHON], ids=["shell", "python"])
def test_pegasus_finds_the_id_of_the_job(parent: list[str]) -> None:
    assert program_name(OURS, {"CONDOR_ID": "12.0"}, parent) == "condor_scheduniv_exec.12.0"


@pytest.mark.parametrize("parent", [[], ["condor_schedd", "-f"], ["/bin/sh", "-c", "x"]])
def test_others_find_the_name_of_the_program(parent: list[str]) -> None:
    assert program_name(OURS, {"CONDOR_ID": "12.0"}, parent) == "condor_dagman"


def test_pegasus_without_a_job() -> None:
    assert program_name(OURS, {}, PYTHON) == "condor_dagman"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/spool/condor_scheduniv_exec.7.0", "condor_scheduniv_exec.7.0"),
        ("/src/condor_pydagman/cli/dagman.py", "condor_dagman"),
        ("", "condor_dagman"),
    ],
)
def test_a_copy_has_its_own_name(path: str, name: str) -> None:
    assert program_name(path, {}, []) == name


def test_our_own_parent_has_a_command() -> None:
    assert parent_command()

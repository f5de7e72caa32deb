"""The completion files are in step with the tables of options."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.cli.checker_options import parse_checker
from condor_pydagman.dagman_job.options import OPTIONS, parse_submit
from tools import command_tables, completion

ROOT = Path(__file__).resolve().parents[3]
FILES = completion.files()


def test_there_is_no_other_file() -> None:
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "share").rglob("*") if path.is_file()}
    assert {name for name in found if not name.startswith("share/monitoring/")} == set(FILES)


def test_values_are_said_of_options_that_there_are() -> None:
    assert set(command_tables.OF_OPTION) <= {option.name for option in OPTIONS}


def test_what_is_offered_is_obeyed() -> None:
    value = {"nothing": "1", "variable": "HOME"}
    for word in completion.commands()["condor_submit_dag"]:
        argument = [value.get(word.values[-1], word.values[-1])] if word.argument else []
        if word.names[-1] != "-insert_env":
            parse_submit([word.names[-1], *argument, "x.dag"])
    for word in completion.commands()["condor_dag_checker"]:
        parse_checker([word.names[0], "x.dag"])


def test_options_of_the_checker_are_spelled_as_in_its_help() -> None:
    names = [word.names[0] for word in completion.commands()["condor_dag_checker"]]
    assert {"-CheckSubDags", "-NoJoinNodes", "-JoinNodes", "-json"} <= set(names)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_of_condor_pydagman_is_offered(shell: str) -> None:
    text = "".join(text for path, text in FILES.items() if f"share/{shell}" in path)
    for name in command_tables.parsers():
        assert name.rpartition(" ")[2] in text

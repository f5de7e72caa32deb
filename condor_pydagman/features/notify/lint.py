"""What the checker finds in NOTIFY lines."""

from __future__ import annotations

import os.path
from collections.abc import Sequence

from condor_pydagman.features.notify.commands import Notification, notifications_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.file_rules import NO_PATH
from condor_pydagman.lint.findings import FileKind, Findings, Severity, World


def check_programs(dag: Dag, world: World, findings: Findings) -> None:
    """Look for the programs, which are run from the begin of the DAG on."""
    if not dag.files:
        return
    for one in notifications_of(dag):
        if one.to != "PROGRAM":
            continue
        program = one.target.split()[0]
        found = world.kind(os.path.join(os.path.dirname(dag.files[0]), program))
        words, warning = ("NOTIFY", program), Severity.WARNING  # the DAG runs without it
        if found is FileKind.MISSING:
            message = f"NOTIFY {program} does not exist"
            findings.add("DAG302", message, words=words, hint=NO_PATH, severity=warning)
        elif found is not FileKind.EXECUTABLE:
            message = f"NOTIFY {program} can't be executed"
            findings.add("DAG303", message, words=words, severity=warning)


def is_about(command: Notification, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """As of BRAKE's; a word is the program."""
    return words[0] == command.target.split()[0]

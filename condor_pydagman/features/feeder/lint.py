"""What the checker finds in FEEDER lines."""

from __future__ import annotations

import os.path
from collections.abc import Sequence

from condor_pydagman.features.feeder.commands import Feeder, feeder_of
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.external import External
from condor_pydagman.lint.file_rules import NO_PATH
from condor_pydagman.lint.findings import FileKind, Findings, World


def check_programs(dag: Dag, world: World, findings: Findings) -> None:
    """Look for its program, which may run before any node."""
    feeder = feeder_of(dag)
    if feeder is None:
        return
    program = feeder.program.split()[0]
    found = world.kind(os.path.join(feeder.directory, program))
    words = ("FEEDER", program)
    if found is FileKind.MISSING:
        message = f"FEEDER {program} does not exist"
        findings.add("DAG302", message, words=words, hint=NO_PATH)
    elif found is not FileKind.EXECUTABLE:
        findings.add("DAG303", f"FEEDER {program} can't be executed", words=words)


def objection(command: Feeder, building: Building, external: External) -> str:
    """What condor_dag_checker says against a line as it reads it; '' if nothing."""
    if building.scope.outer is not None:
        return "FEEDER can't be used in a splice"
    if building.of_features.setdefault("feeder", command) is not command:
        return "The DAG has a FEEDER already"
    return external.program(command.program, building.scope.where, "FEEDER")


def is_about(command: Feeder, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """As of BRAKE's; a word is the program."""
    return words[0] == command.program.split()[0]

"""What the checker finds in CACHE lines."""

from __future__ import annotations

from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.file_macro_rules import check_file_macros
from condor_pydagman.lint.findings import Code, Findings, Severity, World

CODES = {
    "DAG413": Code(
        Severity.INFO,
        "nodes with a CACHE command: which of them would run now, and why",
        "condor_pydagman dry-run takes a rescue file into account as well",
    ),
}


def check(dag: Dag, findings: Findings) -> None:
    """Look at macros in names of files."""
    files = {node: (*one.inputs, *one.outputs) for node, one in cached_of(dag).items()}
    check_file_macros(dag, findings, "CACHE", files)


def check_around(dag: Dag, world: World, findings: Findings, options: BuildOptions) -> None:
    """Tell which nodes would run."""
    for line in world.foreseen("cache", dag)[0]:
        findings.add("DAG413", line, place=dag.files[0])

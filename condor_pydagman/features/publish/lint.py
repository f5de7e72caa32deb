"""What the checker finds in PUBLISH lines."""

from __future__ import annotations

from condor_pydagman.features.publish.commands import published_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.file_macro_rules import check_file_macros
from condor_pydagman.lint.findings import Findings


def check(dag: Dag, findings: Findings) -> None:
    """Look at macros in names of files."""
    files = {node: (one.file,) for node, one in published_of(dag).items() if one.file}
    check_file_macros(dag, findings, "PUBLISH", files, at_run_time=True)

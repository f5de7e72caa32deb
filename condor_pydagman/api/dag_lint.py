"""What in a DAG is hardly as its author means it: the rules of `condor_dag_checker -lint`."""

from __future__ import annotations

from dataclasses import dataclass

from condor_pydagman.api.dag_errors import Place
from condor_pydagman.api.dag_reading import StrPath, build_options, names_of
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.feature_table import asked_by
from condor_pydagman.lint.findings import Finding, Severity
from condor_pydagman.lint.lint import lint
from condor_pydagman.lint.lint_world import DiskWorld


@dataclass(frozen=True)
class LintFinding:
    """One thing that was found.

    Attributes:
        code: `DAG` and three digits, which keep their meaning; condor_dag_checker(1) has them all.
        severity: an ERROR keeps DAGMan or a node from doing its work, for certain.
        message: what was found.
        place: where, as far as that is known.
        hint: what to do, '' if nothing is suggested.
        text: the line there, or the part of it that is of interest.
        node: full name of the node, '' if it is about none.
    """

    code: str
    severity: Severity
    message: str
    place: Place
    hint: str = ""
    text: str = ""
    node: str = ""

    def __str__(self) -> str:
        """As the first line of `condor_dag_checker -lint`."""
        place = f"{self.place}: " if self.place.file else ""
        return f"{place}{self.severity.name.lower()} {self.code}: {self.message}"


def lint_dag(
    *paths: StrPath,
    use_dag_dir: bool = False,
    any_node_names: bool = False,
    bundle: bool = False,
) -> tuple[LintFinding, ...]:
    """What `condor_dag_checker -lint` finds, by file and line; of each code the first 100.

    Submit files and scripts that the DAG names are looked at, and HTCondor's bindings are asked
    about submit descriptions: this imports htcondor2.  For arguments see `read_dag`; `bundle` is
    the option -bundle of condor_submit_dag.
    """
    options = build_options(use_dag_dir, any_node_names)._replace(use_join_nodes=True, strict=0)
    asked = asked_by(DagmanOptions(bundle=bundle))
    findings = lint(names_of(paths), DiskWorld(), options, asked)
    return tuple(map(_value, findings.kept))


def _value(found: Finding) -> LintFinding:
    place = Place(found.file, found.line, found.column)
    return LintFinding(
        found.code, found.severity, found.message, place, found.hint, found.text, found.node
    )

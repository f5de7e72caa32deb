"""The checks of -lint on a DAG that would be run, for `condor_pydagman run` and `dry-run`."""

from __future__ import annotations

from condor_pydagman.adapters.files import DagFiles
from condor_pydagman.cli.lint_report import as_text
from condor_pydagman.config import Config
from condor_pydagman.daemon.dag_input import build_options
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Findings, Severity
from condor_pydagman.lint.lint import lint
from condor_pydagman.lint.lint_world import DiskWorld
from condor_pydagman.lint.preflight import NO_REFUSAL


def lint_run(dag: Dag, options: DagmanOptions, config: Config, world: DiskWorld) -> Findings:
    """All that -lint finds in a DAG that would be run so, as DAGMan reads it."""
    world.belongs_to(options.dag_files[0])
    return lint(options.dag_files, world, build_options(options, config), known=dag)


def before_run(dag: Dag, options: DagmanOptions, config: Config) -> str:
    """The report without notes, for `preflight.check_meanwhile`; '' if there is nothing else."""
    findings = lint_run(dag, options, config, DiskWorld(DagFiles(trusted=True).read))
    findings.kept = [one for one in findings.kept if one.severity is not Severity.INFO]
    report = "\n".join(as_text(findings)) if findings.kept else ""
    return report if findings.total(Severity.ERROR) or not report else NO_REFUSAL + report

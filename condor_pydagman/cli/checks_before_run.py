"""What `condor_pydagman run` and `dry-run` have in common: the checks of -lint on a DAG that would
be run, and options of condor_submit_dag."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from condor_pydagman.adapters.files import DagFiles
from condor_pydagman.cli.lint_report import as_text
from condor_pydagman.config import Config
from condor_pydagman.daemon.dag_input import build_options
from condor_pydagman.dagman_job.options import (
    OPTIONS,
    DagmanOptions,
    Option,
    Takes,
    submit_option,
)
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


def add_submit_options(parser: argparse.ArgumentParser, options: Iterable[Option]) -> None:
    """Add options of condor_submit_dag, with the same abbreviations."""
    group = parser.add_argument_group("options of condor_submit_dag")
    for one in options:
        word, dest = f"--{one.name}", _dest(one)
        if one.text and one.takes is Takes.NOTHING:
            group.add_argument(word, dest=dest, action="store_true", help=one.text)
        elif one.text:
            named = one.argument.strip("<>").upper()
            group.add_argument(word, dest=dest, action="append", metavar=named, help=one.text)
    parser.set_defaults(abbreviated=submit_option)


def _dest(option: Option) -> str:
    return f"submit_{option.name}"


def submit_words(arguments: argparse.Namespace) -> list[str]:
    """These options in a command line of condor_submit_dag."""
    words: list[str] = []
    for option in OPTIONS:
        value = getattr(arguments, _dest(option), None)
        if option.takes is Takes.NOTHING:
            words += [f"-{option.name}"] if value else []
        else:
            words += [word for one in value or () for word in (f"-{option.name}", one)]
    return words

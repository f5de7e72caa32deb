"""`condor_pydagman run`: submit a DAG, watch it, end with its exit code."""

from __future__ import annotations

import argparse
import time

from condor_pydagman.adapters.files import living_holder
from condor_pydagman.cli import submit_dag, watch
from condor_pydagman.cli.checks_before_run import add_submit_options, before_run, submit_words
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.dagman_job.options import OPTIONS, SubmitOptions, parse_submit
from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.watched_dag import WatchedDag

_DESCRIPTION = """\
Check a DAG as condor_dag_checker -lint does, submit it as condor_submit_dag does if there is no
error, watch it until it has ended, and exit with its exit code. -no_check_dag submits it unchecked.
Ctrl-C stops only the watching: the DAG continues. This command takes all options of
condor_submit_dag that leave something to watch, with the same abbreviations."""
# They print or submit in another way.
_OTHERS = ("no_submit", "terse", "verbose", "remote", "dry_run", "dot", "setup_only")


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "run", "check a DAG, submit it, and watch it until it ends", _DESCRIPTION, run
    )
    parser.add_argument("dag_files", nargs="+", metavar="DAGFILE")
    watch.add_options(parser)
    add_submit_options(parser, (one for one in OPTIONS if one.attribute not in _OTHERS))


def run(arguments: argparse.Namespace) -> int:
    """Submit and watch; returns the DAG's exit code.

    Raises:
        PydagmanError: nothing was submitted; the message says why.
    """
    options = parse_submit([*submit_words(arguments), *arguments.dag_files])
    dag, submitted = arguments.dag_files[0], time.time()
    cluster = _submit(options, dag)
    say(f"{dag} is submitted; DAGMan is job {cluster}", error=True, flush=True)
    try:
        found = find_dag(dag, ask=False)._replace(
            cluster=cluster, state=DagState.IDLE, exit_code=None, submitted=submitted
        )
        return watch.watch([WatchedDag(found)], arguments)
    except PydagmanError as error:
        raise PydagmanError(
            f"{error}\nThe DAG continues. To watch it: condor_pydagman watch {dag}"
        ) from None


def _submit(options: SubmitOptions, dag: str) -> int:
    """Returns the cluster of DAGMan's job."""
    try:
        return submit_dag.submit_silently(options, before_run)
    except PydagmanError as error:
        if living_holder(options.paths().lock) is None:
            raise
        raise PydagmanError(f"{error}\nTo watch it: condor_pydagman watch {dag}") from None

"""`condor_pydagman logs`: what the jobs of a node have written."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial

from condor_pydagman.cli.copied_file import CopiedFiles
from condor_pydagman.cli.events import no_logs, plan_of
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.cli.which_node import no_such_node
from condor_pydagman.errors import UsageError
from condor_pydagman.follow.follower import Plan
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.dag_monitor import INTERVAL_S, DagMonitor
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.node_output import NodeOutput, Written
from condor_pydagman.monitor.plan import with_logs
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message, printable
from condor_pydagman.vocabulary import NodeKind

NOTHING_YET = 3  # exit code
_DESCRIPTION = """\
Print what the job of a node has written to standard output or standard error, wherever its submit
description puts it. Exit code: 0 if it was printed; 1 if it can't be, or there is no such DAG, node
or attempt; 2 if the command line is wrong; 3 if there is nothing yet, but may be later."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "logs", "print what the job of a node has written", _DESCRIPTION, run
    )
    parser.add_argument(
        "dag", metavar="DAG", help="the first DAG file, or the cluster of DAGMan's job"
    )
    parser.add_argument(
        "node", metavar="NODE", help="its full name; of a node of a sub-DAG, SUB+NODE"
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--err", action="store_true", help="print standard error")
    kinds.add_argument("--log", action="store_true", help="print the job's own event log")
    parser.add_argument(
        "--attempt",
        type=integer(1),
        metavar="N",
        help="of the N-th attempt (1 is the first; default: the last)",
    )
    parser.add_argument(
        "-f", "--follow", action="store_true", help="continue until the job has ended"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what was written; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG, node or attempt, or the node has no job.
    """
    kind = "log" if arguments.log else "error" if arguments.err else "output"
    monitor, output = output_of(find_dag(arguments.dag, ask=False), arguments.node, kind)
    copied = CopiedFiles(monitor.found.run_by, follow=arguments.follow)
    if arguments.follow:
        return _follow(monitor, output, copied, arguments.attempt)
    return _copy(copied, output.look(monitor.run, arguments.attempt, over=monitor.over))


def _copy(copied: CopiedFiles, written: Written) -> int:
    """Copy what is there, and say why more is not."""
    problems = copied.copy(written.files)
    for text in (*problems, *filter(None, [written.why])):
        _say(text)
    if written.files:
        return int(bool(problems))
    return NOTHING_YET if written.comes else 1


def _follow(monitor: DagMonitor, output: NodeOutput, copied: CopiedFiles, which: int | None) -> int:
    """Copy what comes until the attempt has ended, the last one that has begun by now."""
    told = ""
    while True:
        written = output.look(monitor.run, which, over=monitor.over)
        if not written.running:
            return _copy(copied, written)
        which = which or written.attempt
        copied.copy(written.files)
        if written.why and written.why != told:
            _say(written.why)
        told = written.why
        time.sleep(INTERVAL_S)
        monitor.read()


def output_of(
    found: FoundDag, name: str, kind: str, read: Callable[[FoundDag], Plan] = plan_of
) -> tuple[DagMonitor, NodeOutput]:
    """What a node writes, and the DAG that has it.

    Args:
        found: that DAG, or one whose sub-DAG it is.
        name: of the node.
        kind: `output`, `error` or `log`.
        read: reads the files of a DAG.

    Raises:
        PydagmanError: there is no such node, it has no job, or nothing is known of a run.
    """
    monitor, inner = _followed(found, name, read)
    _refuse_without_job(monitor, inner)
    return monitor, NodeOutput(monitor.found, monitor.tally().dag, inner, kind)


def _followed(
    found: FoundDag, name: str, read: Callable[[FoundDag], Plan]
) -> tuple[DagMonitor, str]:
    """The DAG that has the node, which can be a sub-DAG of the one named; and its name there.

    Raises:
        PydagmanError: there is no such node, or nothing of a run.
    """
    found = with_logs(found)
    monitor = DagMonitor(found, read_plan=partial(read, found))
    run = monitor.read()
    dag = monitor.tally().dag
    if (dag is not None and dag.find(name) is not None) or logged_name(name) in run.nodes:
        if not run.begun and monitor.problems:
            raise no_logs(monitor)
        return monitor, name
    inner = _sub_dag(dag, name) if dag is not None else None
    if dag is None or inner is None:
        known = dag.names if dag is not None else list(run.nodes)
        raise no_such_node(found.name, name, known)
    below = find_dag(shown(_file_of(found, dag, inner)), ask=False)
    return _followed(below, name[len(dag.names[inner]) + 1 :], read)


def _sub_dag(dag: Dag, name: str) -> int | None:
    """The SUBDAG node that a name begins with; of several the one with the longest name."""
    begun = [node for node in dag.subdags if name.startswith(f"{dag.names[node]}+")]
    return max(begun, key=lambda node: len(dag.names[node]), default=None)


def _file_of(found: FoundDag, dag: Dag, node: int) -> str:
    return os.path.join(found.directory, dag.directories.get(node, ""), dag.subdags[node])


def _refuse_without_job(monitor: DagMonitor, name: str) -> None:
    dag = monitor.tally().dag
    node = dag.find(name) if dag is not None else None
    if dag is None or node is None:
        return
    if dag.kinds[node] == NodeKind.SUBDAG:
        file = printable(shown(_file_of(monitor.found, dag, node)))
        raise UsageError(
            f"node {message(name)} is the DAG {file}: name one of its nodes, as {message(name)}"
            f"+NODE; condor_pydagman tail {file} shows what has happened in it"
        )
    if dag.is_noop(node):
        raise UsageError(f"node {message(name)} is a NOOP node, which has no job")


def _say(text: str) -> None:
    sys.stdout.flush()
    say(f"condor_pydagman: {text}", error=True)

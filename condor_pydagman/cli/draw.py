"""`condor_pydagman draw`: a picture of a DAG, as SVG or as an HTML page of its own."""

from __future__ import annotations

import argparse
import os

from condor_pydagman.adapters.files import DagFiles, text_of
from condor_pydagman.cli.output_file import write_output
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.errors import PydagmanError, UsageError
from condor_pydagman.garbage import collection_off
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.file_facts import size_of
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import known_plan, reopen_last_run
from condor_pydagman.monitor.watched_dag import MAX_LOG_BYTES
from condor_pydagman.picture import States, make_picture, node_ads, page, svg
from condor_pydagman.picture.graphviz import find_dot
from condor_pydagman.printable import number_of

FOLD_ABOVE = 300
MAX_FOLD = 3000  # the layout of more takes long, and the picture can't be read
_WRITERS = {".svg": svg, ".html": page, ".htm": page}
_DESCRIPTION = """\
Draw a DAG of any size. Nodes are coloured by their states in the last run, as its logs have them.
If there are more than a few hundred boxes, splices and similar nodes are folded into one box
each."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(subparsers, "draw", "draw a DAG as SVG or HTML", _DESCRIPTION, run)
    parser.add_argument("dag_files", nargs="+", metavar="DAGFILE")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="file to write, .svg or .html (default: the name of the first DAGFILE plus .svg)",
    )
    parser.add_argument(
        "--fold",
        type=integer(1, MAX_FOLD),
        default=FOLD_ABOVE,
        metavar="N",
        help=f"fold if there are more than N boxes, at most {MAX_FOLD} (default: {FOLD_ABOVE})",
    )
    state = parser.add_mutually_exclusive_group()
    state.add_argument(
        "--status",
        metavar="FILE",
        help="take the states from this node status file (default: from the logs of the last run;"
        " if they are gone, or larger than 32 MB, from the node status file that the DAG names)",
    )
    state.add_argument("--no-status", action="store_true", help="draw the DAG as before a run")
    parser.add_argument(
        "--rescue",
        metavar="FILE",
        help="show the nodes of this rescue file as done, whatever the logs say",
    )
    parser.add_argument(
        "--grown", action="store_true", help="include all nodes that the last run added to the DAG"
    )
    parser.add_argument(
        "--direction",
        choices=("TB", "LR"),
        default="TB",
        help="direction of edges: top to bottom (TB, the default) or left to right (LR)",
    )
    parser.add_argument(
        "--usedagdir", action="store_true", help="as the option of condor_submit_dag"
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw what the command line says; returns the exit code.

    Raises:
        PydagmanError: the message is for the user, and nothing has been written.
    """
    output = arguments.output or arguments.dag_files[0] + ".svg"
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in _WRITERS:
        raise UsageError(f"{output}: the name of the output file must end in .svg or .html")
    run_dot = find_dot()
    with collection_off():
        dag = _dag(arguments)
        states = _states(dag, arguments)
        names = [os.path.basename(file) for file in arguments.dag_files]
        title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        picture = make_picture(
            dag,
            states,
            title,
            run_dot,
            fold_above=arguments.fold,
            left_to_right=arguments.direction == "LR",
        )
        write_output(output, _WRITERS[suffix](picture))
    boxes = len(picture.sketch.boxes)
    say(f"{output}: {number_of(len(dag), 'node')} in {boxes:,} box{'' if boxes == 1 else 'es'}")
    return 0


def _dag(arguments: argparse.Namespace) -> Dag:
    options = BuildOptions(
        allow_any_node_name_characters=True, use_dag_dir=arguments.usedagdir, cwd=os.getcwd()
    )
    try:
        dag = build(arguments.dag_files, DagFiles().read, options)
        if arguments.grown:
            reopen_last_run(dag, arguments.dag_files)
        if arguments.rescue:
            apply_progress(dag, text_of(arguments.rescue, "rescue file"), arguments.rescue)
    except DagFileErrors as errors:
        raise PydagmanError(errors.detail()) from None
    if not len(dag):
        raise PydagmanError(f"{arguments.dag_files[0]} has no nodes: there is nothing to draw")
    return dag


def _states(dag: Dag, arguments: argparse.Namespace) -> States:
    states, file = States(dag), arguments.status
    if arguments.no_status:
        return states
    if not file and dag.status_file is not None:
        file = _find_near_dag(arguments, dag.status_file.file)
    if (
        not arguments.status
        and not arguments.rescue
        and _shows_run(states, dag, arguments.dag_files[0], file)
    ):
        return states
    if not file:
        return states
    states.apply_ads(dag, node_ads(text_of(file, "node status file"), file))
    if states.unknown:
        say(
            f"condor_pydagman: {file} has {number_of(states.unknown, 'node')} that the DAG does"
            " not have; does it belong to another DAG, or to an older version of this one?",
            error=True,
        )
    return states


def _shows_run(states: States, dag: Dag, primary: str, file: str | None) -> bool:
    """Show the last run, if its logs are there.

    Args:
        file: the status file, which is read in no time if the logs are huge.
    """
    found = find_dag(primary, ask=False)
    if not found.has_files or (file and size_of(found.nodes_log) > MAX_LOG_BYTES):
        return False
    run = DagMonitor(found, read_plan=lambda: known_plan(found)).read()
    states.apply_run(dag, run)
    return run.complete


def _find_near_dag(arguments: argparse.Namespace, file: str) -> str | None:
    """Path of the DAG's status file: in the working directory, or beside the DAG file."""
    directories = ["", os.path.dirname(arguments.dag_files[0])]
    paths = [os.path.join(directory, file) for directory in directories]
    return next((path for path in paths if os.path.isfile(path)), None)

"""`condor_pydagman flatten`: a DAG with all its splices and includes as one DAG file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain

from condor_pydagman.adapters.files import DagFiles
from condor_pydagman.cli.output_file import write_output
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import JOIN
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.language.commands import ConfigFile
from condor_pydagman.language.parser import lines_of, manager_commands

_HEAD = """\
# {files} as one file, made by condor_pydagman flatten.
"""
_WITH_SPLICES = """\
# Names of nodes in splices hold a '+': run it with DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS = True.
"""
_WITH_JOINS = """\
# Join nodes are nodes already: run it with DAGMAN_USE_JOIN_NODES = False.
"""
_WITHOUT_BUNDLES = """\
# BUNDLE is left out: each node has a job of its own.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers,
        "flatten",
        "write a DAG and all files that it includes as one DAG file",
        "Write one DAG file that is equivalent to the given ones, with their splices"
        " and includes: to see what DAGMan makes of them, or for use with other tools.",
        run,
    )
    parser.add_argument("dag_files", metavar="DAGFILE", nargs="+")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument(
        "--grown", action="store_true", help="include all nodes that the last run added to the DAG"
    )
    parser.add_argument(
        "--usedagdir", action="store_true", help="as the option of condor_submit_dag"
    )
    parser.add_argument(
        "--without-bundles",
        action="store_true",
        help="leave out BUNDLE, which the stock condor_dagman does not know: each node has a job of"
        " its own",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the file.

    Raises:
        PydagmanError: the DAG is wrong, or has what one file can't say.
    """
    options = BuildOptions(use_dag_dir=arguments.usedagdir, cwd=os.getcwd())
    head = _HEAD.format(files=", ".join(arguments.dag_files))
    try:
        dag = build(arguments.dag_files, DagFiles().read, options)
        if arguments.grown:
            from condor_pydagman.monitor.plan import reopen_last_run  # late: it loads much

            reopen_last_run(dag, arguments.dag_files)
        lines: Iterable[str] = chain(_submit_lines(arguments), dag_lines(dag))
        if any("+" in name for name in dag.names):
            head += _WITH_SPLICES
        if any(flags & JOIN for flags in dag.flags):
            head += _WITH_JOINS
        if arguments.without_bundles:
            head += _WITHOUT_BUNDLES
            lines = (line for line in lines if not line.startswith("BUNDLE "))
        text = [head, *(line + "\n" for line in lines)]
    except DagFileErrors as errors:
        raise PydagmanError(errors.detail()) from None
    except ValueError as error:
        raise PydagmanError(f"this DAG can't be written as one file: {error}") from None
    if arguments.output:
        write_output(arguments.output, text)
    elif sys.stdout is not None:
        sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
        sys.stdout.writelines(text)
    return 0


def _submit_lines(arguments: argparse.Namespace) -> Iterator[str]:
    """The lines that condor_submit_dag applies; a Dag does not hold them."""
    for path in arguments.dag_files:
        for command in manager_commands("".join(DagFiles().read(path)), path):
            if arguments.usedagdir and isinstance(command, ConfigFile):
                place = os.path.realpath(os.path.dirname(path))
                command = command._replace(file=os.path.join(place, command.file))
            yield lines_of(command)

"""Makes the submit file of a SUBDAG node when the node is about to be submitted.

The modules for that are imported only for a DAG with such nodes, see `preload`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from condor_pydagman.adapters.files import working_directory
from condor_pydagman.errors import CannotPrepare, FileError, PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.records import rescue

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.dagman_job.options import DagmanOptions


def preload() -> None:
    """Import what `prepare` needs before the DAG begins: another version may be installed while the
    DAG runs, and modules of two versions must not be mixed."""
    from condor_pydagman.adapters import config_file  # noqa: F401  (a sub-DAG may have one)
    from condor_pydagman.dagman_job import nested_dags  # noqa: F401


def prepare(
    dag: Dag,
    node: int,
    options: DagmanOptions,
    *,
    priority: int,
    retry: int,
    config: Config,
    say: Callable[[str], None],
) -> None:
    """Write `<DAG file>.condor.sub` in the node's directory, unless the configuration forbids it.

    As stock DAGMan does, by the options of our own command line that are for nested DAGs too; the
    DAG's CONFIG file does not count (manual: "A DAG Within a DAG Is a SUBDAG").  What the nested
    condor_submit_dag of stock prints goes to our standard output and error.

    Args:
        node: a node in `dag.subdags`; a FINAL node may be one.
        options: DAGMan's own command line.
        priority: the node's effective priority, 0 for none.
        retry: which try of the node it is, 0 the first: -force is for that one only.
        say: told what belongs into `.dagman.out`.

    Raises:
        CannotPrepare: the node can't be submitted.
    """
    if not config.generate_subdag_submits:
        return
    from condor_pydagman.dagman_job import nested_dags
    from condor_pydagman.dagman_job.output import Output

    file, name = dag.subdags[node], dag.names[node]
    directory = dag.directories.get(node, "")
    nested = nested_dags.nested(
        _with_rescue_number(options), file, force=options.force and not retry, priority=priority
    )
    _refuse_itself(name, directory, file, options)
    output = Output(out=_print, err=lambda text: _print(text, error=True))
    try:
        with working_directory(directory):
            say(nested_dags.command_line(nested))
            nested_dags.write(nested, output, dict(os.environ))
    except PydagmanError as error:
        output.err(nested_dags.error_text(error))
        say(f"ERROR: condor_submit_dag -no_submit failed on DAG file {file}.")
        passing = isinstance(error, FileError) and error.transient
        raise CannotPrepare(name, _in_one_line(str(error)), transient=passing) from None
    except OSError as error:
        reason = f"can't work in the node's directory {directory or '.'}: {error.strerror}"
        raise CannotPrepare(name, reason) from None


def _with_rescue_number(options: DagmanOptions) -> DagmanOptions:
    """With -RescueFile a sub-DAG starts from its own rescue file of the same number, if the name
    has one."""
    number = rescue.number_of(options.rescue_file, options.paths()) if options.rescue_file else 0
    return options._replace(do_rescue_from=number) if number else options


def _refuse_itself(name: str, directory: str, file: str, options: DagmanOptions) -> None:
    """Refuse a node whose DAG file is the running DAG: preparing it would delete its files."""
    wanted = os.path.realpath(os.path.join(directory, file))
    if wanted in [os.path.realpath(own) for own in options.dag_files]:
        raise CannotPrepare(name, f"{file} is this DAG itself; name another DAG file")


def _in_one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(
        line[len("ERROR: ") :] if line.startswith("ERROR: ") else line for line in lines
    )


def _print(text: str, error: bool = False) -> None:
    with contextlib.suppress(OSError, UnicodeError):  # a full disk, an odd file name
        print(text, file=sys.stderr if error else sys.stdout, flush=True)

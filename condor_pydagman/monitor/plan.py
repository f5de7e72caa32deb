"""What a DAG says of its nodes, for readers of its logs: the Dag as DAGMan has read it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from condor_pydagman.adapters.files import DagFiles, living_holder, read_text, working_directory
from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.config import Config
from condor_pydagman.dagman_job.options import leave_out
from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.feature_table import Given, offered
from condor_pydagman.follow.follower import Plan, unknown_plan
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import ENDS, log_events
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.garbage import collection_off
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.monitor.file_facts import size_of
from condor_pydagman.monitor.followed_file import FollowedFile
from condor_pydagman.monitor.found_dag import HEAD_BYTES, FoundDag
from condor_pydagman.monitor.node_descriptions import SubmittedOnHold
from condor_pydagman.names import DagPaths
from condor_pydagman.records.dagman_out import BEGIN_OF_RUN, OutKind, OutLine, knobs_of, out_lines
from condor_pydagman.vocabulary import JournalRecord

MAX_SMALL_BYTES = 4 << 20  # of DAG files and what was added; they are read in half a second


def read_plan(found: FoundDag) -> Plan:
    """Read the DAG files of a DAG, and the rescue file that its last run began with, if it is still
    there; without any log of a run, the one that the next begins with.

    Raises:
        PydagmanError: they are gone, or can't be read: what happened can be told all the same.
    """
    is_new = found.state is DagState.NOT_STARTED
    dag = _read(found, found.next_rescue if is_new else rescue_of_last_run(found))
    return Plan(dag, Given(dag, found.paths), SubmittedOnHold(found, dag))


def read_small_plan(found: FoundDag) -> Plan:
    """As `known_plan`, for those who have no time to lose: unknown as well if the DAG files have
    more than MAX_SMALL_BYTES."""
    files = [os.path.join(found.directory, file) for file in found.files]
    files.append(found.paths.grown)
    return known_plan(found) if sum(map(size_of, files)) <= MAX_SMALL_BYTES else unknown_plan()


def known_plan(found: FoundDag) -> Plan:
    """As `read_plan`; that of an unknown DAG if the DAG files can't be read."""
    try:
        return read_plan(found)
    except PydagmanError:
        return unknown_plan()


def read_dag(found: FoundDag, rescue: str = "") -> Dag:
    """Read the DAG files of a DAG, as DAGMan does.

    Args:
        rescue: name of a rescue or save file, relative to the submit directory; one that is not
            there is passed over.

    Raises:
        PydagmanError: they are gone, or can't be read.
    """
    dag = _read(found, rescue)
    _reopen(dag, found.paths, found.nodes_log)
    return dag


def reopen_last_run(dag: Dag, dag_files: Sequence[str]) -> None:
    """Add to a DAG, as its files give it, what its last run has added.

    Raises:
        PydagmanError: some of that is missing.
    """
    paths = DagPaths(dag_files[0], len(dag_files) > 1)
    _reopen(dag, paths, f"{paths.primary}.nodes.log")


def _reopen(dag: Dag, paths: DagPaths, nodes_log: str) -> None:
    if os.path.exists(paths.grown):
        for reopen in offered("adapters.reopened", "reopen"):
            reopen(dag, paths, nodes_log)


def _read(found: FoundDag, rescue: str) -> Dag:
    """The Dag as its last run began with it."""
    options = BuildOptions(
        allow_any_node_name_characters=True,
        use_dag_dir=found.options.use_dag_dir,
        cwd=found.directory,
        munge_node_names=len(found.files) < 2 or _is_munged(found),
    )
    try:
        with collection_off(), working_directory(found.directory):
            dag = build(list(found.files), DagFiles().read, options)
            if rescue and os.path.exists(rescue):
                given = Given(dag, found.paths)
                apply_progress(dag, read_text(rescue), rescue, options, given)
            leave_out(dag, found.options)
    except DagFileErrors as errors:
        raise PydagmanError(errors.detail()) from None
    except OSError as error:
        raise PydagmanError(f"can't read the DAG of {found.name}: {error.strerror}") from None
    return dag


def _is_munged(found: FoundDag) -> bool:
    """Whether names of nodes of several DAG files have prefixes: as the nodes log says at its
    beginning, or else, as the stock program's does not, `.dagman.out`."""
    text = FollowedFile(found.nodes_log, *ENDS).read(HEAD_BYTES)
    for event in log_events(text, 0, LocalTimes(logged_minute, 0)):
        if event.record == JournalRecord.CONFIG:
            return Config().with_deciding(event.text).munge_node_names
    told: dict[str, int] = {}
    for line in _first_lines(found):
        told.update(knobs_of(line))
    return bool(told.get("munge_node_names", True))


def rescue_of_last_run(found: FoundDag) -> str:
    """The rescue or save file that the last run began with, as DAGMan was given it; '' if none."""
    names = [line.text for line in _first_lines(found) if line.what is OutKind.RESCUE_READ]
    return names[0] if names else ""


def begin_of_last_run(found: FoundDag) -> float:
    """When the last run began, seconds since the epoch; 0.0 if that is not known."""
    return next((line.time for line in _first_lines(found)), 0.0)


def is_of_earlier_run(found: FoundDag) -> bool:
    """Whether the logs are of a later run than that of the DAGMan job, which has ended."""
    if not found.ended:
        return False
    holder, left = living_holder(found.paths.lock), found.left_queue_at
    if holder is not None and found.cluster not in (0, holder.cluster):
        return True
    return bool(left) and begin_of_last_run(found) > left + 1


def with_logs(found: FoundDag) -> FoundDag:
    """The same DAG, if its logs can tell of the run of its DAGMan job.

    Raises:
        FileError: they are of a later run.
    """
    if is_of_earlier_run(found):
        raise FileError(
            f"the logs of {found.name} are of a later run than job {found.cluster}: name the DAG"
            f" file to see the last run, or use condor_pydagman explain {found.cluster}"
        )
    return found


def _first_lines(found: FoundDag) -> Iterator[OutLine]:
    """The first lines that DAGMan wrote in the last run."""
    file = FollowedFile(found.out, b"\n")
    file.offset = file.line_of_last(*BEGIN_OF_RUN)
    return out_lines(file.read(HEAD_BYTES), 0, LocalTimes(logged_minute, 0).seconds)

"""What the jobs of one attempt of a node have written: in which files, or why it is in none yet."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from condor_pydagman.errors import PoolError, UsageError
from condor_pydagman.follow.follower import Plan
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.follow.shown_states import LOOKS, shown_state
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.data_node_logs import output_of_worker
from condor_pydagman.monitor.file_facts import changed_at, shown
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.job_files import JobFiles, by_ads, by_description, same_files
from condor_pydagman.monitor.plan import with_logs
from condor_pydagman.monitor.which_node import no_such_node
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message, number_of, printable
from condor_pydagman.vocabulary import NodeKind, NodeStatus

_CLOCK_S = 1.0  # by which times of files may differ from those of the log


class Written(NamedTuple):
    """What can be read."""

    # absolute paths, each with the jobs that write it, as `CLUSTER.PROC`
    files: Mapping[str, Sequence[str]] = {}
    why: str = ""  # why there is none, or not all, in a sentence; '' if that is all
    comes: bool = False  # whether more can come
    running: bool = False  # whether the attempt has not ended
    attempt: int | None = None  # its number, from 1; None if none has begun
    reader: tuple[int, int] = (-1, -1)  # user and group who can read it


class NodeOutput:
    """The output of one node.

    Args:
        found: the DAG that has it.
        dag: as it was read; None if it can't be.
        name: of the node.
        kind: `output`, `error` or `log`.
    """

    def __init__(self, found: FoundDag, dag: Dag | None, name: str, kind: str) -> None:
        self._found, self._dag, self._name, self._kind = found, dag, name, kind
        self._what = "log" if kind == "log" else f"standard {kind}"
        self._node = dag.find(name) if dag is not None else None
        self._known: dict[tuple[int, int], list[JobFiles]] = {}
        self._silent = ""  # why the schedd did not answer

    def look(self, run: Run, which: int | None, *, over: bool) -> Written:
        """How it stands.

        Args:
            which: number of the attempt, from 1; None for the last.
            over: whether the run of the DAG has ended.

        Raises:
            UsageError: there is no such attempt, or its output is overwritten.
        """
        node = run.nodes.get(logged_name(self._name)) or NodeRun(self._name)
        most = len(node.attempts)
        if which is not None and (which < 1 or 0 < most < which):
            had = f"{self._title()} has had {number_of(most, 'attempt')}"
            raise UsageError(f"{had}: there is no attempt {which}, 1 is the first")
        if not node.attempts:
            return self._not_started(node, over=over, last=which is None)
        attempt = node.attempts[-1 if which is None else which - 1]
        self._refuse_overwritten(node, attempt)
        return self._of_attempt(attempt, over=over)._replace(attempt=attempt.number + 1)

    def _worker(self) -> str:
        """The log of the worker of a DATA node."""
        if self._dag is None or self._node is None:
            return ""
        return output_of_worker(self._found, self._dag, self._node)

    def _title(self) -> str:
        return f"node {message(self._name)}"

    def _not_started(self, node: NodeRun, *, over: bool, last: bool) -> Written:
        why = f"{self._title()} has not run: it is {LOOKS[shown_state(node)].word}"
        if node.status is NodeStatus.DONE and last:
            return self._of_earlier_run(why)
        comes = not over and node.status not in (NodeStatus.ERROR, NodeStatus.FUTILE)
        return Written({}, why, comes=comes, running=comes)

    def _of_earlier_run(self, why: str) -> Written:
        """What is there of a node that had not to run in this run of the DAG."""
        if self._dag is None or self._node is None:
            return Written({}, why)
        jobs = by_description(self._found, self._dag, self._node, None)
        files = {path: () for path in same_files(jobs, self._kind) if os.path.isfile(path)}
        if not files:
            return Written({}, why)
        named = ", ".join(printable(shown(path)) for path in files)
        return Written(files, f"{why}; {named} is of an earlier run of the DAG")

    def _of_attempt(self, attempt: Attempt, *, over: bool) -> Written:
        queued, worker = attempt.queued_as, self._worker()
        if worker:  # all attempts of it are in one file
            running = attempt.in_queue and not over
            return Written({worker: [attempt.job]}, comes=running, running=running)
        ended = over or bool(attempt.procs and not attempt.in_queue) or attempt.over
        if not queued.procs:
            return self._without_job(attempt, ended=ended)
        if not queued.started:
            stands = f"is {'on hold' if queued.held else 'idle'} and has not run yet"
            state = "left the queue before it ran" if ended else stands
            why = f"{self._job(attempt)} {state}{self._before(attempt)}"
            return Written({}, why, comes=not ended, running=not ended)
        return self._of_jobs(attempt, ended=ended)

    def _without_job(self, attempt: Attempt, *, ended: bool) -> Written:
        why = f"{self._title()} has no job in attempt {attempt.number + 1}"
        if attempt.reason:
            why += f": {message(attempt.reason)}"
        elif not ended:
            why += " yet"
        return Written({}, why, comes=not ended, running=not ended)

    def _of_jobs(self, attempt: Attempt, *, ended: bool) -> Written:
        jobs = self._jobs(attempt)
        if not jobs:
            return Written({}, self._unknown(attempt), running=not ended)
        files = same_files(jobs, self._kind)
        if not files:
            why = (
                f"{self._job(attempt)} keeps no {self._what}: its submit description has"
                f" no {self._kind} = FILE"
            )
            return Written({}, why)
        if ended:
            return Written({path: [one.job for one in of] for path, of in files.items()})
        here = {path: of for path, of in files.items() if self._is_here(path, of, attempt)}
        why = "" if len(here) == len(files) else self._not_here(attempt, jobs)
        listed = {path: [one.job for one in of] for path, of in here.items()}
        return Written(listed, why, comes=True, running=True)

    def _is_here(self, path: str, jobs: Sequence[JobFiles], attempt: Attempt) -> bool:
        """Whether a file is what jobs that run have written, not what was there before them."""
        if all(one.comes_at_end(self._kind) for one in jobs):
            return attempt.ended_procs > 0 and self._is_new(path, attempt)
        return self._is_new(path, attempt)

    def _is_new(self, path: str, attempt: Attempt) -> bool:
        return changed_at(path) >= attempt.queued_as.started - _CLOCK_S

    def _not_here(self, attempt: Attempt, jobs: Sequence[JobFiles]) -> str:
        which = self._job(attempt)
        at_end = (
            f"comes home when it has ended, as its files are transferred: stream_{self._kind} ="
            " true in its submit description changes that. HTCondor's Python bindings can't look"
            f" into a job that runs; condor_tail {attempt.queued_as.job} can"
        )
        if any(one.comes_at_end(self._kind) for one in jobs):
            return f"{which} runs, and its {self._what} {at_end}"
        return (
            f"{which} runs, and has written nothing here yet. If its files are transferred, its"
            f" {self._what} comes home when it has ended"
        )

    def _job(self, attempt: Attempt) -> str:
        """What to call the jobs of an attempt in a sentence."""
        carrier = f", with others in {attempt.carrier.name}," if attempt.carrier else ""
        job, procs = attempt.queued_as.job, attempt.procs
        what = f"job {job}" if procs < 2 else f"cluster {attempt.cluster} of {procs} jobs"
        return f"{what} of {self._title()}{carrier}"

    def _before(self, attempt: Attempt) -> str:
        if not attempt.number:
            return ""
        return f"; --attempt {attempt.number} shows what the attempt before wrote"

    def _unknown(self, attempt: Attempt) -> str:
        silent = f": {self._silent}" if self._silent else ""
        return (
            f"it is not known where {self._job(attempt)} writes: its ad can't be had{silent}; and"
            " its submit description can't be read, or names a file or command that is not"
        )

    def _jobs(self, attempt: Attempt) -> list[JobFiles]:
        """What is known of them, asked once for as many as there are."""
        key = attempt.number, attempt.procs
        if key not in self._known:
            self._known[key] = self._found_out(attempt)
        return self._known[key]

    def _found_out(self, attempt: Attempt) -> list[JobFiles]:
        """By ads, and by the description where these are missing."""
        try:
            told = {one.job: one for one in by_ads(attempt, self._name)}
        except PoolError as error:
            self._silent, told = str(error), {}
        if len(told) < max(attempt.procs, 1) and self._dag is not None and self._node is not None:
            described = by_description(
                self._found, self._dag, self._node, attempt, most=attempt.procs
            )
            told = {**{one.job: one for one in described}, **told}
        return list(told.values())

    def _refuse_overwritten(self, node: NodeRun, attempt: Attempt) -> None:
        """Refuse an attempt whose file a later one has written over."""
        later = [one for one in node.attempts if one.number > attempt.number]
        begun = [one for one in later if one.queued_as.started]
        if not begun or self._kind == "log" or self._worker():  # HTCondor adds to a job's log
            return
        new = same_files(self._jobs(begun[-1]), self._kind)
        for path in same_files(self._jobs(attempt), self._kind):
            if path in new:
                raise UsageError(
                    f"all attempts of {self._title()} write {printable(shown(path))}, each over"
                    f" what the one before wrote: it has only the output of the last, attempt"
                    f" {begun[-1].number + 1}. $(RETRY) in the name of the file keeps all"
                )


def output_of_node(
    found: FoundDag, name: str, kind: str, read: Callable[[FoundDag], Plan]
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
            raise monitor.no_logs()
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

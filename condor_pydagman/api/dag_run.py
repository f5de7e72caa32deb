"""A run of a DAG as one object: how it stands, its end, its events, its tables, commands to it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from condor_pydagman.adapters import request_client
from condor_pydagman.adapters.request_client import SteeringAnswer
from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.api.dag_state import DagStatus
from condor_pydagman.api.live_view import LiveView, display_of_kernel
from condor_pydagman.api.node_logs import NodeLogs, logs_of
from condor_pydagman.api.run_end import RunEnd, Until
from condor_pydagman.api.run_events import RunEvents
from condor_pydagman.api.run_explanation import RunExplanation
from condor_pydagman.api.run_glance import Glance, is_large
from condor_pydagman.api.run_identity import RunIdentity
from condor_pydagman.api.run_report import RunReport
from condor_pydagman.api.run_tables import Row, attempt_rows, frame, statistics_rows
from condor_pydagman.cli.report_command import page
from condor_pydagman.errors import FileError, PoolError, PydagmanError, UsageError
from condor_pydagman.explain.explained import explained
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.run_model import OVER, DagState
from condor_pydagman.monitor.dagman_job_commands import act_on
from condor_pydagman.monitor.told_runs import Told, check_has_run, told_of
from condor_pydagman.printable import printable, printable_lines
from condor_pydagman.report.attempt_table import fields

INTERVAL_S = 2.0  # between looks of a view
MAX_INTERVAL_S = 86400.0


class DagRun:
    """A DAG that waits in the queue, runs, or has run.

    It holds nothing of the run: all is read from the files beside the DAG, or asked of the schedd,
    when it is wanted.  Another process can make another one at any time.

    Args:
        dag: the first DAG file as condor_submit_dag was given it, for the last run of the DAG; or
            the cluster of DAGMan's job, for the run of that job.
        messages: those of its submission.

    Attributes:
        messages: the warnings of condor_submit_dag, if this process has submitted the DAG; else ().

    Raises:
        FileError: there is no such DAG file, nor a run of it.
        PoolError: a cluster was given, and the schedd does not answer, or has no such job.
        UsageError: `dag` is a directory.
    """

    def __init__(self, dag: StrPath | int, *, messages: Sequence[str] = ()) -> None:
        self._run = RunIdentity(dag)
        self.messages = tuple(messages)
        self._view: LiveView | None = None

    def __repr__(self) -> str:
        job = f", job {self._run.job}" if self._run.job is not None else ""
        return f"<DagRun of {printable(self.dag_file)}{job}>"

    @property
    def dag_file(self) -> str:
        """Path of the first DAG file, absolute."""
        return self._run.path

    @property
    def cluster(self) -> int | None:
        """Of DAGMan's job; None if it is not known: of a DAG that a file names, after its end."""
        return self._run.cluster

    @property
    def status(self) -> DagStatus:
        """How it stands now.

        Raises:
            FileError: its files are gone.
            PoolError: the schedd must be asked, and does not answer, or has no such job.
        """
        return self._run.standing().status

    def wait(self, timeout: float | None = None, until: Until | None = None) -> DagStatus:
        """Wait until the run has ended; returns how it stands then.

        A DAG that is idle, halted or held, whose DAGMan is started again, or whose schedd is away
        for a while, is waited for.  An interrupted one with which nothing will go on has ended.

        Args:
            timeout: seconds; None for no limit.
            until: called with each new DagStatus, if it is wanted sooner: a true answer ends the
                waiting.

        Raises:
            DagTimeout: the time is over.  It is a TimeoutError, its `status` says how the DAG
                stands, and its message why, if DAGMan's job is held.
            FileError: the DAG was not submitted, or its files were removed.
            PoolError: the schedd has no such job.
        """
        end = RunEnd(self._run, until, timeout)
        while True:
            status = end.look()
            if status is not None:
                return status
            time.sleep(end.pause())

    async def wait_async(
        self, timeout: float | None = None, until: Until | None = None
    ) -> DagStatus:
        """As `wait`, for a program with an asyncio loop; it can be cancelled.

        It needs no thread: looks take little, except that a schedd that is slow to answer holds
        the loop up.
        """
        end = RunEnd(self._run, until, timeout)
        while True:
            status = end.look()
            if status is not None:
                return status
            await asyncio.sleep(end.pause())

    def events(self, since: str = "", *, follow: bool = True) -> Iterator[DagEvent]:
        """What has happened in the run, oldest first, and what happens until its end.

        Args:
            since: the `id` of the last event that is known already, '' for none.
            follow: whether to wait for what happens next.

        Raises:
            FileError: its files are gone, also later while they are read, or of a later run.
            PoolError: the schedd must be asked, and does not answer.
            UsageError: `since` is not the id of an event.
        """
        return _events(RunEvents(self._run, since, follow=follow))

    async def events_async(
        self, since: str = "", *, follow: bool = True
    ) -> AsyncIterator[DagEvent]:
        """As `events`, for `async for`; it needs no thread, and ends when it is cancelled."""
        source = RunEvents(self._run, since, follow=follow)
        while not source.over:
            for event in source.read():
                yield event
            if not source.over:
                await asyncio.sleep(source.pause)

    def steer(self, command: str, *nodes: str, **options: Any) -> SteeringAnswer:
        """Ask something of nodes of the DAG, or of the DAG, while it runs.

        Args:
            command: such as `rerun`, `cancel`, `halt`.
            nodes: their names; or choose them with `pattern`, `state`, `category` or `group`.
            options: as for the function `steer`.

        Raises:
            FileError: no DAGMan of the caller's runs this DAG on this machine, or it does so as
                another job than that of this run.
            UsageError: the request is wrong; the message of DAGMan says why.
        """
        self._run.refuse_later()
        try:
            return request_client.steer(self.dag_file, command, nodes, **options)
        except FileError as error:
            raise self._over() or error from None

    def _over(self) -> FileError | None:
        """Why it can't be steered, if it has ended."""
        try:
            state = self.status.state
        except PydagmanError:
            return None
        if state not in OVER:
            return None
        again = "" if state is DagState.SUCCEEDED else "; submitted again, it goes on from there"
        return FileError(f"the run of {self.dag_file} is over ({state.value}){again}")

    def remove(self, reason: str = "") -> None:
        """End the DAG, as condor_rm does: its jobs are removed, and a rescue file is written.

        Raises:
            PoolError: the schedd does not answer or refuses; there is no job in the queue, say.
        """
        act_on(self._job(), "Remove", reason)

    def hold(self, reason: str = "") -> None:
        """Put DAGMan's job on hold: nothing is submitted until `release`; jobs in the queue go on.

        To have DAGMan stay and only submit nothing: `steer("halt")`.

        Raises:
            PoolError: as of `remove`.
        """
        act_on(self._job(), "Hold", reason)

    def release(self, reason: str = "") -> None:
        """Release DAGMan's job: the DAG goes on where it was.

        Raises:
            PoolError: as of `remove`.
        """
        act_on(self._job(), "Release", reason)

    def attempts(self, *, all_runs: bool = False) -> list[Row]:
        """A dictionary for each attempt of a node, with the fields of
        `condor_pydagman report --format json`: node, job, times in seconds since the epoch, exit
        code or negative signal, hosts, CPU time, memory.

        Args:
            all_runs: those of earlier runs as well; the field `run` numbers them.
        """
        return attempt_rows(self._told(all_runs))

    def statistics(self, *, all_runs: bool = False) -> list[Row]:
        """A dictionary for the nodes of each submit description: how many, and how long they took;
        seconds, mean and greatest of an attempt."""
        return statistics_rows(self._told(all_runs))

    def to_frame(self, *, all_runs: bool = False) -> Any:
        """`attempts` as a DataFrame of pandas, with times as timestamps in UTC.

        Raises:
            UsageError: pandas is not installed.
        """
        return frame(self.attempts(all_runs=all_runs), fields(all_runs=all_runs))

    def report(self, *, all_runs: bool = False, rows: int = 25, picture: bool = True) -> RunReport:
        """The page that `condor_pydagman report` writes, to be saved or shown in a notebook.

        Args:
            rows: of a table, 0 for all.
            picture: whether it has the picture of the DAG.

        Raises:
            FileError: nothing is known of a run.
        """
        told = self._told(all_runs)
        check_has_run(told)
        pieces = page(told, time.time(), most_rows=rows, with_picture=picture)
        return RunReport(self.dag_file, "".join(pieces))

    def explain(self, node: str = "") -> RunExplanation:
        """Why it does not go on, or has failed; or why a node of it is in its state: what
        `condor_pydagman explain` finds out.

        Args:
            node: its full name; '' for the whole DAG.

        Raises:
            FileError: its files are gone.
            PoolError: the schedd must be asked, and does not answer, or has no such job.
            UsageError: it has no such node.
        """
        return RunExplanation(*explained(self._run.found(ask=True), node))

    def logs(self, node: str, *, err: bool = False, attempt: int | None = None) -> NodeLogs:
        """What the job of a node has written to standard output: `print(run.logs("A"))`.

        Args:
            node: its full name; of a node of a sub-DAG, SUB+NODE.
            err: standard error instead.
            attempt: which attempt, 1 for the first; None for the last.

        Raises:
            FileError: nothing is known of the run.
            UsageError: there is no such node or attempt, it has no job, or a later attempt has
                written over it.
        """
        return logs_of(self._run.found(), node, "error" if err else "output", attempt)

    def show(self, interval: float = INTERVAL_S) -> None:
        """Show the run in a cell of a notebook, live until it ends or `show` is called again.

        Elsewhere it is printed once.

        Args:
            interval: seconds between two looks, a day at most.

        Raises:
            UsageError: it is not.
        """
        if not 0 <= interval <= MAX_INTERVAL_S:
            raise UsageError(f"interval is {interval}: give a number of seconds, a day at most")
        display = display_of_kernel()
        if display is None:
            print(self._repr_mimebundle_()["text/plain"])
            return
        if self._view is not None:
            self._view.close()
        self._view = LiveView(self._run, self._run.found(), interval, display)

    def _ipython_display_(self) -> None:
        """Have a large run looked at while the kernel goes on: NotImplementedError has IPython show
        a small one by `_repr_mimebundle_`."""
        display = display_of_kernel()
        try:
            found = self._run.found()
        except PydagmanError:
            raise NotImplementedError from None
        if display is None or not is_large(found):
            raise NotImplementedError
        LiveView(self._run, found, None, display)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """How it stands now, or why that can't be told, for notebooks."""
        try:
            return Glance(self._run.found()).look()
        except PydagmanError as error:
            return {"text/plain": f"{self!r}\n{printable_lines(str(error))}"}

    def _told(self, all_runs: bool) -> Told:
        return told_of(self._run.found(), all_runs=all_runs)

    def _job(self) -> int:
        cluster = self.cluster
        if not cluster:
            name = os.path.basename(self.dag_file)
            raise PoolError(f"{name} has no DAGMan job in the queue", transient=False)
        return cluster


def _events(source: RunEvents) -> Iterator[DagEvent]:
    while not source.over:
        yield from source.read()
        if not source.over:
            time.sleep(source.pause)

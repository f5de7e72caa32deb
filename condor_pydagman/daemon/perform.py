"""Performs the engine's actions through the adapters, and queues their results as inputs.

No decisions here: an error of an adapter becomes the input that reports it.  Requests to the schedd
and writes to the nodes log do not block; their results are later inputs (see `ports.py`).
"""

from __future__ import annotations

import os.path
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from condor_pydagman import __version__
from condor_pydagman.adapters.schedd_requests import (
    Listing,
    ListQueue,
    ListRemovable,
    ReadAttribute,
    Remove,
)
from condor_pydagman.daemon.end_notice import EndNotice, Leaving, Outcome
from condor_pydagman.daemon.nodes_log import NodesLogWriter
from condor_pydagman.daemon.publish import Publisher
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.daemon.submit import Submission, Submitter, refused
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.graph.model import Script
from condor_pydagman.names import logged_name
from condor_pydagman.records import (
    banner,
    metrics,
    own_ad,
    own_events,
    rescue,
    run_statistics,
    status_table,
)
from condor_pydagman.vocabulary import EXIT_RESTART, JOB_ENDS, NodeStatus

# Calls its argument when the nodes log has been read to its end.
CallAtEnd = Callable[[Callable[[], None]], None]

MANY = 20  # actions, most of which are events then (a command for many nodes)


class Performer:
    """Performs the actions of one run.

    Args:
        answers: inputs that the engine has not handled yet; results are appended.
        at_end_of_log: see `CallAtEnd`.
        answer: is told when a request for nodes, or a person's piece, is in force.
    """

    def __init__(
        self,
        run: DagRun,
        publisher: Publisher,
        answers: deque[inputs.Input],
        at_end_of_log: CallAtEnd,
        answer: Callable[[do.Steered | do.Grown], None],
    ) -> None:
        self.run = run
        self.publisher = publisher
        # the Exit action once it has been performed; the loop ends then
        self.exit: do.Exit | None = None
        # what is still to be done after the engine's Exit action; None before it
        self.shutdown: EndNotice | Leaving | None = None
        self.removed = False  # whether the loop has been told that DAGMan's job is being removed
        self._answers = answers
        self._at_end_of_log = at_end_of_log
        self._pending_removals = 0  # removals that the schedd has not confirmed yet
        self._pending_removals_of_all = 0  # those of them that remove all jobs
        self._unsent: list[Submission] = []  # submissions that are still to be requested
        self._behind_removal: list[Submission] = []  # those of them that wait for a removal
        self._submitter = Submitter(run)
        self.writer = NodesLogWriter(run.log, answers, run.clock, run.out)
        self._do: dict[type, Callable[[Any], None]] = {
            do.SubmitNode: self._submit,
            do.SubmitTogether: self._submit,
            do.SubmitJob: self._submit,
            do.RemoveJobs: self._remove,
            do.HoldJobs: self._hold,
            do.SetJobPriorities: self._prioritize,
            do.Steered: answer,
            do.RunScript: self._run_script,
            do.KillScripts: lambda a: run.kill_scripts(answered=a.answered),
            do.AppendPostEnded: self._append_post_ended,
            do.AppendPreSkip: lambda a: self._append(own_events.pre_skip, a, a.subproc),
            do.AppendNoop: lambda a: self._append(own_events.noop, a, a.subproc),
            do.AppendJournalRecord: lambda a: self._append(own_events.record_event, a, a),
            do.AppendEvents: lambda a: self.writer.append(a, a.text),
            do.QueryQueue: self._query,
            do.QueryProvisioner: self._ask_provisioner,
            do.ForgetPlacements: self._forget_placements,
            do.Ask: self._ask,
            do.Grown: answer,
            do.WriteRescue: self._write_rescue,
            do.WriteSavePoint: self._write_save_point,
            do.Publish: self._publish,
            do.PublishLimits: lambda _: publisher.publish_throttles(),
            do.JobState: self._jobstate,
            do.Say: self._say_line,
            do.SayStatus: lambda _: self.publisher.say_status(),
            do.SayDeferrals: self._say_deferrals,
            do.SayFailed: self._say_failed,
            do.Exit: self._exit,
        }

    @property
    def ending(self) -> bool:
        """Whether the engine has asked for the end."""
        return self.exit is not None or self.shutdown is not None

    @property
    def rests(self) -> bool:
        """Whether nothing has been begun that is to be ended."""
        return not (self.ending or self._pending_removals)

    def perform(self, actions: list[do.Action]) -> None:
        """Perform or begin actions, in order; results are added to the inputs."""
        if len(actions) >= MANY:
            with self.writer.gathered():
                self._perform(actions)
        else:
            self._perform(actions)

    def _perform(self, actions: list[do.Action]) -> None:
        for action in actions:
            self._do[type(action)](action)

    def next_deadline(self) -> float | None:
        """When to call `work`, monotonic seconds."""
        parts = (self.writer, self.run.helpers, self.shutdown)
        times = [part.next_deadline() for part in parts if part is not None]
        return min((time for time in times if time is not None), default=None)

    def work(self, now: float) -> None:
        """Do what is due."""
        if self.writer:
            self.writer.work(now)
        self.run.helpers.work(now)
        if self.shutdown is not None:
            self.shutdown.work(now)

    def _say(self, text: str, level: int = 3) -> None:
        self.run.out.say(text, level)

    def _say_line(self, action: do.Say) -> None:
        text, level, test = action
        say = self.run.out.say_test if test else self.run.out.say
        say(text, level)

    # The schedd

    def _submit(self, action: Submission) -> None:
        self._unsent.append(action)
        self.writer.call_when_written(lambda: self._submit_behind_removal(action))

    def _submit_behind_removal(self, action: Submission) -> None:
        """Submit, but not between the two requests of a removal of all jobs, or it is removed."""
        if self._pending_removals_of_all:
            self._behind_removal.append(action)
        else:
            self._request_submit(action)

    def _cancel_submission(self) -> None:
        """All jobs of the DAG are to be removed: a submission that still waits must not follow."""
        self.writer.drop_calls()
        self._behind_removal.clear()
        unsent, self._unsent = self._unsent, []
        reason = "the DAG's jobs were removed before it could be submitted"
        for action in unsent:
            self._answers.extend(refused(action, reason))

    def _request_submit(self, action: Submission) -> None:
        self._unsent.remove(action)
        begun = self.run.clock.monotonic()

        def tell(answers: Sequence[inputs.Input]) -> None:
            self._answers.extend(answers)
            took = self.run.clock.monotonic() - begun
            self.publisher.statistics.add(run_statistics.SUBMIT, took)

        self._submitter.submit(action, tell)

    def _remove(self, action: do.RemoveJobs) -> None:
        self._pending_removals += 1
        if not action.cluster:
            self._cancel_submission()
            self._pending_removals_of_all += 1
        request = ListRemovable(action.cluster, action.spare_services, action.proc)
        self.run.schedd.ask(request, lambda result: self._check_ended(action, result))

    def _check_ended(
        self, action: do.RemoveJobs, result: list[inputs.QueuedJob] | PoolError
    ) -> None:
        """Read the log to its end first: which of the jobs that may have ended have done so."""
        if isinstance(result, PoolError):
            self._removed(action, result)
        elif result:
            jobs = result
            self._at_end_of_log(lambda: self._request_removal(action, self._ended(jobs)))
        else:
            self._request_removal(action, [])

    def _request_removal(self, action: do.RemoveJobs, ended: list[tuple[int, int]]) -> None:
        spared = action.spare_services, ended
        request = Remove(action.reason, action.cluster, *spared, action.proc, action.force)
        self.run.schedd.ask(request, lambda result: self._removed(action, result))

    def _removed(self, action: do.RemoveJobs, error: PoolError | None) -> None:
        self._pending_removals -= 1
        self._pending_removals_of_all -= not action.cluster
        if not self._pending_removals_of_all:
            waiting, self._behind_removal = self._behind_removal, []
            for submission in waiting:
                self._request_submit(submission)
        if error is not None and action.cluster:
            self._answers.append(inputs.RemoveFailed(action.cluster, error.reason, action.proc))
        elif error is not None:
            self._say(
                f"Warning: could not remove the jobs of this DAG ({error.reason}); the schedd"
                " does it when DAGMan has left the queue",
                0,
            )
        if self.shutdown is not None:
            self.shutdown.work(self.run.clock.monotonic())

    def _ended(self, jobs: list[inputs.QueuedJob]) -> list[tuple[int, int]]:
        """Those of the jobs that have ended by the log, events not yet handled included."""
        told = {
            event[1:3]
            for event in self._answers
            if isinstance(event, inputs.LogEvent) and event.kind in JOB_ENDS
        }
        engine = self.run.engine
        return [job[:2] for job in jobs if job[:2] in told or engine.has_ended(job)]

    def _hold(self, action: do.HoldJobs) -> None:
        what = "release" if action.release else "put on hold"
        self._edit_jobs(action, f"{what} cluster {action.cluster or self.run.job.cluster}")

    def _prioritize(self, action: do.SetJobPriorities) -> None:
        self._edit_jobs(action, f"set the priority of {len(action.jobs)} clusters")

    def _edit_jobs(self, action: do.HoldJobs | do.SetJobPriorities, what: str) -> None:
        def done(error: PoolError | None) -> None:
            if error is not None:
                self._say(f"Warning: could not {what}: {error.reason}")

        self.run.schedd.ask(action, done)

    def _query(self, action: do.QueryQueue) -> None:
        """Ask the schedd, then read the log to its end: only then is a proc without events lost."""
        edits = self.publisher.limits_edits
        self.run.schedd.ask(ListQueue(action.history), lambda found: self._listed(found, edits))

    def _listed(self, result: Listing | PoolError, edits: int) -> None:
        if isinstance(result, PoolError):
            self._answers.append(inputs.QueueUnknown(result.reason))
        else:
            wanted = self.publisher.edited_limits(result.limits, edits)
            if wanted is not None:
                self._answers.append(wanted)
            answer = inputs.QueueListed(result.jobs, result.ended)
            self._at_end_of_log(lambda: self._answers.append(answer))

    def _forget_placements(self, action: do.ForgetPlacements) -> None:
        if self.run.placements is not None:
            self.run.placements.forget(action.nodes)
            if action.are_gone:
                self.run.placements.leave(action.nodes)

    def _ask_provisioner(self, action: do.QueryProvisioner) -> None:
        request = ReadAttribute(action.cluster, "ProvisionerState")
        self.run.schedd.ask(request, self._provisioner_replied)

    def _provisioner_replied(self, state: Any) -> None:
        if isinstance(state, PoolError):
            self._say(f"Warning: can't ask for the provisioner's state: {state.reason}")
        known = state if isinstance(state, int) else None
        self._answers.append(inputs.ProvisionerAnswer(known))

    # What only some DAGs want

    def _ask(self, action: do.Ask) -> None:
        helper, request = action
        told = self._answers.append
        self.run.helpers.ask(helper, request, lambda reply: told(inputs.Answered(helper, reply)))

    # Scripts

    def _run_script(self, action: do.RunScript) -> None:
        dag, node = self.run.dag, action.node
        script: Script | None = dag.script(node, action.kind)
        assert script is not None
        self.run.out.flush()
        directory = dag.directories.get(node, "")
        more = self.run.extras.environment(action) if self.run.extras is not None else {}
        answer = self.run.script_runner().start(action, script, dag.names[node], directory, more)
        if answer is not None:
            self._answers.append(answer)

    # The nodes log

    def _append_post_ended(self, action: do.AppendPostEnded) -> None:
        text = own_events.post_ended(
            self._stamp(),
            logged_name(self.run.dag.names[action.node]),
            action.status,
            cluster=action.cluster,
            proc=action.proc,
            subproc=action.subproc,
        )
        self.writer.append(action, text)

    def _append(
        self,
        text: Callable[..., str],
        action: do.AppendPreSkip | do.AppendNoop | do.AppendJournalRecord,
        *details: Any,
    ) -> None:
        name = logged_name(self.run.dag.names[action.node]) if action.node >= 0 else ""
        self.writer.append(action, text(self._stamp(), name, *details))

    def _stamp(self) -> str:
        now, stamps = self.run.clock.time(), self.run.stamps
        moment = time.gmtime(now) if stamps.utc else time.localtime(now)
        return own_events.stamp(moment, int(now % 1 * 1000), stamps)

    # Files

    def _write_rescue(self, _: do.WriteRescue) -> None:
        run = self.run
        if not run.written_rescue:
            existing = run.files.rescue_numbers(run.paths)
            run.written_rescue = rescue.next_number(existing, run.config.max_rescue_num)
        path = run.paths.rescue(run.written_rescue)
        self._say(f"Writing Rescue DAG to {path}...")
        text = rescue.rescue_text(
            run.dag,
            run.engine.node_reports(),
            created=time.gmtime(run.clock.time()),
            reset_retries=run.config.reset_retries_upon_rescue,
            lines=run.engine.rescue_lines(),
        )
        answer = inputs.RescueWritten()
        try:
            run.files.replace(path, text)
        except FileError as error:
            answer = inputs.RescueWritten(str(error))
        self._answers.append(answer)

    def _write_save_point(self, action: do.WriteSavePoint) -> None:
        run, node = self.run, action.node
        directory = run.dag.directories.get(node, "") if run.options.use_dag_dir else ""
        path = run.paths.save(run.dag.save_points[node], run.process.directory, directory)
        self._say(f"Writing Save File to {path}...")
        reports = run.engine.node_reports()
        text = rescue.save_text(
            run.dag, reports, run.dag.names[node], time.gmtime(run.clock.time())
        )
        try:
            run.files.make_directory(os.path.dirname(path))
            run.files.replace(path, text, keep_old=True)
        except FileError as error:
            self._say(f"Warning: no save file for node {run.dag.names[node]}: {error}", 0)

    def _publish(self, action: do.Publish) -> None:
        if action.final:
            self.publisher.publish_last(action.outcome)
            return
        self.publisher.note_change()
        if action.at_once:
            self.publisher.publish_ad()

    def _jobstate(self, action: do.JobState) -> None:
        run = self.run
        if run.jobstate is not None:
            run.jobstate.note(run.dag, action, self._submitter.text_of, again=run.recovering)

    def end_recovery(self) -> None:
        """The old log has been replayed."""
        self.run.recovering = False
        if self.run.jobstate is not None:
            self.run.jobstate.note_recovered(self.run.clock.time())

    # Messages

    def _say_deferrals(self, _: do.SayDeferrals) -> None:
        report = self.run.engine.report()
        for line in status_table.deferral_lines(report, report.limits, always=True):
            self._say(line)

    def _say_failed(self, action: do.SayFailed) -> None:
        if action.node is not None:
            reports = self.run.engine.node_reports()
            report = next(report for report in reports if report.node == action.node)
            # what stock says of a node that has not been started
            report = report._replace(status=NodeStatus.READY, return_value=-1, job=action.job)
            for line in status_table.node_dump(self.run.dag, report):
                self._say(line, 0)
            return
        for line in status_table.failure_dump(self.run.dag, self.run.engine.node_reports()):
            self._say(line)

    # The end

    def _exit(self, action: do.Exit) -> None:
        run, now = self.run, self.run.clock.time()
        if run.jobstate is not None:
            if action.concluded:
                run.jobstate.note_end(now, action.code)
            run.jobstate.write()
        self.writer.drop_calls()
        self._behind_removal = []
        run.helpers.kill_programs()
        if action.keep_lock:
            self.shutdown = Leaving(self.run, lambda: self._leave(action))
            return
        self._write_metrics(action.code, now)
        end = own_ad.ended(action.code, run.job.ad.get(own_ad.RUN_COUNT))
        removal_pending = lambda: self._pending_removals > 0  # noqa: E731
        done = lambda outcome: self._leave_after_notice(action, outcome)  # noqa: E731
        self.shutdown = EndNotice(run, end, removal_pending, done, removed=self.removed)

    def _leave_after_notice(self, action: do.Exit, outcome: Outcome) -> None:
        """Exit; the outcome of the notice decides on the lock file and the exit code."""
        if outcome is Outcome.LEAVE:
            self._leave(do.Exit(EXIT_RESTART, keep_lock=True))
        else:
            self._leave(action._replace(keep_lock=outcome is Outcome.SCHEDD_GONE))

    def _leave(self, action: do.Exit) -> None:
        run = self.run
        run.schedd.close()
        if action.keep_lock:
            run.lock.restore()
        else:
            if run.placements is not None:
                run.placements.end(removed=self.removed)
            run.helpers.give_up()
            run.lock.remove()
        self._say(banner.exit_line(run.process.pid, action.code), 0)
        run.out.flush()
        self.exit = action

    def _write_metrics(self, code: int, now: float) -> None:
        run = self.run
        facts = metrics.RunFacts(
            program_version=banner.number(run.process.version),
            start=run.process.started,
            end=now,
            exit_code=code,
            dagman_id=run.job.cluster,
            parent_dagman_id=run.parent_cluster,
            rescue_number=run.rescue_number,
        )
        engine, version = run.engine, run.config.metrics_file_version
        program = "program", f"condor_pydagman {__version__}"
        text = metrics.metrics_text(
            run.dag,
            engine.report(),
            engine.node_reports(),
            facts,
            version,
            graph=run.config.report_graph_metrics,
            more=[program, *(() if run.placements is None else run.placements.metrics())],
        )
        try:
            run.files.replace(run.paths.metrics, [text])
            self._say(f"Wrote metrics file {run.paths.metrics}.")
        except FileError as error:
            self._say(f"Warning: {error}", 0)

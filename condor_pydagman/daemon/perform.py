"""Has the engine's actions done by the adapters, and brings their answers back as inputs.

No decisions here: an adapter's error becomes the input that says so.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Collection
from typing import Any

from condor_pydagman.adapters import files
from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.daemon import last_words
from condor_pydagman.daemon.publish import Publisher
from condor_pydagman.daemon.run import Run
from condor_pydagman.daemon.submit import Submitter
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, removals
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.graph.model import Script
from condor_pydagman.names import logged_name
from condor_pydagman.records import (
    ad_attributes,
    banner,
    failure_dump,
    job_events,
    jobstate,
    metrics,
    rescue,
    run_statistics,
    status_table,
)
from condor_pydagman.vocabulary import EXIT_LEAVE, NodeStatus

APPEND_TRIES = 60  # one a second, then the nodes log counts as unwritable


class Performer:
    """Does actions for one run.

    Args:
        wait: for a signal, while the schedd can't be told of the end.
        waiting: inputs that the engine has not been given yet.

    Attributes:
        exit: the Exit action once it has come; the loop ends then.
    """

    def __init__(
        self,
        run: Run,
        publisher: Publisher,
        wait: last_words.Wait,
        waiting: Collection[inputs.Input] = (),
    ) -> None:
        self.run = run
        self._wait = wait
        self._waiting = waiting
        self.publisher = publisher
        self.exit: do.Exit | None = None
        self._answers: list[inputs.Input] = []
        self._submitter = Submitter(run)
        self._tags = jobstate.Tags(run.dag, self._submitter.text_of)
        self._stamps = job_events.stamp_form(lookup("DEFAULT_USERLOG_FORMAT_OPTIONS") or "")
        self._do: dict[type, Callable[[Any], None]] = {
            do.SubmitNode: self._submit,
            do.RemoveJobs: self._remove,
            do.RunScript: self._run_script,
            do.KillScripts: lambda a: run.scripts.kill_all(answered=a.answered),
            do.AppendPostEnded: self._append_post_ended,
            do.AppendPreSkip: lambda a: self._append(job_events.pre_skip, a.node, a.subproc),
            do.AppendNoop: lambda a: self._append(job_events.noop, a.node, a.subproc),
            do.AppendNote: lambda a: self._append(job_events.note_event, a.node, a),
            do.QueryQueue: self._query,
            do.AskProvisioner: self._ask_provisioner,
            do.WriteRescue: self._write_rescue,
            do.WriteSavePoint: self._write_save_point,
            do.Publish: self._publish,
            do.PublishLimits: lambda _: publisher.publish_throttles(),
            do.JobState: self._jobstate,
            do.Say: self._say_it,
            do.SayStatus: lambda _: self.publisher.say_status(),
            do.SayDeferrals: self._say_deferrals,
            do.SayFailed: self._say_failed,
            do.Exit: self._exit,
        }

    def perform(self, actions: list[do.Action]) -> list[inputs.Input]:
        """Do actions in order; returns the answers that are there at once."""
        for action in actions:
            self._do[type(action)](action)
        answers, self._answers = self._answers, []
        return answers

    def _say(self, text: str, level: int = 3) -> None:
        self.run.out.say(text, level)

    def _say_it(self, action: do.Say) -> None:
        say = self.run.out.say_test if action.test else self.run.out.say
        say(action.text, action.level)

    # The schedd

    def _submit(self, action: do.SubmitNode) -> None:
        begun = time.monotonic()
        self._answers.append(self._submitter.submit(action))
        self.publisher.statistics.add(run_statistics.SUBMIT, time.monotonic() - begun)

    def _remove(self, action: do.RemoveJobs) -> None:
        try:
            self.run.schedd.remove(
                action.reason,
                action.cluster,
                spare_services=action.spare_services,
                ended=self._ended,
            )
        except PoolError as error:
            if action.cluster:
                self._answers.append(inputs.RemoveFailed(action.cluster, error.reason))
            else:
                self._say(
                    f"Warning: could not remove the jobs of this DAG ({error.reason}); the schedd"
                    " does it when DAGMan has left the queue",
                    0,
                )

    def _ended(self, jobs: list[inputs.QueuedJob]) -> list[inputs.QueuedJob]:
        """Those jobs whose end the log has told, be it that the engine has not heard of it yet."""
        if not jobs:
            return []
        for events in self.run.log.to_end():
            self._answers.extend(events)
        told = {
            event[1:3]
            for event in (*self._waiting, *self._answers)
            if isinstance(event, inputs.LogEvent) and event.kind in removals.ENDS
        }
        engine = self.run.engine
        return [job for job in jobs if job[:2] in told or removals.has_ended(engine, job)]

    def _query(self, action: do.QueryQueue) -> None:
        """Ask the schedd, then read the log to its end: only then is a missing proc lost."""
        try:
            jobs = self.run.schedd.jobs()
            ended = self.run.schedd.ended_jobs() if action.history else []
        except PoolError as error:
            self._answers.append(inputs.QueueUnknown(error.reason))
            return
        for events in self.run.log.to_end():
            self._answers.extend(events)
        self._answers.append(inputs.QueueListed(jobs, ended))

    def _ask_provisioner(self, action: do.AskProvisioner) -> None:
        try:
            state = self.run.schedd.attribute(action.cluster, "ProvisionerState")
        except PoolError as error:
            self._say(f"Warning: can't ask for the provisioner's state: {error.reason}")
            state = None
        known = state if isinstance(state, int) else None
        self._answers.append(inputs.ProvisionerSays(known))

    # Scripts

    def _run_script(self, action: do.RunScript) -> None:
        dag, node = self.run.dag, action.node
        script: Script | None = dag.script(node, action.kind)
        assert script is not None
        self.run.out.flush()
        directory = dag.directories.get(node, "")
        answer = self.run.scripts.start(action, script, dag.names[node], directory)
        if answer is not None:
            self._answers.append(answer)

    # The nodes log

    def _append_post_ended(self, action: do.AppendPostEnded) -> None:
        self._write_event(
            job_events.post_ended(
                self._stamp(),
                logged_name(self.run.dag.names[action.node]),
                action.status,
                cluster=action.cluster,
                proc=action.proc,
                subproc=action.subproc,
            )
        )

    def _append(self, text: Callable[..., str], node: int, *details: Any) -> None:
        self._write_event(text(self._stamp(), logged_name(self.run.dag.names[node]), *details))

    def _stamp(self) -> str:
        seconds, rest = divmod(time.time_ns(), 1_000_000_000)
        moment = time.gmtime(seconds) if self._stamps.utc else time.localtime(seconds)
        return job_events.stamp(moment, rest // 1_000_000, self._stamps)

    def _write_event(self, text: str) -> None:
        """Write an event, however long the disk stays full (within reason): it must not be lost."""
        for tries in range(APPEND_TRIES):
            try:
                self.run.log.append(text)
                return
            except FileError as error:
                reason = str(error)
                self._say(f"ERROR: {reason}; trying again (free some space)", 0)
                self.run.out.flush()
                time.sleep(min(1.0, 0.1 * 2**tries))
        self._answers.append(inputs.AppendFailed(reason))

    # Files

    def _write_rescue(self, _: do.WriteRescue) -> None:
        run = self.run
        if not run.written_rescue:
            existing = files.rescue_numbers(run.paths)
            run.written_rescue = rescue.next_number(existing, run.config.max_rescue_num)
        path = run.paths.rescue(run.written_rescue)
        self._say(f"Writing Rescue DAG to {path}...")
        text = rescue.rescue_text(
            run.dag,
            run.engine.node_reports(),
            created=time.gmtime(),
            reset_retries=run.config.reset_retries_upon_rescue,
        )
        try:
            files.replace(path, text)
        except FileError as error:
            self._answers.append(inputs.RescueWritten(str(error)))
        else:
            self._answers.append(inputs.RescueWritten())

    def _write_save_point(self, action: do.WriteSavePoint) -> None:
        run, node = self.run, action.node
        directory = run.dag.directories.get(node, "") if run.options.use_dag_dir else ""
        path = run.paths.save(run.dag.save_points[node], os.getcwd(), directory)
        self._say(f"Writing Save File to {path}...")
        reports = run.engine.node_reports()
        text = rescue.save_text(run.dag, reports, run.dag.names[node], time.gmtime())
        try:
            files.make_directory(os.path.dirname(path))
            files.replace(path, text, keep_old=True)
        except FileError as error:
            self._say(f"Warning: no save file for node {run.dag.names[node]}: {error}", 0)

    def _publish(self, action: do.Publish) -> None:
        if action.final:
            self.publisher.publish_last(action.note)
            return
        self.publisher.note_change()
        if action.at_once:
            self.publisher.publish_ad()

    def _jobstate(self, action: do.JobState) -> None:
        run = self.run
        line = jobstate.node_line(run.dag, action, self._tags.of(action.node))
        if not (run.recovering and run.jobstate.history.has(line)):
            run.jobstate.add(line)

    def end_recovery(self) -> None:
        """The old log has been replayed: from now on every jobstate.log line is new."""
        self.run.recovering = False
        self.run.jobstate.add(jobstate.recovery_finished(time.time()))

    # Words

    def _say_deferrals(self, _: do.SayDeferrals) -> None:
        engine = self.run.engine
        for line in status_table.deferral_lines(engine.report(), engine.limits, always=True):
            self._say(line)

    def _say_failed(self, action: do.SayFailed) -> None:
        if action.node is not None:
            reports = itertools.islice(self.run.engine.node_reports(), action.node, None)
            report = next(reports)
            # what stock says of a node that has not been started
            report = report._replace(status=NodeStatus.READY, return_value=-1, job=action.job)
            for line in failure_dump.node_dump(self.run.dag, report):
                self._say(line, 0)
            return
        if action.unfinished:
            wanted = [n for n in self.run.engine.node_reports() if n.status != NodeStatus.DONE]
        else:
            wanted = [n for n in self.run.engine.node_reports() if n.status == NodeStatus.ERROR]
        for line in failure_dump.failure_dump(self.run.dag, wanted):
            self._say(line)

    # The end

    def _exit(self, action: do.Exit) -> None:
        run, now = self.run, time.time()
        self.exit = action
        if action.concluded:
            run.jobstate.add(jobstate.finished(now, action.code))
        run.jobstate.write()
        if not action.keep_lock:
            self._write_metrics(action.code, now)
            self.exit = action = self._tell_end(action)
        if action.keep_lock:
            run.lock.keep()
        else:
            run.lock.remove()
        self._say(banner.exit_line(os.getpid(), action.code), 0)
        run.out.flush()

    def _tell_end(self, action: do.Exit) -> do.Exit:
        """Tell the schedd before the lock file goes; how to leave after that."""
        end = ad_attributes.ended(action.code, self.run.own_ad.get(ad_attributes.RUN_COUNT))
        heard = last_words.tell(self.run, end, self._wait)
        if heard is last_words.Heard.LEAVE:
            return do.Exit(EXIT_LEAVE, keep_lock=True)
        return action._replace(keep_lock=heard is last_words.Heard.GONE)

    def _write_metrics(self, code: int, now: float) -> None:
        run = self.run
        facts = metrics.Run(
            program_version=_number(run.version),
            start=run.started,
            end=now,
            exit_code=code,
            dagman_id=run.cluster,
            parent_dagman_id=run.parent_cluster,
            rescue_number=run.rescue_number,
        )
        engine, version = run.engine, run.config.metrics_file_version
        text = metrics.metrics_text(
            run.dag,
            engine.report(),
            engine.node_reports(),
            facts,
            version,
            graph=run.config.report_graph_metrics,
        )
        try:
            files.replace(run.paths.metrics, [text])
            self._say(f"Wrote metrics file {run.paths.metrics}.")
        except FileError as error:
            self._say(f"Warning: {error}", 0)


def _number(version: str) -> str:
    """`25.14.1` from `$CondorVersion: 25.14.1 ... $`."""
    words = version.split()
    return words[1] if len(words) > 1 else version

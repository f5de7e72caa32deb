"""What is published while the DAG runs, at a bounded rate: job ad, status table, node status file,
DOT file.

A change makes them due; each has its own shortest interval.  Children of a finished node are
submitted first: nothing here is done while inputs wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from condor_pydagman.daemon.dot_writer import DotWriter
from condor_pydagman.daemon.file_troubles import FileTroubles
from condor_pydagman.daemon.run import Run
from condor_pydagman.daemon.timetable import Timetable
from condor_pydagman.errors import PoolError
from condor_pydagman.records import ad_attributes, banner, node_status, status_table
from condor_pydagman.records.run_statistics import Statistics

AGAIN = 60.0  # seconds before another try if the schedd could not be told
FRESH = 300.0  # seconds after which DAG_AdUpdateTime is renewed though nothing changed


class Publisher:
    """Keeps what the outside sees in step with the engine.

    Attributes:
        statistics: how long DAGMan's own work takes; the loop measures it.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.statistics = Statistics()
        self._next_job_table = time.monotonic() + run.config.print_job_table_interval
        self._published: dict[str, str] = {}
        self._timetable = Timetable()
        self._troubles = FileTroubles(lambda text: run.out.say(text, 0))
        self._dot = DotWriter(run.dag, run.out)
        self._do: dict[str, Callable[[], None]] = {
            "ad": self._write_ad,
            "table": self.say_status,
            "status file": self._write_status_file,
            "dot": self._write_dot,
        }

    def draw(self) -> None:
        """The DOT file of the DAG as it stands before anything is started (stock rule)."""
        self._write_dot()

    def begin(self) -> None:
        """Publish the DAG's state for the first time; what asks the schedd waits its turn, unless a
        long replay comes first."""
        if self.run.recovering:
            self._write_ad()
        self.say_status()
        now = time.monotonic()
        self._timetable.done("table", now, now)
        self.note_change()

    def publish_throttles(self) -> None:
        """The throttles have changed: say so in `.dagman.out` and in the job ad, at once."""
        for line in banner.throttle_lines(self.run.engine.limits):
            self.run.out.say(line)
        self.publish_limits()

    def publish_limits(self) -> None:
        """The throttles in force, into the job ad: before the first node starts, or an edit by
        somebody who has seen it start would be lost."""
        # Not by what was written last: a user may have edited them, or deleted them.
        self._edit(ad_attributes.throttles(self.run.engine.limits))

    def limits_are_published(self) -> bool:
        """Whether the job ad has been told of the last change (the schedd may be away)."""
        limits = ad_attributes.throttles(self.run.engine.limits)
        return all(self._published.get(name, value) == value for name, value in limits.items())

    def note_change(self) -> None:
        """Something changed."""
        now = time.monotonic()
        dag = self.run.dag
        plan = self._timetable.plan
        plan("ad", now, float(self.run.config.queue_update_interval))
        tick = float(self.run.config.user_log_scan_interval)  # when stock does it
        plan("table", now, tick)
        if dag.status_file is not None:
            plan("status file", now, float(dag.status_file.interval))
        if dag.dot is not None and dag.dot.update:
            plan("dot", now, tick)

    def publish_ad(self) -> None:
        """The job ad, at once: somebody who has just halted the DAG looks whether it is."""
        begun = time.monotonic()
        self._timetable.drop("ad")
        self._write_ad()
        self._timetable.done("ad", begun, time.monotonic())

    def next_deadline(self) -> float | None:
        """When something is to be published, on the monotonic clock."""
        return self._timetable.next()

    def publish_due(self) -> None:
        """Publish what is due."""
        now = time.monotonic()
        for what in self._timetable.take(now):
            begun = time.monotonic()
            self._do[what]()
            self._timetable.done(what, begun, time.monotonic())
        self._timetable.remind("ad", now, FRESH)
        status_file = self.run.dag.status_file
        if status_file is not None and status_file.always:
            self._timetable.remind("status file", now, max(status_file.interval, 1))

    def publish_last(self, note: str) -> None:
        """Publish the end; `note` is the node status file's word for it."""
        self._timetable.clear()
        self._write_status_file(final=True, note=note)
        if self.run.dag.dot is not None and self.run.dag.dot.update:
            self._write_dot()
        self._write_ad()

    def say_status(self) -> None:
        """The status table, into `.dagman.out`; under it the job table, if that is due."""
        engine, now = self.run.engine, time.monotonic()
        report = engine.report()
        lines = status_table.status_lines(report)
        lines += status_table.deferral_lines(report, engine.limits)
        lines.append(self.statistics.line())
        interval = self.run.config.print_job_table_interval
        if interval and now >= self._next_job_table:
            self._next_job_table = now + interval
            lines += status_table.job_lines(report)
        for line in lines:
            self.run.out.say(line)

    def _write_ad(self) -> None:
        statistics = self.statistics.expression()
        new = ad_attributes.attributes(self.run.engine.report(), time.time(), statistics)
        old = self._published
        stale = time.time() - float(old.get("DAG_AdUpdateTime", 0)) >= FRESH
        changes = ad_attributes.changed(new, old)
        if not changes and stale:
            changes = {"DAG_AdUpdateTime": new["DAG_AdUpdateTime"]}
        if not self._edit(changes):
            self._timetable.remind("ad", time.monotonic(), AGAIN)

    def _edit(self, changes: dict[str, str]) -> bool:
        """Whether the job ad has them now."""
        if not changes:
            return True
        try:
            self.run.schedd.publish(changes)
        except PoolError as error:
            self.run.out.say(f"Warning: can't update the DAGMan job's ad: {error.reason}")
            return False
        self._published.update(changes)
        return True

    def _write_status_file(self, *, final: bool = False, note: str = "") -> None:
        dag = self.run.dag
        if dag.status_file is None:
            return
        now = time.time()
        last = final and note != "held"  # a DAGMan that is held comes back
        following = 0.0 if last else now + dag.status_file.interval
        text = node_status.node_status_text(
            dag,
            self.run.engine.report(),
            self.run.engine.node_reports(),
            now=now,
            now_local=time.localtime(now),
            next_update=following,
            next_local=None if last else time.localtime(following),
            final=final,
            note=note,
        )
        self._troubles.replace("node status file", dag.status_file.file, text)

    def _write_dot(self) -> None:
        self._dot.write(report.status for report in self.run.engine.node_reports())

"""What is published while the DAG runs, at a bounded rate: job ad, status table, node status file,
DOT file.

A change makes them due; each has its own shortest interval.  Children of a finished node are
submitted first: nothing here is done while inputs wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.errors import PoolError
from condor_pydagman.records import banner, own_ad, progress_ad, status_table
from condor_pydagman.records.run_statistics import Statistics
from condor_pydagman.timers import AD_RENEW_S, AD_RETRY_S, PUBLISH_DELAY_S

if TYPE_CHECKING:
    from condor_pydagman.daemon.status_files import StatusFiles

# When each kind of output is to be published next; the caller gives the time.

COST_FACTOR = 10.0  # intervals per duration: one kind of output takes at most a tenth of the time


class Timetable:
    """Kinds of output that become due, each with a minimum interval of its own.

    What takes long (the status file of 100,000 nodes: half a second) gets a longer interval than it
    asks for, so that DAGMan has time for its other work.
    """

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._cost = defaultdict[str, float](float)  # seconds that it took last time

    def plan(self, what: str, now: float, interval_s: float) -> None:
        """It has changed: due soon, but not before `interval_s` seconds after the last time."""
        if what in self._last:
            interval_s = max(interval_s, self._cost[what] * COST_FACTOR)
            earliest = max(now + PUBLISH_DELAY_S, self._last[what] + interval_s)
        else:
            earliest = now + PUBLISH_DELAY_S
        self._due[what] = min(self._due.get(what, earliest), earliest)

    def remind(self, what: str, now: float, delay_s: float) -> None:
        """Due `delay_s` seconds from now unless due already, even if nothing has changed."""
        self._due.setdefault(what, now + max(delay_s, self._cost[what] * COST_FACTOR))

    def next(self, but: str = "") -> float | None:
        """When something is due, `but` for one kind; None if nothing is planned."""
        return min((when for what, when in self._due.items() if what != but), default=None)

    def pop_due(self, now: float) -> list[str]:
        """Remove and return what is due by now."""
        found = [what for what, when in self._due.items() if when <= now]
        for what in found:
            del self._due[what]
        return found

    def done(self, what: str, begun: float, ended: float) -> None:
        """It has been published, and took that long."""
        self._last[what] = ended
        self._cost[what] = ended - begun

    def drop(self, what: str) -> None:
        """It is no longer planned."""
        self._due.pop(what, None)

    def clear(self) -> None:
        """Nothing is planned any more."""
        self._due.clear()


# What a Publisher goes on with in another process.
_MEMORY = (
    "statistics",
    "limits_edits",
    "_limits_there",
    "_next_job_table",
    "_published",
    "_timetable",
)


class Publisher:
    """Keeps what the outside sees in step with the engine."""

    def __init__(self, run: DagRun) -> None:
        self.run = run
        self._clock = run.clock
        self.statistics = Statistics()  # how long DAGMan's own work takes; the loop measures it
        self.limits_edits = 0  # how often the throttles have been put into the job ad
        self._limits_there: dict[str, str] = {}  # throttles that the job ad has, as last read
        self._next_job_table = self._clock.monotonic() + run.config.print_job_table_interval
        self._published: dict[str, str] = {}  # what the schedd has confirmed
        self._requested: dict[str, str] = {}  # newest values that it has not replied to yet
        self._timetable = Timetable()
        self._ended = False  # what has been written last stays, while the schedd hears of the end
        self._files: StatusFiles | None = None  # if the DAG has any
        if run.dag.status_file is not None or run.dag.dot is not None:
            from condor_pydagman.daemon.status_files import StatusFiles

            self._files = StatusFiles(run)
        self._do: dict[str, Callable[[], None]] = {
            "ad": self._write_ad,
            "limits": self.publish_limits,
            "table": self.say_status,
        }
        if self._files is not None:
            self._do["status file"] = self._files.write_status_file
            self._do["dot"] = self._files.write_dot

    def draw(self) -> None:
        """The DOT file of the DAG as it stands before anything is started (stock rule)."""
        if self._files is not None:
            self._files.write_dot()

    def begin(self) -> None:
        """Publish the DAG's state for the first time; what asks the schedd waits its turn, unless a
        long replay comes first, before which there is no state to tell."""
        if self.run.recovering:
            self._write_ad()
        else:
            self.say_status()
        now = self._clock.monotonic()
        self._timetable.done("table", now, now)
        self.note_change()

    def publish_throttles(self) -> None:
        """The throttles have changed: say so in `.dagman.out` and in the job ad, at once."""
        for line in banner.throttle_lines(self.run.engine.report().limits):
            self.run.out.say(line)
        self.publish_limits()

    def publish_limits(self) -> None:
        """The throttles in force, into the job ad: before the first node starts, or an edit by
        somebody who has seen it start would be lost."""
        # Not by what was written last: a user may have edited them, or deleted them.
        self.limits_edits += 1
        there, self._limits_there = self._limits_there, {}
        limits = own_ad.throttles(self.run.engine.report().limits)
        self._published.update(limits.items() & there.items())
        changes = {name: limits[name] for name in limits if there.get(name) != limits[name]}
        if changes:
            self._edit(changes, "limits")

    def edited_limits(self, found: Mapping[str, object], edits: int) -> LimitsWanted | None:
        """What somebody has edited in the job ad, in which `found` was read after so many edits of
        ours; None if nothing, or if the ad was read before it had ours.

        Args:
            found: the ad, or its DAGMan_Max*.
            edits: `limits_edits` when the ad was asked for.
        """
        limits = self.run.engine.report().limits
        ours, published = own_ad.throttles(limits), self._published
        if edits != self.limits_edits or any(published.get(n, v) != v for n, v in ours.items()):
            return None
        wanted = own_ad.wanted_limits(found, limits)
        if wanted is not None:
            # It need not be written again.  That would overwrite the next edit, by somebody who has
            # seen what this one did.
            self._limits_there = {name: str(found.get(name)) for name in ours}
        return wanted

    @property
    def rests(self) -> bool:
        """Whether the schedd has answered all edits."""
        return not self._requested

    def memory(self) -> dict[str, Any]:
        """What `remember` takes over in another process: what has been published, and when."""
        return {name: getattr(self, name) for name in _MEMORY}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take over the state of another object."""
        for name, value in memory.items():
            setattr(self, name, value)

    def note_change(self) -> None:
        """Something changed."""
        if self._ended:
            return
        now = self._clock.monotonic()
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
        """The job ad, at once: a user who has just halted the DAG checks it."""
        begun = self._clock.monotonic()
        self._timetable.drop("ad")
        self._write_ad()
        self._timetable.done("ad", begun, self._clock.monotonic())

    def next_deadline(self, *, looks: bool = True) -> float | None:
        """When something is to be published, on the monotonic clock; without `looks` not what is
        published though nothing has changed."""
        return self._timetable.next(but="" if looks else "ad")

    @property
    def ad_age_s(self) -> float:
        """How old the date in the job ad is, as last told."""
        known = {**self._published, **self._requested}
        return self._clock.time() - float(known.get("DAG_AdUpdateTime", 0))

    def publish_due(self, ahead_s: float = 0.0) -> None:
        """Publish what is due, or will be within so many seconds."""
        now = self._clock.monotonic()
        for what in self._timetable.pop_due(now + ahead_s):
            begun = self._clock.monotonic()
            self._do[what]()
            self._timetable.done(what, begun, self._clock.monotonic())
        self._timetable.remind("ad", now, AD_RENEW_S)
        status_file = self.run.dag.status_file
        if status_file is not None and status_file.always and not self._ended:
            self._timetable.remind("status file", now, max(status_file.interval, 1))

    def publish_last(self, outcome: str) -> None:
        """Publish the end; `outcome` is the node status file's word for it."""
        self._ended = True
        self._timetable.clear()
        if self._files is not None:
            self._files.write_last(outcome)
        self._write_ad()

    def say_status(self) -> None:
        """The status table, into `.dagman.out`; under it the job table, if that is due."""
        engine, now = self.run.engine, self._clock.monotonic()
        report = engine.report()
        lines = status_table.status_lines(report)
        lines += status_table.deferral_lines(report, report.limits)
        lines.append(self.statistics.line())
        interval = self.run.config.print_job_table_interval
        if interval and now >= self._next_job_table:
            self._next_job_table = now + interval
            lines += status_table.job_lines(report)
        for line in lines:
            self.run.out.say(line)

    def _write_ad(self) -> None:
        statistics = self.statistics.expression()
        report, now = self.run.engine.report(), self._clock.time()
        new = own_ad.attributes(report, now, statistics, is_last=self._ended)
        new.update(progress_ad.usage(*self.run.process.usage()))
        changes = own_ad.changed(new, {**self._published, **self._requested})
        if not changes and self.ad_age_s >= AD_RENEW_S:
            changes = {"DAG_AdUpdateTime": new["DAG_AdUpdateTime"]}
        self._edit(changes, "ad")

    def _edit(self, changes: dict[str, str], what: str) -> None:
        """Put attributes into the job ad; `what` is due again if the schedd can't be told."""

        def done(error: PoolError | None) -> None:
            for name, value in changes.items():
                if self._requested.get(name) == value:
                    del self._requested[name]
            if error is None:
                self._published.update(changes)
            else:
                self.run.out.say(f"Warning: can't update the DAGMan job's ad: {error.reason}")
                self._timetable.remind(what, self._clock.monotonic(), AD_RETRY_S)

        if changes:
            self._requested.update(changes)
            self.run.job_ad.edit(changes, done)

"""A DAG keeps to limits that it shares with others: when it asks for places, and gives some back.

Places are asked for in batches and used again when a node has ended, so most nodes start without a
request.  Who waits is woken.  Nothing of this is in the nodes log: what is in use follows from the
states of the nodes, after a restart as well, and a request always says all of it; so a request or
an answer that is lost neither forgets a place nor doubles one.

What the administrator's rules apply is in the Dag from the start (`rules`), as lines of a DAG file
are.  The record of it is for readers, who do not know the rules that were in force: DAGMan itself
goes by its own, also in a recovery, since limits decide when nodes start, and no state of theirs.

After a restart the PRE scripts of all DAGs keep to one pace, if the administrator wants that: a
limit of starts, which a DAG has for this alone if it has no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import gt

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.report import Shown
from condor_pydagman.engine.run_records import Kind as RecordKind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.shared_limits.commands import (
    LimitsOfDag,
    limit_uses_of,
)
from condor_pydagman.features.shared_limits.definitions import PLACES, RESTART, WORD_OF, Kind
from condor_pydagman.features.shared_limits.fair_shares import Demand
from condor_pydagman.features.shared_limits.messages import (
    HELPER,
    PlacesGiven,
    PlacesUnknown,
    PlacesWanted,
    TakePlaces,
)
from condor_pydagman.features.shared_limits.own_places import Places
from condor_pydagman.features.shared_limits.queues import (
    LimitedQueues,
    LimitedReadyQueue,
    LimitedScriptQueue,
)
from condor_pydagman.graph.grow import Growth
from condor_pydagman.vocabulary import NO_NODE, ScriptKind

PAUSE_S = 0.05  # between two requests for places, at least
LOOK_S = 20.0  # between two looks of who waits: who is killed tells nobody
IDLE_LOOK_S = 120.0  # the same for who does not wait, as limits may have been changed
LINGER_S = 2.0  # for which places without use are kept, if nobody waits for them
RETRY_S = 5.0  # after the directory could not be asked
_AHEAD = 4  # places that a class keeps for nodes that are about to follow, at least
_AHEAD_PART = 4  # one of so many that it uses, beyond that
_PRE_RUN = int(State.PRE_RUN)
_APPLIED = RecordKind("limits that rules apply")
_WAITS_FOR = "PYDAGMAN_WaitsFor"  # see `records.progress_ad`

Waiting = tuple[int, int, int]  # nodes, PRE and POST scripts


class SharedLimits(Feature):
    """Limits that the DAG shares with others."""

    name = "shared_limits"
    records = (("LIMITS_APPLIED", "on_applied"),)
    replies = (
        (PlacesGiven, "on_given"),
        (PlacesUnknown, "on_unknown"),
        (PlacesWanted, "on_wanted"),
    )

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        # that classes of nodes have and may use; None if no node keeps to a limit
        self.places: Places | None = None
        self.queues: LimitedQueues | None = None  # what is to start, by class; None as above
        # PRE scripts that wait for the pace of all DAGs after a restart (0: it is over), and how
        # many of them may start now
        self.pace_left = self.pace_starts = 0
        self.demands: tuple[Demand, ...] = ()  # what the last one asked for
        self.contested = False  # whether others wait for the limits
        self.answered = False  # whether there has been an answer
        self.asked = self.woken = False
        # when another request may give more, None if that is not known
        self.again_at: float | None = None
        # when one is due though nothing has happened
        self.look_at = self.pause_until = self.spare_since = 0.0
        self.trouble = ""  # why places can't be had, as was told; '' if they can
        self.told = ""  # which limits rules apply, as the log has it: names with blanks
        self._begin_if_limited()

    def _begin_if_limited(self) -> None:
        run = self.run
        if not limit_uses_of(run.dag) or run.is_rehearsal:
            return
        places = self.places = Places(run.dag, run.nodes, run.job_table)
        sort = places.class_of, len(places.names)
        self.queues = LimitedQueues(
            LimitedReadyQueue(*sort, places.may_submit),
            LimitedScriptQueue(*sort, places.may_run_pre),
            LimitedScriptQueue(*sort, places.may_run_post),
        )
        self.queues.take_over(run.ready, run.scripts.pre, run.scripts.post)
        run.queue_in(*self.queues)

    def grown(self, growth: Growth, _: Sequence[int]) -> None:
        """New nodes may keep to limits, the DAG's first ones perhaps."""
        if self.places is None or self.queues is None:
            self._begin_if_limited()
        else:
            self.places.grow(self.run.dag, growth.nodes)
            self.queues.grow(len(self.places.names))

    def has_limit(self, node: int) -> bool:
        """Whether the node keeps to a limit."""
        return self.places is not None and self.places.class_of[node] > 0

    # What moves.

    def node_moved(self, node: int, old: int, new: int) -> None:
        """What is in use follows from it."""
        if self.places is not None:
            self.places.node_moved(node, old, new)
        if self.pace_left and new == _PRE_RUN:
            self.pace_left -= 1
            self.pace_starts -= 1

    def idle_changed(self, node: int, change: int) -> None:
        """The same."""
        if self.places is not None:
            self.places.idle_changed(node, change)

    def begins(self) -> None:
        """Tell readers of the log what applies."""
        if not self.run.recovering:
            self._tell_applied()

    def _tell_applied(self) -> None:
        applied = " ".join(LimitsOfDag.of(self.run.dag).applied)
        if applied != self.told and self.run.mode is Mode.RUN:
            record = do.AppendJournalRecord("LIMITS_APPLIED", NO_NODE, 0, 0, text=applied)
            self.run.write(_APPLIED, "", record)

    def on_applied(self, _: int, event: LogEvent) -> None:
        """From here on these limits apply; who only follows the log learns it from that."""
        self.run.written.clear(_APPLIED)
        self.told = event.text
        if self.run.mode is Mode.FOLLOW:
            LimitsOfDag.put(self.run.dag).applied = tuple(event.text.split())

    def replayed(self) -> None:
        """The pace of PRE scripts begins, of those that wait now; and rules may have changed."""
        self._tell_applied()
        if self.run.admin.all_restart_pre_rate and not self.run.is_rehearsal:
            self.pace_left = len(self.run.scripts.pre)

    def blocks_starts(self, pre_scripts: bool) -> str:
        """Whether the pace after a restart forbids a PRE script now."""
        return "pace" if pre_scripts and self.pace_left > 0 >= self.pace_starts else ""

    # Requests.

    def at_starts(self, over: bool) -> None:
        """Ask for places, if anything waits for some, or give some back."""
        run = self.run
        if not over:
            return
        if self.places is None and not self.pace_left:
            return
        if self.asked or self.pause_until > run.now:
            return
        waiting = self._waiting()
        if not self._is_due(waiting):
            return
        demands = [self._demand(number, one) for number, one in enumerate(waiting) if number]
        if self.pace_left:
            nodes = max(self.pace_left - self.pace_starts, 0)
            demands.append(Demand((RESTART,), nodes=nodes))
        self.demands = tuple(demands)
        self.asked, self.woken = True, False
        self.pause_until = run.now + PAUSE_S  # until when there is no other one
        # since when there have been places to be given back; 0: there are none
        self.spare_since = 0.0
        run.emit(do.Ask(HELPER, TakePlaces(self.demands)))

    def _waiting(self) -> list[Waiting]:
        """By class, how many nodes, PRE and POST scripts could start if limits that are shared did
        not keep them from it."""
        run, queues = self.run, self.queues
        if queues is None or self.places is None:
            return [(0, 0, 0)]
        over = run.end.wanted is not None
        most = self._room_for_nodes() if not over and not run.starts_nothing else 0
        most_pre = 0 if over or run.starts_nothing else run.script_room(ScriptKind.PRE)
        most_post = 0 if over or run.frozen else run.script_room(ScriptKind.POST)
        return [
            (
                int(min(queues.ready.waiting(number), most)),
                int(min(queues.pre.waiting(number), most_pre)),
                int(min(queues.post.waiting(number), most_post)),
            )
            for number in range(len(self.places.names))
        ]

    def _room_for_nodes(self) -> float:
        """How many nodes the DAG's own throttles would let be submitted."""
        run = self.run
        limits, room = run.limits, float("inf")
        if limits.jobs:
            room = limits.jobs - run.nodes_in_queue()
        if limits.idle:
            room = min(room, limits.idle - run.job_table.idle)
        return max(room, 0)

    def _demand(self, number: int, waiting: Waiting) -> Demand:
        """What a class asks for; places that it has no use for are given up with that."""
        assert self.places is not None
        used, ahead = self.places.used(number), self._ahead(number, waiting)
        kept = self.places.kept(number, waiting, ahead)
        self.places.give_up(number, kept)
        return Demand(self.places.names[number], used, kept, *waiting, ahead)

    def _ahead(self, number: int, waiting: Waiting) -> int:
        """How many places a class keeps, if nobody else wants them, not another class either, for
        what is about to follow."""
        assert self.places is not None
        if self.contested or self.woken or any(self.places.waits):
            return 0
        used = sum(self.places.used(number))
        return max(_AHEAD, used // _AHEAD_PART) if used or any(waiting) else 0

    def _is_due(self, waiting: list[Waiting]) -> bool:
        if self.woken or (self.answered and self.look_at <= self.run.now):
            return True
        if self.pace_left and not self.pace_starts and self._may_ask_again():
            return True
        if self.places is None:
            return self._spare_is_due(False)
        spare = False
        for number in range(1, len(self.places.names)):
            if self._wants_more(self.places, number, waiting[number]):
                return True
            spare = spare or self._is_news(self.places, number, waiting[number])
        return self._spare_is_due(spare)

    def _may_ask_again(self) -> bool:
        return self.again_at is None or self.again_at <= self.run.now

    def _wants_more(self, places: Places, number: int, waiting: Waiting) -> bool:
        """Whether something waits for places of a class that it has not been told to wait for."""
        nodes, pre, post = waiting
        lacks = (
            (nodes and not places.may_submit(number))
            or (pre and not places.may_run_pre(number))
            or (post and not places.may_run_post(number))
        )
        if not lacks:
            return not self.answered and any(places.used(number))
        if not places.waits[number] or sum(waiting) > 2 * places.waits[number]:
            return True
        has_places = nodes and not places.starts[number] and places.has_room(number, Kind.JOBS)
        return bool(has_places or self.again_at is not None) and self._may_ask_again()

    def _is_news(self, places: Places, number: int, waiting: Waiting) -> bool:
        """Whether others may have some of the places of a class, or it uses some that they take for
        kept ahead."""
        kept = places.kept(number, waiting, self._ahead(number, waiting))
        used, most = places.used(number), places.most[number]
        return any(map(gt, places.held[number], kept)) or any(
            most[kind] >= 0 and used[kind] > told.used[kind] + told.waiting(kind)
            for told in self.demands[number - 1 : number]
            for kind in PLACES
        )

    def _spare_is_due(self, spare: bool) -> bool:
        now = self.run.now
        self.spare_since = (self.spare_since or now) if spare else 0.0
        return spare and now >= self.spare_since + self._linger_s()

    def _linger_s(self) -> float:
        return 0.0 if self.contested else LINGER_S

    def deadline(self) -> float | None:
        """When places are to be asked for, or given back."""
        if self.asked or (self.places is None and not self.pace_left):
            return None
        now = self.run.now
        times = [self.look_at] if self.answered else []
        times += [time for time in (self.again_at, self.pause_until) if time and time > now]
        if self.spare_since:
            times.append(self.spare_since + self._linger_s())
        if self.woken:
            times.append(now)
        due = min(times, default=None)
        return None if due is None else max(due, self.pause_until)

    # Answers.

    def on_given(self, answer: PlacesGiven) -> None:
        """The answer: so many places may be used."""
        self.asked, self.answered = False, True
        self.contested = answer.contested
        if self.trouble:
            self.run.emit(do.Publish())
        self.trouble = ""
        for number, (grant, demand) in enumerate(zip(answer.grants, self.demands), 1):
            if demand.limits == (RESTART,):
                paced = grant.starts
                self.pace_starts = self.pace_left if paced < 0 else self.pace_starts + paced
            elif self.places is not None:
                before = self.places.full[number]
                wanted = demand.nodes + demand.pre + demand.post
                self.places.take(number, grant, wanted, demand.kept)
                self._say_full(self.places.full[number], before)
        waits = self.pace_left > 0 or (self.places is not None and any(self.places.waits))
        now = self.run.now
        self.again_at = None if answer.again_s is None else now + answer.again_s
        self.look_at = now + (LOOK_S if waits else IDLE_LOOK_S)

    def _say_full(self, full: tuple[str, Kind] | None, before: tuple[str, Kind] | None) -> None:
        if full is not None and full != before:
            name, kind = full
            self.run.say(f"Nodes wait for shared limit {name}: {WORD_OF[kind]} is used up")
            self.run.emit(do.Publish())

    def on_unknown(self, answer: PlacesUnknown) -> None:
        """Places could not be asked for: those that there are stay."""
        if answer.reason != self.trouble:
            self.trouble = answer.reason
            self.run.emit(do.Publish())
            text = f"Warning: can't ask for places of shared limits: {answer.reason}"
            self.run.say(text, 0)
        self.asked = False  # whether a request is on its way
        self.woken = True  # whether others want us to ask
        self.pause_until = self.run.now + RETRY_S

    def on_wanted(self, _: PlacesWanted) -> None:
        """Others have given something back, or want something."""
        self.woken = True

    # What others see.

    def shown(self) -> Iterable[Shown]:
        """Why places can't be had, or which limits are full, and how many nodes wait for that."""
        if self.trouble:
            yield Shown("limits_trouble", "", answer=self.trouble)
        run, full = self.run, self.places.full[1:] if self.places is not None else []
        is_free = not self.trouble and not any(full)
        if is_free or run.starts_nothing or run.job_table.held or run.submission.attempts:
            return  # the core tells what a person can change first
        counts = zip(full, map(sum, self._waiting()[1:]))
        waits = [(one, count) for one, count in counts if count and (one or self.trouble)]
        names = ", ".join(sorted({one[0] for one, _ in waits if one}))
        cause = "limit.trouble" if self.trouble else f"limit.full {names}"
        if waits:
            yield Shown("", cause, attribute=_WAITS_FOR)
            yield Shown("", sum(count for _, count in waits), attribute=f"{_WAITS_FOR}Count")

    def validate(self) -> None:
        """What is counted is what is there, and is queued by class."""
        if self.places is not None:
            self.places.validate(self.run.nodes, self.run.job_table)
            assert self.queues is not None and self.run.ready is self.queues.ready

"""A DAG keeps to limits that it shares with others: when it asks for places, and gives some back.

Places are asked for in batches and used again when a node has ended, so most nodes start without a
request.  Who waits is woken.  Nothing of this is in the nodes log: what is in use follows from the
states of the nodes, after a restart as well, and a request always says all of it; so a request or
an answer that is lost neither forgets a place nor doubles one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.state import RunState
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.shared_limits.definitions import PLACES, RESTART, WORD_OF, Kind
from condor_pydagman.shared_limits.rounds import Demand, Grant
from condor_pydagman.vocabulary import ScriptKind

HELPER = "limits"
PAUSE_S = 0.05  # between two requests, at least
LOOK_S = 20.0  # who is killed tells nobody: who waits looks from time to time
IDLE_LOOK_S = 120.0  # the same for who does not wait, as limits may have been changed
LINGER_S = 2.0  # for which places without use are kept, if nobody waits for them
RETRY_S = 5.0  # after the directory could not be asked


class TakePlaces(NamedTuple):
    """Ask for places of limits that DAGs share, and give up those that are not kept.  Answered by
    PlacesGiven or PlacesUnknown.

    Attributes:
        demands: by class of nodes, from 1; all places that the DAG has are in it.
    """

    demands: tuple[Demand, ...]


class PlacesGiven(NamedTuple):
    """Answer to TakePlaces; see `shared_limits.rounds.Outcome`."""

    grants: Sequence[Grant]
    contested: bool = False
    again_s: float | None = None


class PlacesUnknown(NamedTuple):
    """Answer to TakePlaces: nothing has changed."""

    reason: str


class PlacesWanted(NamedTuple):
    """Other DAGs have given places of shared limits back, or want some."""


def ask_if_due(run: RunState) -> None:
    """Ask for places, if anything waits for some, or give some back."""
    shared = run.shared
    if shared.asked or shared.pause_until > run.now:
        return
    waiting = _waiting(run)
    if not _is_due(run, waiting):
        return
    demands = [shared.demand(number, *one) for number, one in enumerate(waiting) if number]
    if shared.pace_left:
        demands.append(shared.pace_demand())
    shared.begin_request(tuple(demands), run.now + PAUSE_S)
    run.emit(do.Ask(HELPER, TakePlaces(tuple(demands))))


def _waiting(run: RunState) -> list[tuple[int, int, int]]:
    """By class, how many nodes, PRE and POST scripts could start if limits that are shared did not
    keep them from it."""
    shared = run.shared
    queues = run.limited_queues
    if queues is None:
        return [(0, 0, 0)]
    over = run.end.wanted is not None
    most = _room_for_nodes(run) if not over and not run.starts_nothing else 0
    most_pre = 0 if over or run.starts_nothing else run.script_room(ScriptKind.PRE)
    most_post = 0 if over or run.frozen else run.script_room(ScriptKind.POST)
    return [
        (
            int(min(queues.ready.waiting(number), most)),
            int(min(queues.pre.waiting(number), most_pre)),
            int(min(queues.post.waiting(number), most_post)),
        )
        for number in range(len(shared.names))
    ]


def _room_for_nodes(run: RunState) -> float:
    """How many nodes the DAG's own throttles would let be submitted."""
    limits, room = run.limits, float("inf")
    if limits.jobs:
        room = limits.jobs - run.nodes_in_queue()
    if limits.idle:
        room = min(room, limits.idle - run.job_table.idle)
    return max(room, 0)


def _is_due(run: RunState, waiting: list[tuple[int, int, int]]) -> bool:
    shared = run.shared
    if shared.woken or (shared.answered and shared.look_at <= run.now):
        return True
    if shared.pace_left and not shared.pace_starts and _may_ask_again(run):
        return True
    spare = False
    for number in range(1, len(shared.names)):
        if _wants_more(run, number, waiting[number]):
            return True
        spare = spare or _has_spare(run, number, waiting[number])
    return _spare_is_due(run, spare)


def _may_ask_again(run: RunState) -> bool:
    again_at = run.shared.again_at
    return again_at is None or again_at <= run.now


def _wants_more(run: RunState, number: int, waiting: tuple[int, int, int]) -> bool:
    """Whether something waits for places of a class that it has not been told to wait for."""
    shared = run.shared
    nodes, pre, post = waiting
    lacks = (
        (nodes and not shared.may_submit(number))
        or (pre and not shared.may_run_pre(number))
        or (post and not shared.may_run_post(number))
    )
    if not lacks:
        return not shared.answered and any(shared.used(number))
    if not shared.waits[number] or sum(waiting) > 2 * shared.waits[number]:
        return True
    has_places = nodes and not shared.starts[number] and shared.has_room(number, Kind.JOBS)
    return bool(has_places or shared.again_at is not None) and _may_ask_again(run)


def _has_spare(run: RunState, number: int, waiting: tuple[int, int, int]) -> bool:
    """Whether others may have some of the places of a class."""
    shared = run.shared
    used, held, places = shared.used(number), shared.held[number], shared.places[number]
    nodes, pre, post = waiting
    ahead = shared.ahead(number, sum(waiting))
    for kind, more in zip(PLACES, (nodes, nodes, pre, post)):
        if places[kind] < 0:
            continue
        needed = max(used[kind], min(places[kind], used[kind] + more + ahead))
        if held[kind] > needed:
            return True
    return False


def _spare_is_due(run: RunState, spare: bool) -> bool:
    since = run.shared.note_spare(run.now if spare else 0.0)
    return spare and run.now >= since + _linger_s(run)


def _linger_s(run: RunState) -> float:
    return 0.0 if run.shared.contested else LINGER_S


def next_time(run: RunState) -> float | None:
    """When places are to be asked for, or given back."""
    shared = run.shared
    if shared.asked:
        return None
    times = [shared.look_at] if shared.answered else []
    times += [time for time in (shared.again_at, shared.pause_until) if time and time > run.now]
    if shared.spare_since:
        times.append(shared.spare_since + _linger_s(run))
    if shared.woken:
        times.append(run.now)
    due = min(times, default=None)
    return None if due is None else max(due, shared.pause_until)


# Answers.


def on_given(run: RunState, answer: PlacesGiven) -> None:
    """The answer: so many places may be used."""
    shared = run.shared
    shared.note_answer(answer.contested)
    for number, (grant, demand) in enumerate(zip(answer.grants, shared.demands), 1):
        if demand.limits == (RESTART,):
            shared.pace_given(grant.starts)
            continue
        before = shared.full[number]
        shared.take(number, grant, demand.nodes + demand.pre + demand.post, demand.kept)
        _say_full(run, number, before)
    waits = any(shared.waits) or shared.pace_left > 0
    again = None if answer.again_s is None else run.now + answer.again_s
    shared.plan(again, run.now + (LOOK_S if waits else IDLE_LOOK_S))


def _say_full(run: RunState, number: int, before: tuple[str, Kind] | None) -> None:
    full = run.shared.full[number]
    if full is not None and full != before:
        name, kind = full
        run.say(f"Nodes wait for shared limit {name}: {WORD_OF[kind]} is used up")


def on_unknown(run: RunState, answer: PlacesUnknown) -> None:
    """Places could not be asked for: those that there are stay."""
    shared = run.shared
    if shared.is_new_reason(answer.reason):
        run.say(f"Warning: can't ask for places of shared limits: {answer.reason}", 0)
    shared.lost_answer(run.now + RETRY_S)


def on_wanted(run: RunState, _: PlacesWanted) -> None:
    """Others have given something back, or want something."""
    run.shared.wake()


REPLIES: dict[type, Any] = {
    PlacesGiven: on_given,
    PlacesUnknown: on_unknown,
    PlacesWanted: on_wanted,
}

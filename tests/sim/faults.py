"""Which faults a seed brings and how often, and what people do: each rate is drawn by itself, and
many are zero, so that rare combinations get their turn ("swarm testing")."""

from __future__ import annotations

from dataclasses import dataclass, fields
from random import Random


@dataclass(frozen=True)
class Faults:
    """Chances, 0 to 1, each for every occasion; `until` is when they all end, in seconds."""

    crash: float = 0.0  # DAGMan is killed at a boundary between two actions or inputs
    leave: float = 0.0  # DAGMan is put on hold and released (an occasion: 20 s)
    stop: float = 0.0  # DAGMan is removed (an occasion: 20 s)
    halt: float = 0.0  # somebody halts the DAG, and resumes it later (an occasion: 20 s)
    pause: float = 0.0  # somebody pauses it, and resumes it later (an occasion: 20 s)
    limits: float = 0.0  # somebody wants other throttles (an occasion: 20 s)
    remove_job: float = 0.0  # somebody removes a job behind our back (an occasion: 20 s)
    hold_job: float = 0.0  # somebody holds a job, and releases it later (an occasion: 20 s)
    outage: float = 0.0  # the schedd does not answer for a while (an occasion: 20 s)
    refuse: float = 0.0  # a submit is refused, for now
    refuse_for_good: float = 0.0
    full: float = 0.0  # the schedd's queue has no room for a submit
    lost_before: float = 0.0  # a submit never arrives, and neither does a reply
    lost_after: float = 0.0  # a submit is accepted, but the reply does not arrive
    lose_job: float = 0.0  # the schedd forgets a running proc without an event
    hold: float = 0.0
    evict: float = 0.0
    suspend: float = 0.0
    disconnect: float = 0.0  # the machine of a job can't be reached for a while, or for good
    shadow: float = 0.0  # a shadow exception
    helper: float = 0.0  # a helper of the schedd's has trouble while a job runs
    bad_program: float = 0.0  # an executable error: the job is aborted or held
    no_remove: float = 0.0  # a removal fails
    double: float = 0.0  # an event is written twice in a row
    late_double: float = 0.0  # an event of the schedd is written again, much later
    reorder: float = 0.0  # an event comes after later ones of other clusters
    clock: float = 0.0  # the clock that events are stamped with steps (an occasion: 20 s)
    lag: float = 0.0  # new events can't be seen for a while
    cut: float = 0.0  # an event is half written for a while
    garble: float = 0.0  # an event of the schedd can't be read
    full_disk: float = 0.0  # an event of DAGMan's own can't be written
    no_rescue: float = 0.0  # the rescue file can't be written
    forget: float = 0.0  # the log has lost its end when a killed DAGMan comes again
    broken_log: float = 0.0  # the log can't be followed any more (an occasion: 20 s)
    kill_script: float = 0.0
    hang_script: float = 0.0
    no_script: float = 0.0  # a script can't be started
    short_machine: float = 0.0  # there is no process for a script just now
    slow_schedd: float = 0.0  # a request, or its answer, takes a while
    lost_answer: float = 0.0  # the answer to a request (but a submit) does not come
    unlock: float = 0.0  # somebody deletes the lock file (an occasion: 20 s)
    no_edit: float = 0.0  # the schedd refuses an edit of DAGMan's own ad
    schedd_gone: float = (
        0.0  # the schedd dies; its successor starts DAGMan again (an occasion: 20 s)
    )
    until: float = 0.0

    def __str__(self) -> str:
        rates = ((field.name, getattr(self, field.name)) for field in fields(self))
        return " ".join(f"{name}={rate:.3g}" for name, rate in rates if rate) or "none"


# The highest chance of each; what would end most runs early is rarer.
_MAX_RATES = {
    "crash": 0.05,
    "leave": 0.1,
    "stop": 0.3,
    "halt": 0.5,
    "pause": 0.5,
    "limits": 0.8,
    "remove_job": 0.2,
    "hold_job": 0.2,
    "outage": 0.3,
    "refuse": 0.3,
    "refuse_for_good": 0.05,
    "full": 0.6,
    "lost_before": 0.2,
    "lost_after": 0.3,
    "lose_job": 0.1,
    "hold": 0.3,
    "evict": 0.3,
    "suspend": 0.2,
    "disconnect": 0.2,
    "shadow": 0.2,
    "helper": 0.3,
    "bad_program": 0.1,
    "no_remove": 0.5,
    "double": 0.2,
    "late_double": 0.2,
    "reorder": 0.3,
    "clock": 0.3,
    "lag": 0.2,
    "cut": 0.1,
    "garble": 0.02,
    "full_disk": 0.03,
    "no_rescue": 0.8,
    "forget": 0.3,
    "broken_log": 0.02,
    "kill_script": 0.2,
    "hang_script": 0.1,
    "no_script": 0.05,
    "short_machine": 0.2,
    "slow_schedd": 0.3,
    "lost_answer": 0.1,
    "unlock": 0.3,
    "no_edit": 0.9,
    "schedd_gone": 0.1,
}
_ZERO_SHARES = {
    "garble": 0.9,
    "full_disk": 0.9,
    "broken_log": 0.9,
    "forget": 0.9,
    "stop": 0.7,
    "crash": 0.3,
    "no_edit": 0.8,
}
_ZERO_SHARES.update(dict.fromkeys(("halt", "pause", "clock"), 0.7))


def swarm(rng: Random) -> Faults:
    """Draw all rates."""
    rates = {}
    for name, highest in _MAX_RATES.items():
        on = rng.random() >= _ZERO_SHARES.get(name, 0.6)
        rate = highest * rng.random() ** 2
        rates[name] = rate if on else 0.0
    return Faults(until=rng.choice((200.0, 1000.0, 3000.0)), **rates)

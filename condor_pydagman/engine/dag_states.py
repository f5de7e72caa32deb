"""The DAG's own states: what the whole run is doing.

    STARTING --Begin--> RUNNING ------------------------> FINISHING --> ENDED
        |                  ^                                  ^
        +--> RECOVERING --caught up--> RECONCILING --asked----+

ENDED can be reached from everywhere.  A halted or paused DAG is RUNNING; it just starts nothing.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where the run is."""

    STARTING = "starting"  # no input has been handled yet
    RECOVERING = "recovering"  # replays the nodes log and starts nothing
    RECONCILING = "reconciling"  # has asked the schedd which jobs it really has; starts nothing
    RUNNING = "running"  # nodes are started as throttles allow
    FINISHING = "finishing"  # the result is decided; only the FINAL node runs
    ENDED = "ended"  # inputs are ignored


MOVES: dict[Phase, frozenset[Phase]] = {
    Phase.STARTING: frozenset((Phase.RECOVERING, Phase.RUNNING, Phase.ENDED)),
    Phase.RECOVERING: frozenset((Phase.RECONCILING, Phase.ENDED)),
    Phase.RECONCILING: frozenset((Phase.RUNNING, Phase.FINISHING, Phase.ENDED)),
    Phase.RUNNING: frozenset((Phase.FINISHING, Phase.ENDED)),
    Phase.FINISHING: frozenset((Phase.ENDED,)),
    Phase.ENDED: frozenset(),
}

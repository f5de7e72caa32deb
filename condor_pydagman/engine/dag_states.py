"""The DAG's own states: what the whole run is doing.

    STARTING --Begin--> RUNNING ------------------------------> ENDED
        |                  ^                                      ^
        +--> RECOVERING --caught up--> RECONCILING --schedd asked-+--(or left at any time)

RECOVERING replays the nodes log and starts nothing.  RECONCILING has asked the schedd which jobs it
really has, and starts nothing either.  ENDED hears no input any more.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where the run is."""

    STARTING = "starting"
    RECOVERING = "recovering"
    RECONCILING = "reconciling"
    RUNNING = "running"
    ENDED = "ended"


MOVES: dict[Phase, frozenset[Phase]] = {
    Phase.STARTING: frozenset((Phase.RECOVERING, Phase.RUNNING, Phase.ENDED)),
    Phase.RECOVERING: frozenset((Phase.RECONCILING, Phase.ENDED)),
    Phase.RECONCILING: frozenset((Phase.RUNNING, Phase.ENDED)),
    Phase.RUNNING: frozenset((Phase.ENDED,)),
    Phase.ENDED: frozenset(),
}

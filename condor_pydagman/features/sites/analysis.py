"""Why there is no site for groups: what each site's ad and the groups' policy say, counted.

As condor_q -better-analyze does for jobs and slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

MAX_NAMES = 5  # of sites that are named


class Obstacle(Enum):
    """What is in the way of a match."""

    NONE = ""
    FULL = "full"
    RESERVED = "for other DAGs first, which have waited longer"
    RESTS = "paused, because groups had to leave it"
    TRIED = "on trial until one of the first groups there is done"
    GROUP_REFUSES = "not what the group requires"
    SITE_REFUSES = "do not want the group by their own Requirements"
    BROKEN = "have an ad that can't be used"


class Verdict(NamedTuple):
    """What becomes of a group at a site; `detail` is for BROKEN."""

    site: str
    obstacle: Obstacle
    rank: float = 0.0
    detail: str = ""


def analysis(verdicts: Sequence[Verdict]) -> str:
    """Why no site fits, in one sentence; the same facts give the same words."""
    if not verdicts:
        return "the collector has no ads of sites (condor_pydagman sites monitor publishes them)"
    parts = []
    for obstacle in Obstacle:
        found = [one for one in verdicts if one.obstacle is obstacle]
        if found:
            parts.append(_part(obstacle, found))
    sites = "site" if len(verdicts) == 1 else "sites"
    return f"of {len(verdicts)} {sites}, {'; '.join(parts)}"


def _part(obstacle: Obstacle, found: Sequence[Verdict]) -> str:
    names = [_shown(one) for one in sorted(found)[:MAX_NAMES]]
    more = ["..."] if len(found) > MAX_NAMES else []
    which = ", ".join(names + more)
    words = obstacle.value or "left out, because the group had to leave it"
    verb = "" if words.startswith(("do ", "have ")) else "is " if len(found) == 1 else "are "
    if len(found) == 1:
        words = words.replace("do not", "does not").replace("have an", "has an")
        words = words.replace("their own", "its own")
    return f"{len(found)} {verb}{words} ({which})"


def _shown(one: Verdict) -> str:
    name = message(one.site)
    return f"{name}: {message(one.detail)}" if one.detail else name

"""All that there is to say of a DAG that is followed.

The module `words` of a feature may have:

- `notices(known)`: what the feature has to say of the DAG.
- `halted_by(known)`: what of it has halted or ended the DAG (`HaltedBy`), None if nothing has.
"""

from __future__ import annotations

from condor_pydagman import features
from condor_pydagman.notices.full_throttles import throttle_notices
from condor_pydagman.notices.halts import halt_notices
from condor_pydagman.notices.held_jobs import held_job_notices
from condor_pydagman.notices.known import Known
from condor_pydagman.notices.standstill import standstill_notices
from condor_pydagman.trace.notice import Notice, in_order


def notices_of(known: Known) -> tuple[Notice, ...]:
    """What the core of DAGMan and its features have to say, the most important first."""
    of_features = (one for ask in features.told("words", "notices") for one in ask(known))
    return in_order(
        (
            *halt_notices(known),
            *held_job_notices(known),
            *throttle_notices(known),
            *standstill_notices(known),
            *of_features,
        )
    )

"""What features say of a DAG that does not go on; the core of the explanation names none.

The module `explain` of a feature may have:

- `findings(facts, state)`: what is to be said of the DAG.
- `halted_by(facts)`: who has halted or ended the DAG, if it has.
"""

from __future__ import annotations

from condor_pydagman import features
from condor_pydagman.diagnosis.explanation import Evidence
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.named_tuple import NamedTuple


class HaltedBy(NamedTuple):
    """What of a feature has halted a DAG, or ended it.

    Attributes:
        what: in words, `a brake`.
        named: the same, with names.
        evidence: why.
        ends: whether it has ended the DAG.
    """

    what: str
    named: str
    evidence: tuple[Evidence, ...]
    ends: bool


def halted_by(facts: Facts) -> HaltedBy | None:
    """The first feature that has halted or ended the DAG; None if none has."""
    found = (ask(facts) for ask in features.told("explain", "halted_by"))
    return next((one for one in found if one is not None), None)

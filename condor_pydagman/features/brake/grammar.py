"""The command BRAKE."""

from __future__ import annotations

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.lexer import LineError, Words
from condor_pydagman.dagfile.lines import Context
from condor_pydagman.named_tuple import NamedTuple

EXIT_CODE, HOLD_REASON, SITE = ALIKE = ("EXIT_CODE", "HOLD_REASON", "SITE")
HALT, HOLD, ABORT = EFFECTS = ("HALT", "HOLD", "ABORT")


def _check(brake: Brake, words: Words, context: Context) -> None:
    if brake.alike == HOLD_REASON and brake.last:
        hint = "OF counts runs that have ended, and a job on hold has not: leave OF out"
        raise LineError("OF can't be told of HOLD_REASON", words, hint=hint)


@rows.Row(
    "BRAKE",
    "Stops the DAG when more nodes fail than so many, perhaps all in the same way.",
    after="NOT_NEEDED",
    check=_check,
)
class Brake(NamedTuple):
    """BRAKE: what the DAG does when more nodes fail than `limit`.

    Attributes:
        percent: whether `limit` is a share of the last runs, or of all nodes that it counts.
        last: how many runs that have ended are looked at; 0 for all since the start.
        alike: what the failures have in common: EXIT_CODE, HOLD_REASON (then they are jobs that
            are held) or SITE; '' for nothing.
        category: it counts nodes of this category, '' for all.
        effect: HALT, HOLD or ABORT.
    """

    line: int
    name: str = rows.name("name of the brake", sample="sick")
    limit: int = rows.share("number of the brake", 0)
    percent: bool = False
    last: int = rows.option("OF", rows.number("number", 1, "<last>"), 0)
    alike: str = rows.option("ALIKE", rows.one_of(ALIKE), "")
    category: str = rows.option("CATEGORY", rows.name("name", "<category>", sample="big"), "")
    effect: str = rows.one_of(EFFECTS)

"""BRAKE: what a DAG does when much of it fails; and what a brake counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import OF_THE_WHOLE, Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.graph.modify import category_name
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.language.lines import Context
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ORDINARY_KINDS

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


class BrakesOfDag(FeatureData):
    """The brakes of a DAG."""

    def __init__(self) -> None:
        self.brakes: list[Brake] = []

    def lines(self, dag: Dag) -> Iterator[Brake]:
        """As of `FeatureData`."""
        return iter(self.brakes)

    def categories(self) -> Iterator[str]:
        """As of `FeatureData`."""
        return (brake.category for brake in self.brakes)


def brakes_of(dag: Dag) -> Sequence[Brake]:
    """The brakes of a DAG."""
    return BrakesOfDag.of(dag).brakes


def apply_brake(building: Building, command: Brake) -> None:
    """BRAKE."""
    if building.scope.outer is not None:
        fail(
            "BRAKE can't be used in a splice",
            "it is about a whole DAG: put it into the DAG file, with CATEGORY S+c for category c"
            " of splice S",
        )
    brakes = BrakesOfDag.put(building.dag).brakes
    if any(one.name == command.name for one in brakes):
        fail(
            f"There is a brake {command.name} already",
            "give one of the two another name",
            at=command.name,
        )
    category = command.category and category_name(building, command.category)
    brakes.append(command._replace(line=0, category=category))


def members(dag: Dag, brake: Brake) -> int:
    """How many nodes a brake counts, by the categories of the DAG files.

    FINAL, PROVISIONER and SERVICE nodes are not among them.
    """
    kinds = dag.kinds
    if brake.category:
        pairs = dag.categories.items()
        return sum(name == brake.category and kinds[n] in ORDINARY_KINDS for n, name in pairs)
    return sum(kinds.count(kind) for kind in ORDINARY_KINDS)


def limit(brake: Brake, nodes: int) -> float:
    """What must be exceeded, by a brake that counts so many `nodes`."""
    return brake.limit * (brake.last or nodes) / 100 if brake.percent else brake.limit


def obstacle(dag: Dag, brake: Brake) -> str:
    """Why a brake can't do anything in this DAG; '' if it can."""
    nodes = members(dag, brake)
    if brake.category and not nodes:
        return f"no node is in category {brake.category}"
    if brake.alike == SITE and not dag.groups:
        return "no node has a site: there is no SITE_GROUP"
    most = min(nodes, brake.last) if brake.last else nodes
    if most <= limit(brake, nodes):
        of_last = f" in {brake.last} runs" if most == brake.last else ""
        return f"it counts {most} nodes at most{of_last}, which is not more than {text(brake)}"
    return ""


def text(brake: Brake) -> str:
    """The number, as its line has it: `20% OF 50`."""
    return f"{brake.limit}{'%' * brake.percent}" + (f" OF {brake.last}" if brake.last else "")


APPLIED = (Applied(Brake, apply_brake, refused=OF_THE_WHOLE),)

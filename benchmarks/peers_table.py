"""The table and the chart of peers: a line for each program."""

from __future__ import annotations

from benchmarks import bars
from benchmarks.figures import Results, Row
from benchmarks.peers import PEERS
from benchmarks.subjects import BUNDLES, ONE_BY_ONE, OURS
from benchmarks.table import TITLES

GROUP = "Peers"
ROWS = (
    Row("one task, from start to end", "peer one", "s", 2),
    Row("a step of a chain", "peer step", "ms", 1, 1000),
    Row("tasks of a bag", "peer rate", "/s", 1, more_is_better=True),
)
SUBJECTS = {
    **{one: TITLES[one] for one in ONE_BY_ONE},
    **dict(zip(BUNDLES, ("ours, in bundles", "ours, in bundles, file transfer"))),
    **{name: peer.title for name, peer in PEERS.items()},
}
_OTHERS, _POOL, _OURS = "#999999", "#e69f00", "#0072b2"
_LEGEND = [
    (_OURS, "ours"),
    (_POOL, "others whose tasks are jobs of HTCondor"),
    (_OTHERS, "others, processes only"),
]


def measured(results: Results) -> bool:
    """Whether a run has numbers for the table."""
    return any(row.value(results, one) is not None for row in ROWS for one in SUBJECTS)


def render(results: Results, versions: dict[str, str]) -> str:
    """The table, in Markdown; a dash for what was not measured.

    Args:
        versions: of the programs that were there.
    """
    lines = [f"|  | {' | '.join(row.text for row in ROWS)} |", f"|---|{'---:|' * len(ROWS)}"]
    for one, title in SUBJECTS.items():
        cells = [row.shown(row.value(results, one)) for row in ROWS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    if versions:
        told = ", ".join(f"{name} {version}" for name, version in versions.items())
        lines += ["", f"Versions: {told}."]
    return "\n".join(lines) + "\n"


def draw(row: Row, title: str, note: str, results: Results) -> str:
    """A chart with a bar for each program that has a number, as SVG."""
    groups = []
    for one, name in SUBJECTS.items():
        value = row.value(results, one)
        if value is not None:
            groups.append(bars.Group(name, [bars.Bar(_colour(one), value, row.shown(value))]))
    return bars.draw(title, note, groups, _LEGEND, logarithmic=True)


def _colour(subject: str) -> str:
    if subject == OURS or subject in BUNDLES:
        return _OURS
    return _POOL if subject in ONE_BY_ONE or PEERS[subject].pool else _OTHERS

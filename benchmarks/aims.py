"""The aims for performance, and whether a run reached them."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from benchmarks.figures import GROUPS, Results, Row, load_rows
from benchmarks.measure import WORKFLOWS
from benchmarks.subjects import FLOOR, OURS, STOCK, TOGETHER, TUNED

MAX_IDLE_CPU_S = 0.010  # seconds a minute: one tick of the kernel's clock
MAX_IDLE_USS_MB = 8.0
MAX_CROWD_SHARE = 0.2
# Half of what they were when the aim was set.
MAX_SUBMIT_DAG_S, MAX_START_S = 0.042, 0.103
MAX_OBEYED_MS = 1000.0  # while the schedd hangs
MAX_LATE_MS = 1000.0
MIN_LOAD_NODES = 100_000  # below, the start of an interpreter counts more than the DAG


class Aim(NamedTuple):
    """What is wanted, and for a run's results what is so and whether it is enough, if known."""

    text: str
    judge: Callable[[Results], tuple[str, bool] | None]


def _ratio(results: Results, name: str, upper: str, lower: str) -> float | None:
    values = [Row("", name).value(results, subject) for subject in (upper, lower)]
    return values[0] / values[1] if values[0] is not None and values[1] else None


def _reaction(results: Results) -> tuple[str, bool] | None:
    found = _ratio(results, "reaction", STOCK, OURS)
    return None if found is None else (f"{found:,.0f} times", found >= 100)


def _bag(results: Results) -> tuple[str, bool] | None:
    """Judged by a bare loop whose jobs have all attributes of a DAG's jobs."""
    rate = Row("", "held rate").value(results, OURS)
    same = Row("", "held rate, DAG's job").value(results, FLOOR)
    short = _ratio(results, "held rate", OURS, FLOOR)
    if rate is None or not same or short is None:
        return None
    shown = f"{rate / same:.0%} ({short:.0%} of one whose jobs belong to no DAG)"
    return shown, rate / same >= 0.9


def _makespan(results: Results) -> tuple[str, bool] | None:
    """The greatest excess counts."""
    ratios = {shape: _ratio(results, f"{shape} makespan", OURS, FLOOR) for shape in WORKFLOWS}
    found = {shape: ratio for shape, ratio in ratios.items() if ratio is not None}
    if not found:
        return None
    shown = ", ".join(f"{shape} {ratio - 1:+.1%}" for shape, ratio in found.items())
    return shown, max(found.values()) <= 1.05


def _one_by_one(results: Results) -> tuple[str, bool] | None:
    """The smallest counts."""
    names = {"500": "held rate", "10,000": "held rate 10000"}
    ratios = {text: _ratio(results, name, OURS, TUNED) for text, name in names.items()}
    found = {text: ratio for text, ratio in ratios.items() if ratio is not None}
    if not found:
        return None
    shown = ", ".join(f"{text} jobs {ratio:.0%}" for text, ratio in found.items())
    return shown, min(found.values()) >= 1


def _together(results: Results) -> tuple[str, bool] | None:
    values = [Row("", "held rate 10000").value(results, subject) for subject in (TOGETHER, TUNED)]
    if values[0] is None or not values[1]:
        return None
    return f"{values[0] / values[1]:.1f} times", values[0] / values[1] >= 5


def _crowd(results: Results) -> tuple[str, bool] | None:
    """Judged by nodes together, if that was measured."""
    names = {TOGETHER: "together", OURS: "one by one"}
    shares = {text: Row("", "crowd share").value(results, one) for one, text in names.items()}
    found = {text: share for text, share in shares.items() if share is not None}
    if not found:
        return None
    shown = ", ".join(f"{text} {share:.0%}" for text, share in found.items())
    return shown, next(iter(found.values())) < MAX_CROWD_SHARE


def _start(results: Results) -> tuple[str, bool] | None:
    names = {"condor_submit_dag": "submit_dag", "DAGMan": "start"}
    values = {text: Row("", name).value(results, OURS) for text, name in names.items()}
    found = {text: value for text, value in values.items() if value is not None}
    if len(found) < len(names):
        return None
    shown = ", ".join(f"{text} {value * 1000:.0f} ms" for text, value in found.items())
    return shown, found["condor_submit_dag"] <= MAX_SUBMIT_DAG_S and found["DAGMan"] <= MAX_START_S


def _loads(results: Results, wanted: Callable[[str, int], bool]) -> dict[str, float]:
    """Ours beside stock of the shapes and sizes wanted."""
    found = {}
    for row in load_rows(set(results.get(OURS, {}))):
        shape, nodes = row.name.split()[-2:]
        ratio = _ratio(results, row.name, OURS, STOCK)
        if ratio is not None and wanted(shape, int(nodes)):
            found[row.text] = ratio
    return found


def _load(results: Results) -> tuple[str, bool] | None:
    """The worst counts; those that miss the aim are told."""
    found = _loads(results, lambda _, nodes: nodes >= MIN_LOAD_NODES)
    if not found:
        return None
    missed = [f"{text} {ratio:.0%}" for text, ratio in found.items() if ratio > 0.5]
    shown = f"{min(found.values()):.0%} to {max(found.values()):.0%}"
    return "; ".join([shown, *missed]), not missed


def _load_million(results: Results) -> tuple[str, bool] | None:
    found = _loads(results, lambda shape, nodes: shape == "vars" and nodes >= 1_000_000)
    if not found:
        return None
    shown = ", ".join(f"{text.partition(': ')[2]} {ratio:.0%}" for text, ratio in found.items())
    return shown, max(found.values()) <= 0.35


def _recovery(results: Results) -> tuple[str, bool] | None:
    found = _ratio(results, "recovery time", OURS, STOCK)
    return None if found is None else (f"{found:.0%} of its time", found <= 1)


def _idle(results: Results) -> tuple[str, bool] | None:
    values = results.get(OURS, {}).get("idle cpu")
    if not values:
        return None
    used = median(values)
    return f"{used * 1000:.1f} ms a minute", used < MAX_IDLE_CPU_S


def _idle_memory(results: Results) -> tuple[str, bool] | None:
    found = Row("", "idle uss").value(results, OURS)
    return None if found is None else (f"{found:.1f} MB", found <= MAX_IDLE_USS_MB)


def _many(results: Results) -> tuple[str, bool] | None:
    names = {"PSS": "pss", "USS": "uss", "RSS": "rss", "MemAvailable": "available"}
    ratios = {text: _ratio(results, f"many idle {n}", OURS, STOCK) for text, n in names.items()}
    found = {text: ratio for text, ratio in ratios.items() if ratio is not None}
    if "PSS" not in found:
        return None
    shown = ", ".join(f"{text} {ratio:.2f}" for text, ratio in found.items())
    return shown, found["PSS"] <= 1.5


def _orders(names: tuple[str, ...], most: float) -> Callable[[Results], tuple[str, bool] | None]:
    """The slowest of all counts."""

    def judge(results: Results) -> tuple[str, bool] | None:
        values = [row.value(results, OURS) for row in GROUPS["Orders"] if row.name in names]
        found = [value for value in values if value is not None]
        if len(found) < len(names):
            return None
        return f"{max(found):,.0f} ms", max(found) <= most

    return judge


_OBEYED, _LATE = ("obeyed event", "obeyed halt", "obeyed hold"), ("retry late", "timeout late")
AIMS = [
    Aim("reaction 100 times shorter than stock's with its defaults", _reaction),
    Aim("bag of held jobs at 90 % of the rate of a bare loop with the same jobs", _bag),
    Aim("bags of held jobs, one by one: the rate of stock, tuned", _one_by_one),
    Aim("10,000 held jobs, nodes together: 5 times the rate of stock, tuned", _together),
    Aim("CPU of DAGMan below 20 % while no-op jobs pass through the pool, nodes together", _crowd),
    Aim("makespan of each workflow within 5 % of the bare loop's", _makespan),
    Aim("start: condor_submit_dag in 42 ms, DAGMan's first submit after 103 ms", _start),
    Aim("loading 100,000 nodes and more: at most half of stock's time and memory", _load),
    Aim("loading 1,000,000 nodes with VARS: at most 35 % of them", _load_million),
    Aim("recovery no slower than stock's", _recovery),
    Aim("idle: no CPU (less than 10 ms a minute)", _idle),
    Aim("idle: at most 8 MB that no other process shares (USS)", _idle_memory),
    Aim("many idle ones: at most 1.5 times the memory of stock ones, by PSS", _many),
    Aim("orders: obeyed in 1 s while the schedd hangs", _orders(_OBEYED, MAX_OBEYED_MS)),
    Aim("retries and timeouts: at most 1 s late", _orders(_LATE, MAX_LATE_MS)),
]


def render(results: Results) -> str:
    """A table of the aims, in Markdown."""
    lines = ["| aim | measured | |", "|---|---|---|"]
    for aim in AIMS:
        found = aim.judge(results)
        if found is None:
            lines.append(f"| {aim.text} | - | not measured |")
        else:
            verdict = "reached" if found[1] else "**missed**"
            lines.append(f"| {aim.text} | {found[0]} | {verdict} |")
    return "\n".join(lines) + "\n"

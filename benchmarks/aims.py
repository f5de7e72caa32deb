"""The aims for performance, and whether a run reached them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.figures import Results, Row, load_rows, median
from benchmarks.measure import WORKFLOWS
from benchmarks.subjects import FLOOR, OURS, STOCK

MAX_IDLE_CPU_S = 0.010  # seconds a minute: one tick of the kernel's clock


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
    """Judged by a bare loop that submits what DAGMan must submit: jobs that say whose they are."""
    rate = Row("", "held rate").value(results, OURS)
    same = Row("", "held rate, DAG's job").value(results, FLOOR)
    short = _ratio(results, "held rate", OURS, FLOOR)
    if rate is None or not same or short is None:
        return None
    shown = f"{rate / same:.0%} ({short:.0%} of one whose jobs do not say whose they are)"
    return shown, rate / same >= 0.9


def _makespan(results: Results) -> tuple[str, bool] | None:
    """The greatest excess counts."""
    ratios = {shape: _ratio(results, f"{shape} makespan", OURS, FLOOR) for shape in WORKFLOWS}
    found = {shape: ratio for shape, ratio in ratios.items() if ratio is not None}
    if not found:
        return None
    shown = ", ".join(f"{shape} {ratio - 1:+.1%}" for shape, ratio in found.items())
    return shown, max(found.values()) <= 1.05


def _load(results: Results) -> tuple[str, bool] | None:
    """Judged by the layered DAGs with VARS; the table has other shapes."""
    ratios = {
        row.text: _ratio(results, row.name, OURS, STOCK)
        for row in load_rows(set(results.get(OURS, {})))
        if " vars " in row.name
    }
    found = {text: ratio for text, ratio in ratios.items() if ratio is not None}
    if not found:
        return None
    shown = ", ".join(f"{text.replace(', with VARS', '')} {found[text]:.0%}" for text in found)
    return shown, max(found.values()) <= 0.5


def _recovery(results: Results) -> tuple[str, bool] | None:
    found = _ratio(results, "recovery time", OURS, STOCK)
    return None if found is None else (f"{found:.0%} of its time", found <= 1)


def _idle(results: Results) -> tuple[str, bool] | None:
    values = results.get(OURS, {}).get("idle cpu")
    if not values:
        return None
    used = median(values)
    return f"{used * 1000:.1f} ms a minute", used < MAX_IDLE_CPU_S


def _many(results: Results) -> tuple[str, bool] | None:
    names = {"PSS": "pss", "USS": "uss", "RSS": "rss", "MemAvailable": "available"}
    ratios = {text: _ratio(results, f"many idle {n}", OURS, STOCK) for text, n in names.items()}
    found = {text: ratio for text, ratio in ratios.items() if ratio is not None}
    if "PSS" not in found:
        return None
    shown = ", ".join(f"{text} {ratio:.2f}" for text, ratio in found.items())
    return shown, found["PSS"] <= 1.5


AIMS = [
    Aim("reaction 100 times shorter than stock's with its defaults", _reaction),
    Aim("bag of held jobs at 90 % of the rate of a bare loop with the same jobs", _bag),
    Aim("makespan of each workflow within 5 % of the bare loop's", _makespan),
    Aim("time and memory of loading at most half of stock's", _load),
    Aim("recovery no slower than stock's", _recovery),
    Aim("idle: no CPU (less than 10 ms a minute)", _idle),
    Aim("many idle ones: at most 1.5 times the memory of stock ones, by PSS", _many),
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

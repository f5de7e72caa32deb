"""One glance at a DAG as a piece of HTML for somebody else's page, as a cell of a notebook is.

Whatever names and reasons hold stays text.  Without its style sheet, as where a notebook is not
trusted, the words and the bar remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.shown_states import Look, in_words
from condor_pydagman.graph.model import Dag
from condor_pydagman.report.chart_style import LIGHT, scoped
from condor_pydagman.report.charts import safe_html, timeline
from condor_pydagman.report.feature_words import Clock, overview_flows
from condor_pydagman.report.groups import group_names
from condor_pydagman.report.html_report import chart_legend, run_axis
from condor_pydagman.report.overview_text import pace, shown_counts
from condor_pydagman.report.spans import spans
from condor_pydagman.words import duration, number

MAX_NOTICES = 8
MAX_NODE_ROWS = 24  # of the timeline; of more nodes, each group has one
_SCOPE = ".condor-dag"
_GOOD, _BAD = ("succeeded",), ("failed", "removed", "interrupted", "held")
# A page's own colours shine through, be it light or dark.
_STYLE = f"""
{_SCOPE} {{ --soft: #7a8290; --line: #8886; --ground: var(--jp-layout-color0, #fff); {LIGHT};
  max-width: 1000px; line-height: 1.45 }}
{_SCOPE} p {{ margin: .3rem 0; overflow-wrap: anywhere }}
{_SCOPE} ul {{ margin: .3rem 0; padding-left: 1.2rem }}
{_SCOPE} .soft {{ color: var(--soft) }}
{_SCOPE} .bad {{ color: var(--bad) }}
{_SCOPE} .good {{ color: var(--good) }}
{_SCOPE} pre {{ margin: .2rem 0; font-size: .85em; white-space: pre-wrap; overflow-wrap: anywhere }}
{scoped(_SCOPE)}"""


def glance_html(
    seen: Overview, findings: Sequence[Notice], advice: str, chart: str, clock: Clock
) -> Iterator[str]:
    """A glance, in pieces.

    Args:
        findings: what there is to say, the most important first.
        advice: the command that says more; '' for none.
        chart: a picture of the run, see `run_chart`; '' for none.
        clock: local time of seconds since the epoch.
    """
    yield f"<div class='{_SCOPE[1:]}'><style>{_STYLE}</style>\n"
    yield from _progress(seen, clock)
    if seen.note and not any(one.cause.startswith("dagman.") for one in findings):
        yield f"<p class='bad'>{safe_html(seen.note)}</p>\n"
    yield from _findings(findings)
    for inner in seen.subdags:
        yield from _progress(inner, clock)
    if advice:
        yield f"<p class='soft'>{safe_html(advice)}</p>\n"
    if chart:
        yield f"<p class='legend'>{chart_legend()}</p>\n{chart}\n"
    yield "</div>"


def run_chart(
    run: Run, dag: Dag | None, now: float, clock: Clock, tick: Callable[[float, float], str]
) -> str:
    """A small timeline of a run; '' if nothing has begun.

    Args:
        dag: None if it can't be read.
        now: end of what goes on.
        tick: a time on an axis, given the length of that, seconds.
    """
    end = run.ended or now
    found = spans(run, end)
    if not found:
        return ""
    begin = run.begun or found[0].begin
    axis = run_axis(run, found, begin, max(end, *(span.end for span in found)))
    names = group_names(run, dag)
    return timeline(
        found,
        names,
        axis,
        clock,
        lambda when: tick(when, axis.length),
        most_rows=MAX_NODE_ROWS,
    )


def _progress(seen: Overview, clock: Clock) -> Iterator[str]:
    """Name, state, bar and counts."""
    kind = "good" if seen.state in _GOOD else "bad" if seen.state in _BAD else ""
    code = f", exit code {seen.exit_code}" if seen.exit_code is not None else ""
    yield f"<p><b>{safe_html(seen.dag)}</b> <b class='{kind}'>{safe_html(seen.state)}{code}</b>"
    yield f" <span class='soft'>{' · '.join(_when(seen, clock))}</span></p>\n"
    if seen.counts["total"]:
        counts = list(shown_counts(seen))
        yield _bar(counts, seen.counts["total"])
        yield f"<p>{' &nbsp; '.join(_counts(seen, counts))}</p>\n"
    said = [pace(seen, clock), *(pieces for pieces, _ in overview_flows(seen))]
    for pieces in filter(None, said):
        yield f"<p class='soft'>{safe_html(' '.join(text for text, _ in pieces))}</p>\n"


def _when(seen: Overview, clock: Clock) -> Iterator[str]:
    if seen.cluster:
        yield f"job {seen.cluster}"
    if seen.begun:
        took = duration((seen.ended or seen.now) - seen.begun)
        yield f"took {took}" if seen.ended else f"since {clock(seen.begun)}, {took}"


def _bar(counts: Sequence[tuple[Look, int]], total: int) -> str:
    """A piece for each state, as wide as it has nodes; its colours need no style sheet."""
    pieces = "".join(
        f"<span title='{look.word} {number(count)}' style='display:inline-block;height:100%;"
        f"min-width:2px;flex:{count} 0 0;background:{look.paint.strong}'></span>"
        for look, count in counts
        if count
    )
    return (
        f"<div role='img' aria-label='{number(total)} nodes by state' style='display:flex;"
        f"height:14px;border-radius:3px;overflow:hidden'>{pieces}</div>\n"
    )


def _counts(seen: Overview, counts: Sequence[tuple[Look, int]]) -> Iterator[str]:
    for look, count in counts:
        more = ""
        if look.key == "done":
            more = f" of {number(seen.counts['total'])}"
            more += f" ({', '.join(in_words(seen.not_run))})" if seen.not_run else ""
        mark = f"<span style='color:{look.paint.strong}'>&#9632;</span>"
        yield f"{mark} {look.word} {number(count)}{more}"


def _findings(findings: Sequence[Notice]) -> Iterator[str]:
    if not findings:
        return
    yield "<ul>\n"
    for finding in findings[:MAX_NOTICES]:
        kind = " class='bad'" if finding.weight is Weight.PROBLEM else ""
        yield f"<li><span{kind}>{safe_html(finding.sentence)}</span>{_detail(finding)}</li>\n"
    left = len(findings) - MAX_NOTICES
    yield f"<li class='soft'>and {left:,} more</li>\n</ul>\n" if left > 0 else "</ul>\n"


def _detail(finding: Notice) -> str:
    """What says so, and what can be done."""
    parts = []
    for one in finding.evidence:
        where = ": ".join(filter(None, (one.source, one.text)))
        parts.append(f"<br><span class='soft'>{safe_html(where)}</span>")
        if one.lines:
            lines = "\n".join(map(safe_html, one.lines))
            parts.append(f"<pre>{lines}</pre>")
    for advice in finding.advice or filter(None, (finding.command,)):
        parts.append(f"<br><span class='soft'>&#8658; {safe_html(advice)}</span>")
    return "".join(parts)

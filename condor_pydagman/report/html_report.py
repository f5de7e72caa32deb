"""A run as an HTML page of its own: no network, no script, printable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Any

from condor_pydagman.follow.node_placements import NodePlacements, total
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.run_model import COUNTS, Attempt, Hold, Run, interventions
from condor_pydagman.follow.shown_states import LOOKS, shown_state
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of, size_text
from condor_pydagman.report import feature_words
from condor_pydagman.report.all_runs import AllRuns, Repeated, ends, repeated, time_lost
from condor_pydagman.report.chart_style import DARK, LIGHT, RULES
from condor_pydagman.report.charts import MAX_ROWS, NAMES, concurrency_chart, safe_html, timeline
from condor_pydagman.report.critical_path import Step, critical_path
from condor_pydagman.report.feature_words import Section
from condor_pydagman.report.groups import (
    counted_nodes,
    failure_kinds,
    group_names,
    groups,
    held_back,
    resources,
)
from condor_pydagman.report.spans import PARTS, Span, TimeAxis, concurrency, ran_s, spans, time_axis
from condor_pydagman.vocabulary import NodeKind, NodeStatus
from condor_pydagman.words import duration, number

STYLE = """
:root { --ink: #1b1f24; --ground: #fff; --line: #d5d9de; --soft: #5d6673; --panel: #f5f6f8;
  LIGHT_STATES }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --ground: #14171b; --line: #383e46;
  --soft: #9aa3ae; --panel: #1d2126; DARK_STATES } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem; max-width: 1160px; color: var(--ink);
  background: var(--ground); font: 15px/1.45 Helvetica, Arial, "DejaVu Sans", sans-serif }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line) }
p { margin: .4rem 0 } .soft { color: var(--soft) } .bad { color: var(--bad) }
.good { color: var(--good) }
.numbers { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0 }
.numbers div { background: var(--panel); border-radius: 6px; padding: .5rem .9rem }
.numbers b { display: block; font-size: 1.25rem }
.numbers span { color: var(--soft); font-size: .85rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
caption { text-align: left; color: var(--soft); padding: .2rem 0 }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--line);
  white-space: nowrap }
td:first-child, td.text { text-align: left; white-space: normal; overflow-wrap: anywhere;
  min-width: 6em }
th:first-child, th.text { text-align: left }
th { font-weight: 600 }
CHART_RULES
.share { display: inline-flex; width: 160px; height: .8rem; border-radius: 2px; overflow: hidden;
  background: var(--panel) }
.share i { height: 100% } .before { background: var(--line) }
.picture svg { max-height: 900px }
pre { margin: .2rem 0; font-size: .85em; white-space: pre-wrap; color: var(--soft) }
summary { color: var(--soft); font-size: .85em }
code { background: var(--panel); padding: .05rem .3rem; border-radius: 3px;
  overflow-wrap: anywhere }
@media print { body { max-width: none; padding: 0 } h2 { break-after: avoid }
  tr, svg { break-inside: avoid } }
"""
STYLE = STYLE.replace("LIGHT_STATES", LIGHT).replace("DARK_STATES", DARK)
STYLE = STYLE.replace("CHART_RULES\n", RULES)


MAX_TABLE_ROWS = 25
MAX_PATH_ROWS = 60
MAX_HELD = 3  # nodes that are named
ALL_ROWS = 1 << 62
_OF_EARLIER_RUNS = (
    "Of runs before the last, only what .dagman.out says of attempts is known: times and results,"
    " but no hosts, resources, reasons of holds, or commands to nodes."
)
_RUN_HEAD = ("run", "began", "took", "ended", "began from", "starts of DAGMan", "attempts",
             "jobs ran", "nodes done")  # fmt: skip
_LEGEND = ("idle", "held", "run", "pre", "post")
_PATH_HEAD = ("node", "total", "of the run", "before", "waiting", "held", "running",
              "scripts", "between")  # fmt: skip
_PATH_WORDS = ("before submission", "waiting in the queue", "held", "running", "in scripts",
               "in between")  # fmt: skip


class Subject(NamedTuple):
    """What a report is about."""

    name: str  # of the DAG
    state: str  # what it is about, in words
    run: Run  # as the logs tell it
    dag: Dag | None  # the DAG; None if it can't be read, `dag_problem` says why then
    now: float  # time of the report, seconds since the epoch
    clock: Callable[[float], str]  # local time of seconds since the epoch
    # the same for the axis of a picture, given the length of that, seconds
    tick: Callable[[float, float], str]
    dag_problem: str = ""
    # the DAG as SVG, coloured by outcome; '' without one, `picture_problem` says why
    picture: str = ""
    picture_problem: str = ""
    # the last lines that failed nodes have written, by the nodes
    excerpts: Mapping[str, Sequence[str]] = {}
    # commands that report the DAGs of SUBDAG EXTERNAL nodes, by their nodes
    subdags: Sequence[tuple[str, str]] = ()
    notices: Sequence[Notice] = ()  # what there is to say of the whole DAG
    most_rows: int = MAX_TABLE_ROWS  # of a table; ALL_ROWS for all
    for_all_rows: str = "condor_pydagman report --rows 0"  # the command that shows all rows
    # all runs of the DAG, if the report is about them: `run` is the whole then
    all_runs: AllRuns | None = None


class Markup(str):
    """A cell that is HTML already."""


def html_report(subject: Subject) -> Iterator[str]:
    """The page, in pieces."""
    run, end = subject.run, subject.run.ended or subject.now
    found = spans(run, end)
    begin = run.begun or min((end, *(span.begin for span in found)))
    end = end if run.ended or not found else max((run.last, *(span.end for span in found)))
    names = group_names(run, subject.dag)
    by_node: dict[str, list[Span]] = {}
    for span in found:
        by_node.setdefault(span.node, []).append(span)
    title = f"{_text(subject.name)} · condor_pydagman report"
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{STYLE}</style></head><body>\n"
    yield from _summary(subject, begin, end)
    yield from _runs(subject)
    yield from _section(subject, _failures(subject))
    yield from _section(subject, _interventions(subject), unknown=run.interventions.more)
    if found:
        yield from _timeline(subject, found, names, begin, end)
        yield from _path(subject, found, by_node, begin, end)
        for table in (
            _groups(subject, found, names),
            _resources(subject, names),
            *feature_words.sections(run, end),
            _placements(subject),
            _retries(subject),
            _holds(subject),
        ):
            yield from _section(subject, table)
    yield from _picture(subject)
    yield from _subdags(subject)
    yield "</body></html>\n"


def _summary(subject: Subject, begin: float, end: float) -> Iterator[str]:
    run, clock = subject.run, subject.clock
    kind = "good" if run.exit_code == 0 else "bad" if run.exit_code else ""
    code = f", exit code {run.exit_code}" if run.exit_code is not None else ""
    yield f"<h1>{_text(subject.name)}</h1>\n<p><b class='{kind}'>{subject.state}{code}</b>"
    yield f" · {clock(begin)} to {clock(end)}</p>\n"
    for note in _notes(subject):
        yield f"<p class='soft'>{_text(note)}</p>\n"
    yield "<div class='numbers'>"
    for value, what in _numbers(subject, begin, end):
        yield f"<div><b>{value}</b><span>{what}</span></div>"
    yield "</div>\n"


def _notes(subject: Subject) -> Iterator[str]:
    run = subject.run
    if not run.ended:
        yield "The run had not ended when this report was made; later events are missing."
    if not run.complete:
        yield (
            "The nodes log is missing, so what happened to nodes and jobs is not in this report"
            f"{_counted(run)}."
        )
    if subject.dag is None:
        yield f"The DAG can't be read, so there is no critical path: {subject.dag_problem}"
    if subject.all_runs is not None:
        yield _OF_EARLIER_RUNS
    elif run.rescue_read:
        yield f"The run started from {run.rescue_read}: nodes that were done did not run again."
    if run.rescue_written:
        yield f"The run wrote {run.rescue_written}: to run the rest, submit the DAG again."
    if len(run.starts) > 1 and subject.all_runs is None:
        times = ", ".join(subject.clock(start.time) for start in run.starts)
        yield f"DAGMan was started {len(run.starts)} times: {times}"
    for halt in run.halts:
        until = subject.clock(halt.ended) if halt.ended else "the end"
        yield f"Halted from {subject.clock(halt.begun)} to {until}"
    for notice in subject.notices:
        yield notice.sentence
        for said in notice.evidence:
            if said.time and said.text not in notice.sentence:
                yield f"{subject.clock(said.time)}: {said.text}"


def _counted(run: Run) -> str:
    """What DAGMan has counted, of which there is nothing else."""
    if not run.counts:
        return ""
    counts = {"waiting" if name == "unready" else name: run.counts[name] for name in COUNTS}
    total = counts.pop("total")
    parts = [f"{count:,} {name}" for name, count in counts.items() if count]
    return f"; DAGMan's last count of {total:,} nodes: {', '.join(parts)}"


def _numbers(subject: Subject, begin: float, end: float) -> Iterator[tuple[str, str]]:
    run = subject.run
    if not run.complete:
        yield duration(end - begin), "makespan"
        return
    states = [node.status for node in counted_nodes(run)]
    attempts = [attempt for node in run.nodes.values() for attempt in node.attempts]
    always = subject.all_runs.always if subject.all_runs is not None else ()
    more = (node.attempts[1:] for name, node in run.nodes.items() if name not in always)
    later = chain.from_iterable(more)
    jobs, bundles = _jobs(run, attempts)
    cpu = sum(attempt.cpu_s for attempt in attempts)
    yield duration(end - begin), "makespan" if subject.all_runs is None else "all runs"
    yield f"{states.count(NodeStatus.DONE):,} of {len(states):,}", "nodes done"
    for status, word in ((NodeStatus.ERROR, "failed"), (NodeStatus.FUTILE, "futile")):
        if states.count(status):
            yield f"{states.count(status):,}", word
    of_them = f", {bundles:,} of them of several nodes" if bundles else ""
    yield f"{jobs:,}", ("job" if jobs == 1 else "jobs") + of_them
    for count, one, many in (
        (sum(attempt.is_retry for attempt in attempts), "retry", "retries"),
        # that have run again without being retried: in a later run, or since somebody wanted it to
        (sum(not attempt.is_retry for attempt in later), "repeat", "repeats"),
        (sum(len(attempt.holds) for attempt in attempts), "hold", "holds"),
        (sum(attempt.evictions for attempt in attempts), "eviction", "evictions"),
    ):
        if count:
            yield f"{count:,}", one if count == 1 else many
    yield duration(cpu), "CPU time of jobs"
    if run.placements:
        yield size_text(total(run.placements).moved), "moved by DATA nodes"


def _jobs(run: Run, attempts: Iterable[Attempt]) -> tuple[int, int]:
    """How many jobs there were in the queue, and how many of them carried several nodes."""
    carriers = {one.job.cluster for one in run.carriers.values() if one.job.procs}
    own = 0
    for attempt in attempts:
        if attempt.is_part:
            carriers.add(attempt.cluster)
        else:
            own += attempt.procs
    return own + len(carriers), len(carriers)


def _runs(subject: Subject) -> Iterator[str]:
    """Each run of the DAG, and what the later ones have repeated."""
    seen, clock = subject.all_runs, subject.clock
    if seen is None:
        return
    now = subject.run.ended or subject.now
    lost = time_lost(seen, now)
    yield "<h2 id='runs'>Runs</h2>\n"
    share = f" ({100 * lost.again / lost.ran:.0f} %)" if lost.ran else ""
    yield f"<p>{number_of(len(seen.runs), 'run')}: {duration(lost.in_runs)} in runs,"
    yield f" {duration(lost.between)} between them. Jobs ran {duration(lost.ran)} in all,"
    yield f" {duration(lost.again)}{share} of it in attempts that were repeated later.</p>\n"

    def cells(row: tuple[int, Run, float]) -> tuple[str, ...]:
        number, run, end = row
        course = _course(run, now, subject.state if run is seen.runs[-1] else "interrupted")
        return (str(number), clock(run.begun), duration(end - run.begun), *course)

    rows = [*zip(range(1, len(seen.runs) + 1), seen.runs, ends(seen, now))]
    table = Section("", "", "Oldest first", _RUN_HEAD, rows, (3, 4), cells)
    yield from _section(subject, table, rows[-subject.most_rows :])
    yield from _section(subject, _repeated(repeated(seen, now)))


def _course(run: Run, now: float, otherwise: str) -> Iterator[str]:
    """How a run ended and began, and what it did; `otherwise`: how, if no end is known."""
    attempts = [attempt for node in run.nodes.values() for attempt in node.attempts]
    how = otherwise if run.exit_code is None else f"exit code {run.exit_code}"
    by = f"cancelled by {run.cancelled_by}, " if run.cancelled_by else "removed, " * run.removed
    yield by + how
    yield run.rescue_read
    yield f"{len(run.starts):,}"
    yield f"{len(attempts):,}"
    yield duration(sum(ran_s(attempt, now) for attempt in attempts))
    yield f"{run.counts['done']:,} of {run.counts['total']:,}" if run.counts else ""


def _repeated(again: Sequence[Repeated]) -> Section:
    caption = f"{number_of(len(again), 'node')} that began in several runs"
    head = ("node", "in runs", "attempts", "ran in all but the last")
    return Section("", "", caption, head, again, (0, 1), lambda one: (
        one.node, ", ".join(map(str, one.runs)), f"{one.attempts:,}", duration(one.ran)
    ))  # fmt: skip


def _failures(subject: Subject) -> Section:
    head = ("how", "nodes", "which")
    kinds = failure_kinds(subject.run)
    return Section("failures", "Failures", "Failed nodes", head, kinds, (0, 2), lambda kind: (
        Markup(_text(kind.how) + _excerpt(kind.nodes, subject.excerpts)),
        f"{kind.number:,}",
        _some(kind.nodes, kind.number),
    ))  # fmt: skip


def _interventions(subject: Subject) -> Section:
    """What people and features have done to the run."""
    clock, caption = subject.clock, "What people and features did to the run"
    head, made = ("when", "who or what", "did", "to", "why"), interventions(subject.run)
    return Section("interventions", "Interventions", caption, head, made, range(5), lambda one: (
        clock(one.time) + (f" to {clock(one.last)}" if one.times > 1 else ""),
        one.by,
        one.what,
        _some(one.nodes, one.times) if one.nodes else f"{one.times:,} times" * (one.times > 1),
        one.why,
    ))  # fmt: skip


def _excerpt(nodes: Sequence[str], excerpts: Mapping[str, Sequence[str]]) -> str:
    """What the first of the nodes has written of which that is known."""
    node = next((node for node in nodes if excerpts.get(node)), None)
    if node is None:
        return ""
    lines = "\n".join(map(_text, excerpts[node]))
    return f"<details open><summary>Output of {_text(node)}</summary><pre>{lines}</pre></details>"


def _timeline(
    subject: Subject, found: Sequence[Span], names: dict[str, str], begin: float, end: float
) -> Iterator[str]:
    legend = chart_legend()
    folded = len({span.node for span in found}) > MAX_ROWS
    how = (
        "Each row is a group of nodes; its height is the number of nodes at a time, up to the"
        " number beside it."
        if folded
        else "Each row is a node with all its attempts; a cross marks a failed attempt."
    )
    yield "<h2 id='timeline'>Timeline</h2>\n"
    yield f"<p class='legend'>{legend}</p><p class='soft'>{how}</p>\n"

    axis = run_axis(subject.run, found, begin, end)
    if axis.cuts:
        left_out = duration(sum(until - since for since, until in axis.cuts))
        yield "<p class='soft'>The bands mark times in which all waited or was on hold,"
        yield f" {left_out} in all; they are cut out.</p>\n"

    def tick(when: float) -> str:
        return subject.tick(when, axis.length)

    yield timeline(found, names, axis, subject.clock, tick)
    seen = concurrency(found, axis)
    yield "<h2 id='concurrency'>Concurrency</h2>\n"
    most = ", ".join(f"{seen.most[part]:,} {NAMES[part]}" for part in PARTS if seen.most[part])
    yield f"<p class='legend'>{legend}</p><p class='soft'>Nodes at a time; at most: {most}</p>\n"
    yield concurrency_chart(seen, axis, tick)


def chart_legend() -> str:
    """What the colours of the timeline mean."""
    return "".join(f"<span><i class='{part}'></i>{NAMES[part]}</span>" for part in _LEGEND)


def run_axis(run: Run, found: Sequence[Span], begin: float, end: float) -> TimeAxis:
    """The axis of a run's pictures, by the nodes that DAGMan counts: SERVICE nodes run all the
    time."""
    counted = {node.name for node in counted_nodes(run)}
    return time_axis((span for span in found if span.node in counted), begin, end)


def _path(
    subject: Subject,
    found: Sequence[Span],
    by_node: dict[str, list[Span]],
    begin: float,
    end: float,
) -> Iterator[str]:
    if subject.dag is None:
        return
    steps = critical_path(subject.dag, by_node, begin)
    total = end - begin or 1.0
    yield "<h2 id='path'>Critical path</h2>\n"
    sums = [sum(getattr(step, name) for step in steps) for name in Step._fields[3:]]
    sums.append(max(end - (steps[-1].end if steps else begin), 0.0))
    words = (*_PATH_WORDS, f"after these nodes{_final(subject.dag, by_node)}")
    shares = ", ".join(
        f"{100 * value / total:.0f} % {word}"
        for value, word in zip(sums, words)
        if value / total >= 0.005
    )
    yield "<p>The chain of nodes that determined the length of the run. Where its time went:"
    yield f" {shares}.</p>\n<p>"
    if sums[0] >= total / 2:
        yield "Most of it lies before the submission of nodes"
        waits = held_back(subject.run, subject.dag, found, steps, end)
        known = [f"{100 * waited / sums[0]:.0f} % with {_text(what)}"
                 for what, waited in waits if waited >= sums[0] / 100]  # fmt: skip
        yield (
            f": {', '.join(known)}. To make the run faster, change that.</p>\n"
            if known
            else ("; the logs do not tell what they waited for.</p>\n")
        )
    elif sum(step.held for step in steps) >= total / 2:
        longest = sorted(steps, key=lambda step: -step.held)[:MAX_HELD]
        held = (f"{_text(step.node)} for {duration(step.held)}" for step in longest if step.held)
        yield f"Most of that time jobs were on hold: {', '.join(held)}.</p>\n"
    else:
        yield "To make the run faster, make these nodes faster.</p>\n"
    if sums[-2] >= 0.5:
        yield "<p class='soft'>Between: from one attempt or job of a node to its next, or between"
        yield " its jobs and scripts.</p>\n"
    most = max(MAX_PATH_ROWS, subject.most_rows)
    shown = {step.node for step in sorted(steps, key=lambda step: -step.seconds)[:most]}
    left = f"; the {most:,} longest of {len(steps):,}" if len(steps) > most else ""
    caption, head = f"In the order of the run{left}", (*_PATH_HEAD, "")
    table = Section("", "", caption, head, steps, (0,), lambda step: (
        step.node,
        duration(step.seconds),
        f"{100 * step.seconds / total:.0f} %",
        *(duration(getattr(step, name)) for name in Step._fields[3:]),
        _share(step),
    ))  # fmt: skip
    yield from _section(subject, table, [step for step in steps if step.node in shown])


def _final(dag: Dag, by_node: Mapping[str, Sequence[Span]]) -> str:
    """The FINAL node, if it has run."""
    ran = [name for node in dag.of_kind(NodeKind.FINAL) for name in [dag.names[node]]
           if name in by_node]  # fmt: skip
    return f" (FINAL {_text(ran[0])})" if ran else ""


def _share(step: Step) -> Markup:
    """The parts of a step, as a bar."""
    total = step.seconds or 1.0
    parts = (
        ("before", step.before),
        ("idle", step.idle),
        ("held", step.held),
        ("run", step.run),
        ("post", step.scripts),
    )
    bars = "".join(
        f"<i class='{kind}' style='width:{100 * seconds / total:.1f}%'></i>"
        for kind, seconds in parts
    )
    return Markup(f"<span class='share'>{bars}</span>")


def _groups(subject: Subject, found: Sequence[Span], names: dict[str, str]) -> Section:
    head = ("submit description", "nodes", "attempts", "failed", "waiting", "held", "running",
            "scripts", "running in all")  # fmt: skip
    made, caption = groups(subject.run, found, names), "Mean time of an attempt, and the longest"
    return Section("kinds", "Kinds of nodes", caption, head, made, (0,), lambda group: (
        group.name,
        f"{group.nodes:,}",
        f"{group.attempts:,}",
        _count(group.failed),
        *(f"{duration(mean)} ({duration(most)})" for mean, most in
          (group.idle, group.held, group.run, group.scripts)),
        duration(group.total_run),
    ))  # fmt: skip


def _resources(subject: Subject, names: dict[str, str]) -> Section:
    head = ("submit description", "resource", "requested", "used, mean", "used, most", "of request")
    caption, used = "As the terminate events of the jobs say", resources(subject.run, names)
    return Section("resources", "Resources", caption, head, used, (0, 1), lambda use: (
        use.group,
        use.resource,
        number(use.requested) if use.requested is not None else "",
        number(use.mean),
        number(use.most),
        f"{100 * use.most / use.requested:.0f} %" if use.requested else "",
    ))  # fmt: skip


def _placements(subject: Subject) -> Section:
    """What DATA nodes have moved, the slowest first."""
    placements = subject.run.placements
    slowest = sorted(placements.items(), key=lambda one: one[1].begun - one[1].ended)
    head = ("node", "done", "there already", "moved", "took", "rate", "repeated", "failed", "ways",
            "last fault")  # fmt: skip
    caption = (
        f"{number_of(len(placements), 'DATA node')} moved {size_text(total(placements).moved)}"
    )

    def cells(row: tuple[str, NodePlacements]) -> tuple[str, ...]:
        name, of = row
        return (
            name,
            f"{of.done:,}",
            _count(of.skipped),
            size_text(of.moved),
            duration(of.ended - of.begun),
            f"{size_text(of.per_second)}/s" if of.per_second else "",
            _count(of.retried),
            _count(of.failed),
            ", ".join(of.ways),
            of.reasons[-1] if of.reasons else "",
        )

    return Section("data", "Data placement", caption, head, slowest, (0, 8, 9), cells)


def _retries(subject: Subject) -> Section:
    tried = [
        (node, retries)
        for node in subject.run.nodes.values()
        for retries in [sum(attempt.is_retry for attempt in node.attempts)]
        if retries
    ]
    tried.sort(key=lambda one: -one[1])
    caption, head = f"{number_of(len(tried), 'node')} with retries", ("node", "retries", "state")
    return Section("retries", "Retries", caption, head, tried, (0, 2), lambda one: (
        one[0].name, f"{one[1]:,}", LOOKS[shown_state(one[0])].word
    ))  # fmt: skip


def _holds(subject: Subject) -> Section:
    clock = subject.clock
    held = [
        (node.name, hold)
        for node in subject.run.nodes.values()
        for attempt in node.attempts
        for hold in attempt.holds
    ]

    def cells(row: tuple[str, Hold]) -> tuple[str, ...]:
        name, hold = row
        lasted = duration(hold.released - hold.time) if hold.released else "still held"
        return (name, hold.job, clock(hold.time), lasted, str(hold.code), hold.reason)

    head = ("node", "job", "since", "for", "code", "reason")
    return Section("holds", "Holds", number_of(len(held), "hold"), head, held, (0, 5), cells)


def _picture(subject: Subject) -> Iterator[str]:
    if subject.picture or subject.picture_problem:
        yield "<h2 id='picture'>The DAG</h2>\n"
        if subject.picture_problem:
            yield f"<p class='soft'>{_text(subject.picture_problem)}</p>\n"
        yield f"<div class='picture'>{subject.picture}</div>\n"


def _subdags(subject: Subject) -> Iterator[str]:
    if subject.subdags:
        yield "<h2 id='subdags'>Sub-DAGs</h2>\n<p>Each has a report of its own:</p><ul>\n"
        for node, command in subject.subdags:
            yield f"<li>{_text(node)}: <code>{_text(command)}</code></li>\n"
        yield "</ul>\n"


def _section(
    subject: Subject, one: Section, shown: Sequence[Any] | None = None, unknown: int = 0
) -> Iterator[str]:
    """A table with its heading, unless it has no rows; columns `texts` are on the left.

    Args:
        shown: rows that are shown; None for the first ones.
        unknown: how many there are that are in no report.
    """
    if not one.rows:
        return
    shown = one.rows[: subject.most_rows] if shown is None else shown
    if one.title:
        yield f"<h2 id='{one.anchor}'>{one.title}</h2>\n"
    kinds = [" class='text'" if column in one.texts else "" for column in range(len(one.head))]
    yield f"<div class='wide'><table><caption>{escape(one.caption)}</caption><thead><tr>"
    heads = zip(kinds, one.head)
    yield "".join(f"<th{kind} scope='col'>{escape(cell)}</th>" for kind, cell in heads)
    yield "</tr></thead><tbody>\n"
    for row in shown:
        cells = "".join(
            f"<td{kind}>{_text(cell)}</td>" for kind, cell in zip(kinds, one.cells(row))
        )
        yield f"<tr>{cells}</tr>\n"
    yield "</tbody></table></div>\n"
    left = len(one.rows) - len(shown)
    if left:
        command = f"<code>{_text(subject.for_all_rows)}</code>"
        yield f"<p class='soft'>and {left:,} more: {command} shows all rows</p>\n"
    if unknown:
        yield f"<p class='soft'>and {unknown:,} more, see <code>condor_pydagman events</code></p>\n"


def _count(number: int) -> str:
    """'' for none."""
    return f"{number:,}" if number else ""


def _some(names: Sequence[str], total: int) -> str:
    more = f" and {total - len(names):,} more" if total > len(names) else ""
    return ", ".join(names) + more


def _text(text: str) -> str:
    return text if isinstance(text, Markup) else safe_html(text)

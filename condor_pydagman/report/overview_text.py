"""One glance at a DAG as lines of a terminal: pieces of text with a style each, at any width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.shown_states import BAR, COUNTED, LOOKS, OF_DAGS, Look, in_words
from condor_pydagman.follow.tally import WINDOW_S
from condor_pydagman.printable import number_of, size_text
from condor_pydagman.report.feature_words import SPACE, Clock, Piece, flow, overview_flows
from condor_pydagman.words import duration, number, rate, result

Line = Sequence[Piece]

# Characters of bars that are not ASCII, and others of the same widths.
ASCII_MARKS = str.maketrans({"…": "~", **{look.mark: look.ascii_mark for look in LOOKS.values()}})
_STATE_STYLES = {
    state.value: f"bold {LOOKS[shown].terminal.replace('bold ', '')}"
    for state, shown in OF_DAGS.items()
}
_WEIGHT_STYLES = {
    Weight.PROBLEM: "bold magenta",
    Weight.WAITING: "yellow",
    Weight.NOTE: "bright_black",
}
_COUNTED = [look for look in (LOOKS[state] for state in BAR) if look.key in COUNTED]
_OF_PACE = "dag.stalled"  # it stands where the estimate does
MIN_WIDTH = 10


def overview_lines(seen: Overview, width: int, clock: Clock, *, depth: int = 0) -> list[Line]:
    """A picture of a DAG and of its sub-DAGs.

    Args:
        width: columns; no line is longer.
        clock: local time of seconds since the epoch, `14:20:05`.
        depth: how many DAGs it is in.
    """
    indent = SPACE * min(depth, max(width // 8, 0))
    room = max(width - len(indent), MIN_WIDTH)
    lines: list[Line] = _head(seen, room, clock)
    if seen.counts["total"]:
        lines += [_bar(seen, room), *_wrapped(_counts(seen), room)]
        lines += _wrapped(pace(seen, clock), room)
    if seen.placements:
        lines += _wrapped(_placements(seen.placements), room)
    for pieces, space in overview_flows(seen):
        lines += _wrapped(pieces, room, space)
    if depth == 0:
        lines += _details(seen, room, clock)
    for inner in seen.subdags:
        lines += overview_lines(inner, room, clock, depth=1)
    return [_cut(((indent, ""), *line), width) for line in lines]


def summary(seen: Overview, clock: Clock) -> str:
    """A picture in one line, for a log or a pipe."""
    counts = " ".join(f"{look.word} {count}" for look, count in shown_counts(seen))
    text = f"{clock(seen.now)} {seen.dag} {seen.state}: {counts or 'no nodes known'}"
    if seen.remaining_s is not None:
        text += f", done in about {duration(seen.remaining_s)}"
    elif seen.waits_for:
        text += f", waiting for {', '.join(seen.waits_for)}"
    if seen.exit_code is not None:
        text += f", exit code {seen.exit_code}"
    return text


def plain(line: Line) -> str:
    """A line without its styles."""
    return "".join(text for text, _ in line).rstrip()


def _head(seen: Overview, width: int, clock: Clock) -> list[Line]:
    left: list[Piece] = [(seen.dag, "bold"), (SPACE, "")]
    left.append((seen.state, _STATE_STYLES.get(seen.state, "bold")))
    if seen.exit_code is not None:
        left.append((f", exit code {seen.exit_code}", ""))
    if seen.cluster:
        left.append((f"{SPACE}job {seen.cluster}", "bright_black"))
    if not seen.begun:
        return [left]
    took = duration((seen.ended or seen.now) - seen.begun)
    right = f"since {clock(seen.begun)}, {took}" if not seen.ended else f"took {took}"
    gap = width - sum(_width(text) for text, _ in left) - len(right)
    if gap < len(SPACE):
        return [left, [(right, "bright_black")]]
    return [[*left, (" " * gap + right, "bright_black")]]


def _bar(seen: Overview, width: int) -> Line:
    total, done = seen.counts["total"], seen.counts["done"]
    share = f"{SPACE}{int(100 * done / total)} %"
    cells = max(width - len(share), MIN_WIDTH)
    pieces = [
        (look.mark * length, look.terminal)
        for look, length in zip(_COUNTED, _lengths([seen.counts[key] for key in COUNTED], cells))
        if length
    ]
    return [*pieces, (share, "")]


def _lengths(counts: Sequence[int], cells: int) -> list[int]:
    """How many cells of a bar each count gets: in proportion, and one at least."""
    total = sum(counts) or 1
    lengths = [max(int(cells * count / total), 1) if count else 0 for count in counts]
    largest = max(range(len(lengths)), key=lambda n: lengths[n])
    lengths[largest] += cells - sum(lengths)
    return [max(length, 0) for length in lengths]


def shown_counts(seen: Overview) -> Iterator[tuple[Look, int]]:
    """How many nodes are in each state that is worth showing."""
    for look in _COUNTED:
        if seen.counts[look.key] or look.key == "done":
            yield look, seen.counts[look.key]


def _counts(seen: Overview) -> list[Piece]:
    pieces = []
    for look, count in shown_counts(seen):
        of = f" of {number(seen.counts['total'])}" if look.key == "done" else ""
        pieces.append((f"{look.mark} {look.word} {number(count)}{of}", look.terminal))
        if look.key == "done" and seen.not_run:
            pieces.append((f"({', '.join(in_words(seen.not_run))})", look.terminal))
        if look.key == "ready" and seen.retrying:
            pieces.append((f"({number(seen.retrying)} waiting for retry)", look.terminal))
    age = seen.now - seen.counted
    if age >= 60 and not seen.ended:
        pieces.append((f"(counted {duration(age)} ago)", "bright_black"))
    return pieces


def pace(seen: Overview, clock: Clock) -> list[Piece]:
    """How fast it goes and when it will be done, or what it waits for."""
    if seen.ended or seen.exit_code is not None or not seen.begun:
        return []
    if seen.waits_for:
        return [(f"waiting for {', '.join(seen.waits_for)}", "yellow")]
    stalled = [one.sentence for one in seen.notices if one.cause == _OF_PACE]
    if stalled:
        return [(stalled[0], _WEIGHT_STYLES[Weight.WAITING])]
    if not seen.per_second:
        return [("too few nodes have finished recently to estimate the end", "bright_black")]
    if seen.remaining_s is None:
        return [(rate(seen.per_second), "")]
    pieces = [(f"{rate(seen.per_second)},", "")]
    when = clock(seen.now + seen.remaining_s)
    pieces.append((f"done in about {duration(seen.remaining_s)}, at {when},", ""))
    window = duration(min(WINDOW_S, seen.now - seen.begun))
    pieces.append((f"at the rate of the last {window}", "bright_black"))
    return pieces


def _placements(of: Mapping[str, Any]) -> list[Piece]:
    """What DATA nodes have moved."""
    pieces = [(f"data: {size_text(of['bytes'])} moved,", "")]
    if of["per_second"]:
        pieces.append((f"{size_text(of['per_second'])}/s on average,", ""))
    pieces.append((f"{number_of(of['done'], 'placement')} done", ""))
    for name, words, style in (
        ("skipped", "already present", "bright_black"),
        ("retried", "retried", "yellow"),
        ("failed", "failed", "bold red"),
    ):
        if of[name]:
            pieces.append((f"{number(of[name])} {words}", style))
    if of["reasons"] and (of["retried"] or of["failed"]):
        pieces.append((f"last: {of['reasons'][-1]}", "bright_black"))
    return pieces


def _details(seen: Overview, width: int, clock: Clock) -> Iterator[Line]:
    if seen.note and not any(one.cause.startswith("dagman.") for one in seen.notices):
        yield from _words(seen.note, "bold magenta", width)
    for notice in seen.notices:
        if notice.cause != _OF_PACE or seen.waits_for:
            yield from _notice(notice, width)
    if seen.longest:
        yield [("longest running", "blue")]
        for node, job, host, since in seen.longest:
            took = duration(seen.now - since)
            where = f"{SPACE}{job}{SPACE}{host}"
            yield _short(
                [
                    (f"{SPACE}{node}", ""),
                    (where, "bright_black"),
                    (f"{SPACE}{took}", ""),
                ],
                width,
            )
    if seen.failures:
        yield [("last failures", "bold red")]
        for failure in seen.failures:
            tries = f" after {failure.attempts} attempts" if failure.attempts > 1 else ""
            how = result(failure.value, failure.reason)
            line = [
                (f"{SPACE}{failure.node}", ""),
                (f"{SPACE}{how}{tries}", "red"),
                (f"{SPACE}{clock(failure.time)}", "bright_black"),
            ]
            if sum(_width(text) for text, _ in line[:2]) <= width:
                yield _short(line, width)
            else:  # a file's name, at the end of a reason, is what people need
                yield from _words(f"{failure.node}{SPACE}{how}{tries}", "red", width, SPACE)


def _notice(notice: Notice, width: int) -> Iterator[Line]:
    """What it is, what says so first, and the command that does something about it."""
    yield from _words(notice.sentence, _WEIGHT_STYLES[notice.weight], width)
    if notice.evidence and not notice.says_all:
        source, text, *_ = notice.evidence[0]
        yield from _words(f"{source}: {text}", "", width, SPACE)
    if notice.command:
        yield from _words(f"=> {notice.command}", "bright_black", width, SPACE)


def _words(text: str, style: str, width: int, indent: str = "") -> Iterator[Line]:
    for line in _wrapped(flow(text, style).pieces, width - len(indent), " "):
        yield [(indent, ""), *line] if indent else line


def troubles(seen: Overview) -> list[str]:
    """A line for each group of held jobs and for each of the last failures, without any time."""
    held = [
        f"  held: {', '.join(group.nodes)}: {group.reason} (code {group.code})"
        for group in seen.held
    ]
    failed = [
        f"  failed: {one.node}: {result(one.value, one.reason)}" for one in reversed(seen.failures)
    ]
    return held + failed


def _wrapped(pieces: Sequence[Piece], width: int, space: str = SPACE) -> list[Line]:
    """Pieces side by side, on as many lines as that takes."""
    lines: list[list[Piece]] = []
    used = width
    for text, style in pieces:
        needed = _width(text) + len(space)
        if used + needed > width or not lines:
            lines.append([])
            used = 0
        if lines[-1]:
            lines[-1].append((space, ""))
        lines[-1].append((text, style))
        used += needed
    return list(lines)


def _short(line: Line, width: int) -> Line:
    """A line without its less important pieces, if there is no room for them."""
    if sum(_width(text) for text, _ in line) <= width:
        return line
    return [piece for piece in line if piece[1] != "bright_black"]


def _cut(line: Line, width: int) -> Line:
    """A line as far as there is room; the last character says that something is missing."""
    if sum(_width(text) for text, _ in line) <= width:
        return line
    cut: list[Piece] = []
    room = width - 1
    for text, style in line:
        kept = ""
        for character in text:
            room -= _width(character)
            if room < 0:
                return [*cut, (kept + "…", style)]
            kept += character
        cut.append((kept, style))
    return cut


def _width(text: str) -> int:
    """Columns of a text: East Asian characters have two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)

"""The command condor_dag_checker: what is wrong with DAG files, before anything runs.

By default output and exit code are those of the stock tool, which programs read; `-lint` looks
deeper and has an output of its own (`cli.lint_report`).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from condor_pydagman.cli.checker_options import USAGE, CheckerOptions, parse_checker
from condor_pydagman.cli.usage import person_reads, usage
from condor_pydagman.dagman_job.options import UnknownOption
from condor_pydagman.errors import DagFileError, UsageError
from condor_pydagman.graph.model import JOIN
from condor_pydagman.graph.statistics import Shape, count_arcs, shape
from condor_pydagman.lint.lint_world import DiskWorld
from condor_pydagman.lint.outline import Outline, read_outline
from condor_pydagman.printable import escaped_lines
from condor_pydagman.vocabulary import NodeKind

NO_ISSUES, ISSUES, TOOL_FAILURE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run condor_dag_checker: 0 if all is well, 1 if there are issues, 2 if it can't check.

    `argv` are the arguments without the program's name, None for those of this process.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of files may hold any byte
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    words = sys.argv[1:] if argv is None else argv
    try:
        options = parse_checker(words)
    except UsageError as error:
        _say(str(error), sys.stderr)
        # Programs that read standard error find what the stock tool writes there, and no more.
        if isinstance(error, UnknownOption) and error.near and person_reads(sys.stderr):
            _say(f"       Did you mean {error.near}?", sys.stderr)
        _say(usage(USAGE, "condor_dag_checker", given=bool(words)))
        return TOOL_FAILURE
    if options.help:
        _say(USAGE.rstrip("\n"))
        return NO_ISSUES
    if "lint" in options.given:
        from condor_pydagman.cli.lint_report import run_lint

        return run_lint(options, DiskWorld())
    return _run(options)


def _run(options: CheckerOptions) -> int:
    worst = NO_ISSUES
    world = DiskWorld()
    ads = []
    for file in options.files:
        gc.disable()  # nothing that is built here is garbage, and looking for it takes long
        try:
            outline = read_outline(file, world, options.outline())
            form = shape(outline.dag)
        finally:
            gc.enable()
        if outline.issues or form.cycle:
            worst = ISSUES
        for name, why in outline.unread.items():
            _say(f"{file}: {name} is not checked: {why}", sys.stderr)
        if options.style == "text":
            _print_issues(file, outline, form.cycle)
        elif options.style == "statistics":
            _print_statistics(file, statistics(outline, form))
        else:
            ads.append(json_text(_ad(file, statistics(outline, form), outline)))
    if options.style == "json":
        print("[\n" + ",\n".join(ads) + "\n]")
    return worst


def _print_issues(file: str, outline: Outline, cycle: str) -> None:
    lines = [_line(issue) for issue in outline.issues]
    if cycle:
        lines.append(f"{file}:0 Cycle detected: {cycle}")
    if lines:
        number = len(lines) + outline.lost
        _say(f"Detected {number} issue{'s' if number > 1 else ''} in {file}:")
        for line in lines:
            _say(f"\t* {line}")
        if outline.lost:
            _say(f"\t* and {outline.lost} more")
        _say("")


def _line(issue: DagFileError) -> str:
    place = f"{issue.file}:{issue.line} "
    if issue.command:
        return f"{place}Failed to parse {issue.command} command: {issue.message}"
    return place + issue.message


def _print_statistics(file: str, values: dict[str, Any]) -> None:
    _say(f"=== {file} statistics ===")
    for key in sorted(values):
        _say(f"{key} = {_classad(values[key])}")
    _say("")


def _say(text: str, stream: TextIO | None = None) -> None:
    print(escaped_lines(text), file=stream)


def _classad(value: Any) -> str:
    """A value as ClassAds are printed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "{ " + ",".join(map(str, value)) + " }"
    return str(value)


def statistics(outline: Outline, form: Shape) -> dict[str, Any]:
    """The numbers of the stock tool, by its names; those that are 0 are left out, as there."""
    dag = outline.dag
    joins = sum(dag.flags.count(flags) for flags in set(dag.flags) if flags & JOIN)
    values: dict[str, Any] = {
        "NumArcs": count_arcs(dag),
        "NumJoinNodes": joins,
        "NumNodes": dag.kinds.count(NodeKind.JOB) - joins,
        "NumServiceNodes": dag.kinds.count(NodeKind.SERVICE),
        "NumSplices": outline.splices,
        "NumSubDAGs": dag.kinds.count(NodeKind.SUBDAG),
        "FinalNode": outline.final,
        "ProvisionerNode": outline.provisioner,
        "IsCyclic": bool(form.cycle),
        "DetectedCycle": form.cycle,
    }
    if form.widths:
        widths = form.widths
        values.update(GraphHeight=len(widths), GraphWidth=max(widths), WidthByDepth=widths)
    return {"TotalNodes": len(dag), **{key: value for key, value in values.items() if value}}


def _ad(file: str, values: dict[str, Any], outline: Outline) -> dict[str, Any]:
    ad: dict[str, Any] = {"DagFile": file, **values}
    if outline.issues:
        ad["NumErrors"] = len(outline.issues) + outline.lost
        ad["Errors"] = list(map(_error_ad, outline.issues))
    return ad


def _error_ad(issue: DagFileError) -> dict[str, Any]:
    ad = {"Reason": issue.message, "SourceFile": issue.file, "SourceLine": issue.line}
    return {**ad, "DagCommand": issue.command} if issue.command else ad


def json_text(ad: dict[str, Any]) -> str:
    """An ad in JSON as ClassAds print it: short keys first, everything on a line of its own.

    Bytes that are not UTF-8 come out as U+FFFD: JSON has no room for them.
    """
    text = "".join(_pieces(ad, ""))
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _pieces(value: Any, indent: str) -> Iterator[str]:
    """Our ads are three levels deep at most, so this recursion is bounded."""
    import json  # late: most reports are text

    if isinstance(value, dict):
        yield "{"
        for number, key in enumerate(sorted(value, key=lambda key: (len(key), key))):
            yield f"{',' if number else ''}\n{indent}  {json.dumps(key)}: "
            yield from _pieces(value[key], indent + "  ")
        yield f"\n{indent}}}"
    elif isinstance(value, list):
        yield "["
        for number, item in enumerate(value):
            yield f"{',' if number else ''}\n{indent}  "
            yield from _pieces(item, indent + "  ")
        yield f"\n{indent}]"
    else:
        yield json.dumps(value, ensure_ascii=False)

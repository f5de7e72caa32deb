"""`condor_pydagman dry-run`: what condor_submit_dag would run; nothing is submitted or written."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters.files import living_holder, working_directory
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.cli.checks_before_run import add_submit_options, lint_run, submit_words
from condor_pydagman.cli.dry_run_commands import as_json, command_lines
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.config import Config
from condor_pydagman.dagman_job.options import OPTIONS, DagmanOptions, parse_submit
from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.features.common.steps import Steps, steps
from condor_pydagman.graph.model import DONE, JOIN, LEFT_OUT, Dag
from condor_pydagman.lint.findings import Findings, Severity
from condor_pydagman.lint.preflight import Outset, cycle_refusal, look_ahead
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths
from condor_pydagman.printable import does, first_of, number_of
from condor_pydagman.vocabulary import NodeKind, ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.daemon.helpers import Foreseen
    from condor_pydagman.lint.job_counts import JobCount
    from condor_pydagman.lint.node_commands import NodeCommands
    from condor_pydagman.records.job_description import Workflow

MAX_SHOWN = 10  # nodes and submit descriptions that are named
_TOLD_WITH_JOBS = ("DAG301", "DAG307", "DAG309")  # of submit files, and of requests
MAX_DEPTH = 8  # of sub-DAGs that are looked into
_DESCRIPTION = """\
Show what condor_submit_dag would run now: nodes and jobs, what a rescue file skips, what starts
first, scripts, retries, throttles, sub-DAGs. This command submits and writes nothing."""
_INDENT = "    "
_CHOICE = ("choose_all", "choose_from", "choose_until", "choose_only")
_OPTIONS = ("force", "use_dag_dir", "bundle", *_CHOICE)  # those of condor_submit_dag
# When nodes run that have no step: before all others, or after them.
_TURNS = {NodeKind.PROVISIONER: -2, NodeKind.SERVICE: -1, NodeKind.FINAL: 1}


class Outlook(NamedTuple):
    """What would run of one DAG."""

    files: tuple[str, ...]  # the DAG files
    dag: Dag  # with the progress of the rescue file
    rescue: str  # that file's name, '' if there is none
    told: Sequence[str]  # what the administrator wants of it
    refusal: PydagmanError | None  # why DAGMan would not begin with it
    order: Steps  # the steps of what is left
    jobs: Sequence[JobCount]  # by submit descriptions, of the nodes to be run
    config: Config  # knobs and options in force
    running: bool  # whether a DAGMan runs it now, or is in the queue for it
    foreseen: Sequence[Foreseen]  # by features
    reasons: dict[int, str]  # why nodes would run, by features; '' for those that would not
    # what would run of its sub-DAGs, by the names of their nodes; a text says why that is not told
    inner: dict[str, Outlook | str]
    findings: Findings  # those of -lint
    commands: Sequence[NodeCommands] | None = None  # what nodes would run, if that is asked for

    @property
    def mistakes(self) -> list[str]:
        """Why DAGMan would refuse it, and errors that -lint finds, but for those that are told of
        with the jobs."""
        errors = (one for one in self.findings.kept if one.severity is Severity.ERROR)
        found = [one.message for one in errors if one.code not in _TOLD_WITH_JOBS]
        refusal = str(self.refusal or "").removeprefix("ERROR: ")
        return found if not refusal or refusal in found else [*refusal.split("\n"), *found]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with it, as far as that is known before."""
        errors = self.refusal or self.findings.total(Severity.ERROR)
        if errors or any(count.problem for count in self.jobs):
            return False
        return all(isinstance(inner, str) or inner.sound for inner in self.inner.values())


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "dry-run", "show what a DAG would run; submit nothing", _DESCRIPTION, run
    )
    parser.add_argument("dag_files", nargs="+", metavar="DAGFILE")
    parser.add_argument(
        "--nodes", action="store_true", help="list all nodes, and whether each would run"
    )
    parser.add_argument(
        "--commands",
        action="store_true",
        help="show what each node would run: program, arguments, files, scripts, directory",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_submit_options(parser, (one for one in OPTIONS if one.attribute in _OPTIONS))


def run(arguments: argparse.Namespace) -> int:
    """Print what would run; returns the exit code.

    Raises:
        PydagmanError: DAGMan would refuse the DAG.
    """
    words = submit_words(arguments)
    options = DagmanOptions._make(parse_submit([*words, *arguments.dag_files]))
    options = options._replace(auto_rescue=0 if options.force else None)
    found = _outlook(options, _Look(MAX_DEPTH, set(), commands=arguments.commands))
    if arguments.json:
        print(json.dumps(_as_json(found, nodes=arguments.nodes)))
    else:
        say(*_lines(found), *(_node_lines(found) if arguments.nodes else ()))
        ready = "It can't run as it is."
        if found.sound:
            ready = f"To run it: {_run_command(words, found)}"
        say(f"Nothing was submitted. {ready}")
        warnings = found.findings.total(Severity.WARNING)
        if warnings:
            own = (word for word in words if word in ("-UseDagDir", "-bundle"))
            command = shlex.join(["condor_dag_checker", "-lint", *own, *found.files])
            say(f"To see {number_of(warnings, 'warning')}: {command}")
    return 0 if found.sound else 1


def _run_command(words: Sequence[str], found: Outlook) -> str:
    """With -force, too, if condor_submit_dag would refuse to write over files of an earlier run."""
    again = not found.rescue and not found.running and "-Force" not in words
    force = again and os.path.exists(DagPaths(found.files[0]).condor_sub)
    return shlex.join(["condor_pydagman", "run", *["-force"] * force, *words, *found.files])


class _Look(NamedTuple):
    """How far one looks."""

    depth: int  # how many levels of sub-DAGs are looked into
    described: set[str]  # paths of the DAGs whose Outlook has been made, or is
    commands: bool  # whether at the commands of each node, too


def _outlook(options: DagmanOptions, look: _Look) -> Outlook:
    """What would run of a DAG."""
    from condor_pydagman.daemon.helpers import foresee
    from condor_pydagman.lint.job_counts import count_jobs
    from condor_pydagman.lint.lint_world import DiskWorld
    from condor_pydagman.records.job_description import Workflow

    paths = options.paths()
    look.described.add(os.path.realpath(paths.primary))
    outset, config = _looked_ahead(options)
    dag = outset.dag
    foreseen = foresee(dag, options, config)
    submitted = [
        node
        for node in range(len(dag))
        if _is_to_run(dag, node) and not dag.is_noop(node) and dag.kinds[node] != NodeKind.SUBDAG
    ]
    workflow = Workflow(0, paths.nodes_log(os.getcwd()), config)
    order = _in_order(dag, steps(dag))
    return Outlook(
        options.dag_files,
        *outset,
        order,
        count_jobs(dag, submitted, workflow),
        config,
        living_holder(paths.lock) is not None or _is_queued(paths),
        list(foreseen.values()),
        {node: why for one in foreseen.values() for node, why in one.reasons.items()},
        _inner(dag, options, look),
        lint_run(dag, options, config, DiskWorld(foreseen=foreseen)),
        _commands(dag, order, workflow) if look.commands else None,
    )


def _in_order(dag: Dag, order: Steps) -> Steps:
    """With those first that have the highest PRIORITY."""
    first = sorted(order.first, key=lambda node: -dag.priorities.get(node, 0))
    return order._replace(first=first)


def _is_queued(paths: DagPaths) -> bool:
    from condor_pydagman.monitor.found_dag import waiting_job

    with contextlib.suppress(PoolError):  # running it shows why
        return bool(waiting_job(paths))
    return False


def _looked_ahead(options: DagmanOptions) -> tuple[Outset, Config]:
    """A DAG as DAGMan would begin with it, and the knobs and options in force."""
    from condor_pydagman.daemon import dag_input, initialize

    with contextlib.closing(OutLog(os.devnull)) as out:
        settings = initialize.configure(options, out)
        try:
            found = look_ahead(settings, out, trusted=False)
        except dag_input.CannotStart as error:
            raise PydagmanError(str(error)) from None
    how = dag_input.build_options(options, settings.config)
    cycle = cycle_refusal(found.dag, how, trusted=False)
    if cycle:
        raise PydagmanError(cycle)
    return found, settings.config


def _commands(dag: Dag, order: Steps, workflow: Workflow) -> list[NodeCommands]:
    """In the order in which nodes can run: step by step, in each those of the highest PRIORITY."""
    from condor_pydagman.lint.node_commands import commands_of

    def turn(node: int) -> tuple[int, int, int]:
        rank = _TURNS.get(NodeKind(dag.kinds[node]), 0)
        return rank, order.of[node] if not rank else 0, -dag.priorities.get(node, 0)

    nodes = [
        node for node in range(len(dag)) if _is_to_run(dag, node) and not dag.flags[node] & JOIN
    ]
    return list(commands_of(dag, sorted(nodes, key=turn), workflow))


def _inner(dag: Dag, options: DagmanOptions, look: _Look) -> dict[str, Outlook | str]:
    """What would run of sub-DAGs; their files may be written by nodes before them."""
    found: dict[str, Outlook | str] = {}
    of_all = options._replace(choose_all=False, choose_from=(), choose_until=(), choose_only=())
    for node, file in dag.subdags.items():
        if _is_to_run(dag, node):
            try:
                with working_directory(dag.directories.get(node, "")):
                    one = _inner_outlook(of_all._replace(dag_files=(file,)), look)
            except (PydagmanError, OSError) as error:
                one = f"{file} can't be read (yet): {str(error).splitlines()[0]}"
            found[dag.names[node]] = one
    return found


def _inner_outlook(options: DagmanOptions, look: _Look) -> Outlook | str:
    (file,) = options.dag_files
    if os.path.realpath(file) in look.described:  # a DAG may be part of itself
        return f"{file}, as above"
    if not look.depth:
        return f"{file}, in more than {MAX_DEPTH} DAGs"
    return _outlook(options, look._replace(depth=look.depth - 1))


def _is_to_run(dag: Dag, node: int) -> bool:
    return not dag.flags[node] & DONE


def _lines(found: Outlook) -> Iterator[str]:
    dag, order = found.dag, found.order
    done = _done(found)
    kinds = f": {_kinds(dag)}" if len(dag) else ""
    yield f"{' '.join(found.files)}: {number_of(len(dag), 'node')}{kinds}"
    if found.running:
        yield "DAGMan runs it or will: condor_submit_dag would refuse it. See condor_pydagman watch"
    if found.rescue:
        yield f"It would start from {found.rescue}: {_are(done)} done and skipped"
    elif done:
        yield f"{_are(done)} marked DONE in the DAG and skipped"
    for why in filter(None, (one.why_left_out for one in dag.features.values())):
        yield f"{_are(_left_out(dag))} left out: {why}"
    yield from found.told
    yield from (line for one in found.foreseen for line in one.lines)
    yield from found.mistakes[:MAX_SHOWN]
    if len(found.mistakes) > MAX_SHOWN:
        yield f"and {len(found.mistakes) - MAX_SHOWN} more errors"
    left = len(dag) - order.done
    if not left:
        if not any(one.goes_on for one in found.foreseen):
            yield f"Nothing would run: all nodes are done{' or left out' * bool(_left_out(dag))}"
        return
    jobs = sum(count.jobs for count in found.jobs)
    least = "at least " if any(count.problem or count.uncounted for count in found.jobs) else ""
    fewer = "".join(f", fewer in {one.several_in}" for one in found.foreseen if one.several_in)
    sub_dags = f" and {number_of(len(found.inner), 'sub-DAG')}" if found.inner else ""
    work = f"{least}{number_of(jobs, 'job')}{sub_dags}{fewer}"
    yield f"To run: {number_of(left, 'node')} with {work}"
    yield from _job_lines(found.jobs)
    if order.widths:
        widest = number_of(max(order.widths), "node")
        yield f"Order: {number_of(len(order.widths), 'step')}, up to {widest} in parallel"
        yield f"First: {first_of([dag.names[node] for node in order.first], MAX_SHOWN)}"
    yield from _extras(found)
    if found.commands is not None:
        yield from command_lines(found.commands)
    for name, inner in found.inner.items():
        yield f"Sub-DAG of node {name}:"
        lines = [inner] if isinstance(inner, str) else _lines(inner)
        yield from (_INDENT + line for line in lines)


def _done(found: Outlook) -> int:
    """How many nodes are done, those left out and those taken for done not counted."""
    return found.order.done - _left_out(found.dag) - _unchanged(found)


def _unchanged(found: Outlook) -> int:
    return sum(not why for why in found.reasons.values())


def _are(count: int) -> str:
    return f"{number_of(count, 'node')} {does(count, 'be')}"


def _left_out(dag: Dag) -> int:
    return sum(bool(flags & LEFT_OUT) for flags in dag.flags)


def _kinds(dag: Dag) -> str:
    counts = {kind: dag.kinds.count(kind) for kind in NodeKind}
    return ", ".join(f"{count} {kind.name}" for kind, count in counts.items() if count)


def _job_lines(counts: Sequence[JobCount]) -> Iterator[str]:
    for count in sorted(counts, key=lambda count: not count.problem)[:MAX_SHOWN]:
        what = f"{count.name}: {number_of(count.nodes, 'node')}"
        if count.problem:
            yield f"{_INDENT}{what}, can't be read: {count.problem}"
        elif count.uncounted:
            yield f"{_INDENT}{what}, {count.uncounted}"
        else:
            yield f"{_INDENT}{what}, {number_of(count.jobs, 'job')}"
    if len(counts) > MAX_SHOWN:
        yield f"{_INDENT}and {len(counts) - MAX_SHOWN} more submit descriptions"


def _extras(found: Outlook) -> Iterator[str]:
    dag = found.dag
    scripts = [kind for node, own in dag.scripts.items() if _is_to_run(dag, node) for kind in own]
    if scripts:
        numbers = {kind: scripts.count(kind) for kind in ScriptKind}
        shown = ", ".join(f"{n} {kind.value}" for kind, n in numbers.items() if n)
        yield f"Scripts: {shown}"
    retries = [retry.limit for node, retry in dag.retries.items() if _is_to_run(dag, node)]
    if retries:
        yield f"Retries: {number_of(len(retries), 'node')}, up to {sum(retries):,} retries in total"
    limits = _limits(found)
    if limits:
        yield f"Throttles: {', '.join(limits)}"


def _limits(found: Outlook) -> list[str]:
    config = found.config
    numbers = (
        ("nodes with jobs in the queue", config.max_jobs_submitted),
        ("idle jobs", config.max_jobs_idle),
        ("PRE scripts", config.max_pre_scripts),
        ("POST scripts", config.max_post_scripts),
    )
    shown = [f"{number} {what}" for what, number in numbers if number]
    categories = found.dag.category_limits.items()
    return shown + [f"{number} nodes of category {name}" for name, number in categories]


def _node_lines(found: Outlook) -> Iterator[str]:
    dag = found.dag
    for node, name in enumerate(dag.names):
        what = "would run" if _is_to_run(dag, node) else "is done"
        if dag.flags[node] & LEFT_OUT:
            what = "is left out"
        if node in found.reasons:
            why = found.reasons[node]
            what = f"would run: {why}" if why else "is done already: nothing has changed"
        yield f"{name}: {what}"


def _as_json(found: Outlook, *, nodes: bool) -> dict[str, Any]:
    dag, order = found.dag, found.order
    fields: dict[str, Any] = {
        "files": list(found.files),
        "running": found.running,
        "rescue": found.rescue,
        "nodes": len(dag),
        "done": _done(found),
        "left_out": _left_out(dag),
        "unchanged": _unchanged(found),
        "jobs": sum(count.jobs for count in found.jobs),
        "descriptions": [count._asdict() for count in found.jobs],
        "missing": found.mistakes,
        "steps": order.widths,
        "first": [dag.names[node] for node in order.first],
        "subdags": {
            name: {"note": inner} if isinstance(inner, str) else _as_json(inner, nodes=nodes)
            for name, inner in found.inner.items()
        },
    }
    for one in found.foreseen:
        fields.update(one.fields)
    if found.commands is not None:
        fields["commands"] = [as_json(one) for one in found.commands]
    if nodes:
        fields["cached"] = {dag.names[node]: why for node, why in found.reasons.items()}
        fields["to_run"] = [name for n, name in enumerate(dag.names) if _is_to_run(dag, n)]
    return fields

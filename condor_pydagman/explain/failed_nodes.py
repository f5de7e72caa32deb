"""Nodes that have failed: of what, failures of one kind together."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence

from condor_pydagman.data_requests.faults import meaning_of
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.explain.feature_findings import advice_of_features
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.explain.jobs import job_of
from condor_pydagman.follow.failures import PUT_OFF, Failure, failure_of, is_of_kind
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.notices.name_lists import capitalized, names_of, nodes_named
from condor_pydagman.follow.run_model import Attempt, Run, ScriptRun
from condor_pydagman.graph.model import Dag
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import MAY_BE_MACRO, RETURN_JOB_ABORTED, NodeKind, NodeStatus
from condor_pydagman.words import result

MAX_EXAMPLES = 3  # of failures of one kind
_VARYING = re.compile(r"\d+|\S*[/.]\S*")  # numbers, names of files
_REMOVALS = {
    "DAG Limit: Max number of held jobs": "Its jobs were held too often; the knob"
    " DAGMAN_MAX_JOB_HOLDS sets the limit.",
    "Node Timeout:": "Its TIMEOUT in the DAG file sets the limit.",
}
_SIGNAL_ADVICE = {
    -9: "A machine sends SIGKILL when it runs out of memory: compare the memory that the job used"
    " with what it requested, and set request_memory in the submit file. With RETRY,"
    " request_memory = 2048 * ($(RETRY) + 1) requests more in each attempt.",
    -11: "SIGSEGV is a bug in the program: it accessed memory that does not belong to it.",
    -15: "SIGTERM: something told the program to end.",
}
_EXIT_ADVICE = {
    126: "A shell returns 126 for a file that it can't execute: check the permissions of the file.",
    127: "A shell returns 127 for a command that it can't find: check PATH, and whether the machine"
    " has the program.",
}
_ADVICE = {
    "node.submit": "Fix the submit file; condor_dag_checker -lint checks all of them.",
    MAY_BE_MACRO: "Change the text where it comes from: VARS, the list of a SCATTER, the table of a"
    " SWEEP, or the file of an EXTEND.",
    "node.removed": "If nobody removed the job on purpose, see its RemoveReason in the history:"
    " condor_history -l {job}",
    "node.cancelled": "While the DAG is running, condor_pydagman steer rerun runs the node again;"
    " after that, submit the DAG again.",
    "node.failed": "Look for the node's name in {out}.",
}
_OF_QUOTES = re.compile("double-quote|unbalanced quote", re.I)  # reasons
_UNKNOWN = "the logs do not say why"


def failures_by_kind(run: Run, dag: Dag | None) -> list[list[Failure]]:
    """Why the failed nodes of a run have failed, failures of one kind together."""
    groups: dict[object, list[Failure]] = {}
    for node in run.nodes.values():
        if node.has_failed:
            failure = failure_of(node, run, dag)
            is_service = is_of_kind(node, dag, NodeKind.SERVICE)
            groups.setdefault((is_service, *_kind(failure)), []).append(failure)
    return list(groups.values())


def _kind(failure: Failure) -> tuple[str, int, str]:
    """The same for failures of one kind: names and numbers in reasons do not count."""
    own_name = rf"(?<!\w){re.escape(failure.node.name)}(?!\w)"
    return failure.cause, failure.value, _VARYING.sub("", re.sub(own_name, "", failure.reason))


def failed_node_findings(facts: Facts, inner: dict[str, Explanation]) -> list[Notice]:
    """A finding for each kind of failure; `inner` has explanations of sub-DAGs by node."""
    return [_finding(group, facts, inner) for group in failures_by_kind(facts.run, facts.dag)]


def futile_findings(state: GraphState, failed: Sequence[Notice]) -> list[Notice]:
    """The nodes that can't run because others have failed, which matters as much as these do."""
    names = tuple(state.names_of(state.of_status(NodeStatus.FUTILE)))
    if not names:
        return []
    most_harm = sorted(state.futile, key=lambda node: -state.futile[node])
    roots = state.names_of(filter(state.is_before_futile, most_harm))
    because = f", because {names_of(roots)} failed" if roots else ""
    sentence = f"{capitalized(nodes_named(names))} can't run{because}."
    weight = min((one.weight for one in failed), default=Weight.PROBLEM)
    return [Notice("node.futile", weight, sentence, names)]


def failure_sentence(group: Sequence[Failure]) -> str:
    """What has happened to nodes that failed alike."""
    names = [failure.node.name for failure in group]
    if group[0].cause == "node.cancelled":
        were = "was" if len(group) == 1 else "were"
        return f"{capitalized(nodes_named(names))} {were} cancelled by {message(group[0].reason)}."
    text = f"{capitalized(nodes_named(names))} failed: {_what(group[0], many=len(group) > 1)}"
    attempts = len(group[0].node.attempts)
    if len(group) == 1 and attempts > 1:
        text += f" in the last of {attempts} attempts"
    return text + "."


def failure_evidence(
    failure: Failure, facts: Facts, *, with_place: bool = True
) -> Iterator[Evidence]:
    """What says so: event, place of the node in its DAG file, last lines of its error file."""
    attempt = failure.node.attempts[-1] if failure.node.attempts else None
    said = ("node.submit", "node.cancelled", "node.failed")  # the sentence has the reason
    if attempt is not None and not (failure.cause in said and failure.reason):
        yield _event(failure, attempt, facts)
    if with_place:
        yield from _place(failure.node.name, facts.dag)
    excerpt = facts.excerpts.get(failure.node.name)
    if excerpt is not None and excerpt.lines:
        yield Evidence(excerpt.path, excerpt.what, lines=excerpt.lines)
    elif excerpt is not None:
        yield Evidence(excerpt.path, excerpt.problem or "is empty")


def _finding(group: list[Failure], facts: Facts, inner: dict[str, Explanation]) -> Notice:
    first, shown, one = group[0], group[:MAX_EXAMPLES], len(group) == 1
    harmless = first.cause == "node.stopped" or is_of_kind(first.node, facts.dag, NodeKind.SERVICE)
    return Notice(
        first.cause,
        Weight.NOTE if harmless else Weight.PROBLEM,
        failure_sentence(group),
        tuple(failure.node.name for failure in group),
        tuple(piece for each in shown for piece in failure_evidence(each, facts, with_place=one)),
        tuple(failure_advice(first, facts)),
        tuple(inner[each.node.name] for each in shown if each.node.name in inner),
    )


def failure_advice(failure: Failure, facts: Facts) -> tuple[str, ...]:
    """What can be done about a failure."""
    if failure.cause in ("node.pre", "node.post"):
        advice = _script_advice(failure, facts)
    elif failure.cause == "node.exit":
        advice = _placement_advice(failure, facts) or _exit_advice(failure.value)
    elif failure.cause == "node.submit" and is_of_kind(failure.node, facts.dag, NodeKind.DATA):
        advice = _ADVICE["node.submit"].replace("submit file", "request file")
    elif failure.cause == "node.submit" and _is_of_variables(failure, facts.dag):
        advice = _ADVICE[MAY_BE_MACRO]
    elif failure.cause == "node.failed" and (known := advice_of_features(failure.reason)):
        advice = known.format(out=facts.out)
    elif failure.cause == "node.cancelled" and not facts.is_live:
        advice = "It runs again when you submit the DAG again."
    elif failure.cause == "node.signal":
        advice = _SIGNAL_ADVICE.get(failure.value, "")
    else:
        job = failure.node.attempts[-1].job if failure.node.attempts else ""
        found = (text for begin, text in _REMOVALS.items() if failure.reason.startswith(begin))
        advice = next(found, _ADVICE.get(failure.cause, "")).format(job=job, out=facts.out)
    return (advice,) if advice else ()


def _is_of_variables(failure: Failure, dag: Dag | None) -> bool:
    """Whether jobs can't be submitted for the text of a variable, not for the submit file."""
    if MAY_BE_MACRO in failure.reason:
        return True
    number = dag.find(failure.node.name) if dag is not None else None
    if dag is None or number is None or not _OF_QUOTES.search(failure.reason):
        return False
    return any("'" in one.value or '"' in one.value for one in dag.variables.get(number, ()))


def _placement_advice(failure: Failure, facts: Facts) -> str:
    """What the exit code of a worker means, of a DATA node or of a FINAL node's request; '' if it
    is none of its own."""
    if is_of_kind(failure.node, facts.dag, NodeKind.DATA):
        whose = "a DATA node"
    elif failure.node.name in facts.run.placements:
        whose = "a request"
    else:
        return ""
    code, meaning = failure.value, meaning_of(failure.value)
    return f"Exit code {code} of {whose} means: {meaning} (docs/data-placement.md)." * bool(meaning)


def _exit_advice(code: int) -> str:
    if 128 < code < 128 + signal.NSIG:
        return f"A shell returns {code} for a program that ended with {result(128 - code)}."
    return _EXIT_ADVICE.get(code, "")


def _script_advice(failure: Failure, facts: Facts) -> str:
    if failure.reason.startswith(PUT_OFF):
        return "Its SCRIPT DEFER in the DAG file sets the limit."
    if failure.node.name in facts.excerpts or failure.reason:
        return ""
    kind = failure.cause[5:].upper()
    return (
        "To keep what the script prints, name a file for it in the DAG file:"
        f" SCRIPT DEBUG {kind.lower()}.log ALL {kind} ..."
    )


def _what(failure: Failure, *, many: bool) -> str:
    whose, s = ("their", "s") if many else ("its", "")
    value = result(failure.value)
    job = f"{whose} job{s}"
    why = message(failure.reason).rstrip(" .")
    reason = f": {why}" if why else ""
    if many:
        reason = f", for example{reason}" if reason else ""
    if failure.cause in ("node.exit", "node.signal"):
        return (f"{job} ended" if many else _jobs(failure)) + f" with {value}{reason}"
    were = "were" if many else "was"
    ended = why or f"ended with {value}"
    stopped = f"{whose} {why}{s} {were} killed" if failure.value else f"{job} {were} removed"
    return {
        "node.pre": f"{whose} PRE script{s} {ended}",
        "node.post": f"{whose} POST script{s} {ended}{_before_post(failure, many)}",
        "node.submit": f"{whose} jobs can't be submitted{reason}",
        "node.removed": f"{job} {were} removed{reason}",
        "node.stopped": f"{stopped} when the DAG ended",
        "node.subdag": f"{whose} DAG{s} failed, condor_dagman's {value}",
        "node.failed": f"{'for example, ' * many}{why}" if why else _UNKNOWN,
    }[failure.cause]


def _jobs(failure: Failure) -> str:
    attempt = failure.node.attempts[-1]
    if attempt.procs == 1:
        return "its job ended"
    return f"{attempt.failed_procs} of its {attempt.procs} jobs failed, the first"


def _before_post(failure: Failure, many: bool) -> str:
    value = failure.node.attempts[-1].value if failure.node.attempts else None
    if many or not value or value == RETURN_JOB_ABORTED:
        return ""
    return f", after its job ended with {result(value)}"


def _event(failure: Failure, attempt: Attempt, facts: Facts) -> Evidence:
    name = message(failure.node.name)
    kind, script = _script(failure, attempt)
    if script is not None:
        return Evidence(
            facts.out, f"{kind} script of {name}: {result(failure.value)}", script.ended
        )
    host = f" on {message(attempt.hosts[-1])}" if attempt.hosts and attempt.hosts[-1] else ""
    how = "left the queue" if attempt.value is None else result(attempt.value)
    how = result(failure.value) if failure.value else message(attempt.reason) or how
    if failure.cause == "node.signal":
        how += _memory(attempt)
    return Evidence(facts.nodes_log, f"{job_of(failure.node)}{host}: {how}", attempt.ended)


def _script(failure: Failure, attempt: Attempt) -> tuple[str, ScriptRun | None]:
    """The script that has failed, and its kind; None if it was no script."""
    kind = failure.reason[:-7] if failure.value and failure.cause == "node.stopped" else ""
    kind = kind or failure.cause[5:].upper()
    return kind, {"PRE": attempt.pre, "POST": attempt.post}.get(kind)


def _memory(attempt: Attempt) -> str:
    """What it used and requested, if the terminate event has it."""
    row = attempt.usage.get("Memory (MB)")
    if row is None or row.used is None or row.requested is None:
        return ""
    return f", {row.used:g} MB of memory used, {row.requested:g} MB requested"


def _place(name: str, dag: Dag | None) -> Iterator[Evidence]:
    """Where the DAG file defines a node, and its submit file."""
    number = dag.find(name) if dag is not None else None
    if dag is None or number is None or not dag.place(number):
        return
    what = "request file" if dag.kinds[number] == NodeKind.DATA else "submit file"
    file = "" if number in dag.subdags else f", {what} {message(dag.submits[number])}"
    yield Evidence(dag.place(number), f"node {message(name)}{file}")

"""What can happen in a scene, in its words.

Each function stands for a phrase, and yields what the engine is told then; one that returns None
changes the stage only.  In a phrase `<name>` is an argument of one word, `<text>` of any, and `[]`
is around what may be left out; else it is a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind, ScriptKind
from tests import make
from tests.scenes.stage import Stage

Told = Iterable[Any]
Function = TypeVar("Function", bound=Callable[..., Any])
_PHRASES: list[tuple[re.Pattern[str], Callable[..., Any]]] = []

# Those that need no more words.
PLAIN: dict[str, inputs.Input] = {
    "begin": inputs.Begin(recovering=False),
    "recover": inputs.Begin(recovering=True),  # there is the log of an earlier DAGMan
    "the log ends": inputs.LogCaughtUp(),  # the old log has been read to its end
    "the log is broken": inputs.LogBroken("it is gone"),
    "the log can't be written": inputs.AppendFailed("disk full"),
    "the log can be written again": inputs.LogRepaired(),
    "the schedd is down": inputs.QueueUnknown("down"),
    "condor_rm": inputs.DagRemoved(),
    "condor_hold": inputs.Shutdown("Got SIGTERM."),
    "halt": inputs.Halt(),
    "pause": inputs.Halt(pause=True),
    "halt file": inputs.Halt(file=True),
    "halt before the start": inputs.Halt(),
    "restored halt before the start": inputs.Halt(restored=True),
    "resume": inputs.Resume(),
    "no halt file": inputs.Resume(file=True),
    "provisioner says nothing": inputs.ProvisionerAnswer(None),
}
BEGINNINGS = ("begin", "recover", "halt before the start", "restored halt before the start")
NOT_SUBMITTED: dict[str, dict[str, Any]] = {
    "is refused": {"permanent": True},
    "is not submitted": {"permanent": False},
    "gets no reply": {"permanent": False, "unknown": True},
    "finds no room": {"permanent": False, "full": True},
}
OF_JOB = {
    "runs": EventKind.EXECUTE,
    "is evicted": EventKind.JOB_EVICTED,
    "is suspended": EventKind.JOB_SUSPENDED,
    "goes on": EventKind.JOB_UNSUSPENDED,
    "loses its shadow": EventKind.SHADOW_EXCEPTION,
    "does not reconnect": EventKind.JOB_RECONNECT_FAILED,
    "is held": EventKind.JOB_HELD,
    "is released": EventKind.JOB_RELEASED,
    "is removed": EventKind.JOB_ABORTED,
    "grows": EventKind.IMAGE_SIZE,
}


def happen(stage: Stage, what: str) -> list[str]:
    """What a scene says happens; returns in words what the engine does.  It has begun by then."""
    for pattern, function in _PHRASES:
        found = pattern.fullmatch(what)
        if found:
            told = function(stage, *found.groups(""))
            if told is not None and stage.phase is Phase.STARTING and what not in BEGINNINGS:
                stage.tell([PLAIN["begin"]])
            return stage.tell(told or ())
    raise AssertionError(f"there is no such phrase: {what}")


def phrase(usage: str) -> Callable[[Function], Function]:
    """Have a function called for a phrase, with the stage and the phrase's arguments."""
    pattern = usage.replace("[", "(?:").replace("]", ")?").replace("<text>", "(.+)")
    pattern = re.sub("<[a-z]+>", "([^ ]+)", pattern)

    def named(function: Function) -> Function:
        _PHRASES.append((re.compile(pattern), function))
        return function

    return named


@phrase("|".join(f"({one})" for one in PLAIN))
def _plain(_: Stage, *words: str) -> Told:
    yield PLAIN["".join(words)]


@phrase("<seconds> s")
def _wait(stage: Stage, seconds: str) -> Told:
    stage.harness.now += float(seconds)
    yield inputs.Wake()


@phrase("deadline")
def _deadline(stage: Stage) -> Told:
    """Time passes until the engine wants to be woken."""
    stage.harness.now = stage.harness.engine.next_deadline() or stage.harness.now
    yield inputs.Wake()


@phrase("crash")
def _crash(stage: Stage) -> Told:
    """DAGMan dies; another one has read the log so far."""
    stage.crash()
    yield from ()


@phrase("restart")
def _restart(stage: Stage) -> Told:
    """The same, and it has read the log to its end."""
    stage.crash()
    yield inputs.LogCaughtUp()


@phrase("rescue DAG")
def _rescue_dag(stage: Stage) -> Told:
    """The DAG has ended, and is run once more, from its rescue file."""
    stage.run_anew({}, rescue=True)
    yield PLAIN["begin"]


@phrase("limit <text>")
def _limit(_: Stage, text: str) -> Told:
    """Other throttles, such as `jobs=2 idle=0`."""
    yield inputs.LimitsWanted(**_numbers(text))


def _numbers(text: str) -> dict[str, Any]:
    pairs = (one.split("=") for one in text.split())
    return {name: int(number) for name, number in pairs}


# The schedd, and the log: what they leave to the scene.


@phrase("the schedd (waits|goes on)")
def _schedd_waits(stage: Stage, does: str) -> None:
    """Its answers are phrases of the scene, as those that follow here."""
    stage.schedd_waits = does == "waits"


@phrase("the helpers (wait|go on)")
def _helpers_wait(stage: Stage, does: str) -> None:
    """The same of helpers that features ask."""
    stage.helpers_wait = does == "wait"


@phrase("the helpers answer")
def _helpers_answer(stage: Stage) -> Told:
    """What they have been asked, as they do at once otherwise."""
    yield from stage.answer()


@phrase("the log waits")
def _log_waits(stage: Stage) -> None:
    """What the engine writes is not read back."""
    stage.log_waits = True


@phrase("the log is read")
def _log_is_read(stage: Stage) -> Told:
    """What has not been read back is, and from now on all is."""
    stage.log_waits = False
    unread, stage.unread = stage.unread, []
    yield from unread


@phrase("the log shows <text>")
def _log_shows(stage: Stage, numbers: str) -> Told:
    """Of what waits to be read back, these, from 1, in this order; all waits still."""
    yield from [stage.unread[int(number) - 1] for number in numbers.split()]


@phrase("the rescue file (can|can't) be written")
def _rescue_file(stage: Stage, can: str) -> None:
    stage.harness.rescue_error = "disk full" if can == "can't" else ""


@phrase("<node> queues <count>")
def _queues(stage: Stage, node: str, count: str) -> None:
    """From now on its jobs are so many."""
    stage.jobs.counts[node] = int(count)


@phrase("<node> is submitted[ as <cluster>]")
def _submitted(stage: Stage, node: str, cluster: str) -> Told:
    """The schedd has taken its jobs, and so says the log."""
    yield from stage.taken(node, cluster)


@phrase("reply for <node>[ as <cluster>]")
def _reply(stage: Stage, node: str, cluster: str) -> Told:
    stage.jobs.add([node], cluster)
    yield stage.reply(node)


@phrase("submit event of <job>[ as <cluster>]")
def _submit_event(stage: Stage, name: str, cluster: str) -> Told:
    node, _, proc = name.partition(".")
    jobs = stage.jobs.add([node], cluster)
    yield from stage.submit_events([stage.jobs.make(node, int(proc))] if proc else jobs)


@phrase(f"<node> ({'|'.join(NOT_SUBMITTED)})[: <text>]")
def _not_submitted(stage: Stage, node: str, why: str, reason: str) -> Told:
    yield inputs.SubmitFailed(stage.node(node), reason, **NOT_SUBMITTED[why])


@phrase("<text> are refused together, at most <count>: <text>")
def _refused_together(stage: Stage, names: str, most: str, reason: str) -> Told:
    """How many are to be tried together next."""
    yield inputs.NotTogether([stage.node(name) for name in names.split()], int(most), reason)


@phrase("<node> has common input: <text>")
def _common_input(stage: Stage, node: str, files: str) -> Told:
    """Instead of a reply: it is the first node with such a list of files."""
    yield inputs.CommonInput(stage.node(node), files)


@phrase("the schedd lists <text>")
def _lists(stage: Stage, text: str) -> Told:
    """`nothing`, `all` that the engine believes to be there, or jobs, such as `5.0 of A`,
    `6.0 of A retry 1 leaving`, `7.0 of B ended 3`, which has left the queue."""
    jobs = text.split(", ") if text not in ("nothing", "all") else []
    ended = [_ended_job(job) for job in jobs if " ended " in job]
    queued = [_queued_job(job) for job in jobs if " ended " not in job]
    yield inputs.QueueListed(stage.harness.queue() if text == "all" else queued, ended)


def _queued_job(text: str) -> inputs.QueuedJob:
    return inputs.QueuedJob(*_listed(text), "leaving" in text, "shared" in text)


def _ended_job(text: str) -> inputs.EndedJob:
    return inputs.EndedJob(*_listed(text), int(text.split()[-1]), "shared" in text)


def _listed(text: str) -> tuple[int, int, str, int]:
    """What `5.0 of A retry 1` begins with: cluster, proc, node, retry."""
    job, _, node, *more = text.split()
    cluster, proc = job.split(".")
    retry = int(more[1]) if "retry" in more else 0
    return int(cluster), int(proc), node, retry


@phrase("provisioner says <number>")
def _provisioner(_: Stage, state: str) -> Told:
    yield inputs.ProvisionerAnswer(int(state))


@phrase("jobs of <node> are not removed: <text>")
def _not_removed(stage: Stage, name: str, reason: str) -> Told:
    yield inputs.RemoveFailed(int(name) if name.isdigit() else stage.jobs.cluster(name), reason)


@phrase("the log has half a NOOP of <node>")
def _half_a_noop(_: Stage, node: str) -> Told:
    yield make.noop(node, 1)[0]


@phrase("the log has <record> of <node>[: <text>]")
def _record(_: Stage, kind: str, node: str, text: str) -> Told:
    """A record of DAGMan's, with numbers such as `value=1 retry=2`."""
    numbers = _numbers(text)
    if kind == "POST_ENDED":
        yield make.post_ended(node, numbers.pop("value"), **numbers)
    elif kind == "PRE_SKIP":
        yield make.pre_skip(node, **numbers)
    elif kind == "NOOP":
        yield from make.noop(node, **numbers)
    else:
        yield make.record(kind, node, **numbers)


# Jobs: all of a node's (`A`), one of them (`A.1`), or one by its id (`5.1`).


@phrase("<job> ends[ <code>]")
def _ends(stage: Stage, name: str, code: str) -> Told:
    """With an exit code, or by a signal: `-9`."""
    for job in stage.jobs.named(name):
        stage.jobs.end(job)
        yield make.terminated(*job, int(code or 0))


@phrase(f"<job> ({'|'.join(OF_JOB)})[: <text>]")
def _event(stage: Stage, name: str, what: str, text: str) -> Told:
    for job in stage.jobs.named(name):
        if OF_JOB[what] is EventKind.JOB_ABORTED:
            stage.jobs.end(job)
        yield make.of_job(OF_JOB[what], *job, text)


# Clusters with late materialization.


@phrase("factory of <node> is submitted[( by the log)]")
def _factory(stage: Stage, node: str, by_log: str) -> Told:
    stage.jobs.factory(node)
    if not by_log:
        yield stage.reply(node)
    yield make.cluster_submit(node, stage.jobs.cluster(node))


@phrase("factory of <node> makes <proc>")
def _makes(stage: Stage, node: str, proc: str) -> Told:
    stage.jobs.factory(node)
    yield from stage.submit_events([stage.jobs.make(node, int(proc))])


@phrase("factory of <node> leaves[( unfinished)]")
def _factory_leaves(stage: Stage, node: str, unfinished: str) -> Told:
    value = RETURN_JOB_ABORTED if unfinished else 0
    yield make.cluster_remove(stage.jobs.cluster(node))._replace(value=value)


# Scripts.


@phrase("(PRE|POST) of <node> ends[ <code>]")
def _script_ends(stage: Stage, kind: str, node: str, code: str) -> Told:
    yield inputs.ScriptEnded(stage.node(node), ScriptKind(kind), int(code or 0))


@phrase("(PRE|POST|HOLD) of <node> does not start: <text>")
def _script_fails(stage: Stage, kind: str, node: str, error: str) -> Told:
    yield inputs.ScriptEnded(stage.node(node), ScriptKind(kind), 1, error)


@phrase("HOLD of <job> hold <count> ends[ <code>]")
def _hold_script_ends(stage: Stage, name: str, number: str, code: str) -> Told:
    (job,) = stage.jobs.named(name)
    held = inputs.HeldProc(stage.node(stage.jobs.owner(job)), *job, int(number))
    yield inputs.ScriptEnded(held.node, ScriptKind.HOLD, int(code or 0), held=held)

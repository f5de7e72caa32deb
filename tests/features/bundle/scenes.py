"""Bundles, in scenes: what makes them, their jobs, and what the tasks in them come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import Answered, JobSubmitted, LogEvent
from condor_pydagman.features.bundle import messages as of
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind
from tests import make
from tests.features.bundle.bundled import bundle_submit, held, queued, task, unbundled
from tests.scenes.phrases import NOT_SUBMITTED, Told, phrase
from tests.scenes.stage import Stage, answers
from tests.scenes.words import Words, in_words

SLOTS = 8


class Bundling:
    """What makes bundles, and what their jobs leave.

    Attributes:
        kinds: by name of a node, its kind; by itself `k`.
        alone: by name of a node, why it can't be bundled.
        fails: why no bundle can be prepared, '' if one can.
        without: places of nodes that can't run behind others after all.
        is_live: whether it is known what tasks come to while their job runs.
        unreadable: why their results can't be read, '' if they can.
        begun: names of nodes whose tasks have begun.
        ended: the exit codes of those that have ended.
        why: why they have failed.
        late: those that ran for too long.
        given_back: names of nodes that a job that runs does not run any more.
        asked: by number of the bundle, the last request for results.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.alone: dict[str, str] = {}
        self.fails = self.unreadable = ""
        self.without: list[int] = []
        self.is_live = False
        self.begun: list[str] = []
        self.ended: dict[str, int] = {}
        self.why: dict[str, str] = {}
        self.late: set[str] = set()
        self.given_back: list[str] = []
        self.asked: dict[int, of.Collect] = {}


def _members(stage: Stage, number: int) -> list[str]:
    bundles = stage.harness.engine.run.features["bundle"].bundles
    return [stage.harness.dag.names[node] for node in bundles[number].members]


# What makes bundles.


@phrase("<node> is of kind <kind>")
def _kind(stage: Stage, node: str, kind: str) -> None:
    stage.part(Bundling).kinds[node] = kind


@phrase("<node> can't be bundled: <text>")
def _alone(stage: Stage, node: str, why: str) -> None:
    stage.part(Bundling).alone[node] = why


@phrase("bundles (can|can't) be prepared[: <text>]")
def _unprepared(stage: Stage, _: str, why: str) -> None:
    stage.part(Bundling).fails = why


@phrase("place <place> can't run behind others")
def _without(stage: Stage, place: str) -> None:
    stage.part(Bundling).without = [int(place)]


@answers(of.SlotsWanted)
def _slots(_: Stage, __: of.SlotsWanted) -> Iterable[of.SlotsSeen]:
    yield of.SlotsSeen(SLOTS)


@answers(of.LookAt)
def _looked(stage: Stage, request: of.LookAt) -> Iterable[of.LookedAt]:
    known, names = stage.part(Bundling), stage.harness.dag.names
    found = []
    for one in (*request.followers, *request.nodes):
        name = names[one.node]
        why = known.alone.get(name, "")
        kind = "" if why else known.kinds.get(name, "k")
        found.append(of.Look(one.node, kind, why, known.is_live))
    yield of.LookedAt(found)


@answers(of.Prepare)
def _prepared(stage: Stage, request: of.Prepare) -> Iterable[of.Prepared]:
    known = stage.part(Bundling)
    yield of.Prepared(request.number, f"job {request.number}", known.fails, known.without)


@answers(of.Forget)
def _forgotten(_: Stage, request: of.Forget) -> Iterable[of.Forgotten]:
    yield of.Forgotten(request.number)


# Their jobs: that of bundle 1 is `bundle-1` in phrases about jobs.


@answers(do.SubmitJob)
def _submitted(stage: Stage, action: do.SubmitJob) -> Told:
    if not stage.schedd_waits:
        yield from _taken(stage, str(action.number))


@phrase("bundle <number> is taken")
def _taken(stage: Stage, number: str) -> Told:
    """The schedd has its job, and the log shows it."""
    ((cluster, _),) = stage.jobs.add([f"bundle-{number}"])
    yield Answered(of.HELPER, JobSubmitted(int(number), cluster))
    yield bundle_submit(int(number), cluster)


@phrase(f"bundle <number> ({'|'.join(NOT_SUBMITTED)})")
def _not_taken(_: Stage, number: str, why: str) -> Told:
    more = NOT_SUBMITTED[why]
    yield Answered(of.HELPER, JobSubmitted(int(number), reason=why, **more))


@phrase("bundle <number> comes up")
def _comes_up(stage: Stage, number: str) -> Told:
    """The log shows its job, of which the schedd has said nothing."""
    ((cluster, _),) = stage.jobs.add([f"bundle-{number}"])
    yield bundle_submit(int(number), cluster)


@phrase("the (queue|history) has bundle <number> as <cluster>[( removed| leaving| on hold)]")
def _listed(stage: Stage, where: str, number: str, cluster: str, how: str) -> Told:
    """Where its job is, beside those that the engine knows of."""
    value = RETURN_JOB_ABORTED if how == " removed" else 0
    ended = inputs.EndedJob(int(cluster), 0, f"bundle {number}", 0, value)
    stage.jobs.add([f"bundle-{number}"], cluster)
    hold = "memory" * (how == " on hold")
    job = queued(int(number), int(cluster), leaving=how == " leaving")._replace(hold=hold)
    there = [job] if where == "queue" else []
    yield inputs.QueueListed(there, [ended] if where == "history" else [])


@phrase("a person holds <job>")
def _held(stage: Stage, name: str) -> Told:
    for cluster, proc in stage.jobs.named(name):
        yield held(cluster, "by ann")._replace(proc=proc)


# What tasks come to.


@phrase("results come while jobs run")
def _live(stage: Stage) -> None:
    stage.part(Bundling).is_live = True


@phrase("results (can|can't) be read")
def _readable(stage: Stage, can: str) -> None:
    stage.part(Bundling).unreadable = "the disk is full" if can == "can't" else ""


@phrase("tasks? <text> begins?")
def _begin(stage: Stage, names: str) -> None:
    stage.part(Bundling).begun += names.split()


@phrase("tasks? <text> ends?[ <code>]")
def _end(stage: Stage, names: str, code: str) -> None:
    stage.part(Bundling).ended.update(dict.fromkeys(names.split(), int(code or 0)))


@phrase("task <node> fails: <text>")
def _fail(stage: Stage, name: str, why: str) -> None:
    known = stage.part(Bundling)
    known.ended[name], known.why[name] = 1, why


@phrase("task <node> takes too long")
def _too_long(stage: Stage, name: str) -> None:
    known = stage.part(Bundling)
    known.ended[name] = 0
    known.late.add(name)


@phrase("the job gives back <text>")
def _give_back(stage: Stage, names: str) -> None:
    stage.part(Bundling).given_back = names.split()


@answers(of.Collect)
def _collected(stage: Stage, request: of.Collect) -> Iterable[of.Collected]:
    known, number = stage.part(Bundling), request.number
    members = [stage.harness.dag.names[node] for node in request.nodes]
    ended = [name for name in members if name in known.ended]
    if known.unreadable:
        yield of.Collected(number, "", (), known.unreadable)
    elif request.why or (known.is_live and (ended or known.given_back)):
        known.asked[number] = request
        yield of.Collected(number, f"results of {number}", [1.0] * len(ended))
    else:
        yield of.Collected(number, "")


@answers(do.AppendEvents)
def _appended(stage: Stage, action: do.AppendEvents) -> Told:
    events = [*_events(stage, stage.part(Bundling).asked[int(action.text.split()[-1])])]
    if stage.log_waits:
        stage.unread += events
    else:
        yield from events


def _events(stage: Stage, request: of.Collect) -> Iterator[LogEvent]:
    """What is written of the tasks that have ended, and of the bundle."""
    known, cluster = stage.part(Bundling), request.cluster
    members = _members(stage, request.number)
    wanted = [stage.harness.dag.names[node] for node in request.nodes]
    for place, name in enumerate(members, 1):
        if name in wanted and name in known.ended:
            yield from _life(known, cluster, place, name)
        elif name in wanted and request.removed:
            yield task(cluster, place, name, 0)[0]
            yield make.of_job(EventKind.JOB_ABORTED, cluster)._replace(subproc=place)
    suspects = [name for name in known.begun if name not in known.ended]
    for name in {**known.ended}.keys() & {*wanted}:
        del known.ended[name]
    if request.why:
        yield unbundled(request.number, f"{request.why}\n{' '.join(suspects)}")
        known.begun = []
    else:
        given_back = known.given_back or [""]
        for left, name in zip(range(len(given_back), 0, -1), given_back):
            yield unbundled(request.number, name)._replace(retry=left)
        known.given_back = []


def _life(known: Bundling, cluster: int, place: int, name: str) -> Iterator[LogEvent]:
    """What is written of a task."""
    *begun, end = task(cluster, place, name, known.ended[name])
    yield from begun
    of_job = LogEvent(EventKind.GENERIC, cluster, 0, 0, node=name)
    if name in known.why:
        yield of_job._replace(record="TASK_FAILED", text=known.why.pop(name))
    if name in known.late:
        yield of_job._replace(record="TIMED_OUT", value=RETURN_JOB_ABORTED, text="ran for 50 s")
        end = make.of_job(EventKind.JOB_ABORTED, cluster)._replace(subproc=place)
    known.late.discard(name)
    yield end


# In words.


@in_words(of.LookAt)
@in_words(of.SlotsWanted)
def _found_out(_: Words, __: of.LookAt | of.SlotsWanted) -> str:
    """What comes of it is seen by the bundles."""
    return ""


@in_words(of.Prepare)
def _prepare(words: Words, request: of.Prepare) -> str:
    """In brackets, how many run side by side, and the time limits of those that have one."""
    names = [words.name(one.node) for one in request.nodes]
    limits = (f", {name} {s} s" for name, s in zip(names, request.time_limits) if s)
    behind = [" ".join(names[one - 1] for one in some) for some in request.after]
    chains = (f", {name} behind {some}" for name, some in zip(names, behind) if some)
    more = "".join([*limits, *chains])
    return f"bundle {request.number} of {' '.join(names)} ({request.parallel} at once{more})"


@in_words(do.SubmitJob)
def _submit(_: Words, action: do.SubmitJob) -> str:
    return f"submit bundle {action.number}"


@in_words(of.Collect)
def _collect(words: Words, request: of.Collect) -> str:
    """In brackets how it has ended; of one that runs, of which nodes it is asked."""
    names = " ".join(map(words.name, request.nodes))
    how = f"removed: {request.why}" if request.removed else request.why
    behind = f", the last {request.behind} behind others" * bool(request.behind)
    return f"collect {request.number} ({how or f'while it runs: {names}'}{behind})"


@in_words(do.AppendEvents)
def _write(_: Words, action: do.AppendEvents) -> str:
    return f"write {action.text}"


@in_words(of.Forget)
def _forget_files(_: Words, request: of.Forget) -> str:
    return f"forget {request.number}"

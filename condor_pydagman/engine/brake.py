"""BRAKE: a DAG of which much fails is halted, its jobs are held, or it ends (docs/decisions.md).

What has failed is counted by the events of the nodes log (`brake_records`), so a replay comes to
the same.  That a brake acts is written into the log, and so is that a person takes it back; both
are in force when they have been read from there.  Until then nothing new is started and the DAG
does not end.  A record of before a resume, and a double, changes nothing.
"""

from __future__ import annotations

from condor_pydagman.dagfile.brake_lines import ABORT, HOLD
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import decisions, operator, run_end
from condor_pydagman.engine.brake_records import BRAKED, HOLD_WORDS, RELEASE
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED, HELD, Jobs
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import JournalRecord

HOLD_AGAIN_S = 60.0  # before the schedd is asked again for jobs that are not on hold yet
MAX_REASON = 300  # characters of a hold reason
_RELEASE_REASON = "Released: the brake of its DAG was released"


# Records.


def write_records(run: RunState) -> None:
    """Write into the log which brakes act, and that a person takes them back."""
    brakes = run.brakes
    if not run.is_over:
        for number, (node, reason) in brakes.due.items():
            if number not in run.written.of(BRAKED):
                brake = brakes.brakes[number]
                text = f"{brakes.round} {brake.effect} {brake.name}: {reason}"
                record = _record(run, JournalRecord.BRAKED, node, number, text)
                run.write(BRAKED, number, record)
    if brakes.resumed is not None:
        if not run.is_over and (brakes.braked or run.written.of(BRAKED)):
            action = _record(run, JournalRecord.BRAKES_OFF, 0, brakes.round, brakes.resumed)
            run.write(BRAKED, RELEASE, action)
        brakes.resume_written()


def _record(
    run: RunState, record: JournalRecord, node: int, value: int, text: str
) -> do.AppendJournalRecord:
    return do.AppendJournalRecord(
        record, node, run.nodes.retries.get(node, 0), value, text=text.strip()
    )


def next_time(run: RunState) -> float | None:
    """When the schedd is to be asked again."""
    if run.is_over:
        return None
    return min((*run.brakes.to_hold.values(), *run.brakes.to_release.values()), default=None)


def on_braked(run: RunState, _node: int, event: LogEvent) -> None:
    """A brake acts."""
    brakes, number = run.brakes, event.value
    if not 0 <= number < len(brakes.brakes):
        run.say(f"Warning: ignoring the record of a brake that the DAG has not got: {event.text}")
        return
    written_in, _, text = event.text.partition(" ")
    text = text.partition(" ")[2]
    if written_in != str(brakes.round):
        return
    run.written.drop(BRAKED, number)
    if not brakes.brake(number, text) or run.is_over:
        return
    effect = brakes.brakes[number].effect
    run.say(f"Brake {text}: {effect}", 0)
    if effect == ABORT:
        run.say(f"Aborting DAG because of brake {text}", 0)
        run_end.request_end(run, decisions.BRAKED)
        return
    operator.brake(run, f"brake {text}")
    if effect == HOLD:
        _hold_all(run)


def on_brakes_off(run: RunState, _node: int, event: LogEvent) -> None:
    """A person has taken back the brakes that act."""
    brakes = run.brakes
    if event.value != brakes.round:
        return
    brakes.take_back()
    run.written.clear(BRAKED)
    run.say("The brakes are released, and start counting again")
    operator.brakes_off(run)


# Counting.


def on_held(run: RunState, node: int, event: LogEvent) -> None:
    """A job went on hold; the event's value is the HoldReasonCode."""
    run.brakes.went_on_hold((event.cluster, event.proc), event.text)
    if not run.is_over:
        run.brakes.job_held(node, event.value, event.text, run.category(node))


def is_ours(event: LogEvent) -> bool:
    """Whether a job was put on hold by a brake."""
    return event.text.startswith(HOLD_WORDS)


# Jobs.


def on_submitted(run: RunState, node: int, event: LogEvent) -> None:
    """A job is in the queue: it was on its way there when the brake began to act."""
    if run.brakes.holds and event.cluster > 0 and run.is_ordinary(node):
        jobs = run.job_table.by_node.get(node)
        if jobs is not None:
            _hold(run, jobs, event.proc)


def _hold_all(run: RunState) -> None:
    for node, jobs in run.job_table.by_node.items():
        in_queue = run.nodes.states[node] == State.SUBMITTED and jobs.cluster > 0
        if in_queue and run.is_ordinary(node) and not jobs.removing:
            for proc in jobs.live():
                _hold(run, jobs, proc)


def _hold(run: RunState, jobs: Jobs, proc: int) -> None:
    if not jobs.procs.get(proc, 0) & (HELD | ENDED):
        run.brakes.hold((jobs.cluster, proc))


def hold_jobs(run: RunState) -> None:
    """Ask the schedd to hold jobs, or to release them, and again until the log shows it."""
    brakes = run.brakes
    if run.is_over or not (brakes.to_hold or brakes.to_release):
        return
    names = "; ".join(text for text in brakes.braked.values())
    _ask(run, brakes.to_hold, f"{HOLD_WORDS}: {names}"[:MAX_REASON], release=False)
    _ask(run, brakes.to_release, _RELEASE_REASON, release=True)


def _ask(run: RunState, procs: dict[tuple[int, int], float], reason: str, *, release: bool) -> None:
    due = [proc for proc, when in procs.items() if when <= run.now]
    targets: dict[tuple[int, int], None] = {}
    for proc in due:
        node = run.job_table.node_of(*proc)
        jobs = None if node is None else run.job_table.by_node.get(node)
        if jobs is None or jobs.removing or not jobs.unfinished:
            run.brakes.ended(proc)
        else:
            run.brakes.asked(procs, proc, run.now + HOLD_AGAIN_S)
            targets[jobs.target] = None
    for target in targets:
        run.emit(do.HoldJobs(*target, reason, release))

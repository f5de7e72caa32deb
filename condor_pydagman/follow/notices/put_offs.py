"""Scripts that have asked to be put off, and when they run again (SCRIPT DEFER)."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.adapters.local_time import local_text
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.notices.name_lists import nodes_named
from condor_pydagman.follow.run_model import PutOff
from condor_pydagman.printable import message, number_of
from condor_pydagman.words import duration, result

MAX_EXAMPLES = 3


def until_when(off: PutOff) -> str:
    """`PRE script put off until 2026-11-18 12:05:00`."""
    return f"{off.kind.name} script put off until {local_text(off.until)}"


def put_off_notices(facts: Facts) -> Iterator[Notice]:
    """One for all of them."""
    run = facts.run
    waiting = run.scripts_off() if facts.is_live else {}
    names = sorted(waiting, key=lambda name: waiting[name].until)
    if not names:
        return
    first = waiting[names[0]]
    left = first.until - facts.now
    when = f" at {local_text(first.until)}, in {duration(left)}" if left > 0 else " when it can"
    count = sum(len(run.put_offs[name]) for name in names)
    scripts = number_of(count, "script")
    who = scripts if count > 1 else f"The {first.kind.name} script"
    then = "; the first runs again" if count > 1 else ", and runs again"
    sentence = f"{who} of {nodes_named(names)} asked to be put off{then}{when}."
    evidence = tuple(_evidence(name, waiting[name], facts) for name in names[:MAX_EXAMPLES])
    notice = Notice("script.put_off", Weight.WAITING, sentence, tuple(names), evidence)
    yield notice._replace(since=first.time, awaited=f"the next run of {scripts}")


def _evidence(name: str, off: PutOff, facts: Facts) -> Evidence:
    text = f"{off.kind.name} script of {message(name)}: {result(off.value)}"
    if len(facts.run.put_offs) > 1:
        text += f", put off until {local_text(off.until)}"
    return Evidence(facts.out, text, off.time)

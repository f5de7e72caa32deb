"""Jobs that are held, in scenes of brakes."""

from __future__ import annotations

from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage


@phrase("<job> is held for <code>[: <text>]")
def _held(stage: Stage, name: str, code: str, text: str) -> Told:
    """With that HoldReasonCode, for a reason."""
    for job in stage.jobs.named(name):
        yield make.of_job(EventKind.JOB_HELD, *job, text)._replace(value=int(code))

"""What mutants of the engine have shown that no other test would notice."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from tests import make


@pytest.mark.parametrize(("submitted", "job"), [(True, "5.0"), (False, "-")])
def test_jobstate_names_the_job_whose_post_script_has_ended(submitted: bool, job: str) -> None:
    harness = make.harness_of("A\nSCRIPT POST A x\nJOBSTATE_LOG j.log")
    if submitted:
        harness.run_node("A", 5)
    else:
        harness.happens(inputs.SubmitFailed(0, "no such file", permanent=True))
    harness.post_ends("A")
    lines = {line.event: line.job for line in harness.ever(do.JobState)}
    assert lines["POST_SCRIPT_SUCCESS"] == job

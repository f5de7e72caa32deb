"""NOTIFY on a real pool: a program hears of everything, the end included."""

from __future__ import annotations

import json
from typing import Any

from tests.pool.scenes import Scene, Stage

STAGE = Stage()
NOTIFIED = """\
JOB A told.sub
NOTIFY job.*,dag.* PROGRAM ./tell.sh told
#== tell.sh
#!/bin/sh
cat >> "$1"
"""


def told(s: Scene) -> list[dict[str, Any]]:
    return [json.loads(line) for line in s.text("told").splitlines()]


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


@STAGE.scene
def a_dagman_that_is_killed(s: Scene) -> None:
    s.submit(NOTIFIED, started="A 0")
    s.until(lambda: "job.execute" in names(told(s)), "job.execute")
    s.restart()
    s.touch("go.A")
    assert s.ends() == 0
    s.until(lambda: "dag.end" in names(told(s)), "dag.end", after_end=True)
    found = told(s)
    assert names(found).count("dag.start") == 2
    assert len({event["id"] for event in found}) == len(found)
    assert names(found).count("job.submit") == names(found).count("job.terminate") == 1


test_notify = STAGE.tests()

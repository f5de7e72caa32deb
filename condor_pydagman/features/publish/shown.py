"""What nodes publish, as the nodes log tells: only that it can't be read makes a difference."""

from __future__ import annotations

from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.vocabulary import RETURN_NO_RESULT


def _result(tracker: Tracker, node: NodeRun | None, read: RecordRead, _: float) -> None:
    if node is not None and read.value < 0:
        tracker.because(node, value=RETURN_NO_RESULT, reason=read.text)


RECORDS: Records = {"NODE_RESULT": _result}

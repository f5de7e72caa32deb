"""What the page gets about groups that run at sites.

DAGMan is asked only while somebody looks at them, and only so often; if it does not answer, the
logs tell what they have.
"""

from __future__ import annotations

import time
from typing import Any

from aiohttp import web

from condor_pydagman.errors import PydagmanError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_answers import DagAnswers
from condor_pydagman.web.group_rows import GroupTable, Told, details_of, groups_wanted
from condor_pydagman.web.json_answers import dumped
from condor_pydagman.web.live_dag import LiveDag
from condor_pydagman.web.steering_seam import Steering
from condor_pydagman.web.threads import Threads

FRESH_S = 1.0  # what DAGMan has said is told again
SHARE = 10  # of the time, so much at most goes into asking it
_KEPT = 8  # DAGs


class _Asked(NamedTuple):
    """What DAGMan has said, or why it has not; valid until a time of the monotonic clock."""

    until: float
    told: Told
    problem: str


class GroupAnswers:
    """Answers requests.

    Args:
        steering: knows what DAGMan says of its groups.
    """

    def __init__(self, answers: DagAnswers, threads: Threads, steering: Steering) -> None:
        self._answers, self._threads, self._steering = answers, threads, steering
        self._asked: dict[str, _Asked] = {}

    async def groups(self, request: web.Request) -> web.Response:
        """A page of the table of groups."""
        wanted = groups_wanted(request.query)
        dag = await self._answers.dag_of(request)
        asked = await self._ask(dag)

        def page_of() -> dict[str, Any]:
            if dag.group_table is None or dag.group_table.reader is not dag.reader:
                dag.group_table = GroupTable(dag.reader)
            return dag.group_table.page(wanted, asked.told)

        page = await self._threads.with_files(page_of)
        return dumped({"problem": asked.problem, **page})

    async def group(self, request: web.Request) -> web.Response:
        """All of one group."""
        number = int(request.match_info["number"])
        dag = await self._answers.dag_of(request)
        asked = await self._ask(dag)
        found = await self._threads.with_files(lambda: details_of(dag.reader, number, asked.told))
        return dumped({"problem": asked.problem, **found})

    async def _ask(self, dag: LiveDag) -> _Asked:
        """What DAGMan says, or has said just now."""
        has_none = dag.places is None or dag.glimpse is None or dag.glimpse.over
        if has_none:
            return _Asked(0.0, {}, "")
        name, begun = dag.found.paths.primary, time.monotonic()
        asked = self._asked.pop(name, None)
        if asked is None or begun > asked.until:
            asked = await self._ask_dagman(dag, begun)
        self._asked[name] = asked  # at the end: it was used last
        for oldest in list(self._asked)[:-_KEPT]:
            del self._asked[oldest]
        return asked

    async def _ask_dagman(self, dag: LiveDag, begun: float) -> _Asked:
        told: dict[str, Any] = {}
        problem = ""
        try:
            found = await self._threads.with_steering(self._steering.groups, dag.found)
            told = {group.name: group for group in found}
        except (PydagmanError, OSError, Refused) as error:
            problem = f"DAGMan does not report why groups wait: {error}"
        now = time.monotonic()
        return _Asked(now + max(FRESH_S, SHARE * (now - begun)), told, problem)

"""A run at a glance, for notebooks and terminals: by media type."""

from __future__ import annotations

import os
from collections.abc import Sequence

from condor_pydagman.cli.report_command import excerpts, tick
from condor_pydagman.cli.watch import advice_lines, clock, lines_of
from condor_pydagman.explain.failed_nodes import failed_node_findings
from condor_pydagman.follow.notice import Notice, in_order
from condor_pydagman.follow.overview import Overview
from condor_pydagman.monitor.file_facts import size_of
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.watched_dag import WatchedDag, facts_of
from condor_pydagman.printable import printable
from condor_pydagman.report.glance_html import glance_html, run_chart
from condor_pydagman.report.overview_text import plain

WIDTH = 80  # columns of the text
MAX_SMALL_BYTES = 1 << 20  # of a DAG's files and its nodes log; they are read in 0.1 s


def is_large(found: FoundDag) -> bool:
    """Whether a look at a run takes longer than a kernel should be kept waiting."""
    files = (os.path.join(found.directory, file) for file in found.files)
    return sum(map(size_of, (found.nodes_log, found.paths.grown, *files))) > MAX_SMALL_BYTES


class Glance:
    """Looks at a run again and again.

    Args:
        found: the DAG.
    """

    def __init__(self, found: FoundDag) -> None:
        self._watched = WatchedDag(found)
        self._failed = 0
        self._findings: Sequence[Notice] = ()

    @property
    def over(self) -> bool:
        """Whether it has ended, as of the last look."""
        return self._watched.over

    def look(self) -> dict[str, str]:
        """How it stands now, as text and HTML."""
        seen = self._watched.look()
        return {"text/plain": text_of(seen), "text/html": "".join(self._html(seen))}

    def _html(self, seen: Overview) -> list[str]:
        run, dag = self._watched.tally.run, self._watched.tally.dag
        now = run.last if self.over else seen.now
        chart = run_chart(run, dag, now, clock, tick)
        findings = in_order([*self._failures(), *seen.notices])
        advice = "\n".join(map(plain, advice_lines(seen)))
        return list(glance_html(seen, findings, advice, chart, clock))

    def _failures(self) -> Sequence[Notice]:
        """Why nodes have failed; found out anew when more have, since files are read for it."""
        found, run, dag = self._watched.found, self._watched.tally.run, self._watched.tally.dag
        failed = sum(node.has_failed for node in run.nodes.values())
        if failed != self._failed:
            told = excerpts(found, run, dag)
            facts = facts_of(found, run, run.last)._replace(dag=dag, excerpts=told)
            self._failed, self._findings = failed, failed_node_findings(facts, {})
        return self._findings


def text_of(seen: Overview) -> str:
    """As `condor_pydagman watch --once` prints it."""
    return "\n".join(printable(plain(line)) for line in lines_of([seen], WIDTH))

"""What the nodes log says of conditions and of what nodes have published, kept independently of the
engine; a part of `truth.Truth`."""

from __future__ import annotations

import re

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.growth.graph import growth_of
from condor_pydagman.features.publish.graph import PublishedOfDag, published_of
from condor_pydagman.features.run_if.graph import conditions_of
from condor_pydagman.features.skipping.graph import SkippedOfDag
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import JournalRecord
from tests.sim.fake_conditions import comes_to
from tests.sim.verdicts import require


class Decisions:
    """Conditions and published values of one era.

    Attributes:
        skipped: names of nodes that were skipped.
        true: names of nodes whose condition was true, as the log says.
        numbers: by name, what a node has published as `n`.
        ended_well: names of nodes of which only what they publish is still to come.
    """

    def __init__(self, dag: Dag, done: set[str]) -> None:
        """`done` are those of `Truth`, and grow with what is skipped here."""
        self._dag = dag
        self._done = done
        self.skipped = {dag.names[node] for node in SkippedOfDag.of(dag).skipped}
        self.true: set[str] = set()
        self._decided: set[str] = set()
        self.ended_well: set[str] = set()
        self.numbers: dict[str, int] = {}
        self._parts: dict[str, set[int]] = {}
        for node, text in PublishedOfDag.of(dag).results.items():
            self._note_number(dag.names[node], text)

    def publishes(self, name: str) -> bool:
        """Whether the node is done only when the log has what it publishes."""
        return self._dag.ids[name] in published_of(self._dag)

    def event(self, event: LogEvent, *, final_begun: bool, checked: bool) -> None:
        """An event is in the log; `checked`: the log is whole, and nobody steers."""
        if event.record is JournalRecord.NODE_RESULT:
            self._publish(event)
        elif event.record is JournalRecord.CONDITION:
            self._decide(event, checked=checked)
        if not final_begun:
            self._follow()

    def run_anew(self, name: str) -> None:
        """What the node has done, and what was decided of it, counts no more."""
        for names in (self.skipped, self.true, self._decided, self.ended_well):
            names.discard(name)
        self.numbers.pop(name, None)
        self._parts.pop(name, None)

    def decide_anew(self, name: str) -> None:
        """The node, which has not begun, has got a parent."""
        self.true.discard(name)
        self._decided.discard(name)

    def _publish(self, event: LogEvent) -> None:
        name = event.node
        if name not in self.ended_well:
            return
        if event.value < 0:
            self.ended_well.discard(name)
            self._parts.pop(name, None)
            return
        number, parts = divmod(event.value, 100)
        self._note_number(name, event.text)
        known = self._parts.setdefault(name, set())
        known.add(number)
        if len(known) == parts:
            self.ended_well.discard(name)
            self._parts.pop(name, None)
            added = any(piece.node == name for piece in growth_of(self._dag).pieces)
            if added or self._dag.ids[name] not in growth_of(self._dag).extensions:
                self._done.add(name)  # else it is done when what it adds is in force

    def _note_number(self, name: str, text: str) -> None:
        found = re.search(r"\bn ?= ?(\d)", text)
        if found:
            self.numbers[name] = int(found[1])

    def _decide(self, event: LogEvent, *, checked: bool) -> None:
        name = event.node
        if name in self._decided or name in self._done:
            return  # written twice
        self._decided.add(name)
        if checked:
            wanted = self._wanted(name)
            require(
                event.value == wanted, f"O38: the condition of {name} is {wanted}: {event.value}"
            )
        if event.value == 1:
            self.true.add(name)
        elif event.value == 0:
            self.skipped.add(name)
            self._done.add(name)

    def _wanted(self, name: str) -> int:
        dag = self._dag
        node = dag.ids[name]
        parents = [dag.names[parent] for parent in parents_of(dag, node)]
        outcomes = {
            one: "SKIPPED" if one in self.skipped else "DONE" if one in self._done else "FAILED"
            for one in parents
        }
        return comes_to(conditions_of(dag)[node].expression, outcomes, self.numbers)

    def _leads(self, name: str) -> bool:
        condition = conditions_of(self._dag).get(self._dag.ids[name])
        return name in self.skipped and (condition is None or condition.skips_children)

    def _follow(self) -> None:
        """Nodes are skipped of which all parents were."""
        if not self.skipped:
            return
        dag, grows = self._dag, True
        while grows:
            grows = False
            for node, name in enumerate(dag.names):
                parents = [dag.names[parent] for parent in dag.parents(node)]
                free = name not in self._done and not dag.is_decided(node)
                if free and parents and all(map(self._leads, parents)):
                    self.skipped.add(name)
                    self._done.add(name)
                    grows = True

    def decided_anew(self) -> set[str]:
        """Nodes that were skipped because of parents that a rescue DAG runs again."""
        dag, found, grows = self._dag, set[str](), True
        while grows:
            grows = False
            for name in self.skipped - found:
                node = dag.ids[name]
                parents = parents_of(dag, node) if node in conditions_of(dag) else dag.parents(node)
                names = {dag.names[parent] for parent in parents}
                if names & found or not names <= self._done:
                    found.add(name)
                    grows = True
        return found

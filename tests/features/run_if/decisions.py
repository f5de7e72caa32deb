"""What the nodes log says of conditions and of what nodes have published, kept independently of the
engine, as `tests.sim.truth` does, which it extends."""

from __future__ import annotations

import re

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.publish.commands import PublishedOfDag
from condor_pydagman.features.run_if.commands import conditions_of
from condor_pydagman.graph.joins import parents_of
from tests.oracles import require
from tests.sim.truth import Truth


def comes_to(expression: str, outcomes: dict[str, str], numbers: dict[str, int]) -> int:
    """What an expression comes to, by parents' outcomes and what they have published."""
    if expression in ("true", "false"):
        return int(expression == "true")
    found = re.fullmatch(r"(Done >=|Skipped >) (\d)", expression)
    if found:
        wanted = "DONE" if found[1] == "Done >=" else "SKIPPED"
        count = list(outcomes.values()).count(wanted)
        return int(count >= int(found[2]) if wanted == "DONE" else count > int(found[2]))
    found = re.fullmatch(r'Parents\.(\w+)\.Outcome == "(\w+)"', expression)
    if found:
        return int(outcomes[found[1]] == found[2])
    found = re.fullmatch(r"Parents\.(\w+)\.n > (\d)", expression)
    assert found, expression
    number = numbers.get(found[1]) if outcomes[found[1]] == "DONE" else None
    return -1 if number is None else int(number > int(found[2]))


class Decisions:
    """Conditions and published values of one era.

    Attributes:
        true: names of nodes whose condition was true, as the log says.
        numbers: by name, what a node has published as `n`.
        ended_well: names of nodes of which only what they publish is still to come.
    """

    def __init__(self, truth: Truth) -> None:
        """What is skipped is done, in the truth as well."""
        self._truth = truth
        self._dag = dag = truth.dag
        self._done = truth.done
        self.true: set[str] = set()
        self._decided: set[str] = set()
        self.ended_well: set[str] = set()
        self.numbers: dict[str, int] = {}
        self._parts: dict[str, set[int]] = {}
        for node, text in PublishedOfDag.of(dag).results.items():
            self._note_number(dag.names[node], text)

    def event(self, event: LogEvent, *, checked: bool) -> None:
        """An event is in the log; `checked`: the log is whole, and nobody steers."""
        if event.record == "NODE_RESULT":
            self._publish(event)
        elif event.record == "CONDITION":
            self._decide(event, checked=checked)

    def run_anew(self, name: str) -> None:
        """What the node has done, and what was decided of it, counts no more."""
        for names in (self.true, self._decided, self.ended_well):
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
            self._truth.done_if_complete(name, ran=False)

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
            self._truth.skip(name)

    def _wanted(self, name: str) -> int:
        dag = self._dag
        node = dag.ids[name]
        parents = [dag.names[parent] for parent in parents_of(dag, node)]
        done = {one: "DONE" if one in self._done else "FAILED" for one in parents}
        outcomes = {**done, **{one: "SKIPPED" for one in parents if one in self._truth.skipped}}
        return comes_to(conditions_of(dag)[node].expression, outcomes, self.numbers)

"""The conditions of a run: when all parents of a node have ended, however they did, its condition
decides.

The expression is evaluated outside of the engine, with what the engine knows of the parents then.
What it comes to is written into the nodes log and takes effect when it has been read back: the node
runs, is skipped, or fails since it can't be said.  An answer that was given before a person's
command changed what it was found by does not count: the condition is evaluated again.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import categories_in_force
from condor_pydagman.engine.node_states import SKIPPED, Anew, State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.run_if.commands import PARENTS, ConditionsOfDag, renamed
from condor_pydagman.language.lexer import node_word
from condor_pydagman.named_tuple import NamedTuple

HELPER = "run_if"


class ConditionWanted(NamedTuple):
    """A condition that is to be evaluated."""

    node: int
    number: int  # of the request, which its answer is to have
    expression: str  # the ClassAd expression; of the names in it, those of `ad` have a value
    ad: str  # a ClassAd, as text
    # parts of the expression, as people know them, and as they are in it
    shown: tuple[tuple[str, str], ...] = ()


class EvaluateConditions(NamedTuple):
    """Evaluate conditions.  Answered by ConditionsEvaluated, all of them, in one or several."""

    wanted: tuple[ConditionWanted, ...]


class ConditionResult(NamedTuple):
    """What a condition comes to: 1 for true, 0 for false, -1 if that can't be said.

    `text` says by which values, or why not; `number` is that of ConditionWanted.
    """

    node: int
    number: int
    value: int
    text: str


class ConditionsEvaluated(NamedTuple):
    """Answer to EvaluateConditions, or a part of it."""

    results: Sequence[ConditionResult]


CONDITION = Kind("what a condition has come to")  # by node
MAX_ASKED = 200  # conditions that one request has


class RunIf(Feature):
    """The nodes of a run with a condition."""

    name = "run_if"
    # value: 1 true, 0 false, -1 it can't be said; text: by which values
    attempt_records = (("CONDITION", "on_record"),)
    replies = ((ConditionsEvaluated, "on_evaluated"),)

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        # nodes whose condition is being evaluated, and the numbers of their requests
        self.asked: dict[int, int] = {}
        # what the result of a node's condition was found by, in words
        self.why: dict[int, str] = {}
        self._of_dag = ConditionsOfDag.put(run.dag)  # a piece may bring the first condition
        self._number = 0

    # Ask.

    def work(self) -> None:
        """Have the conditions evaluated of nodes whose parents have all ended."""
        run, gated = self.run, self.run.nodes.gated
        for node in gated.changed:
            run.written.drop(CONDITION, node)  # what it was found by has changed
        if not gated.changed or run.is_over or run.starts_nothing or not run.provisioner.ready:
            return
        changed = gated.pop_changed()
        due = [node for node in changed if self._is_due(node) and not run.is_closed_to(node)]
        if run.mode is Mode.DRY_RUN:  # nothing is known of parents that have not run
            for node in due:
                self._start(node)
            return
        counted: dict[str, str] = {}
        for begin in range(0, len(due), MAX_ASKED):
            some = due[begin : begin + MAX_ASKED]
            wanted = tuple(self._wanted(node, counted) for node in some)
            run.emit(do.Ask(HELPER, EvaluateConditions(wanted)))

    def started(self) -> None:
        """In a dry run nodes whose parents have all ended run, whatever their conditions."""
        if self.run.mode is Mode.DRY_RUN:
            self.work()

    def _is_open(self, node: int) -> bool:
        """Whether all parents of the node have ended, and nothing has been decided."""
        gated = self.run.nodes.gated
        waits = self.run.nodes.states[node] == State.WAITING and node not in gated.opened
        return waits and not gated.unfinished[node]

    def _is_due(self, node: int) -> bool:
        has_one = node in self._of_dag.conditions
        return has_one and self._is_open(node) and node not in self.run.written.of(CONDITION)

    def under_way(self, halted: bool) -> bool:
        """Whether the DAG goes on because of a condition, though no node runs."""
        run = self.run
        if halted:
            return False
        if self.asked or run.written.of(CONDITION):
            return True
        if not run.provisioner.ready:  # it may never be
            return False
        return any(self._is_due(node) for node in run.nodes.gated.changed)

    def is_deciding(self, node: int) -> bool:
        """Whether its condition is being evaluated."""
        return node in self.asked or node in self.run.written.of(CONDITION)

    # What a condition is evaluated with.

    def _wanted(self, node: int, counted: dict[str, str]) -> ConditionWanted:
        """The expression with short names in place of those of nodes, which ClassAds would take for
        equal if they differ in upper and lower case only; and the ad in which these have values.

        `counted`: the categories whose nodes have been counted, which takes long.
        """
        run = self.run
        short: dict[tuple[str, str], str] = {}
        expression, values, counts = renamed(
            self._of_dag.conditions[node].expression,
            lambda one: short.setdefault((one.what, one.name), f"n{len(short)}"),
        )
        parents = categories = ""
        for (what, name), to in short.items():
            if what == PARENTS:
                parents += f"{to}=[{self._facts(run.dag.ids[name])}];"
            else:
                if name not in counted:
                    counted[name] = self._category(name)
                categories += f"{to}=[{counted[name]}];"
        ad = (
            f"[Parents=[{parents}];Category=[{categories}];"
            f"{self._counts(run.nodes.gated.parents[node])};"
            f"Retries={run.nodes.retries.get(node, 0)}]"
        )
        shown = tuple(dict.fromkeys((*values, *zip(counts, counts))))
        self._number += 1
        self.asked[node] = self._number
        return ConditionWanted(node, self._number, expression, ad, shown)

    def _facts(self, node: int) -> str:
        """What a condition can ask of a parent."""
        how = self._outcome(node)
        told = self._known_of(node) if how in ("DONE", "FAILED") else ""
        return f'{told}{";" * bool(told)}Outcome="{how}"'

    def _outcome(self, node: int) -> str:
        """How a node has ended, as conditions call it; '' if it has not."""
        if self.run.nodes.marks[node] & SKIPPED:
            return "SKIPPED"
        return _OUTCOMES.get(State(self.run.nodes.states[node]), "")

    def _known_of(self, node: int) -> str:
        """What can be asked of a node that has run, but for its outcome: `name = literal; ...`"""
        nodes, publish = self.run.nodes, self.run.features.get("publish")
        if publish is not None and node in publish.restored:
            return str(publish.restored[node]).strip()[1:-1].strip().rstrip("; \t")
        value = nodes.values.get(node, 0)
        pairs = [] if publish is None else list(publish.values.get(node, {}).items())
        if value >= 0:
            pairs.append(("ExitCode", str(value)))
        elif value > _OF_NO_JOB:
            pairs.append(("Signal", str(-value)))
        pairs.append(("Retries", str(nodes.retries.get(node, 0))))
        return "; ".join(f"{name} = {literal}" for name, literal in pairs)

    def _counts(self, nodes: tuple[int, ...]) -> str:
        done = failed = skipped = futile = 0
        states, marks = self.run.nodes.states, self.run.nodes.marks
        for node in nodes:
            state = states[node]
            if marks[node] & SKIPPED:
                skipped += 1
            elif state == State.DONE:
                done += 1
            elif state == State.FAILED:
                failed += 1
            elif state == State.FUTILE:
                futile += 1
        return f"Done={done};Failed={failed};Skipped={skipped};Futile={futile};Total={len(nodes)}"

    def _category(self, name: str) -> str:
        categories = categories_in_force(self.run.dag.categories, self.run.settings)
        return self._counts(tuple(node for node, one in categories.items() if one == name))

    # The answer, and the record of it.

    def on_evaluated(self, answer: ConditionsEvaluated) -> None:
        """What conditions have come to."""
        run = self.run
        for node, number, value, text in answer.results:
            if self.asked.get(node) != number:
                continue
            del self.asked[node]
            if not self._is_due(node):
                continue
            if run.written.holding:  # what it was found by may be about to change
                run.nodes.gated.close(node)
                continue
            retry = run.nodes.retries.get(node, 0)
            record = do.AppendJournalRecord("CONDITION", node, retry, value, text=text)
            run.write(CONDITION, node, record)

    def on_record(self, node: int, event: LogEvent) -> None:
        """What the node's condition has come to has been read: it decides."""
        run = self.run
        condition = self._of_dag.conditions.get(node)
        if condition is None or not self._is_open(node):
            return
        self._forget(node)
        self.why[node] = event.text
        name, by = run.dag.names[node], f": {event.text}" if event.text else ""
        said = f"RUN_IF {condition.expression}"
        if event.value == 1:
            run.say(f"Node {name} is to run, since {said} is true{by}")
            self._start(node)
        elif event.value == 0:
            run.say(f"Node {name} is skipped, since {said} is false{by}")
            run.features["skipping"].skip(node, leads=condition.skips_children)
        else:
            place = self._of_dag.lines_at.get(node, "")
            where = f" at {place}" if place else ""
            lifecycle.fail(run, node, f"{said}{where} can't be evaluated{by}")

    def skips_children(self, node: int) -> bool:
        """Whether children follow the node if it is skipped."""
        condition = self._of_dag.conditions.get(node)
        return condition is None or condition.skips_children

    def _start(self, node: int) -> None:
        self.run.nodes.gated.open(node)
        lifecycle.start_all(self.run, [node])

    # What was decided counts no more.

    def node_moved(self, node: int, old: int, _new: int) -> None:
        """It has begun, or ended, without its condition."""
        if old == State.WAITING and node in self._of_dag.conditions:
            self._forget(node)

    def begins_anew(self, node: int, _why: Anew) -> None:
        """Its condition is to be evaluated anew."""
        self._forget(node)
        self.why.pop(node, None)

    def _forget(self, node: int) -> None:
        self.asked.pop(node, None)
        self.run.written.drop(CONDITION, node)

    # What others see.

    def details(self, node: int) -> str:
        """What has decided, or that it is being found out."""
        if self.run.nodes.marks[node] & SKIPPED and node in self.why:
            why = self.why[node]
            return f"skipped: RUN_IF is false{': ' * bool(why)}{why}"
        return "its RUN_IF is being evaluated" if self.is_deciding(node) else ""

    def rescue_lines(self, node: int) -> tuple[str, ...]:
        """What the conditions of others can ask of it."""
        if node not in self.run.nodes.gated.watched or self._outcome(node) != "DONE":
            return ()
        return (f"NODE_RESULT {node_word(self.run.dag.names[node])} [ {self._known_of(node)} ]",)


_OUTCOMES = {State.DONE: "DONE", State.FAILED: "FAILED", State.FUTILE: "FUTILE"}
_OF_NO_JOB = -1000  # return values of nodes below this are DAGMan's own

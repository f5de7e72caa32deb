"""What is known of the nodes of a run that BUNDLE lines mean: with which others each can go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from condor_pydagman.engine.state import RunState
from condor_pydagman.features.bundle.apart import few, why_alone, why_apart
from condor_pydagman.features.bundle.commands import BundleLine, line_of_nodes
from condor_pydagman.features.bundle.messages import Look
from condor_pydagman.features.bundle.packing import MIN_SIZE
from condor_pydagman.named_tuple import NamedTuple

MAX_FOLLOWERS = 5000  # that are looked at by one request
MAX_SAID = 500  # reasons for which nodes run alone
MAX_REFUSALS = 3  # bundles of a kind that can't be submitted, before its nodes run alone


class Key(NamedTuple):
    """What nodes have in common that can go together."""

    priority: int  # their own, without what is added for the whole DAG
    line: BundleLine
    kind: str  # as what makes bundles has found it
    category: str


class Kinds:
    """The nodes of the lines, their kinds, and those that run alone.

    A follower is a node that may run behind its parents in one bundle, by a line with CHAINS.
    """

    def __init__(self, run: RunState) -> None:
        self.run = run
        # by node, the BUNDLE line that it is bundled by
        self.line_of = line_of_nodes(run.dag, range(len(run.dag)))
        self.of: dict[int, str] = {}  # by node, its kind, as it was found last
        self.alone: set[int] = set()  # nodes that run alone
        # kinds of which it is known while a bundle runs what its nodes have come to
        self.live: set[str] = set()
        self._apart: dict[int, bool] = {}  # whether nodes can't be followers, whatever their kinds
        self._asked: set[int] = set()  # followers of which the kind is being found out
        self._refusals: dict[str, int] = {}  # by kind
        self._said: set[str] = set()

    def grow(self, nodes: Sequence[int]) -> None:
        """The DAG has new nodes."""
        self.line_of.update(line_of_nodes(self.run.dag, nodes))

    def key(self, node: int, kind: str) -> Key:
        """That of a node of that kind."""
        return Key(self.priority(node), self.line_of[node], kind, self.run.category(node))

    def priority(self, node: int) -> int:
        """That of the node, without what is added for the whole DAG."""
        return self.run.priority(node) - self.run.dag_priority

    # Who runs alone.

    def runs_alone(self, node: int) -> bool:
        """Whether a node is not to wait for others whose turn has come; said, if its line meant
        otherwise."""
        run = self.run
        if node not in self.line_of or node in self.alone or run.is_rehearsal:
            return True
        if run.config.max_bundle_size < MIN_SIZE:
            return True
        if node in run.retrying.on_hold or node in run.submission.attempts:
            return True
        why = self._why_alone(node)
        if why:
            self._say_alone(node, why)
        return bool(why)

    def _why_alone(self, node: int) -> str:
        """Why the node runs alone whatever its description says; '' if it does not."""
        run, of = self.run, self.run.features.get
        limits, timeouts = of("shared_limits"), of("timeout")
        return why_alone(
            run.dag,
            node,
            has_limit=limits is not None and limits.has_limit(node),
            timeout=timeouts.of_node(node) if timeouts is not None else None,
        )

    def _say_alone(self, node: int, why: str) -> None:
        """Say why a node is not bundled, once for a reason."""
        name = self.run.dag.names[node]
        self.say_once(why, f"Node {name} is not bundled: {why} (said once for each reason)")

    def say_once(self, what: str, text: str) -> None:
        """Say it, if nothing was said of that."""
        if what not in self._said and len(self._said) < MAX_SAID:
            self._said.add(what)
            self.run.say(text)

    def refused(self, kind: str, *, permanent: bool) -> bool:
        """There was no job for a bundle of that kind; returns whether its nodes run alone now."""
        refusals = MAX_REFUSALS if permanent else self._refusals.get(kind, 0) + 1
        self._refusals[kind] = refusals
        return refusals >= MAX_REFUSALS

    def accepted(self, kind: str) -> None:
        """The schedd has taken the job of a bundle of that kind."""
        self._refusals.pop(kind, None)

    # What kinds they are of.

    def found(self, look: Look) -> bool:
        """Note what was found of a node that is ready; returns whether it may go with others."""
        node, kind, why, is_live = look
        if why or self._refusals.get(kind, 0) >= MAX_REFUSALS:
            self._say_alone(node, why or "bundles of its kind could not be submitted")
            return False
        self.of[node] = kind
        if is_live:
            self.live.add(kind)
        return True

    def found_follower(self, look: Look) -> None:
        """Note what was found of a follower, unless something else may keep it from others now."""
        if look.node in self._asked:
            self._asked.discard(look.node)
            if look.kind:
                self.of[look.node] = look.kind

    def forget(self, node: int) -> None:
        """Something else may keep the node from others."""
        self.of.pop(node, None)
        self._apart.pop(node, None)
        self._asked.discard(node)

    def followers_to_look_at(self, heads: Iterable[int]) -> list[int]:
        """Possible followers of these nodes whose kinds are not known yet; they are found out."""
        todo = [node for node in heads if self.line_of[node].chains]
        below: dict[int, None] = {}
        while todo and len(below) < MAX_FOLLOWERS:
            some = [one for one in self._followers(todo.pop()) if one not in below]
            below.update(dict.fromkeys(some))
            todo += some
        found = [node for node in below if node not in self.of and node not in self._asked]
        self._asked.update(found)
        return found

    def _followers(self, node: int) -> Iterator[int]:
        line = self.line_of[node]
        for child in few(self.run.dag.children(node)):
            if self.line_of.get(child) == line and not self._is_apart(child):
                yield child

    def _is_apart(self, node: int) -> bool:
        found = self._apart.get(node)
        if found is None:
            why = why_apart(self.run.dag, node) or self._why_alone(node)
            found = self._apart[node] = bool(why)
        return found

    def follows(self, node: int, key: Key) -> bool:
        """Whether a node that waits may run behind nodes with that key, which it waits for."""
        run, kind = self.run, self.of.get(node)
        return (
            kind == key.kind
            and node in self.line_of
            and not self._is_apart(node)
            and node not in self.alone
            and self.key(node, key.kind) == key
            and not (run.nodes.marks[node] or run.is_closed_to(node))
            and node not in run.retrying.on_hold
        )

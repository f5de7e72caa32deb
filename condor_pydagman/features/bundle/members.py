"""Who is in which bundle: nodes that are in the queue in its job, and nodes that run behind them.

A node that runs behind others of its bundle waits for its parents, as far as the DAG goes, until
they are done; then it is in the queue at once, as the job has started it.  It is in the bundle no
more, and waits as others do, if one of them comes to anything else, or the job does not run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.bundle.one_bundle import Bundle

INSIDE = (State.SUBMITTING, State.SUBMITTED)  # states of nodes in bundles


class Members:
    """The nodes of the bundles of a run."""

    def __init__(self, run: RunState) -> None:
        self.run = run
        self.bundle_of: dict[int, Bundle] = {}  # by node, its bundle, if that runs it now or next
        # bundles of which no node is in the queue, and since when
        self.empty: dict[int, float] = {}

    def inside(self, bundle: Bundle) -> list[int]:
        """Its nodes that are in the queue, in their order."""
        return [node for node in bundle.members if self.is_inside(node, bundle)]

    def is_inside(self, node: int, bundle: Bundle) -> bool:
        """Whether a node is in the queue as one of a bundle."""
        return self.bundle_of.get(node) is bundle and node not in bundle.behind

    def add(self, bundle: Bundle, node: int) -> None:
        """A node that is ready is in the bundle; or one that waits for others is to run behind
        them."""
        bundle.members.append(node)
        self.bundle_of[node] = bundle
        if self.run.nodes.states[node] == State.READY:
            self._enter_queue(bundle, node)
        else:
            bundle.behind.add(node)

    def joins(self, node: int) -> bool:
        """The turn of the node has come.  Whether it runs in a bundle already, behind others."""
        bundle = self.bundle_of.get(node)
        if bundle is None:
            return False
        self.run.nodes.move(node, Cause.NEEDS_SUBMIT, self.run.now)
        bundle.behind.discard(node)
        self._enter_queue(bundle, node)
        if bundle.cluster:
            self.run.nodes.move(node, Cause.JOBS_SEEN, self.run.now)
        return True

    def _enter_queue(self, bundle: Bundle, node: int) -> None:
        run = self.run
        run.ready.discard(node)
        run.save_points.discard(node)
        run.nodes.move(node, Cause.SUBMIT_STARTED, run.now)
        bundle.inside += 1
        run.share_place(bundle.inside > 1)
        self.empty.pop(bundle.number, None)
        bundle.unplaced.append(node)
        if len(bundle.placed) < bundle.parallel:
            self._place_another(bundle)

    def moved(self, node: int, old: int, new: int) -> None:
        """A node has another state: it may be in its bundle no more, nor others behind it."""
        bundle = self.bundle_of.get(node)
        if bundle is not None and new not in INSIDE and (old, new) != (State.WAITING, State.READY):
            if node in bundle.behind:
                self.leave_behind([node])
            else:
                self.leave(node, is_done=new == State.DONE)
        if old == State.DONE:
            self.leave_behind(self.run.dag.children(node))

    def leave(self, node: int, *, is_done: bool = False) -> None:
        """The node is in its bundle no more, nor, if it is not done, are those behind it; another
        one has its place in the category, if it had one."""
        bundle = self.bundle_of.pop(node)
        self.run.share_place(-(bundle.inside > 1))
        bundle.inside -= 1
        if not bundle.inside:
            self.empty[bundle.number] = self.run.now
        if node in bundle.placed:
            bundle.placed.discard(node)
            self._place_another(bundle)
        if bundle.behind and not is_done:
            self.leave_behind(self.run.dag.children(node), bundle)

    def leave_behind(self, nodes: Iterable[int], bundle: Bundle | None = None) -> None:
        """Nodes do not run behind others any more, nor do those behind them; of one bundle, or of
        any."""
        todo = list(nodes)
        while todo:
            node = todo.pop()
            of = self.bundle_of.get(node)
            if of is not None and node in of.behind and bundle in (None, of):
                del self.bundle_of[node]
                of.behind.discard(node)
                todo.extend(self.run.dag.children(node))

    def _place_another(self, bundle: Bundle) -> None:
        """The next of its nodes that is inside and has no place gets one."""
        while bundle.unplaced:
            node = bundle.unplaced.popleft()
            if self.is_inside(node, bundle):
                bundle.placed.add(node)
                self.run.categories.enter(node)
                return

    def parents_inside(self, bundle: Bundle) -> Iterator[tuple[int, ...]]:
        """For each of its nodes, the places in `members`, from 1, of those that it waits for."""
        places = {node: place for place, node in enumerate(bundle.members, 1)}
        for node in bundle.members:
            parents = self.run.dag.parents(node) if node in bundle.behind else ()
            yield tuple(sorted({places[one] for one in parents if one in places}))

    def ended(self, bundle: Bundle) -> list[int]:
        """The bundle is over; returns its nodes that were in the queue."""
        self.leave_behind(list(bundle.behind), bundle)
        inside = self.inside(bundle)
        for node in inside:
            self.leave(node)
        self.empty.pop(bundle.number, None)
        return inside

    def validate(self, bundles: Iterable[Bundle]) -> None:
        """As of `Feature`: nodes in bundles are in the queue, those behind them wait."""
        states = self.run.nodes.states
        shared = 0
        for bundle in bundles:
            assert len(self.inside(bundle)) == bundle.inside, bundle.number
            assert bundle.number not in self.empty or not bundle.inside, bundle.number
            shared += max(0, bundle.inside - 1)
            assert all(self.bundle_of[node] is bundle for node in bundle.behind), bundle.number
        assert shared == self.run.places_shared, (shared, self.run.places_shared)
        for node, bundle in self.bundle_of.items():
            is_behind = states[node] == State.WAITING
            assert is_behind or states[node] in INSIDE, node
            assert is_behind == (node in bundle.behind), node

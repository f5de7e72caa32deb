"""Names in sight, and the order of nodes, while files are read."""

from __future__ import annotations

import sys

from condor_pydagman.graph.scope import Scope


def nested() -> tuple[Scope, Scope, Scope]:
    """The root, its splice S and T in S; nodes 0 2 | 1 3 | 4."""
    root = Scope()
    s = Scope(root, "S", "s.dag")
    t = Scope(s, "T", "t.dag")
    root.splices["S"], s.splices["T"] = s, t
    root.add(0)
    s.add(1)
    root.add(2)
    s.add(3)
    t.add(4)
    return root, s, t


def test_names() -> None:
    root, s, t = nested()
    assert [scope.full("A") for scope in (root, s, t)] == ["A", "S+A", "S+T+A"]
    assert [str(scope) for scope in (root, s, t)] == ["root", "S+", "T+"]


def test_the_number_of_a_dag_file_stands_before_every_name() -> None:
    root = Scope()
    root.munge = "0."
    s = Scope(root, root.munge + "S", "s.dag")
    assert s.full("A") == "0.S+0.A"


def test_nodes_come_in_sight_when_a_file_ends() -> None:
    root, s, _ = nested()
    assert list(root.ranges()) == [range(0, 1), range(2, 3)]
    assert 4 not in s
    s.lift()
    assert list(s.ranges()) == [range(1, 2), range(3, 4), range(4, 5)]
    assert 4 not in root
    assert root.lift() == [s]
    assert root.splices == {}
    assert [node for nodes in root.ranges() for node in nodes] == [0, 2, 1, 3, 4]
    assert 4 in root
    assert 5 not in root


def test_nodes_in_a_row_are_one_piece() -> None:
    root = Scope()
    root.add(0)
    root.add(1)
    root.add(2, 1000)
    assert root.new_pieces() == [range(0, 1002)]


def test_pieces_are_new_once() -> None:
    root, s, _ = nested()
    s.lift()
    assert root.new_pieces() == [range(0, 1), range(2, 3)]
    assert root.new_pieces() == []
    root.add(5)
    root.lift()
    assert root.new_pieces() == [range(5, 6), s]
    root.add(6)
    assert root.new_pieces() == [range(6, 7)]
    assert list(root.ranges())[-3:] == [range(3, 4), range(4, 5), range(6, 7)]


def test_splices_are_lifted_in_the_order_of_the_bytes_of_their_names() -> None:
    root = Scope()
    for name in ("b", "é", "B", "\udcff", "a2", "a10"):
        root.splices[name] = Scope(root, name, "x")
    assert [splice.name for splice in root.lift()] == ["B", "a10", "a2", "b", "é", "\udcff"]


def test_a_walk_enters_and_leaves_every_splice() -> None:
    root, s, t = nested()
    s.lift()
    root.lift()
    found = list(root.walk())
    assert found == [range(0, 1), range(2, 3), s, range(1, 2), range(3, 4), t, range(4, 5), t, s]


def test_a_deep_nest_is_walked_without_recursion() -> None:
    root = scope = Scope()
    for _ in range(sys.getrecursionlimit() + 200):
        inner = Scope(scope, "s", "x")
        scope.splices["s"] = inner
        scope = inner
    scope.add(0)
    chain = []
    while scope.outer is not None:
        scope = scope.outer
        chain.append(scope)
    for outer in chain:
        outer.lift()
    assert list(root.ranges()) == [range(0, 1)]


def test_directories_add_up() -> None:
    root = Scope()
    s = Scope(root, "S", "s")
    s.enter_directory("a")
    t = Scope(s, "T", "t")
    assert t.where == "a"
    t.enter_directory("b")
    u = Scope(t, "U", "u")
    u.enter_directory("")
    assert (s.directory, t.directory, u.directory) == ("a", "a/b", "a/b")
    u.enter_directory("/abs")
    assert (u.directory, u.where, t.where, root.where) == ("/abs", "/abs", "a/b", "")

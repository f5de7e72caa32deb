"""Pieces and directories of splices while files are read."""

from __future__ import annotations

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


def test_a_node_behind_the_last_one_is_of_its_piece() -> None:
    root = Scope()
    for node in (0, 5, 6, 1):
        root.add(node)
    assert root.new_pieces() == [range(0, 1), range(5, 7), range(1, 2)]


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

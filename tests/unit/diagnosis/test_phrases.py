"""Parts of sentences."""

from __future__ import annotations

from condor_pydagman.diagnosis.phrases import capitalized, does, names_of, nodes_named, number_of


def test_lists_of_names() -> None:
    assert [names_of("ABCD"[:count]) for count in range(5)] == [
        "", "A", "A and B", "A, B and C", "A, B, C and 1 more"
    ]  # fmt: skip
    assert nodes_named(["A"]) == "node A"
    assert nodes_named(["A", "B"]) == "nodes A and B"
    assert nodes_named(list("ABCDE")) == "5 nodes (A, B, C and 2 more)"
    assert names_of(["\x1b[2J"]) == "\\x1b[2J"


def test_numbers_and_verbs() -> None:
    assert (number_of(1, "job"), number_of(0, "job")) == ("1 job", "0 jobs")
    assert [does(count, verb) for verb in ("wait", "be") for count in (1, 2)] == [
        "waits", "wait", "is", "are"
    ]  # fmt: skip
    assert capitalized("node A") == "Node A"

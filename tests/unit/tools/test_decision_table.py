"""The tables of what conditions see, and of what follows from them, are those of the engine."""

from __future__ import annotations

from tools import decision_table


def test_what_follows_from_a_condition() -> None:
    rows = {row[0]: row[1:] for row in decision_table.results_rows()}
    assert rows["true"] == ("runs", "runs", "0")
    assert rows["false"] == ("skipped", "skipped", "0")
    assert rows["undefined, an error, no truth value"] == ("failed", "futile", "1")


def test_what_a_condition_sees() -> None:
    rows = {row[0]: row[1:] for row in decision_table.seen_rows()}
    assert rows["has succeeded"][:2] == ("DONE", "0")
    assert rows["was killed by signal 9"][:3] == ("FAILED", "undefined", "9")
    assert rows["is futile"][0] == "FUTILE"
    assert rows["ends the DAG, `ABORT-DAG-ON`"][0] == "not evaluated"


def test_what_follows_when_enough_are_done() -> None:
    rows = {row[0]: row[1:] for row in decision_table.enough_rows()}
    assert rows["1; B has failed before"] == ("not needed", "not needed", "runs", "0")
    assert rows["2 of the parents of X; B has failed"] == ("failed", "futile", "futile", "1")


def test_both_forms_have_all_rows() -> None:
    for name, (_, rows) in decision_table.TABLES.items():
        assert decision_table.markdown(name).count("\n") == len(rows()) + 2
        assert decision_table.troff(name).count(".TP\n") == len(rows())

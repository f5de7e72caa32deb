"""What is told of the steps of chains."""

from __future__ import annotations

import pytest

from benchmarks import bundle_cases, chain_steps, dags, workflows
from benchmarks.chain_steps import Steps, Subject
from benchmarks.peers_steps import Took
from benchmarks.place import Failed


def test_start_and_end_are_no_part_of_a_further_step() -> None:
    def run(steps: int) -> Took:
        return Took(3.0 + steps * 0.01, steps * 0.004 - 0.004)

    steps = Steps([Subject("one", 200, run)])
    for _ in range(3):
        steps.measure()
    assert list(steps.lines())[1:] == ["| one | 200 | 25.0 | 10.0 | 4.0 |"]


def test_one_that_tells_nothing_has_a_dash() -> None:
    subject = Subject("one", 8, lambda steps: Took(2.0 * steps))
    assert chain_steps.row(subject, [Took(2.0)], [Took(16.0)]) == (
        "| one | 8 | 2,000.0 | 2,000.0 | - |"
    )


def test_one_that_can_not_run_does_not_keep_others_away(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(_: int) -> Took:
        raise Failed("it is not installed")

    steps = Steps([Subject("gone", 9, refuse), Subject("there", 9, lambda _: Took(1.0))])
    steps.measure()
    assert [line.split(" | ")[0] for line in steps.lines()][1:] == ["| there"]
    assert "gone: it is not installed" in capsys.readouterr().out


def test_chains_wait_for_none_of_each_other() -> None:
    made = dags.chains(2, 3, dags.NOOP)
    assert list(made.nodes) == ["N0", "N1", "N2", "N3", "N4", "N5"]
    assert made.edges == [
        ([one], [other]) for one, other in (("N0", "N1"), ("N1", "N2"), ("N3", "N4"), ("N4", "N5"))
    ]
    assert not dags.chains(3, 1, dags.NOOP).edges


def test_chains_are_bundled_as_such() -> None:
    lines = [case.line for case in bundle_cases.cases(1.0, length=5)]
    assert lines == ["", "BUNDLE b CHAINS ALL_NODES\n"]
    assert "CHAINS" not in "".join(case.line for case in bundle_cases.cases(1.0))


def test_steps_of_a_pipeline_follow_each_other() -> None:
    made, chosen = workflows.pipelines(), workflows.WORKFLOWS["pipelines"]
    assert len(made.nodes) == chosen.nodes
    assert (["align_3"], ["sort_3"]) in made.edges
    assert {chosen.kind(node) for node in made.nodes} == set(chosen.colours)


@pytest.mark.parametrize(
    ("node", "kind"),
    [("project_1_2", "project"), ("below_0_1", "difference"), ("model", "single tasks")],
)
def test_tasks_of_a_mosaic_have_their_colours(node: str, kind: str) -> None:
    chosen = workflows.WORKFLOWS["montage"]
    assert chosen.kind(node) == kind
    assert kind in chosen.colours

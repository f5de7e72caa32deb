"""The judge of the torture test accepts what is right, and names each thing that is wrong."""

from __future__ import annotations

import pytest

from tests.torture.judge import Facts, Generation, Verdict, judge
from tests.torture.ledger import parse
from tests.torture.workload import Node

NODES = (Node("A"), Node("B", ("A",), retries=1, fails=1), Node("C", ("B",), pre=True, post=True))
GOOD = """\
1 A 0 start 2.0 0
1 A 0 end 2.0 0
1 B 0 start 3.0 0
1 B 0 end 3.0 1
1 B 1 start 4.0 0
1 B 1 end 4.0 0
1 C 0 pre 77 0
1 C 0 pre-end 77 0
1 C 0 start 5.0 0
1 C 0 end 5.0 0
1 C 0 post 77 0
1 C 0 post-end 77 0
"""


def verdict(
    text: str,
    *generations: Generation,
    nodes: tuple[Node, ...] = NODES,
    facts: Facts | None = None,
) -> Verdict:
    lines, odd = parse("".join(f"{line} {n}.5\n" for n, line in enumerate(text.splitlines())))
    assert odd == []
    return judge(nodes, generations or (Generation((1,), code=0),), lines, facts or Facts())


def without(*numbers: int) -> str:
    lines = GOOD.splitlines(keepends=True)
    return "".join(line for number, line in enumerate(lines, 1) if number not in numbers)


def swapped(first: int, second: int) -> str:
    lines = GOOD.splitlines(keepends=True)
    lines[first - 1], lines[second - 1] = lines[second - 1], lines[first - 1]
    return "".join(lines)


def test_a_good_run() -> None:
    found = verdict(GOOD)
    assert found.good
    assert (found.jobs, found.scripts) == (4, 2)


def test_lines_that_are_none() -> None:
    assert parse("1 A 0 start 2.0 0 1.5\n1 A 0 sta")[1] == ["line 2 of the ledger: '1 A 0 sta'"]


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            GOOD + "1 A 0 start 9.0 0\n1 A 0 end 9.0 0\n",
            *("duplicates", "A, attempt 0: clusters [2, 9], of which [2, 9] ran"),
        ),
        (
            GOOD + "1 B 2 start 9.0 0\n1 B 2 end 9.0 0\n",
            *("duplicates", "B has attempt 2, though 1 is its last"),
        ),
        (without(3, 4), "lost", "B, attempt 0: never ran"),
        (swapped(2, 3), "wrong", "B began (line 2) before A had ended (line 3)"),
        (
            GOOD.replace("1 C 0 pre 77", "1 C 0 pre 77 0\n1 C 0 pre 77"),
            *("noted", "C, attempt 0: its PRE script ran twice under one DAGMan"),
        ),
        (
            GOOD + "1 C 0 pre 88 0\n1 C 0 pre-end 88 0\n",
            *("noted", "C, attempt 0: its PRE script ran again after its job had started"),
        ),
        (
            GOOD.replace("post 77 0", "post 77 1", 1),
            *("wrong", "C, attempt 0: its POST script was told $RETURN 1, not 0"),
        ),
    ],
)
def test_what_is_wrong(text: str, kind: str, said: str) -> None:
    assert getattr(verdict(text), kind) == [said]


def test_a_second_cluster_that_never_ran() -> None:
    found = verdict(GOOD, facts=Facts({(1, "A", 0): {2, 9}}))
    assert found.duplicates == ["A, attempt 0: clusters [2, 9], of which [2] ran"]


def test_a_job_that_the_schedd_ran_again() -> None:
    found = verdict("1 A 0 start 2.0 0\n" + GOOD)
    assert found.good
    assert found.by_schedd == 1


def test_a_job_without_an_end() -> None:
    assert verdict(without(10)).lost != []


def test_attempts_that_overlap() -> None:
    found = verdict(swapped(4, 5))
    assert "B, attempt 1 began (line 4) before the end of the one before (line 5)" in found.wrong


def test_a_script_of_an_attempt_that_is_over() -> None:
    nodes = (Node("A", retries=1, fails=1, by="pre", pre=True),)
    ended = "1 A 0 pre 7 0\n1 A 0 pre-end 7 2\n"
    text = ended + "1 A 1 pre 7 0\n1 A 1 pre-end 7 0\n1 A 1 start 2.0 0\n1 A 1 end 2.0 0\n"
    assert verdict(text, nodes=nodes).good
    found = verdict(text + ended.replace("7", "8"), nodes=nodes)
    assert found.noted == ["A, attempt 1 began (line 3) before the end of the one before (line 8)"]
    assert not found.wrong


def test_scripts_that_did_not_run() -> None:
    assert verdict(without(7, 8)).lost != []
    assert verdict(without(11, 12)).lost != []


def test_a_script_runs_again_under_the_next_dagman() -> None:
    found = verdict(GOOD.replace("1 C 0 pre 77", "1 C 0 pre 66 0\n1 C 0 pre 77"))
    assert found.good
    assert found.scripts_again == 1


def test_the_exit_code() -> None:
    assert verdict(GOOD, Generation((1,), code=1)).wrong == [
        "the DAG ended with 1, though all its nodes succeed"
    ]
    doomed = (Node("A", fails=1), Node("B", ("A",)))
    text = "1 A 0 start 2.0 0\n1 A 0 end 2.0 1\n"
    assert verdict(text, Generation((1,), code=1), nodes=doomed).good
    assert verdict(text, Generation((1,), code=0), nodes=doomed).wrong != []


def test_what_comes_after_a_failed_node_never_runs() -> None:
    doomed = (Node("A", fails=1), Node("B", ("A",)))
    text = "1 A 0 start 2.0 0\n1 A 0 end 2.0 1\n1 B 0 start 3.0 0\n"
    found = verdict(text, Generation((1,), code=1), nodes=doomed)
    assert found.duplicates == ["B ran although it has a parent that failed: line 3"]


def test_the_final_node_comes_last() -> None:
    nodes = (Node("A"), Node("B"), Node("F", final=True))
    ran = "".join(f"1 {n} 0 start {c}.0 0\n1 {n} 0 end {c}.0 0\n" for n, c in ("A2", "F3", "B4"))
    found = verdict(ran, nodes=nodes)
    assert found.wrong == ["F began (line 3) before B had ended (line 6)"]


def test_all_procs_of_a_cluster() -> None:
    nodes = (Node("A", procs=2),)
    text = "1 A 0 start 2.0 0\n1 A 0 start 2.1 0\n1 A 0 end 2.1 0\n"
    assert verdict(text, nodes=nodes).lost != []
    assert verdict(text + "1 A 0 end 2.0 0\n", nodes=nodes).good
    assert verdict(text + "1 A 0 end 2.0 0\n1 A 0 end 2.2 0\n", nodes=nodes).wrong != []


def test_a_proc_that_fails_has_the_others_removed() -> None:
    nodes = (Node("A", procs=2, retries=1, fails=1),)
    text = "1 A 0 start 2.0 0\n1 A 0 start 2.1 0\n1 A 0 end 2.1 1\n"
    again = "1 A 1 start 3.0 0\n1 A 1 start 3.1 0\n1 A 1 end 3.1 0\n1 A 1 end 3.0 0\n"
    assert verdict(text + again, nodes=nodes).good
    assert not verdict("1 A 0 start 2.0 0\n" + again, nodes=nodes).good


def test_on_from_the_rescue_file() -> None:
    first = "1 A 0 start 2.0 0\n1 A 0 end 2.0 0\n1 B 0 start 3.0 0\n"
    rest = without(1, 2).replace("1 ", "9 ", 1).replace("\n1 ", "\n9 ")
    runs = (Generation((1,), removed=True), Generation((9,), frozenset("A"), code=0))
    assert verdict(first + rest, *runs).good
    again = rest + "9 A 0 start 7.0 0\n"
    found = verdict(first + again, *runs)
    assert found.duplicates == ["A ran although it is done: line 14"]


def test_after_condor_rm_posts_learn_of_it_and_final_does_not_wait_for_them() -> None:
    nodes = (Node("A", post=True), Node("F", final=True))
    text = "1 A 0 start 2.0 0\n1 F 0 start 3.0 0\n1 A 0 post 7 -1002\n1 F 0 end 3.0 0\n"
    assert verdict(text, Generation((1,), removed=True), nodes=nodes).good


def test_a_rescue_file_without_a_done_node_is_found() -> None:
    first = "1 A 0 start 2.0 0\n1 A 0 end 2.0 0\n1 B 0 start 3.0 0\n"
    runs = (Generation((1,), removed=True), Generation((9,), code=0))
    found = verdict(first + GOOD.replace("1 ", "9 ", 1).replace("\n1 ", "\n9 "), *runs)
    assert found.duplicates == ["A was done, but not for the rescue file: ran again"]


def test_a_chain_whose_files_were_lost_with_its_job_begins_again() -> None:
    nodes = (Node("A", bundled="yes"), Node("B", ("A",), bundled="yes"))
    first = "1 A 0 start 2.0 0\n1 A 0 end 2.0 0\n1 B 0 start 2.0 0\n"
    again = "9 A 0 start 7.0 0\n9 A 0 end 7.0 0\n9 B 0 start 7.0 0\n9 B 0 end 7.0 0\n"
    runs = (Generation((1,), removed=True), Generation((9,), code=0))
    assert verdict(first + again, *runs, nodes=nodes).good
    apart = first.replace("B 0 start 2.0", "B 0 start 3.0")
    assert not verdict(apart + again, *runs, nodes=nodes).good


def test_a_run_that_another_dagman_job_recovered() -> None:
    half = GOOD.splitlines(keepends=True)
    text = "".join(half[:4] + [f"9{line[1:]}" for line in half[4:]])
    assert verdict(text, Generation((1, 9), code=0)).good


def test_where_the_log_was_destroyed() -> None:
    affected = Facts(affected=frozenset("C"))
    again = GOOD + "1 C 0 pre 88 0\n1 C 0 pre-end 88 0\n1 C 0 post 88 0\n1 C 0 post-end 88 0\n"
    assert not verdict(again).good
    assert verdict(again, facts=affected).good
    found = verdict(GOOD + "1 C 0 start 9.0 0\n1 C 0 end 9.0 0\n", facts=affected)
    assert found.duplicates == ["C, attempt 0: clusters [5, 9], of which [5, 9] ran"]


def test_the_only_proc_of_a_node_may_have_any_number() -> None:
    """Nodes submitted together share a cluster."""
    nodes = (Node("A"), Node("B"))
    text = "1 A 0 start 5.0 0\n1 B 0 start 5.1 0\n1 A 0 end 5.0 0\n1 B 0 end 5.1 0\n"
    assert verdict(text, nodes=nodes).good
    assert verdict(text + "1 B 0 start 5.2 0\n1 B 0 end 5.2 0\n", nodes=nodes).wrong


def test_a_bundled_node_runs_again_where_its_result_was_lost() -> None:
    start = "1 A 0 start 2.0 0\n"
    lost = GOOD.replace(start, f"1 A 0 start 1.0 0\n{start}")
    ended = GOOD.replace(start, f"1 A 0 start 1.0 0\n1 A 0 end 1.0 0\n{start}")
    for how, text, good in (
        ("no", lost, True),
        ("yes", lost, True),
        ("no", ended, False),
        ("yes", ended, True),
        ("", lost, False),
    ):
        nodes = (NODES[0]._replace(bundled=how), *NODES[1:])
        assert verdict(text, nodes=nodes).good is good, (how, text)


def test_htcondor_may_run_the_job_again_of_a_bundled_node_that_ran_alone() -> None:
    nodes = (NODES[0]._replace(bundled="no"), *NODES[1:])
    text = GOOD.replace(
        "1 A 0 end 2.0 0\n", "1 A 0 end 2.0 0\n1 A 0 start 2.0 0\n1 A 0 end 2.0 0\n"
    )
    assert verdict(text, nodes=nodes).good
    assert not verdict(text, nodes=nodes, facts=Facts(bundles=frozenset({2}))).good


def test_a_task_that_ended_without_its_runner_may_run_again() -> None:
    nodes = (NODES[0]._replace(bundled="no"), *NODES[1:])
    text = GOOD.replace("1 B 0 start", "1 A 0 start 8.0 0\n1 A 0 end 8.0 0\n1 B 0 start")
    for killed, good in (((0.7,), True), ((30.0,), False), ((), False)):
        assert verdict(text, nodes=nodes, facts=Facts(killed=killed)).good is good

"""The judge of the torture test accepts what is right, and names each thing that is wrong."""

from __future__ import annotations

import pytest

from tests.torture.judge import Facts, Generation, Verdict, judge
from tests.torture.ledger import parse
from tests.torture.workload import Node


def job(node: str, attempt: int, cluster: int, code: int = 0) -> str:
    """Lines of one that ran."""
    start = f"1 {node} {attempt} start {cluster}.0 0\n"
    return start + start.replace("start", "end").replace(" 0\n", f" {code}\n")


def script(node: str, kind: str, pid: int = 77, code: int = 0) -> str:
    """Lines of one of the first attempt."""
    return f"1 {node} 0 {kind} {pid} 0\n1 {node} 0 {kind}-end {pid} {code}\n"


NODES = (Node("A"), Node("B", ("A",), retries=1, fails=1), Node("C", ("B",), pre=True, post=True))
A, B0, B1, C = job("A", 0, 2), job("B", 0, 3, 1), job("B", 1, 4), job("C", 0, 5)
PRE, POST = script("C", "pre"), script("C", "post")
PRE_BEGAN = "1 C 0 pre 77 0\n"
GOOD = A + B0 + B1 + PRE + C + POST
ONCE, REMOVED = Generation((1,), code=0), Generation((1,), removed=True)


def verdict(
    text: str,
    *generations: Generation,
    nodes: tuple[Node, ...] = NODES,
    facts: Facts | None = None,
) -> Verdict:
    lines, odd = parse("".join(f"{line} {n}.5\n" for n, line in enumerate(text.splitlines())))
    assert odd == []
    return judge(nodes, generations or (ONCE,), lines, facts or Facts())


def swapped(first: int, second: int) -> str:
    lines = GOOD.splitlines(keepends=True)
    lines[first - 1], lines[second - 1] = lines[second - 1], lines[first - 1]
    return "".join(lines)


def by_another(text: str) -> str:
    """Lines of the next DAGMan job."""
    return "".join(f"9{line[1:]}" for line in text.splitlines(keepends=True))


def test_a_good_run() -> None:
    found = verdict(GOOD)
    assert not found.findings
    assert (found.jobs, found.scripts) == (4, 2)


def test_lines_that_are_none() -> None:
    assert parse("1 A 0 start 2.0 0 1.5\n1 A 0 sta")[1] == ["line 2 of the ledger: '1 A 0 sta'"]


AFTER_B = A + B0 + B1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + job("A", 0, 9), "duplicates: O4: line 13: A, attempt 0: job 9 beside {2}"),
        (GOOD + job("B", 2, 9), "duplicates: O4: line 13: B has attempt 2, though 1 is its last"),
        (GOOD + job("B", 2, 9), "duplicates: O5: line 13: B, attempt 2 begins, but B is done"),
        (A + B1 + PRE + C + POST, "lost: B, attempt 0: not whole: never ran"),
        (swapped(2, 3), "wrong: O1: line 2: B begins before ['A'] are done"),
        (swapped(4, 5), "wrong: O2: line 5: B: 0 goes on, attempt 1 has begun"),
        (AFTER_B + PRE_BEGAN + PRE + C + POST, "noted: O6: line 8: C, attempt 0: its pre script"),
        (AFTER_B + PRE + PRE + C + POST, "noted: O6: line 9: C, attempt 0: its pre script"),
        (GOOD + script("C", "pre", 88), "noted: O6: line 13: C, attempt 0: its pre script"),
        (
            GOOD.replace("post 77 0", "post 77 1", 1),
            "wrong: C, attempt 0: its POST script was told",
        ),
        (swapped(10, 11), "wrong: C, attempt 0: its POST script ran before its job ended"),
        (AFTER_B + C + POST, "lost: C, attempt 0: not whole: start(5.0) end(5.0) post(77)"),
        (AFTER_B + PRE + C, "lost: C, attempt 0: not whole: pre(77) pre-end(77) start(5.0)"),
        (GOOD.replace("1 C 0 end 5.0 0\n", ""), "lost: C, attempt 0: not whole"),
        (GOOD + job("D", 0, 9), "wrong: D ran, but is not in the DAG"),
    ],
)
def test_what_is_wrong(text: str, said: str) -> None:
    assert said in " ".join(verdict(text).findings)


def test_clusters_that_never_ran() -> None:
    found = verdict(GOOD, facts=Facts({(1, "A", 0): {2, 9}, (1, "C", 1): {9}}))
    assert found.duplicates[0] == "O4: A, attempt 0: job 9 beside {2}"
    assert found.duplicates[1] == "O4: C has attempt 1, though 0 is its last"


def test_a_job_that_the_schedd_ran_again() -> None:
    found = verdict("1 A 0 start 2.0 0\n" + GOOD)
    assert not found.findings
    assert found.by_schedd == 1


def test_a_script_of_an_attempt_that_is_over() -> None:
    nodes = (Node("A", retries=1, fails=1, by="pre", pre=True),)
    ended = script("A", "pre", 7, 2)
    text = ended + script("A", "pre", 7).replace("A 0", "A 1") + job("A", 1, 2)
    assert not verdict(text, nodes=nodes).findings
    found = verdict(text + ended.replace("7", "8"), nodes=nodes)
    assert found.findings == ["noted: O6: line 7: A, attempt 0: its pre script runs again"]


def test_a_script_runs_again_under_the_next_dagman() -> None:
    found = verdict(GOOD.replace("1 C 0 pre 77", "1 C 0 pre 66 0\n1 C 0 pre 77"))
    assert not found.findings
    assert found.scripts_again == 1


def test_the_end() -> None:
    found = verdict(GOOD, ONCE._replace(code=1))
    assert found.wrong == ["O14: exit code 1, not done are none"]
    found = verdict(GOOD, ONCE._replace(left=(1,)))
    assert found.wrong == ["O57: exit code 0, but (1,) are left in the queue"]


def test_what_comes_after_a_failed_node_never_runs() -> None:
    doomed, failed = (Node("A", fails=1), Node("B", ("A",))), job("A", 0, 2, 1)
    assert not verdict(failed, ONCE._replace(code=1), nodes=doomed).findings
    assert verdict(failed, nodes=doomed).wrong != []
    found = verdict(failed + job("B", 0, 3), ONCE._replace(code=1), nodes=doomed)
    assert found.findings == ["wrong: O1: line 3: B begins before ['A'] are done"]


def test_the_final_node_comes_last() -> None:
    nodes = (Node("A"), Node("B"), Node("F", final=True))
    found = verdict(A + job("F", 0, 3) + job("B", 0, 4), nodes=nodes)
    assert found.findings == ["wrong: O1: line 3: F begins before ['B'] are done"]


def test_all_procs_of_a_cluster() -> None:
    nodes, others = (Node("A", procs=2),), [A.replace("2.0", f"2.{proc}") for proc in (1, 2)]
    assert verdict(A, nodes=nodes).lost != []
    assert not verdict(A + others[0], nodes=nodes).findings
    assert verdict(A + others[0] + others[1], nodes=nodes).wrong


def test_a_proc_that_fails_has_the_others_removed() -> None:
    nodes = (Node("A", procs=2, retries=1, fails=1),)
    again = job("A", 1, 3) + job("A", 1, 3).replace("3.0", "3.1")
    assert not verdict("1 A 0 start 2.1 0\n" + job("A", 0, 2, 1) + again, nodes=nodes).findings
    assert verdict("1 A 0 start 2.0 0\n" + again, nodes=nodes).findings


def test_on_from_the_rescue_file() -> None:
    first, rest = A + "1 B 0 start 3.0 0\n", by_another(B0 + B1 + PRE + C + POST)
    second = Generation((9,), frozenset("A"), code=0)
    assert not verdict(first + rest, REMOVED, second).findings
    found = verdict(first + rest + by_another(job("A", 0, 7)), REMOVED, second)
    assert found.findings == ["duplicates: O5: line 14: A, attempt 0 begins, but A is done"]
    found = verdict(first + by_another(GOOD), REMOVED, second._replace(done=frozenset()))
    assert found.findings == ["duplicates: O8: {'A'} are done, but not marked"]
    found = verdict(first + rest, REMOVED, second._replace(done=frozenset("AC")))
    assert found.duplicates[0] == "O8: {'C'} are marked, but not done"


def test_after_condor_rm_posts_learn_of_it_and_final_does_not_wait_for_them() -> None:
    nodes = (Node("A", post=True), Node("F", final=True))
    text = "1 A 0 start 2.0 0\n1 F 0 start 3.0 0\n1 A 0 post 7 -1002\n1 F 0 end 3.0 0\n"
    assert not verdict(text, REMOVED, nodes=nodes).findings


def test_a_job_that_the_schedd_removed_with_the_dagman_job() -> None:
    """Its attempt has failed, and the node is retried if it may be."""
    run, removed = Generation((1, 9), code=0), Facts(removed=frozenset({(1, "A", 0)}))
    nodes = (NODES[0]._replace(retries=1), *NODES[1:])
    again = by_another(GOOD.replace("A 0", "A 1"))
    assert not verdict(again, run, nodes=nodes, facts=removed).findings
    assert verdict(again, run, nodes=nodes).findings
    assert not verdict("", run._replace(code=1), facts=removed).findings
    assert verdict("", run._replace(code=1)).findings


def test_a_chain_whose_files_were_lost_with_its_job_begins_again() -> None:
    nodes = (Node("A", bundled="yes"), Node("B", ("A",), bundled="yes"))
    first = "1 A 0 start 2.0 0\n1 A 0 end 2.0 0\n1 B 0 start 2.0 0\n"
    again = "9 A 0 start 7.0 0\n9 A 0 end 7.0 0\n9 B 0 start 7.0 0\n9 B 0 end 7.0 0\n"
    runs = (Generation((1,), removed=True), Generation((9,), code=0))
    assert not verdict(first + again, *runs, nodes=nodes).findings
    apart = first.replace("B 0 start 2.0", "B 0 start 3.0")
    assert verdict(apart + again, *runs, nodes=nodes).findings


def test_a_run_that_another_dagman_job_recovered() -> None:
    assert not verdict(
        A + B0 + by_another(B1 + PRE + C + POST), Generation((1, 9), code=0)
    ).findings


def test_where_the_log_was_destroyed() -> None:
    affected = Facts(affected=frozenset("C"))
    again = GOOD + script("C", "pre", 88) + script("C", "post", 88)
    assert verdict(again).findings
    assert not verdict(again, facts=affected).findings
    found = verdict(GOOD + job("C", 0, 9), facts=affected)
    assert found.findings == ["duplicates: O4: line 13: C, attempt 0: job 9 beside {5}"]


def test_the_only_proc_of_a_node_may_have_any_number() -> None:
    """Nodes submitted together share a cluster."""
    nodes, second = (Node("A"), Node("B")), job("B", 0, 2).replace("2.0", "2.1")
    assert not verdict(A + second, nodes=nodes).findings
    assert verdict(A + second + second.replace("2.1", "2.2"), nodes=nodes).wrong


@pytest.mark.parametrize(
    ("how", "before", "good"),
    [
        ("no", "1 A 0 start 1.0 0\n", True),
        ("yes", "1 A 0 start 1.0 0\n", True),
        ("", "1 A 0 start 1.0 0\n", False),
        ("no", job("A", 0, 1), False),
        ("yes", job("A", 0, 1), True),
    ],
)
def test_a_bundled_node_runs_again_where_its_result_was_lost(
    how: str, before: str, good: bool
) -> None:
    nodes = (NODES[0]._replace(bundled=how), *NODES[1:])
    assert bool(verdict(before + GOOD, nodes=nodes).findings) is not good


def test_htcondor_may_run_the_job_again_of_a_bundled_node_that_ran_alone() -> None:
    nodes = (NODES[0]._replace(bundled="no"), *NODES[1:])
    assert not verdict(A + GOOD, nodes=nodes).findings
    assert verdict(A + GOOD, nodes=nodes, facts=Facts(bundles=frozenset({2}))).findings


def test_a_task_that_ended_without_its_runner_may_run_again() -> None:
    nodes = (NODES[0]._replace(bundled="no"), *NODES[1:])
    text = GOOD.replace("1 B 0 start", job("A", 0, 8) + "1 B 0 start", 1)
    for killed, good in (((0.7,), True), ((30.0,), False), ((), False)):
        assert bool(verdict(text, nodes=nodes, facts=Facts(killed=killed)).findings) is not good

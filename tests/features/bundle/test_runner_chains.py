"""The runner of a bundle, with tasks that are to run after others of the list."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.features.bundle.bundle_job import BundleJob, changed

RELEASED = "while ! grep -q released results; do sleep 0.02; done; "
LINE = {"run": 0, "host": "h", "time": 1.0}
END = {"ended": 1, "run": 0, "code": 0, "signal": 0}


@pytest.fixture
def job(tmp_path: Path) -> BundleJob:
    return BundleJob(tmp_path / "job")


@pytest.fixture
def apart(tmp_path: Path) -> BundleJob:
    """A job with file transfer."""
    return BundleJob(tmp_path / "scratch", transferred=True)


def started(job: BundleJob) -> list[int]:
    return [line["started"] for line in job.results() if "started" in line]


def released(job: BundleJob) -> list[list[int]]:
    return [line["released"] for line in job.results() if "released" in line]


def left(job: BundleJob, name: str) -> str:
    return job.text(f"out/{name}")


# Whose turn it is.


def test_a_task_begins_when_those_have_succeeded_that_it_runs_after(job: BundleJob) -> None:
    """The first in the list that may begin does; a task reads what its predecessor has written in
    another directory."""
    (job.path / "other").mkdir()
    job.add("echo a > other/a", "exit 0")
    job.add("cat a > b", after=[1], directory=f"{job.path}/other")
    job.add("exit 0", after=[2])
    job.add("cat other/b", after=[3, 4], output="o")
    job.run()
    assert started(job) == [1, 2, 3, 4, 5]
    assert job.outcomes() == [(0, 0)] * 5
    assert job.text("o") == "a\n"


def test_those_that_may_run_do_so_side_by_side(job: BundleJob) -> None:
    """Tasks 3 and 4 wait for each other; 2 has ended before, and 5 begins when all have."""
    job.head["parallel"] = 2
    meets = "echo > here.%d; while [ ! -e here.%d ]; do sleep 0.01; done"
    job.add("exit 0")
    job.add("exit 0", after=[1])
    job.add(meets % (3, 4), after=[1, 2])
    job.add(meets % (4, 3), after=[1, 2])
    job.add("ls here.3 here.4", after=[3, 4], output="o")
    job.run()
    assert job.outcomes() == [(0, 0)] * 5
    assert job.text("o") == "here.3\nhere.4\n"


FAILURES: list[tuple[str, dict[str, Any]]] = [
    ("exit 3", {}),
    ("kill -SEGV $$", {}),
    ("exec sleep 1000", {"timeout": 0.1}),
    ('trap "exit 0" TERM; sleep 1000 & wait', {"timeout": 0.1}),
    ("exit 0", {"program": "/no/such/program"}),
]


@pytest.mark.parametrize(("script", "more"), FAILURES)
def test_what_is_behind_a_failure_is_released(
    job: BundleJob, script: str, more: dict[str, Any]
) -> None:
    """Now and later; two chains meet in task 4."""
    job.add("exit 0")
    job.add(script, **more)
    job.add("exit 0", after=[1])
    job.add("exit 0", after=[2, 3])
    job.add("exit 0", after=[4])
    job.add("exit 0", after=[3])
    for _ in range(2):
        job.run()
        assert {*job.ended()} == {1, 2, 3, 6}
        assert released(job) == [[4, 5]]


def test_nothing_is_said_of_what_is_behind_two_failures_a_second_time(job: BundleJob) -> None:
    job.add("exit 1", "exit 1")
    job.add("exit 0", after=[1, 2])
    job.run()
    assert released(job) == [[3]]


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        ([END], True),
        ([{**END, "code": 1}], False),
        ([{**END, "code": -9, "signal": 9}], False),
        ([{**END, "signal": 9}], False),
        ([{**END, "timed_out": True}], False),
        ([{**END, "timed_out": False, "missing": []}], True),
        ([{**END, "missing": ["x"]}], False),
        ([{**END, "error": "no such file"}], False),
        ([{**END, "code": 1}, END], False),
        ([{"released": [1], "run": 0}], False),
        ([{"released": [1], "run": 0}, END], False),
        ([{"released": [1], "run": 7}, END], True),
    ],
)
def test_what_earlier_runs_tell_of_a_task(job: BundleJob, lines: list[Any], runs: bool) -> None:
    """Also if the line is missing which releases what is behind it."""
    text = "".join(json.dumps(line) + "\n" for line in [LINE, *lines])
    (job.path / "results").write_text(text)
    job.add("exit 9")
    job.add("exit 0", after=[1])
    job.run()
    assert started(job) == ([2] if runs else [])
    assert ([2] in released(job)) != runs


@pytest.mark.parametrize(
    "after", [[2], [3], [0], [-1], ["1"], [True], [1.0], [[1]], 1, "1", None, {"1": 1}, [7]]
)
def test_an_order_that_makes_no_sense(job: BundleJob, after: Any) -> None:
    job.add("exit 0")
    job.add("exit 0", after=after)
    job.add("exit 0")
    said = job.run(20)
    assert said.startswith("The runner of a bundle: line 3 of the list of tasks is damaged: ")
    assert not job.results()


def test_numbers_may_have_gaps_and_rise(job: BundleJob) -> None:
    job.add("exit 0", n=3)
    job.add("exit 0", n=8, after=[3])
    job.run()
    assert {*job.ended()} == {3, 8}
    job.add("exit 0", n=5)
    assert "task 5 comes after task 8" in job.run(20)


# What waits behind a task that takes long.


def counting(limit: int) -> tuple[str, ...]:
    """The runner, which ends badly if it waits more often than that."""
    return changed(
        "real = m.signal.sigtimedwait; calls = []\n"
        "def taken(*words):\n"
        "    calls.append(1)\n"
        f"    if len(calls) > {limit}: raise m.Failure(99, 'a busy loop')\n"
        "    return real(*words)\n"
        "m.signal.sigtimedwait = taken"
    )


def test_what_runs_after_a_long_task_is_not_released_with_the_others(job: BundleJob) -> None:
    """It would wait for it anyhow, but not if it waits for one that is released as well."""
    job.head["release"] = 0.1
    job.command = counting(20)
    job.add(RELEASED)
    job.add("exit 0", after=[1])
    job.add("exit 0")
    job.add("exit 0", after=[3])
    job.add("exit 0", after=[2, 3])
    for _ in range(2):
        job.run()
        assert released(job) == [[3, 4, 5]]
        assert {*job.ended()} == {1, 2}


def test_nothing_is_released_if_all_wait_for_what_runs(job: BundleJob) -> None:
    job.head.update(parallel=2, release=0.01)
    job.command = counting(20)
    job.add("sleep 0.2", "sleep 0.2")
    job.add("exit 0", after=[1])
    job.add("exit 0", after=[1, 2])
    job.run()
    assert not released(job)
    assert job.outcomes() == [(0, 0)] * 4


def test_what_runs_after_a_very_long_task_is_released(job: BundleJob) -> None:
    job.head["chain"] = 2.0  # no short task takes as long
    job.command = counting(20)
    job.add(RELEASED)
    job.add("exit 0", after=[1])
    job.add("exit 0")
    job.add("exit 0", after=[2])
    job.add("exit 0", after=[3])
    for _ in range(2):
        job.run()
        assert released(job) == [[2, 4]]
        assert {*job.ended()} == {1, 3, 5}


def test_each_of_two_chains_is_released_by_its_own_task(job: BundleJob) -> None:
    """The first goes on, as nothing of it takes long."""
    job.head.update(parallel=2, chain=2.0)
    job.add("exit 0", f"{RELEASED} echo > over")
    job.add("exit 0", after=[1])
    job.add("exit 0", after=[2])
    job.add("exit 0", after=[3, 4])
    job.add("exit 0", after=[3])
    job.run()
    assert released(job) == [[4, 5]]
    assert {*job.ended()} == {1, 2, 3, 6}


def test_without_chain_what_is_behind_a_task_waits_for_it(job: BundleJob) -> None:
    job.head.update(chain=0, release=0)
    job.command = counting(10)
    job.add("sleep 0.2")
    job.add("exit 0", after=[1])
    job.run()
    assert job.outcomes() == [(0, 0)] * 2


# Whoever ends the runner.


def knotted(job: BundleJob, chance: random.Random) -> None:
    """Tasks in chains that branch and meet; some fail."""
    for number in range(1, 31):
        before = range(max(1, number - 6), number)
        after = sorted(chance.sample(before, min(len(before), chance.choice((0, 1, 1, 2)))))
        code = chance.choice((0,) * 9 + (3,))
        job.add(f"echo >> {job.path}/ran.{number}; exit {code}", after=after, success=code)


def check(job: BundleJob) -> None:
    """What was to run has, and nothing else."""
    good: set[int] = set()
    runs: set[int] = set()
    for task in job.tasks:
        if {*task["after"]} <= good:
            runs.add(task["n"])
            good |= {task["n"]} if task["success"] == 0 else set()
    ended = job.ended()
    assert {*ended} == runs
    assert {one for one, line in ended.items() if line["code"] == 0} == good
    assert {one for line in released(job) for one in line} == {*range(1, 31)} - runs


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("seed", range(4))
def test_chains_that_are_stopped_and_go_on(tmp_path: Path, how: signal.Signals, seed: int) -> None:
    """No task runs before those have succeeded that it runs after, or again after its end."""
    chance = random.Random(f"{seed} {how}")
    job = BundleJob(tmp_path / "job", parallel=chance.randint(1, 3), transferred=seed % 2 == 1)
    knotted(job, chance)
    over = False
    while not over:
        over = job.stopped(how, chance) == 0
    check(job)


# With file transfer: inputs that other tasks have left.


def test_what_another_task_has_left_is_copied(apart: BundleJob) -> None:
    """What was left stays as it is; a copy that was changed comes home, another does not."""
    apart.add("echo 1 > x; echo 1 > y; echo out", output="o")
    inputs = [[["out/1/x"], "a"], [["out/1/y", "none"], "b"], [["out/1/_stdout"], "c"]]
    apart.add("cat a b c; echo more >> a", after=[1], inputs=inputs, output="o")
    apart.add("cat z; rm z; echo 1 > z", after=[2], inputs=[[["out/2/a"], "z"]], output="o")
    apart.run()
    assert apart.outcomes() == [(0, 0)] * 3
    assert (left(apart, "1/x"), left(apart, "1/y")) == ("1\n", "1\n")
    assert left(apart, "2/_stdout") == "1\n1\nout\n"
    assert left(apart, "2/a") == "1\nmore\n"
    assert sorted(path.name for path in (apart.path / "out/2").iterdir()) == ["_stdout", "a"]
    assert left(apart, "3/_stdout") == "1\nmore\n"
    assert left(apart, "3/z") == "1\n"


def test_a_copy_that_is_named_as_an_output(apart: BundleJob) -> None:
    """An iteration: each step changes what the last has left."""
    (apart.path / "i1").write_text("0\n")
    apart.add("echo 1 >> s", inputs=[["i1", "s"]], outputs=["s"])
    for number in range(2, 5):
        source = [f"out/1-{number - 1}/s"]
        apart.add(f"echo {number} >> s", after=[number - 1], inputs=[[source, "s"]], outputs=["s"])
    apart.run()
    assert left(apart, "4/s") == "0\n1\n2\n3\n4\n"
    assert left(apart, "2/s") == "0\n1\n2\n"


def test_the_first_source_counts_that_is_there(apart: BundleJob) -> None:
    (apart.path / "i1").write_text("of the job\n")
    apart.add("echo 1 > x")
    apart.add("echo 2 > other", after=[1])
    apart.add("exit 0", after=[2])
    made = [["out/1-3/x", "i1"], "x"], [["out/3/other", "out/2/other"], "z"]
    inputs = [*made, [["out/1-3/none", "i1"], "y"]]
    apart.add("cat x y z", after=[3], inputs=inputs, output="o")
    apart.run()
    assert left(apart, "4/_stdout") == "1\nof the job\n2\n"


def test_a_task_is_released_whose_input_is_not_there(apart: BundleJob) -> None:
    """Though its predecessor has succeeded; it is no suspect, since it has not started."""
    apart.head["stream"] = True
    apart.add("exit 0")
    apart.add("exit 0", after=[1], inputs=[[["out/1/x"], "x"]])
    apart.add("exit 0", after=[2])
    apart.add("exit 0", after=[1])
    for _ in range(2):
        apart.run()
        assert released(apart) == [[2, 3]]
        assert started(apart) == [1, 4]


def test_an_output_that_is_missing_is_no_success(apart: BundleJob) -> None:
    apart.add("exit 0", outputs=["x"])
    apart.add("exit 0", after=[1])
    apart.run()
    assert apart.ended()[1]["missing"] == ["x"]
    assert released(apart) == [[2]]


def test_a_directory_that_another_task_has_left(apart: BundleJob) -> None:
    apart.add("mkdir -p d/e; echo 1 > d/e/x; echo 2 > d/y", outputs=["d"])
    inputs = [[["out/1/d"], "d"], [["out/1/d/e/x"], "x"]]
    apart.add("cat x d/e/x; echo more >> d/y", after=[1], inputs=inputs, output="o")
    apart.run()
    assert left(apart, "2/_stdout") == "1\n1\n"
    assert left(apart, "1/d/y") == "2\n"
    assert not (apart.path / "out/2/d").exists()


def test_a_directory_of_which_several_have_left_parts(apart: BundleJob) -> None:
    """At home it would have all of them."""
    for after in ([], [1]):
        apart.add("mkdir d; echo > d/x$$", after=after, outputs=["d"])
    apart.add("exit 0", after=[2], inputs=[[["out/1-2/d"], "d"]])
    apart.run()
    assert released(apart) == [[3]]


def test_a_program_that_another_task_has_made(apart: BundleJob) -> None:
    (apart.path / "i1").write_text("#!/bin/sh\necho old\n")
    apart.add("echo '#!/bin/sh\necho new' > it", outputs=["it"])
    for after in ([], [1]):
        sources = ["out/1/it", "i1"] if after else "i1"
        apart.add(program="/abs/it", sandboxed=sources, after=after, output="o")
    apart.run()
    assert (left(apart, "2/_stdout"), left(apart, "3/_stdout")) == ("old\n", "new\n")
    assert not (apart.path / "out/1/it").stat().st_mode & 0o111
    assert not (apart.path / "out/3/it").exists()


def test_a_chain_goes_on_elsewhere(apart: BundleJob, tmp_path: Path) -> None:
    """With what HTCondor has kept: `results` and `out`."""
    apart.add("echo 1 > x")
    script = "cat x; echo > ../../begun; [ -e again ] || sleep 1000; cat x x > y"
    sources = [[["out/1/x"], "x"], ["i1", "again"]]
    apart.add(script, after=[1], inputs=sources)
    apart.add("cat y", after=[2], inputs=[[["out/1-2/y"], "y"]], output="o")
    process = apart.start()
    apart.wait_for("begun", process)
    process.terminate()
    assert process.wait() == 22
    other = BundleJob(tmp_path / "other", transferred=True)
    other.tasks = apart.tasks
    (other.path / "i1").write_text("")
    shutil.copytree(apart.path / "out", other.path / "out")
    shutil.copy(apart.path / "results", other.path)
    other.run()
    assert other.outcomes() == [(0, 0)] * 3
    assert left(other, "3/_stdout") == "1\n1\n"
    assert {"1", "2", "3"} == {path.name for path in (other.path / "out").iterdir()}


def test_what_a_task_had_left_that_another_has_taken_away(apart: BundleJob) -> None:
    apart.add("echo 1 > x")
    apart.add("rm -r ../../out/1", after=[1])
    apart.add("cat x", after=[2], inputs=[[["out/1/x"], "x"]])
    apart.run()
    assert released(apart) == [[3]]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (["../x"], "not below"),
        (["/x"], "not below"),
        (["out/1/../x"], "not below"),
        ("/x", "not below"),
        ([""], "not below"),
        (["out/1-x/y"], "invalid literal"),
        (["out/-1/y"], "invalid literal"),
        ([1], "no attribute 'encode'"),
        ({}, "no attribute 'encode'"),
    ],
)
def test_a_source_that_makes_no_sense(apart: BundleJob, source: Any, why: str) -> None:
    apart.add("exit 0", inputs=[[source, "x"]])
    assert re.search(why, apart.run(20))

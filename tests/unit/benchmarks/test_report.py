"""A run's tables, charts and numbers are put into the page, and nothing else is touched."""

from __future__ import annotations

from benchmarks import aims, figures, measure


def test_aims_are_judged_by_ratios() -> None:
    results: figures.Results = {
        "stock": {
            "reaction": [9.9],
            "many idle pss": [100.0],
            "recovery time": [4.0],
            "load time vars 1000000": [10.0],
            "load time bare 100000": [1.0],
            "load time bare 1000": [1.0],
        },
        "tuned": {"held rate": [90.0], "held rate 10000": [60.0]},
        "together": {"held rate 10000": [330.0], "crowd share": [0.1]},
        "ours": {
            "reaction": [0.005],
            "many idle pss": [640.0],
            "recovery time": [3.9],
            "held rate": [80.0],
            "held rate 10000": [66.0],
            "crowd share": [0.4],
            "submit_dag": [0.042],
            "start": [0.150],
            "load time vars 1000000": [3.5],
            "load time bare 100000": [0.6],
            "load time bare 1000": [9.0],
            "idle cpu": [0.002],
            "idle uss": [7.0],
            **{f"{shape} makespan": [104.0] for shape in measure.WORKFLOWS},
        },
        "floor": {
            "held rate": [100.0],
            "held rate, DAG's job": [88.0],
            **{f"{shape} makespan": [100.0] for shape in measure.WORKFLOWS},
        },
    }
    judged = {aim.text.partition(":")[0].split(" with")[0]: aim.judge(results) for aim in aims.AIMS}
    assert {text: found and found[1] for text, found in judged.items()} == {
        "reaction 100 times shorter than stock's": True,
        "bag of held jobs at 90 % of the rate of a bare loop": True,
        "bags of held jobs, one by one": False,
        "10,000 held jobs, nodes together": True,
        "CPU of DAGMan below 20 % while no-op jobs pass through the pool, nodes together": True,
        "makespan of each workflow": True,
        "start": False,
        "loading 100,000 nodes and more": False,
        "loading 1,000,000 nodes": True,
        "recovery no slower than stock's": True,
        "idle": True,
        "many idle ones": False,
        "orders": None,
        "retries and timeouts": None,
    }
    text = aims.render(results)
    assert "91% (80% of one whose jobs" in text
    assert "1,980 times" in text
    assert "PSS 6.40" in text
    assert "| 500 jobs 89%, 10,000 jobs 110% | **missed** |" in text
    assert "| 5.5 times | reached |" in text
    assert "| together 10%, one by one 40% | reached |" in text
    assert "| 35% to 60%; 100,000 nodes, bare: time 60% | **missed** |" in text


def test_the_slowest_order_counts() -> None:
    found = {"obeyed event": [0.1], "obeyed halt": [0.2, 1.1], "obeyed hold": [0.1]}
    text = aims.render({"ours": {**found, "retry late": [0.1, 0.9], "timeout late": [0.2]}})
    assert "while the schedd hangs | 1,100 ms | **missed** |" in text
    assert "at most 1 s late | 900 ms | reached |" in text

"""What one condition costs: CPU of the engine and of the evaluation, apart from the journal.

Use: python -m benchmarks.conditions [number of conditional nodes]
"""

from __future__ import annotations

import sys
import time

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.run_if.adapters.evaluation import evaluate
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
)
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.vocabulary import EventKind

MICRO = 1e6


def dag_text(count: int) -> str:
    """Conditional nodes whose parents are done."""
    lines = []
    for number in range(count):
        lines.append(f"JOB A{number} a.sub DONE\nJOB X{number} a.sub NOOP")
        lines.append(f"PARENT A{number} CHILD X{number}")
        lines.append(f"RUN_IF X{number} Parents.A{number}.ExitCode == 1 || Failed > 0")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print microseconds of CPU for one condition."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    dag = build(["d.dag"], lambda _: dag_text(count), BuildOptions())
    engine = Engine(dag, Config(check_queue_interval=0), Throttles())
    begun = time.process_time()
    actions = engine.handle(inputs.Begin(recovering=False), 0.0)
    asked = time.process_time()
    wanted = [one for a in actions if isinstance(a, do.Ask) for one in a.request.wanted]
    verdicts = [evaluate(one.expression, one.ad, one.shown) for one in wanted]
    evaluated = time.process_time()
    results = [
        ConditionResult(one.node, one.number, *found) for one, found in zip(wanted, verdicts)
    ]
    engine.handle(inputs.Answered("", ConditionsEvaluated(results)), 0.0)
    for one, (value, text) in zip(wanted, verdicts):
        name = dag.names[one.node]
        record = "CONDITION"
        event = LogEvent(EventKind.GENERIC, node=name, value=value, record=record, text=text)
        engine.handle(event, 0.0)
    ended = time.process_time()
    for what, took in (
        ("engine, until it is asked", asked - begun),
        ("evaluation", evaluated - asked),
        ("engine, until it is in force", ended - evaluated),
        ("in all", ended - begun),
    ):
        print(f"{what:30} {took / count * MICRO:6.1f} us")


if __name__ == "__main__":
    main()

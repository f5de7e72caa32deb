"""The tables of docs/design.md that show the tempo of DAGMan: intervals and time-outs of the core
(`condor_pydagman/timers.py`), those of the features, and the knobs that are times.

`python -m tools.generate` writes them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from condor_pydagman.config import knobs

PACKAGE = Path(__file__).resolve().parents[1] / "condor_pydagman"
BEGIN, END = "<!-- generated: tempo -->\n", "<!-- end -->\n"
_UNIT = "seconds "


class Timer(NamedTuple):
    """An interval or a time-out.

    Attributes:
        part: of the program that has it.
        paces: what it is the time of.
        why: it has this number; '' for one of a feature.
    """

    part: str
    name: str
    seconds: str
    paces: str
    why: str = ""


def of_core() -> Iterator[Timer]:
    """Those of the engine, the daemon and the adapters, by the parts that comments name."""
    text = (PACKAGE / "timers.py").read_text("utf-8")
    lines, body = text.splitlines(), ast.parse(text).body
    for constant, said in zip(body, body[1:]):
        if isinstance(constant, ast.Assign) and isinstance(said, ast.Expr):
            above = lines[: constant.lineno - 1]
            part = next(line for line in reversed(above) if line.startswith("# "))
            paces, _, why = " ".join(ast.literal_eval(said.value).split()).partition(". ")
            yield Timer(part[2:], *_value(constant), paces, why)


def of_features() -> Iterator[Timer]:
    """Those of the features, with what stands behind them."""
    for path in sorted((PACKAGE / "features").rglob("*.py")):
        lines = path.read_text("utf-8").splitlines()
        for constant in constants(path):
            said = lines[constant.lineno - 1].partition("  # ")[2].removeprefix(_UNIT)
            feature = path.relative_to(PACKAGE / "features").parts[0]
            yield Timer(feature, *_value(constant), said)
        yield from _of_helper(path)


def _of_helper(path: Path) -> Iterator[Timer]:
    """Those of a helper that has a process of its own (`adapters.helper_process.Helper`)."""
    paces = {
        "timeout_s": "for an answer of its helper",
        "stays_s": "without a request, after which the process of its helper leaves",
    }
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names = [ast.unparse(name) for name in node.targets[0].elts]
            if names[:2] == list(paces) and isinstance(node.value, ast.Tuple):
                for name, value in list(zip(names, node.value.elts))[:2]:
                    shown = _shown(_number(value))
                    yield Timer(path.parent.name, name, shown, paces[name])


def constants(path: Path) -> Iterator[ast.Assign]:
    """The intervals and time-outs that a module defines: names that end in `_S`."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and _is_time(statement):
            yield statement


def _is_time(statement: ast.Assign) -> bool:
    name = statement.targets[0]
    if not (isinstance(name, ast.Name) and name.id.endswith("_S") and name.id.isupper()):
        return False
    numbers = [node.value for node in ast.walk(statement) if isinstance(node, ast.Constant)]
    return bool(numbers) and all(isinstance(number, (int, float)) for number in numbers)


def _value(constant: ast.Assign) -> tuple[str, str]:
    numbers = constant.value.elts if isinstance(constant.value, ast.Tuple) else [constant.value]
    name = ast.unparse(constant.targets[0])
    return name, ", ".join(_shown(_number(number)) for number in numbers)


def _shown(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds == int(seconds) else f"{seconds:g}"


def _number(value: ast.expr) -> float:
    """A number, or a product of numbers."""
    if isinstance(value, ast.BinOp):
        return _number(value.left) * _number(value.right)
    return float(ast.literal_eval(value))


def markdown() -> str:
    """The three tables."""
    core = [(one.part, f"`{one.name}`", one.seconds, one.paces, one.why) for one in of_core()]
    features = [(one.part, f"`{one.name}`", one.seconds, one.paces) for one in of_features()]
    times = [
        (f"`{one.name}`", _shown(one.default), one.meaning)
        for one in knobs()
        if one.unit == "seconds" and isinstance(one.default, (int, float))
    ]
    return "\n".join(
        (
            _table(("part", "name", "seconds", "what it paces", "why"), core),
            _table(("feature", "name", "seconds", "what it paces"), features),
            _table(("knob", "seconds by default", "what it paces"), times),
        )
    )


def _table(heading: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heading, tuple("---" for _ in heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def document(path: Path) -> str:
    """The text of a document with its tables as they are to be."""
    before, found, rest = path.read_text("utf-8").partition(BEGIN)
    if not found:
        raise ValueError(f"{path} has no line {BEGIN}")
    return before + found + "\n" + markdown() + "\n" + END + rest.partition(END)[2]

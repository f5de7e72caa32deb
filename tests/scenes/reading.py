"""The text of scenes: files of them, and each as its DAG, its settings and its steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from condor_pydagman.language.keywords import WORDS
from tests import features

FOLDER = Path(__file__).parent
TESTS = FOLDER.parent
FEATURES = Path(features.__path__[0])
_OF_ALL = re.compile(r"\((.+)\)")  # above all scenes of a file: marks of each
_TITLE = re.compile(r"\[(.+)\](?: \((.+)\))?")
_SETTING = re.compile(r"([A-Z_]+) = (.*)")
_OPTION = re.compile(r"-([A-Za-z]+)(?: (\d+))?")
_PART = re.compile(r"(?:^|\s+)(->|=)\s+")  # of a step: what the engine does, what is the case then
_SAYS = re.compile('says "(.*)"')
_UNSAID = re.compile('does not say "(.*)"')
_SHORT = re.compile(r'"(.+)" is: (.+)')  # above all scenes of a file: words for several actions
_ALTERNATIVE = re.compile(r"(?:either|or) +")
# Between two things of a list, but not within quotation marks or brackets.
_BETWEEN = re.compile(r';\s+(?=(?:[^"]*"[^"]*")*[^"]*$)(?![^(]*\))')


class Step(NamedTuple):
    """What happens, and what has to come of it."""

    place: str  # file and line, for messages
    told: str  # as in the file
    happens: list[str]
    says: list[str]  # parts of lines for people
    unsaid: list[str]  # what is in no line
    actions: list[str]
    facts: list[str]


class Scene(NamedTuple):
    """One way through a scene of a file: with `either` and `or`, there are several."""

    name: str
    marks: list[str]  # in brackets behind the name: who does not play it, and why
    dag: str
    settings: dict[str, str]  # knobs by their names
    options: dict[str, str]  # throttles, as `-MaxJobs 2`, and `-DryRun`
    steps: list[Step]

    def has(self, mark: str) -> bool:
        """Whether it is marked so."""
        return any(one.startswith(mark) for one in self.marks)


def scenes() -> Iterator[Scene]:
    """All scenes, in the order of the files: those of the engine, then those of features."""
    for path in (*sorted(FOLDER.glob("*.scene")), *sorted(FEATURES.glob("*/*.scene"))):
        yield from scenes_of(path)


def learn() -> None:
    """Have the phrases and words of features known: each has its own in its `scenes.py`."""
    for path in sorted(FEATURES.glob("*/scenes.py")):
        import_module(f"{features.__name__}.{path.parent.name}.scenes")


def scenes_of(path: Path) -> Iterator[Scene]:
    """Those of a file."""
    text = path.read_text(encoding="utf-8")
    short = {found[1]: found[2] for found in map(_SHORT.fullmatch, text.split("\n")) if found}
    lines = [
        (f"{path.relative_to(TESTS)}:{number}", _written_out(line, short))
        for number, line in enumerate(text.split("\n"), 1)
        if not line.startswith("#")
    ]
    begins = [n for n, (_, text) in enumerate(lines) if _TITLE.fullmatch(text)]
    marks = [found[1] for found in (_OF_ALL.fullmatch(text) for _, text in lines) if found]
    for begin, end in zip(begins, [*begins[1:], len(lines)]):
        for scene in _read(path.stem, lines[begin:end]):
            yield scene._replace(marks=scene.marks + marks)


def _written_out(line: str, short: dict[str, str]) -> str:
    """A line without its comment, and with what short words stand for."""
    line = re.sub(r"\s{2,}#.*", "", line).rstrip()
    for word, actions in short.items():
        line = re.sub(rf"(?<=[>; ] ){word}(?=;|  |$)", actions, line)
    return line


def _read(topic: str, lines: list[tuple[str, str]]) -> Iterator[Scene]:
    """The scene of these lines, once for each of its alternatives."""
    title = _TITLE.fullmatch(lines[0][1])
    assert title is not None
    heading = list(takewhile(lambda line: line[1].startswith(" "), lines[1:]))
    statements = [one.strip() for _, text in heading for one in text.split(";") if one.strip()]
    marks = title[2].split("; ") if title[2] else []
    settings = _matching(_SETTING, statements)
    options = _matching(_OPTION, statements)
    of_dag = [one for one in statements if not (_SETTING.fullmatch(one) or _OPTION.fullmatch(one))]
    first, *others = _alternatives(lines[len(heading) + 1 :])
    for number, steps in enumerate(others or [[]], 1):
        which = f", {number}: {steps[0].happens[0]}" if steps else ""
        name = f"{topic}/{title[1]}{which}"
        yield Scene(name, marks, _dag(of_dag), settings, options, first + steps)


def _matching(kind: re.Pattern[str], statements: list[str]) -> dict[str, str]:
    return {found[1]: found[2] for found in map(kind.fullmatch, statements) if found}


def _dag(statements: list[str]) -> str:
    """The text that `make.dag` takes."""
    commands = [one for one in statements if one.split()[0].replace("-", "_") in WORDS]
    edges = [one for one in statements if one not in commands]
    return "\n".join([*(["; ".join(edges)] if edges else []), *commands])


def _alternatives(lines: list[tuple[str, str]]) -> list[list[Step]]:
    """The steps that all have in common, then those of each alternative."""
    found: list[list[Step]] = [[]]
    for place, text in _joined(lines):
        alternative = _ALTERNATIVE.match(text)
        if alternative:
            found.append([])
        found[-1].append(_step(place, text[alternative.end() if alternative else 0 :]))
    return found


def _joined(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The lines of steps, each with those that go on with it."""
    found: list[tuple[str, str]] = []
    for place, text in lines:
        if found and (_PART.match(text) or found[-1][1].endswith(";")):
            found[-1] = (found[-1][0], f"{found[-1][1]} {text.strip()}")
        elif text:
            found.append((place, text.strip()))
    return found


def _step(place: str, text: str) -> Step:
    told, *parts = _PART.split(text)
    lists: dict[str, list[str]] = {"->": [], "=": []}
    for sign, part in zip(parts[::2], parts[1::2]):
        lists[sign] += _BETWEEN.split(part.strip(" ;"))
    says, unsaid = (
        [found[1] for one in lists["->"] if (found := kind.fullmatch(one))]
        for kind in (_SAYS, _UNSAID)
    )
    actions = [one for one in lists["->"] if not one.endswith('"')]
    return Step(place, told, _BETWEEN.split(told), says, unsaid, actions, lists["="])

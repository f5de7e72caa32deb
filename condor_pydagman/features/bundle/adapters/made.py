"""Which inputs of tasks other tasks of the same bundle make.

With file transfer, what a task leaves is where it belongs only when the job has ended.  A task that
runs after it in the same job finds it in `out/` instead.  A node's job of its own would find one
file at the path that its description names, whoever has written it there last: so what tasks leave
is known by the paths where it belongs.  Links to directories do not hide that two paths are one.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence

from condor_pydagman.features.bundle.tasks import Task
from condor_pydagman.named_tuple import NamedTuple

STREAMS = ("_stdout", "_stderr")  # names that the runner gives to what tasks print


class _Left(NamedTuple):
    """What a task leaves."""

    # by the path where it belongs, the name of what is there if the task has succeeded
    named: dict[str, str]
    others: dict[str, str]  # the same of what may be there
    directory: str  # where all other files belong that are new; '' if they don't come home
    remapped: frozenset[str]  # names of files that belong elsewhere

    def name_of(self, path: str, above: Sequence[str]) -> str:
        """The name of what belongs at a path; '' if that is nothing.

        Args:
            above: the directories that the path is in: one that is named has all that is below.
        """
        found = self.named.get(path) or self.others.get(path)
        if found is not None:
            return found
        if self.directory == above[0]:
            name = path[len(above[0]) :].lstrip("/")
            return "" if name in self.remapped or name in STREAMS else name
        for one in above:
            if one in self.named:
                return self.named[one] + path[len(one) :]
        return ""

    def is_within(self, path: str) -> bool:
        """Whether something belongs below that path."""
        places = [*self.named, *self.others] + [f"{self.directory}/x"] * bool(self.directory)
        return any(place.startswith(f"{path}/") for place in places)


class Sources(NamedTuple):
    """Where a task finds an input."""

    made: list[str]  # what others have left, the best first, see `runner`
    # whether the file at its path is to be transferred, for the case that none is there
    at_path: bool


class Makers:
    """The tasks of a bundle, each with what it leaves and those before it."""

    def __init__(self) -> None:
        self._left: dict[int, _Left] = {}
        self._before: dict[int, int] = {}  # all that a task runs after, as bits by their numbers
        self._real: dict[str, str] = {}

    def add(self, number: int, task: Task, after: Sequence[int]) -> None:
        """A task that runs after others, which have been added before."""
        self._left[number] = self._leaves(task)
        self._before[number] = 0
        for one in after:
            self._before[number] |= self._before[one] | 1 << one

    def sources(self, number: int, path: str) -> Sources | None:
        """Where a task finds an input; None if that would not be there, or would be put together
        from what several have left.

        Args:
            path: the input's, absolute.
        """
        before = [(one, self._left[one]) for one in self._numbers(number)]
        if not before:
            return Sources([], True)
        places = self._places(path)
        made: list[tuple[int, str]] = []
        for one, left in before:
            names = [left.named[place] for place, _ in places if place in left.named]
            names += [name for place, above in places if (name := left.name_of(place, above))]
            made += [(one, name) for name in names[:1]]
        is_sure = any(place in left.named for _, left in before for place, _ in places)
        if not os.path.isfile(path):
            within = any(left.is_within(place) for _, left in before for place, _ in places)
            if within or (made and os.path.isdir(path)):
                return None
        found = Sources(list(_shortened(made)), not is_sure and os.access(path, os.R_OK))
        return found if any(found) else None

    def names(self, number: int, path: str) -> bool:
        """Whether a task before that one names a file as what it leaves."""
        places = [place for place, _ in self._places(path)]
        left = [self._left[one] for one in self._numbers(number)]
        return any(place in one.named or place in one.others for one in left for place in places)

    def _numbers(self, number: int) -> Iterator[int]:
        """Of all tasks that one runs after, the last first."""
        bits = self._before.get(number, 0)
        while bits:
            last = bits.bit_length() - 1
            yield last
            bits ^= 1 << last

    def _leaves(self, task: Task) -> _Left:
        named = {}
        for stream, name in zip(reversed(STREAMS), (task.error, task.output)):
            if name:
                named[self._place(task, name)] = stream
        if task.outputs is None:
            others = {self._place(task, place): name for name, place in task.remaps.items()}
            directory = os.path.dirname(self._place(task, "x"))
            return _Left(named, others, directory, frozenset(task.remaps))
        for name in task.outputs:
            if name not in (task.output, task.error):
                place = task.remaps.get(name, os.path.basename(name))
                named[self._place(task, place)] = os.path.normpath(f"/{name}").lstrip("/")
        return _Left(named, {}, "", frozenset())

    def _place(self, task: Task, name: str) -> str:
        """The path where something belongs: what a link leads to."""
        path = os.path.join(task.directory, name)
        return os.path.realpath(path) if os.path.islink(path) else self._known(path)

    def _known(self, path: str) -> str:
        """The path, without links to directories."""
        directory, last = os.path.split(path)
        real = self._real.get(directory)
        if real is None:
            real = self._real[directory] = os.path.realpath(directory)
        return os.path.join(real, last)

    def _places(self, path: str) -> list[tuple[str, list[str]]]:
        """The paths by which an input may be known, as of a link and of what it leads to; with the
        directories that each of them is in."""
        links = [os.path.realpath(path)] if os.path.islink(path) else []
        return [(place, list(_above(place))) for place in (self._known(path), *links)]


def _above(path: str) -> Iterator[str]:
    while path != (path := os.path.dirname(path)):
        yield path


def _shortened(found: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Sources of these numbers, which fall, and names: `out/3-5/x` stands for three."""
    place = 0
    while place < len(found):
        last, name = found[place]
        first = last
        while place + 1 < len(found) and found[place + 1] == (first - 1, name):
            place, first = place + 1, first - 1
        yield f"out/{last}/{name}" if first == last else f"out/{first}-{last}/{name}"
        place += 1

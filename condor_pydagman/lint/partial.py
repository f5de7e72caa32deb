"""What can be understood of DAG files that are wrong, and all that is wrong with them, in one go.

DAGMan need not look at the lines that use nodes if those that define them are wrong; the checker
reports all errors at once.  Errors that only follow from another one are left out: a name that a
wrong line may have been meant to define is not called unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.language import DEFINING, WORDS
from condor_pydagman.dagfile.parser import Reading
from condor_pydagman.errors import DagFileError
from condor_pydagman.graph import define
from condor_pydagman.graph.apply import NotSimple
from condor_pydagman.graph.build import (
    DagReader,
    ReadText,
    complete_features,
    gather,
    late_mistakes,
    placed,
    read_all,
)
from condor_pydagman.graph.building import Building, BuildOptions, fail
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.named_tuple import NamedTuple

_USES = WORDS - DEFINING  # commands that define nothing
_UNENDED = "Missing inline description closing token"


class PartialDag(NamedTuple):
    """A Dag of what is understood, finished, and what is wrong; `lost` errors more are not kept."""

    dag: Dag
    errors: list[DagFileError]
    lost: int


def build_partial(files: Sequence[str], read_text: ReadText, options: BuildOptions) -> PartialDag:
    """Read DAG files that are wrong; the arguments are those of `graph.build.build`."""
    try:
        return _build(files, read_text, options, in_bulk=True)
    except NotSimple:
        return _build(files, read_text, options, in_bulk=False)


def _build(
    files: Sequence[str], read_text: ReadText, options: BuildOptions, in_bulk: bool
) -> PartialDag:
    dag = Dag(files=list(files))
    building = Building(dag, options)
    reader = _Reader(building, read_text, in_bulk=in_bulk)
    read_all(files, building, reader)
    gather(building)
    try:
        complete_features(building)
    except ProcessingError as error:
        reader.errors.append(error)
    building.close()
    dag.finish()
    if not reader.errors:  # else it may only follow that a condition names what is not there
        reader.errors += late_mistakes(dag)
    return PartialDag(dag, reader.errors, reader.lost)


class _Reader(DagReader):
    """Reads on after errors, and keeps no error that only follows from another."""

    def __init__(self, building: Building, read_text: ReadText, *, in_bulk: bool) -> None:
        super().__init__(building, read_text, in_bulk=in_bulk)
        self._doubtful: set[str] = set()  # names that may have been meant to be defined
        self._all_doubtful = False
        self._seen = 0  # errors of which the words are in `_doubtful`

    def _is_of_use(self) -> bool:
        return True

    def _goes_on(self, before: int) -> bool:
        self._doubt()
        return True

    def _condense(self, before: int, nodes: int) -> None:
        super()._condense(before, nodes)
        self._seen = min(self._seen, len(self.errors))

    def _leave_splice(self, *, good: bool) -> None:
        scope = self._building.scope
        try:
            super()._leave_splice(good=True)  # what is in it is known, if not all
        except ProcessingError:
            self._building.scope.splices[scope.name] = scope
            raise

    def _doubt(self) -> None:
        for error in self.errors[self._seen :]:
            words = error.text.split()
            if not words or words[0].upper() not in _USES:
                self._doubtful.update(words)
            self._all_doubtful |= error.message.startswith(_UNENDED)
        self._seen = len(self.errors)

    def _add_trail(self, reading: Reading, before: int, command: Command, text: str) -> None:
        if isinstance(command, commands.Splice):
            self._doubtful.add(command.name)
        elif any(isinstance(e, ProcessingError) and not e.line for e in self.errors[before:]):
            self._all_doubtful = True  # a file can't be read: it may define any name
        super()._add_trail(reading, before, command, text)

    def _add(self, error: ProcessingError, reading: Reading, command: Command, text: str) -> None:
        if isinstance(command, commands.ParentChild):
            self._add_of_edges(error, reading, command, text)
        elif not error.at or not self._follows(error.at, error):
            super()._add(error, reading, command, text)

    def _add_of_edges(
        self, error: ProcessingError, reading: Reading, command: commands.ParentChild, text: str
    ) -> None:
        """All unknown names of a PARENT line; the others are connected all the same."""
        strangers = {
            "parent": self._unknown(command.parents),
            "child": self._unknown(command.children),
        }
        if not any(strangers.values()):
            if not self._is_empty_splice((*command.parents, *command.children)):
                super()._add(error, reading, command, text)
            return
        for which, names in strangers.items():
            for name in names:
                one = _unknown_end(self._building, which, name)
                if not self._follows(name, one):
                    self._keep(placed(one, reading.file, command.line, text), reading.file)
        parents = tuple(name for name in command.parents if name not in strangers["parent"])
        children = tuple(name for name in command.children if name not in strangers["child"])
        if parents and children:
            try:
                define.parent_child(
                    self._building, command._replace(parents=parents, children=children)
                )
            except ProcessingError as another:
                if not self._is_empty_splice((*parents, *children)):
                    super()._add(another, reading, command, text)

    def _unknown(self, names: Iterable[str]) -> list[str]:
        building = self._building
        known = building.scope.splices
        return [
            name
            for name in dict.fromkeys(names)
            if building.find(name) is None
            and building.scope.munge + name not in known
            and building.scope.munge + name not in building.scope.sets
        ]

    def _is_empty_splice(self, names: Iterable[str]) -> bool:
        """Whether one of them is a splice of which not everything is known."""
        return self._all_doubtful or not self._doubtful.isdisjoint(names)

    def _follows(self, name: str, error: ProcessingError) -> bool:
        """Whether an error over `name` may only be there because of an earlier one."""
        if name in self._doubtful or name.partition("+")[0] in self._doubtful:
            return True
        return self._all_doubtful and ("Unknown" in error.message or "not found" in error.message)


def _unknown_end(building: Building, which: str, name: str) -> ProcessingError:
    try:
        fail(f"Unknown {which} node {name} specified", building.near(name), at=name)
    except ProcessingError as error:
        return error

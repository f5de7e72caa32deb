"""The policy for DAG files that are wrong: all errors in one go, and what is understood as a Dag.

DAGMan need not look at the lines that use nodes if those that define them are wrong; the checker
reports all errors at once.  Errors that only follow from another one are left out: a name that a
wrong line may have been meant to define is not called unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.graph.build import ReadText, build_with
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import Errors, ProcessingError
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import DEFINING, WORDS

_USES = WORDS - DEFINING  # commands that define nothing
_UNENDED = "Missing inline description closing token"


def build_partial(
    files: Sequence[str], read_text: ReadText, options: BuildOptions
) -> tuple[Dag, AllErrors]:
    """A Dag of what is understood of DAG files, finished, and what is wrong with them; the
    arguments are those of `graph.build.build`."""
    return build_with(AllErrors, files, read_text, options)


class AllErrors(Errors):
    """Reads on after errors, and keeps no error that only follows from another."""

    reads_on = True

    def __init__(self) -> None:
        super().__init__()
        self._doubtful: set[str] = set()  # names that may have been meant to be defined
        self.all_doubtful = False  # whether anything may be missing
        self._seen = 0  # errors of which the words are in `_doubtful`

    def cut(self, count: int) -> None:
        """As of `Errors`."""
        super().cut(count)
        self._seen = min(self._seen, count)

    def goes_on(self, before: int) -> bool:
        """As of `Errors`; a line that is wrong and no use may have been meant to define a name."""
        for error in self.kept[self._seen :]:
            words = error.text.split()
            if not words or words[0].upper() not in _USES:
                self._doubtful.update(words)
            self.all_doubtful |= error.message.startswith(_UNENDED)
        self._seen = len(self.kept)
        return True

    def conclude(self, warnings: Sequence[str]) -> None:
        """As of `Errors`."""
        self.goes_on(0)

    def note_nested(self, command: Command, before: int) -> None:
        """As of `Errors`; a file that can't be read may define any name."""
        if isinstance(command, commands.Splice):
            self._doubtful.add(command.name)
        elif any(isinstance(e, ProcessingError) and not e.line for e in self.kept[before:]):
            self.all_doubtful = True

    def follows(self, error: ProcessingError, command: Command) -> bool:
        """As of `Errors`."""
        name = error.at
        if name:
            if name in self._doubtful or name.partition("+")[0] in self._doubtful:
                return True
            of_name = "Unknown" in error.message or "not found" in error.message
            return self.all_doubtful and of_name
        if not isinstance(command, commands.ParentChild):
            return False
        # A splice of which not everything is known may be empty.
        known = {*command.parents, *command.children} - {one.at for one in self.objections}
        return self.all_doubtful or not self._doubtful.isdisjoint(known)

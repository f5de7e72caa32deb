"""The checks of files other than DAG files that stock condor_dag_checker has options for.

Each method gives what is wrong, in stock's words, or ''.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence

from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.errors import FileError
from condor_pydagman.language import commands
from condor_pydagman.lint.findings import FileKind, Reading, World
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import COMMON_INPUT_DIFFERS

_MAX_CACHED = 1000

NO_DESCRIPTION = "Submit JDL does not exist"
_INLINE = "internal-jdl"  # what stock calls a description that is no file
_EOL = "\n"
_WITHOUT_END = "nice_user conflicts"  # the one warning that stock ends no line behind


class OutlineOptions(NamedTuple):
    """The options of condor_dag_checker that change what is read and checked."""

    use_join_nodes: bool = True
    allow_illegal_chars: bool = False
    use_dag_dir: bool = False
    check_descriptions: bool = False
    check_scripts: bool = False
    check_subdags: bool = False
    strict: bool = False


class External:
    """Looks at scripts, configuration files and submit descriptions."""

    def __init__(self, world: World, options: OutlineOptions) -> None:
        self._world = world
        self._options = options
        self._readings: dict[tuple[str, str, str, str], Reading] = {}
        self._common_input = ""
        self.unread: dict[str, str] = {}  # descriptions that were not read: why

    def script(self, command: commands.ScriptLine, directory: str) -> str:
        """Whether neither the line's rest nor its first word is a file; stock asks for the former.

        A script with arguments is hence found here, and not there.
        """
        if not self._options.check_scripts:
            return ""
        names = (command.command, command.command.split(None, 1)[0])
        paths = [os.path.join(directory, name) for name in names]
        missing = all(self._world.kind(path) is FileKind.MISSING for path in paths)
        return "Script file does not exist" if missing else ""

    def program(self, words: str, directory: str, what: str) -> str:
        """Whether the first of these words is no file that can be executed."""
        if not self._options.check_scripts:
            return ""
        program = words.split(None, 1)[0]
        kind = self._world.kind(os.path.join(directory, program))
        if kind is FileKind.MISSING:
            return f"{what} program {program} does not exist"
        return "" if kind is FileKind.EXECUTABLE else f"{what} {program} can't be executed"

    def config(self, command: commands.ConfigFile, directory: str) -> str:
        """Whether its file is missing."""
        full = self._world.absolute(os.path.join(directory, command.file))
        if self._world.kind(full) is FileKind.MISSING:
            return f"Configuration file {full} does not exist"
        return ""

    def job(self, command: commands.Job, directory: str) -> str:
        """What is wrong with the submit description of a node, if it has one that can be read.

        `NO_DESCRIPTION`: there is no such file; a description of that name may still come.
        """
        if not self._options.check_descriptions:
            return ""
        inside = os.path.join(directory, command.directory)
        missing = bool(command.directory) and not self._world.is_directory(inside)
        if command.description is not None:
            empty = not command.description.strip()
            if empty or missing:
                return ""
            return self._node_text(command, command.description, inside, _INLINE)
        if missing:
            return "No such file or directory"
        try:
            path = os.path.join(inside, command.submit)
            text = self._world.read_text(path)
        except FileNotFoundError:
            return NO_DESCRIPTION if self._options.strict else ""
        except (OSError, FileError, ValueError) as error:
            return f"Failed to open file ({error})"
        return self._node_text(command, text, inside, command.submit, path)

    def _node_text(
        self, command: commands.Job, text: str, directory: str, name: str, source: str = ""
    ) -> str:
        if is_request(command.kind, text):
            return ""  # a request, which depends on the node's macros: see `request_rules`
        return self.description(text, directory, name, source)

    def description(self, text: str, directory: str, name: str = _INLINE, source: str = "") -> str:
        """What is wrong with a submit description; each is looked at once."""
        if not self._options.check_descriptions:
            return ""
        key = (text, directory, name, source)
        if key not in self._readings:
            if len(self._readings) >= _MAX_CACHED:
                self._readings.clear()
            self._readings[key] = found = self._world.reading(*key)
            if found.unread:
                self.unread[name if source else f"{name} of {directory or '.'}"] = found.unread
        reading = self._readings[key]
        warnings = _as_stock(reading.warnings)
        return reading.problem or self._against(reading.common_input) or warnings

    def _against(self, common_input: str | None) -> str:
        """Compare a list of common input files with that of the DAG, which the first makes."""
        if common_input and not self._common_input:
            self._common_input = common_input
        differs = common_input is not None and self._common_input not in ("", common_input)
        return COMMON_INPUT_DIFFERS if differs else ""


def _as_stock(warnings: Sequence[str]) -> str:
    """Several warnings as the one text that stock makes of them."""
    if not warnings:
        return ""
    text = "".join(
        f"|Submit:0:{_EOL if one.startswith('WARNING') else ''}{one}"
        + ("" if one.startswith(_WITHOUT_END) else _EOL)
        for one in warnings
    )
    return f"Submit warning: {text[1:].rstrip(_EOL)}"

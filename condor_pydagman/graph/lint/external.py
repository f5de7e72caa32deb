"""What stock condor_dag_checker looks for outside of DAG files, where its options ask for that.

Each method gives what is wrong, in stock's words, or ''.
"""

from __future__ import annotations

import os.path
from dataclasses import dataclass
from typing import Protocol

from condor_pydagman.dagfile import commands
from condor_pydagman.errors import FileError
from condor_pydagman.graph.lint.findings import FileKind, World

_MOST_REMEMBERED = 1000


@dataclass(frozen=True)
class OutlineOptions:
    """The options of condor_dag_checker that change what is read and checked."""

    use_join_nodes: bool = True
    allow_illegal_chars: bool = False
    use_dag_dir: bool = False
    check_descriptions: bool = False
    check_scripts: bool = False
    check_subdags: bool = False
    strict: bool = False


class Shared(Protocol):
    """What a DAG file and those that it includes share."""

    has_config: bool
    descriptions: set[str]


class External:
    """Looks at scripts, configuration files and submit descriptions."""

    def __init__(self, world: World, options: OutlineOptions) -> None:
        self._world = world
        self._options = options
        self._problems: dict[tuple[str, str], str] = {}

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

    def config(self, command: commands.ConfigFile, directory: str, shared: Shared) -> str:
        """Whether there is another CONFIG before it, or its file is missing."""
        full = self._world.absolute(os.path.join(directory, command.file))
        if shared.has_config:
            return "DAG configuration file is already defined"
        shared.has_config = True
        if self._world.kind(full) is FileKind.MISSING:
            return f"Configuration file {full} does not exist"
        return ""

    def job(self, command: commands.Job, directory: str, shared: Shared) -> str:
        """What is wrong with the submit description of a node."""
        if not self._options.check_descriptions:
            return ""
        inside = os.path.join(directory, command.directory)
        if command.directory and not self._world.is_directory(inside):
            return "No such file or directory"
        if command.description is not None:
            return self.description(command.description, inside)
        if command.submit in shared.descriptions:
            return ""
        try:
            text = self._world.read_text(os.path.join(inside, command.submit))
        except FileNotFoundError:
            return "Submit JDL does not exist" if self._options.strict else ""
        except (OSError, FileError, ValueError) as error:
            return f"Failed to open file ({error})"
        return self.description(text, inside)

    def description(self, text: str, directory: str) -> str:
        """What is wrong with a submit description; each is looked at once."""
        if not self._options.check_descriptions:
            return ""
        key = (text, directory)
        if key not in self._problems:
            if len(self._problems) >= _MOST_REMEMBERED:
                self._problems.clear()
            self._problems[key] = self._world.submit_problem(text, directory)
        return self._problems[key]

"""What condor_dag_checker reads: files on disk, and HTCondor's bindings where needed.

The bindings are imported only when a submit description is to be checked or a macro looked up: they
take longer to load than most DAGs to check.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from condor_pydagman.adapters import files
from condor_pydagman.config import Config
from condor_pydagman.data_requests.requests import Allocate
from condor_pydagman.errors import PydagmanError
from condor_pydagman.feature_table import MOVES_DATA, part
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.lint.findings import FileKind, Reading
from condor_pydagman.printable import message

_READER = "condor_pydagman.lint.description_reader"
_READING = (str, frozenset((str, type(None))), [str], (str, str))


class DiskWorld:
    """A `lint.findings.World`; relative paths are from the current directory.

    Args:
        blocks: reads DAG files in blocks of whole lines.
        foreseen: by features, what is known already: a `Foreseen` of `daemon.helpers`.
    """

    def __init__(
        self,
        blocks: Callable[[str], Iterator[str]] | None = None,
        foreseen: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._foreseen = foreseen
        self._kinds: dict[str, FileKind] = {}
        self._owners: dict[str, tuple[int, int]] = {}  # of submit files; of the DAG by ""
        self._blocks = blocks or files.DagFiles().read

    def read_text(self, path: str) -> str:
        """The text of a file; see `adapters.followed_files.read_known`."""
        from condor_pydagman.adapters.followed_files import read_known

        reader = self._owners.get("", (os.geteuid(), os.getegid()))
        text, self._owners[path] = read_known(path, reader)
        return text

    def read_blocks(self, path: str) -> Iterator[str]:
        """As `read_text`, in blocks; see `adapters.files.DagFiles`."""
        self.belongs_to(path)
        return self._blocks(path)

    def belongs_to(self, dag_file: str) -> None:
        """Files are read for the owner of this DAG file, unless there has been one."""
        with contextlib.suppress(OSError, ValueError):
            found = os.stat(dag_file)
            self._owners.setdefault("", (found.st_uid, found.st_gid))

    def kind(self, path: str) -> FileKind:
        """The kind of file at `path`, links followed; determined once."""
        kind = self._kinds.get(path)
        if kind is None:
            kind = self._kinds[path] = _kind(path)
        return kind

    def foreseen(self, feature: str, dag: Dag) -> tuple[Sequence[str], Mapping[str, Any]]:
        """See `World`."""
        found = self._foreseen.get(feature)
        if found is None:
            config, how = self.config() or Config(), BuildOptions()
            try:
                found = part(feature, "helper").foresee(dag, config, how, checks_only=True)
            except ImportError:  # HTCondor's bindings are not there
                return (), {}
        return found.lines, found.fields

    def is_directory(self, path: str) -> bool:
        """Whether `path` is a directory."""
        return os.path.isdir(path)

    def absolute(self, path: str) -> str:
        """The absolute path of `path`."""
        with contextlib.suppress(OSError):  # the working directory is gone
            return os.path.abspath(path)
        return path

    def is_knob(self, name: str) -> bool:
        """Whether HTCondor's configuration has a macro of that name; true if that is unknown."""
        with contextlib.suppress(Exception):  # errors of the configuration are reported elsewhere
            import htcondor2

            return name.upper() in {known.upper() for known in htcondor2.param}
        return True

    def reading(self, text: str, directory: str, name: str, source: str = "") -> Reading:
        """What HTCondor's readers make of a submit description; see `findings.World`."""
        from condor_pydagman.adapters.followed_files import Followed

        try:
            with files.working_directory(directory):
                followed = Followed(text, self._owner(source))
                found = Reading(*self._asked("reading_of", source, _READING, followed.text, name))
                found = _with_paths(found)
        except (PydagmanError, OSError, ValueError) as error:  # the last: of a path with a NUL
            return Reading(unread=str(error))
        if found.problem and followed.unread:
            return Reading(unread="; ".join(followed.unread))
        return found

    def expression_problems(self, texts: list[str]) -> list[str]:
        """Why HTCondor can't read each of these ClassAd expressions; '' for those that it can."""
        try:
            return list(self._asked("mistakes", "", (str,) * len(texts), texts)) if texts else []
        except PydagmanError:  # the node will show why
            return [""] * len(texts)

    def config(self) -> Config | None:
        """The knobs of DAGMan, without the DAG's CONFIG file; None if they can't be known."""
        from condor_pydagman.adapters import knobs

        with contextlib.suppress(Exception):  # errors of the configuration are reported elsewhere
            knobs.set_subsystem("DAGMAN")
            return knobs.load("")
        return None

    def obstacle(self, feature: str, dag: Dag) -> str:
        """See `World`."""
        with contextlib.suppress(Exception):  # errors of the configuration are reported elsewhere
            return str(at_once(part(feature, "helper").obstacle(dag, self.config())))
        return ""

    def space_problem(self, request: Allocate) -> str:
        """Why an allocation can't be made, as a clause; '' if it can, or that can't be known."""
        with contextlib.suppress(Exception):  # the node will show why
            return str(part(MOVES_DATA, "lint").space_problem(request, self.config()))
        return ""

    def unreadable(self, text: str, directory: str, source: str = "") -> str:
        """The line of a description that can't be read, and why; '' if there is none, or if that
        depends on macros or on what it includes."""
        from condor_pydagman.adapters.foreign_texts import NotRead

        try:
            return str(self._asked("unreadable_line", source, str, text))
        except NotRead as error:
            return str(error)
        except PydagmanError:  # the node will show why
            return ""

    def unfollowed(self, text: str, directory: str, source: str = "") -> tuple[str, str]:
        """What a description names that is not read, and what is missing; see `findings.World`."""
        from condor_pydagman.adapters.followed_files import Followed

        with contextlib.suppress(PydagmanError, OSError):  # the node will show why
            with files.working_directory(directory):
                followed = Followed(text, self._owner(source))
            if followed.unread:
                return message("; ".join(followed.unread)), ""
            # Without a problem an `if` leaves that statement out.
            if (
                followed.missing
                and self._asked("reading_of", source, _READING, followed.text, "")[0]
            ):
                return "", followed.missing[0]
        return "", ""

    def _owner(self, source: str) -> tuple[int, int]:
        from condor_pydagman.adapters.followed_files import UNKNOWN

        return self._owners.get(source) or self._owners.get("", UNKNOWN)

    def _asked(self, function: str, source: str, shape: Any, *arguments: Any) -> Any:
        """What a function of the reader makes of a text in the file `source`, or in a DAG file.

        Raises:
            PydagmanError: it is not read.
        """
        from condor_pydagman.adapters.foreign_texts import ask

        return ask(f"{_READER}:{function}", self._owner(source), *arguments, shape=shape)


def _with_paths(found: Reading) -> Reading:
    """With what is wrong with the directory and the proxy of the job."""
    directory, proxy = found.paths
    if directory and not os.path.isdir(directory):
        return Reading(f"Submit:-1:No such directory: {os.path.abspath(directory)}")
    path = os.path.join(directory, proxy)
    if proxy and not found.problem and not os.access(path, os.R_OK):
        return Reading("Submit:-1:unable to read proxy file")
    return found


def _kind(path: str) -> FileKind:
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return FileKind.MISSING
    except OSError:
        return FileKind.OTHER
    if not stat.S_ISREG(mode):
        return FileKind.OTHER
    return FileKind.EXECUTABLE if os.access(path, os.X_OK) else FileKind.FILE

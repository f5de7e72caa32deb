"""What condor_dag_checker reads: files on disk, and HTCondor's bindings where needed.

The bindings are imported only when a submit description is to be checked or a macro looked up: they
take longer to load than most DAGs to check.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.adapters import files
from condor_pydagman.config import Config
from condor_pydagman.data_requests.requests import Allocate
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.submit_file import SubmitText, parse
from condor_pydagman.lint import value_rules
from condor_pydagman.lint.findings import FileKind
from condor_pydagman.names import DagPaths

_UNIVERSE_NAMES = """
vanilla local scheduler grid java parallel vm docker container standard mpi globus pvm
5 7 9 10 11 12 13
"""
_UNIVERSES = frozenset(_UNIVERSE_NAMES.split())
_UNREADABLE = "parse_up_to_q_line() failed"  # the bindings' whole error
_CONDITION = re.compile(r"error: '(.*)' line: ")  # what they print about a wrong `if`
_INCLUDE = re.compile(r"\s*@?include\b", re.IGNORECASE)


class DiskWorld:
    """A `lint.findings.World`; relative paths are from the current directory.

    Args:
        limits: says what is wrong with the limits that a DAG names; '' if nothing is.
        space: says why an allocation can't be made; '' if it can.
        config: reads the knobs of DAGMan.
        blocks: reads DAG files in blocks of whole lines.
    """

    def __init__(
        self,
        limits: Callable[[Dag], str] = lambda dag: "",
        space: Callable[[Allocate], str] = lambda request: "",
        config: Callable[[], Config | None] = lambda: None,
        blocks: Callable[[str], Iterator[str]] | None = None,
    ) -> None:
        self._limits = limits
        self._config = config
        self._space = space
        self._kinds: dict[str, FileKind] = {}
        self._blocks = blocks or files.DagFiles().read

    def read_text(self, path: str) -> str:
        """The text of a file; see `adapters.files.read_text`."""
        return files.read_text(path)

    def read_blocks(self, path: str) -> Iterator[str]:
        """As `read_text`, in blocks; see `adapters.files.DagFiles`."""
        return self._blocks(path)

    def kind(self, path: str) -> FileKind:
        """The kind of file at `path`, links followed; determined once."""
        kind = self._kinds.get(path)
        if kind is None:
            kind = self._kinds[path] = _kind(path)
        return kind

    def cache_outlook(self, dag: Dag, file: str) -> Iterator[str]:
        """See `features.cache.adapters.outlook`."""
        from condor_pydagman.features.cache.adapters import outlook as cache_outlook

        return cache_outlook.told(dag, cache_outlook.outlook(dag, DagPaths(file).cache))

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
            return name.upper() in {known.upper() for known in _import_bindings().param}
        return True

    def submit_problem(self, text: str, directory: str) -> str:
        """The error that HTCondor's parser of submit descriptions reports for `text`; '' if none.

        Stock condor_dag_checker makes a job ad of it; this detects errors of syntax and of the
        queue statement, an unknown universe, and what `lint.value_rules` and this module know
        of values.
        """
        htcondor2 = _import_bindings()
        with _node_directory(directory):
            said: list[str] = []
            try:
                with _standard_error(said):
                    submit = htcondor2.Submit(text)
            except Exception as error:
                found = _CONDITION.search("".join(said))
                reason = found[1] if found else str(error).replace(_UNREADABLE, "")
                return f"Failed to parse to queue line: {reason}"
            return (
                _queue_problem(submit)
                or _ad_problem(submit, text)
                or _value_problem(submit, parse(text))
            )

    def expression_problem(self, text: str) -> str:
        """Why HTCondor can't read a ClassAd expression; '' if it can."""
        from condor_pydagman.adapters.classad_values import mistake

        return mistake(text)

    def config(self) -> Config | None:
        """The knobs of DAGMan, without the DAG's CONFIG file; None if they can't be known."""
        with contextlib.suppress(Exception):  # errors of the configuration are reported elsewhere
            return self._config()
        return None

    def limit_problem(self, dag: Dag) -> str:
        """Why DAGMan refuses a SHARED_LIMIT; '' if it does not, or if that can't be known."""
        with contextlib.suppress(Exception):  # errors of the configuration are reported elsewhere
            return self._limits(dag)
        return ""

    def space_problem(self, request: Allocate) -> str:
        """Why an allocation can't be made, as a clause; '' if it can, or that can't be known."""
        with contextlib.suppress(Exception):  # the node will show why
            return self._space(request)
        return ""

    def unreadable(self, text: str, directory: str) -> str:
        """The line of a description that can't be read, and why; '' if there is none, or if that
        depends on macros.  No command is run: a description with an `include` is not checked."""
        if any(_INCLUDE.match(line) for line in text.split("\n")):
            return ""
        htcondor2 = _import_bindings()
        with _node_directory(directory):
            try:
                with _standard_error([]):
                    htcondor2.Submit(text)
            except Exception:
                return _line_and_reason(text)
        return ""

    def common_input(self, text: str, directory: str) -> str | None:
        """The list of common input files of a description's first job, None if it has none."""
        from condor_pydagman.adapters.submit_checks import lists

        with _node_directory(directory):
            return next(lists(_import_bindings().Submit(text)), None)

    def submit_warnings(self, text: str, directory: str, name: str) -> list[str]:
        """HTCondor's warnings about a description; `name` is its name in them."""
        from condor_pydagman.adapters.submit_checks import remarks_of

        with _node_directory(directory):
            return remarks_of(_import_bindings().Submit(text), text, name=name)


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


def _import_bindings() -> Any:
    import htcondor2

    return htcondor2


@contextlib.contextmanager
def _node_directory(directory: str) -> Iterator[None]:
    """Names in a submit description are relative to the node's directory."""
    if not directory:
        yield
        return
    before = os.getcwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _standard_error(said: list[str]) -> Iterator[None]:
    """Capture what the bindings write to standard error, and add it to `said`."""
    try:
        before = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    import tempfile  # late: it is large, and most DAGs are checked without the bindings

    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            said.append(file.read().decode("utf-8", "replace"))


def _line_and_reason(text: str) -> str:
    """The line that the bindings can't read, and why; '' if it can't be found, or if it depends on
    VARS."""
    from condor_pydagman.adapters.submit_errors import first_unreadable

    with _standard_error([]):
        found = first_unreadable(text)
    if found is None or "$" in found[1]:
        return ""
    number, line, reason = found
    return f"line {number}, '{line}': {reason}"


def _queue_problem(submit: Any) -> str:
    arguments = submit.getQArgs()
    if not arguments:
        return ""
    try:
        items = submit.itemdata()
    except TypeError:  # the bindings' answer if there are no items
        return ""
    except Exception as error:
        if str(error) == "invalid qargs":  # if one of several items is empty
            return ""
        if "Queue count" in str(error):
            return f"Invalid queue args: {arguments}"
        return f"Failed to load submit step items: {error}"
    del items
    return ""


def _value_problem(submit: Any, text: SubmitText) -> str:
    """In the words of stock, as far as these are known."""
    from condor_pydagman.adapters.classad_values import mistake

    if not text.plain:
        return ""

    def get(key: str) -> str | None:
        if key not in text.values:
            return ""
        try:
            return str(submit.expand(key))
        except KeyError:  # the bindings' answer if it is empty
            return ""

    directory = value_rules.first_of(get, value_rules.DIRECTORIES)
    if directory and not os.path.isdir(directory):
        return f"Submit:-1:No such directory: {os.path.abspath(directory)}"
    for _, problem in value_rules.value_problems(get):
        return f"Submit:-1:{problem}"
    written = {key.lower().removeprefix("my."): key for key in submit.keys()}  # noqa: SIM118
    for key, value in text.values.items():
        attribute = value_rules.attribute_of(key)
        if attribute.islower():
            attribute = written.get(attribute, attribute).rpartition(".")[2]
        if attribute and value and "$" not in value and mistake(value):
            return f"Submit:-1:Parse error in expression: \n\t{attribute} = {value}\n\t"
    proxy = get(value_rules.PROXY)
    if proxy and not os.access(os.path.join(directory or "", proxy), os.R_OK):
        return "Submit:-1:unable to read proxy file"
    return ""


def _ad_problem(submit: Any, text: str) -> str:
    universe = str(submit.get("universe") or submit.get("JobUniverse") or "vanilla").strip()
    if "$" not in universe and universe.lower() not in _UNIVERSES:
        return f"Submit:-1:I don't know about the '{universe}' universe."
    needless = universe.lower() in ("vm", "docker", "container", "grid", "10", "13")
    images = ("docker_image", "container_image")
    if needless or any(submit.get(key) for key in images) or not parse(text).plain:
        return ""
    if not any(submit.get(key) for key in ("executable", "cmd")):
        return "Submit:-1:No 'executable' parameter was provided"
    return ""

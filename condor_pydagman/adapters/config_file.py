"""Reads a DAG's CONFIG file, in HTCondor's configuration language with `include`, `use` and `if`.

The bindings read that language only as part of the whole configuration, and exit at an error.  So a
child process has them read the present configuration, then the same followed by the CONFIG file,
and reports the difference; what they print is the error message.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import resource
import signal
import stat
import sys
from typing import Any

import htcondor2

from condor_pydagman.adapters.bindings import OWN_MACRO, expanded, in_bindings
from condor_pydagman.adapters.files import closed_at_end, is_own
from condor_pydagman.errors import ConfigError
from condor_pydagman.printable import escaped_lines
from condor_pydagman.timers import READING_CPU_S

_OTHER_FILES = ("LOCAL_CONFIG_FILE", "LOCAL_CONFIG_DIR", "USER_CONFIG_FILE")
_NO_OTHER_FILES = "".join(f"{name} =\n" for name in _OTHER_FILES)
_IGNORED_NAMES = frozenset((*_OTHER_FILES, OWN_MACRO))
_IGNORED_LINES = ("global config source", " if error: ", "Config source Warning")
_EXCEPTION = 70  # of the child; the bindings exit with 1 and 4
_WORD = re.compile(r"[\w.]+")
_COMPLAINT = re.compile(r'Config source Error "(?P<file>.*)", Line (?P<line>\d+)[^:]*:(?P<what>.*)')


def settings(config_file: str, *, own: bool = False) -> dict[str, str]:
    """The values that the CONFIG file sets, macros expanded, where they differ from those in force.

    To read it may run programs: `own` refuses one of another user, who may also change the file.

    Raises:
        ConfigError: it can't be read, or has an error.
    """
    path = os.path.abspath(config_file)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            _check(config_file, os.fstat(file.fileno()))
            if own:
                _refuse_foreign(config_file, file.fileno())
            if b"\0" in file.read():
                raise ConfigError(f"ERROR: {config_file} is not text: it has a NUL character in it")
            opened = f"/proc/self/fd/{file.fileno()}"
            return _settings(config_file, path, opened if own else path)
    except OSError as error:
        raise ConfigError(
            f"ERROR: Can't read DAGMan config file: {config_file} ({error.strerror})"
        ) from None


def _check(config_file: str, found: os.stat_result) -> None:
    # A pipe would block, and some devices have no end; the bindings read all of it.
    device = not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode)
    if device and not os.path.samestat(found, os.stat(os.devnull)):
        what = "a pipe" if stat.S_ISFIFO(found.st_mode) else "a device"
        raise ConfigError(f"ERROR: DAGMan config file {config_file} is not a file, but {what}")


def refuse_foreign(name: str) -> None:
    """Refuse a file that others have written; one that is not there is none.

    Raises:
        ConfigError: it is one.
        OSError: it can't be looked at.
    """
    try:
        fd = os.open(name, os.O_PATH)
    except FileNotFoundError:
        return
    with closed_at_end(fd):
        _refuse_foreign(name, fd)


def _refuse_foreign(name: str, fd: int) -> None:
    if not is_own(fd) or os.fstat(fd).st_mode & stat.S_IWOTH:
        raise ConfigError(
            f"ERROR: {name} is not read, since others than you can write it: it could run programs"
            " as you. A DAGMan that runs has its knobs in its .dagman.out"
        )


def _settings(config_file: str, path: str, opened: str) -> dict[str, str]:
    import tempfile  # late: most DAGs have no CONFIG file, and condor_submit_dag is to be quick

    with tempfile.TemporaryFile() as found, tempfile.TemporaryFile() as said:
        code = _run_child(opened, found.fileno(), said.fileno())
        said.seek(0)
        message = said.read().decode("utf-8", "backslashreplace").replace(opened, path)
        found.seek(0)
        text = found.read().decode("utf-8", "surrogateescape")
    if code == _EXCEPTION:
        reason = f"{text} ({in_bindings()})" if text else message.strip()
        raise ConfigError(f"ERROR: Can't read DAGMan config file: {config_file}: {reason}")
    if code == -signal.SIGXCPU:
        reason = "it does not come to an end; macros refer to each other in a circle"
        raise ConfigError(f"ERROR: Can't read DAGMan config file: {config_file}: {reason}")
    if code < 0:
        name = signal.Signals(-code).name
        reason = f"{name} ended the bindings, which read it; {in_bindings()}"
        raise ConfigError(f"ERROR: Can't read DAGMan config file: {config_file}: {reason}")
    if code or not text:
        raise ConfigError(_complaint(config_file, message))
    if message.strip():
        print(escaped_lines(message.strip()), file=sys.stderr)  # warnings
    return {str(name): str(value) for name, value in json.loads(text).items()}


def _run_child(path: str, found: int, said: int) -> int:
    """How a child ends that writes the settings, as JSON, and error messages: its exit code, or
    minus a signal.  The bindings end it at a mistake; with _EXCEPTION it writes what was raised."""
    child = os.fork()
    if child == 0:
        try:
            os.dup2(said, 1)
            os.dup2(said, 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (READING_CPU_S, READING_CPU_S + 1))
            text = json.dumps(_difference(path)).encode("utf-8", "surrogateescape")
            with open(found, "wb", closefd=False) as file:
                file.write(text)
            os._exit(0)
        except OSError as error:  # of the machine: a full disk
            os.ftruncate(found, 0)
            os.write(said, f"{error.strerror or error}\n".encode("utf-8", "replace"))
        except BaseException as error:
            os.ftruncate(found, 0)
            os.pwrite(found, f"{type(error).__name__}: {error}".encode("utf-8", "replace"), 0)
        finally:
            os._exit(_EXCEPTION)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _difference(path: str) -> dict[str, str]:
    before = {name: text for name, text in _all_values().items() if _survives_rewriting(name, text)}
    for name in [name for name in os.environ if name.upper().startswith("_CONDOR_")]:
        del os.environ[name]  # it is in `before`, and must not come after the CONFIG file
    known = "".join(map(_assignment, before.items()))
    _read(f"{_NO_OTHER_FILES}{known}include : {path}\n{_NO_OTHER_FILES}")
    after = _all_values()
    emptied = {name: "" for name, text in before.items() if text and name not in after}
    changed = {name: text for name, text in after.items() if text != before.get(name, text)}
    return {**changed, **emptied, **{n: t for n, t in after.items() if n not in before and t}}


def _read(text: str) -> None:
    import tempfile

    # Without a name: it may contain secrets, and the bindings exit at an error.
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.environ["CONDOR_CONFIG"] = f"/proc/self/fd/{file.fileno()}"
        htcondor2.reload_config()


def _all_values() -> dict[str, str]:
    """All values that the configuration has now, macros expanded, not evaluated."""
    names = [name for name in htcondor2.param if name not in _IGNORED_NAMES]
    texts = {}
    for name in names:
        # Bindings before 25.1 end the process at a value of the wrong type; `expanded` has no type.
        value: Any = expanded(name) if _WORD.fullmatch(name) else htcondor2.param.get(name)
        if value is not None:
            texts[name] = str(value)
    return texts


def _survives_rewriting(name: str, text: str) -> bool:
    """Whether a value that is written to a file is read back unchanged.

    The others are left out: what the CONFIG file does not set stays as it is.
    """
    if name.upper() in _IGNORED_NAMES or "$" in text or "@=" in text:
        return False
    return not any(line.rstrip().endswith("\\") for line in text.split("\n"))


def _assignment(item: tuple[str, str]) -> str:
    name, text = item
    return f"{name} @=pydagman\n{text}\n@pydagman\n" if "\n" in text else f"{name} = {text}\n"


def _complaint(config_file: str, message: str) -> str:
    """The error message: what the bindings print, with the lines it is about, without the temporary
    file."""
    said: dict[str, None] = {}
    unexplained = ""
    for line in message.splitlines():
        found = _COMPLAINT.search(line)
        if found is None:
            if not any(words in line for words in _IGNORED_LINES):
                said.setdefault(line.strip())
        elif found["what"].strip():
            said.setdefault(f"{found['file']}, line {found['line']}: {found['what'].strip()}")
        else:
            unexplained = unexplained or _unexplained_line(found["file"], int(found["line"]))
    what = "".join(f"\n       {line}" for line in said or (unexplained,) if line)
    return (
        f"ERROR: there is a mistake in the DAG's CONFIG file {config_file}:{what}\n"
        "       Write NAME = value, or what else HTCondor's configuration language knows"
    )


def _unexplained_line(path: str, number: int) -> str:
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for line in itertools.islice(file, number - 1, number):
            return f"{path}, line {number}: not understood: {line.strip()}"
    return f"{path}, line {number}: not understood"

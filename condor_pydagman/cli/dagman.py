"""condor_dagman: the scheduler-universe executable that runs a DAG.

Exit codes (the schedd acts on them): 0 done, 1 failed, 2 removed, 3 left, to be started again;
ABORT-DAG-ON may give any other.  A bug of ours ends with 4, so that the schedd starts us again and
the run recovers, instead of taking the job away.  What only a person can mend (a directory that is
gone) ends with 1, unless a run is to be recovered: starting again would not help.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from condor_pydagman import compiled
from condor_pydagman.adapters.start_turn import StartTurn, keep_limit
from condor_pydagman.daemon.sources import Signals
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import escaped_lines
from condor_pydagman.vocabulary import EXIT_RESTART, MEMORY, REASON, WAITING, WORDS

if TYPE_CHECKING:
    from condor_pydagman.adapters.outlog import OutLog
    from condor_pydagman.dagman_job.options import DagmanOptions
    from condor_pydagman.errors import UsageError

EXIT_ERROR = 1
EXIT_BUG = 4
_ERRNOS_OF_BUGS = (errno.EBADF, errno.EINVAL)

_SEE_USAGE = "To view condor_dagman usage look at <DAG File>.lib.out"
_BINDINGS_EXIT = (
    "ERROR: HTCondor's Python bindings ended the program; what they said of it is in .lib.err."
    " Most likely HTCondor's configuration has a mistake: condor_config_val -v NAME tells where a"
    " value is set"
)
_BUG = "ERROR: this is a bug in condor_pydagman; please report it:"


class Invocation(NamedTuple):
    """The command line of this process."""

    words: tuple[str, ...]  # the command line as it is shown, what is for DaemonCore left out
    options: DagmanOptions  # the parsed options; defaults after a usage error
    usage_error: UsageError | None  # what is wrong with them, None if nothing is
    started: float  # when the process started, seconds since the epoch
    turn: StartTurn  # which ends with the start of the run


def main(argv: Sequence[str] | None = None, turn: StartTurn | None = None) -> int:
    """Run the DAG that the command line names; returns the exit code."""
    started = time.time()
    signals = Signals()  # before the slow imports: condor_rm may come at once
    if MEMORY not in os.environ:  # a DAGMan that sleeps may go on with that
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # blocked while it waited for its turn
    with contextlib.suppress(Exception):  # a standard error that is closed, or no file
        faulthandler.enable()
    try:
        return _main(sys.argv[1:] if argv is None else argv, signals, started, turn or StartTurn())
    except Exception:  # whatever it is, the schedd must not take the DAG's jobs away for it
        _print(_bug_report(), error=True)
        return EXIT_BUG


def _main(argv: Sequence[str], signals: Signals, started: float, turn: StartTurn) -> int:
    from condor_pydagman.dagman_job import options as cli
    from condor_pydagman.errors import UsageError

    try:
        ours = cli.split(argv)
    except UsageError as error:
        _print(str(error), error=True)
        return EXIT_ERROR
    options, wrong = cli.DagmanOptions(), None
    try:
        options = cli.parse_dagman(argv)
    except UsageError as error:
        wrong = error
    _watch_bindings(options)
    try:
        if ours.version or options.show == "version":
            import htcondor2

            _print(f"{htcondor2.version()}\n{htcondor2.platform()}")
            if "verbose" in (word.lower().lstrip("-") for word in argv):
                _print(f"sleep: {compiled.sleep()}")
            return 0
        if MEMORY in os.environ:
            code = _go_on(options, signals)
            if code is not None:
                return code
        out = _open_log(options)
    except ImportError as error:
        return _without_bindings(error, options)
    if isinstance(out, int):
        return out
    _print("Executing condor dagman ... ")
    invocation = Invocation((sys.argv[0], *ours.rest), options, wrong, started, turn)
    return _run(lambda: _begin(invocation, out, signals), out, options)


def _go_on(options: DagmanOptions, signals: Signals) -> int | None:
    """Go on after a sleep, in which signals were blocked; returns the exit code, or None if DAGMan
    has to start anew."""
    from condor_pydagman.daemon.waiting import go_on_waiting, read_waiting

    os.environ.pop(WORDS, None)
    reason, kept = os.environ.pop(REASON, ""), os.environ.pop(MEMORY)
    waiting = read_waiting(os.environ.pop(WAITING, ""))
    if waiting is not None and reason == "deadline":
        reason = go_on_waiting(waiting)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    from condor_pydagman.daemon import wake

    memory = wake.kept_memory(kept)
    if memory is None:
        return None
    if waiting is not None:
        memory = memory._replace(cpu_s=waiting.cpu_s)
    try:
        out = wake.open_log(memory, reason)
    except OSError:
        return None  # which tells of it, and what to do
    return _run(lambda: wake.woken_loop(memory, out, signals).go_on, out, options)


def _watch_bindings(options: DagmanOptions) -> None:
    """Leave with our message and exit code where the bindings end the process: the schedd would
    start DAGMan again for ever after their 4, and take the jobs of a DAG away after their 1."""
    from condor_pydagman.adapters.bindings_exit import when_bindings_exit

    def leave(status: int) -> None:
        code = _exit_code_before_start(options)
        later = "; starting again later" if code == EXIT_RESTART else ""
        text = f"{_BINDINGS_EXIT} (exit code {status}){later}"
        _print(text, error=True)
        with contextlib.suppress(Exception):
            _say_in_log(text, code)
        os._exit(code)

    when_bindings_exit(leave)


def _without_bindings(error: ImportError, options: DagmanOptions) -> int:
    """Tell that they are missing, as while they are being replaced; returns the exit code."""
    from condor_pydagman.errors import bindings_missing, is_about_bindings

    if not is_about_bindings(error):
        raise error
    text, code = f"ERROR: {bindings_missing(error)}", _exit_code_before_start(options)
    _print(f"{text}; starting again later" if code == EXIT_RESTART else text, error=True)
    return code


def _say_in_log(text: str, code: int) -> None:
    from condor_pydagman.adapters.outlog import OutLog, log_path
    from condor_pydagman.records import banner

    out = OutLog(log_path())
    out.say(text, 0)
    out.say(banner.exit_line(os.getpid(), code), 0)
    out.flush()


def _open_log(options: DagmanOptions) -> OutLog | int:
    """Open `.dagman.out`; returns the exit code if that fails, after an error message on standard
    error (`.lib.err`)."""
    file = os.environ.get("CONDOR_CONFIG", "")
    if os.path.isabs(file) and not os.path.exists(file):
        _print(
            "File specified in CONDOR_CONFIG environment variable:\n"
            f'"{file}" does not exist.\nCorrect the variable, or put the file there.',
            error=True,
        )
        return _exit_code_before_start(options)
    from condor_pydagman.adapters.outlog import log_path
    from condor_pydagman.daemon import initialize

    try:
        os.getcwd()
    except OSError as error:
        what = f"ERROR ({error.errno}): unable to get working directory: {error.strerror}"
        text, code = _of_environment(what, error, options)
        _print(text, error=True)
        with contextlib.suppress(OSError):  # its path may be relative to that directory
            _say_in_log(text, code)
        return code
    try:
        return initialize.open_log()
    except OSError as error:
        what = f"ERROR \"Cannot open log file '{log_path()}'\": {error.strerror}"
        text, code = _of_environment(what, error, options)
        _print(text, error=True)
        return code


def _of_environment(text: str, error: OSError, options: DagmanOptions) -> tuple[str, int]:
    """Message and exit code for an error that is no bug of ours."""
    from condor_pydagman.errors import is_machine_error

    code = EXIT_RESTART if is_machine_error(error) else _exit_code_before_start(options)
    return (f"{text}; starting again later" if code == EXIT_RESTART else text), code


def _run(begin: Callable[[], Callable[[], int] | int], out: OutLog, options: DagmanOptions) -> int:
    """Run the DAG, with all errors logged; returns the exit code."""
    from condor_pydagman.daemon.dag_input import CannotStart
    from condor_pydagman.errors import ConfigError, UsageError
    from condor_pydagman.records import banner

    try:
        begun = begin()
        if callable(begun):
            return begun()
        code = begun
    except UsageError as error:
        code = _report_usage_error(str(error), out)
    except ConfigError as error:
        out.say(str(error), 0)
        _print(str(error), error=True)
        code = _exit_code_before_start(options)
    except CannotStart as error:
        out.say(str(error), 0)
        code = error.code
    except Exception as error:  # any error must reach the log
        text, code = _unexpected_error(error, options)
        out.say(text, 0)
        _print(text, error=True)
    out.say(banner.exit_line(os.getpid(), code), 0)
    out.flush()
    return code


def _begin(invocation: Invocation, out: OutLog, signals: Signals) -> Callable[[], int] | int:
    """Prepare the run; returns what runs it, or the exit code if there is nothing to run.

    Raises:
        UsageError, ConfigError, CannotStart: the DAG can't be run.
    """
    from condor_pydagman.daemon import initialize, startup
    from condor_pydagman.daemon.loop import Loop
    from condor_pydagman.daemon.sources import make_sources
    from condor_pydagman.records import banner

    options = invocation.options
    settings = initialize.configure(options, out)
    keep_limit(settings.admin.max_starts)
    for line in banner.argument_lines(invocation.words):
        out.say(line, 0)
    if invocation.usage_error is not None:
        raise invocation.usage_error
    if options.show == "help":
        return _report_usage_error("", out)
    if options.wait_for_debug:
        _wait_for_debugger(out)
    if options.dot:
        from condor_pydagman.daemon.status_files import draw

        return draw(settings.options, settings.config, startup.plan(settings, out).paths, out)
    run = startup.prepare(settings, out, invocation.started, lambda: signals.have_come)
    if options.setup_only:
        return startup.set_up(run)
    return Loop(run, make_sources(run, signals)._replace(end_turn=invocation.turn.end)).run_to_end


def _unexpected_error(error: Exception, options: DagmanOptions) -> tuple[str, int]:
    """Message and exit code for an unexpected exception.

    Of a run that has begun it must not be 0, 1 or 2: the schedd would take the DAG's jobs away.
    """
    if isinstance(error, OSError) and error.errno not in _ERRNOS_OF_BUGS:
        return _of_environment(f"ERROR: {error}", error, options)
    if isinstance(error, MemoryError):
        return "ERROR: there is too little memory; starting again later", EXIT_RESTART
    return _bug_report(), EXIT_BUG


def _bug_report() -> str:
    """The message for the exception that is being handled."""
    error = sys.exc_info()[1]
    try:
        import traceback  # late: rarely needed

        return f"{_BUG}\n{traceback.format_exc().rstrip()}"
    except Exception:  # no memory, no descriptor to read it with
        return f"{_BUG}\n{error!r}"


def _report_usage_error(message: str, out: OutLog) -> int:
    """A wrong command line: the usage goes to standard output, `.lib.out` of a job."""
    from condor_pydagman.dagman_job.options import dagman_usage

    if message:
        out.say(message, 0)
        _print(message, error=True)
    out.say(_SEE_USAGE, 0)
    _print(dagman_usage())
    return EXIT_ERROR


def _wait_for_debugger(out: OutLog) -> None:
    """-WaitForDebug: stop until a debugger or user sends SIGCONT."""
    out.say(f"Waiting for a debugger: process {os.getpid()} stops until it gets SIGCONT", 0)
    out.flush()
    os.kill(os.getpid(), signal.SIGSTOP)


def _exit_code_before_start(options: DagmanOptions) -> int:
    """The exit code for an error before the DAG has begun: a run that is to be recovered must not
    lose its jobs because of a full disk or a mistake in the configuration."""
    if not options.dag_files:
        return EXIT_ERROR
    try:
        begun = os.lstat(options.lockfile or options.paths().lock).st_size > 0
    except OSError as error:  # another error tells nothing of whether it is there
        begun = error.errno not in (errno.ENOENT, errno.ENOTDIR)
    return EXIT_RESTART if begun else EXIT_ERROR


def _print(text: str, *, error: bool = False) -> None:
    with contextlib.suppress(OSError, ValueError):  # a full disk, or no standard output
        print(escaped_lines(text), file=sys.stderr if error else sys.stdout, flush=True)


def run_and_leave(turn: StartTurn | None = None) -> NoReturn:
    """The command.  It exits without Python's cleanup: the lock file is gone by then, and a process
    killed while Python frees a million nodes would be started again by the schedd."""
    gc.disable()  # what is loaded is no garbage; to read the DAG turns it on again
    code = main(turn=turn)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run_and_leave()

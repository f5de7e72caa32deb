"""condor_dagman: the scheduler-universe executable that runs a DAG.

Exit codes (the schedd acts on them): 0 done, 1 failed, 2 removed, 3 left, to be started again;
ABORT-DAG-ON may give any other.  A bug of ours ends with 4, so that the schedd starts us again and
the run recovers, instead of taking the job away.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from condor_pydagman.daemon.signals import Signals

if TYPE_CHECKING:
    from condor_pydagman.adapters.outlog import OutLog
    from condor_pydagman.cli.options import DagmanOptions
    from condor_pydagman.daemon.run import Run
    from condor_pydagman.errors import UsageError

EXIT_ERROR = 1
EXIT_LEAVE = 3
EXIT_BUG = 4

_SEE_USAGE = "To view condor_dagman usage look at <DAG File>.lib.out"
_BUG = "ERROR: this is a bug in condor_pydagman; please report it:"


class Invocation(NamedTuple):
    """How we were called.

    Attributes:
        words: the command line as it is shown, what is for DaemonCore left out.
        options: what they mean; nothing, if they are wrong.
        wrong: what is wrong with them.
        started: when the process started, seconds since the epoch.
    """

    words: tuple[str, ...]
    options: DagmanOptions
    wrong: UsageError | None
    started: float


def main(argv: Sequence[str] | None = None) -> int:
    """Run the DAG that the command line names; returns the exit code."""
    started = time.time()
    signals = Signals()  # before the slow imports: condor_rm may come at once
    with contextlib.suppress(Exception):  # a standard error that is closed, or no file
        faulthandler.enable()
    try:
        return _main(sys.argv[1:] if argv is None else argv, signals, started)
    except Exception:  # whatever it is, the schedd must not take the DAG's jobs away for it
        _complain(_story_of_bug())
        return EXIT_BUG


def _main(argv: Sequence[str], signals: Signals, started: float) -> int:
    from condor_pydagman.cli import daemon_core
    from condor_pydagman.cli import options as cli
    from condor_pydagman.errors import UsageError

    try:
        ours = daemon_core.split(argv)
    except UsageError as error:
        _complain(str(error))
        return EXIT_ERROR
    options, wrong = cli.DagmanOptions(), None
    try:
        options = cli.parse_dagman(argv)
    except UsageError as error:
        wrong = error
    if ours.version or options.show == "version":
        _print_version()
        return 0
    out = _open_log(options)
    if isinstance(out, int):
        return out
    _tell("Executing condor dagman ... ")
    return _run(Invocation((sys.argv[0], *ours.rest), options, wrong, started), out, signals)


def _print_version() -> None:
    import htcondor2

    _tell(f"{htcondor2.version()}\n{htcondor2.platform()}")


def _open_log(options: DagmanOptions) -> OutLog | int:
    """The log; the exit code if there can be none, which has been said then: `.lib.err` is the one
    place where it can be read."""
    file = os.environ.get("CONDOR_CONFIG", "")
    if os.path.isabs(file) and not os.path.exists(file):
        _complain(
            "File specified in CONDOR_CONFIG environment variable:\n"
            f'"{file}" does not exist.\nCorrect the variable, or put the file there.'
        )
        return _early_end(options)
    from condor_pydagman.daemon import opening
    from condor_pydagman.errors import is_of_the_machine

    try:
        return opening.open_log()
    except OSError as error:
        code = EXIT_LEAVE if is_of_the_machine(error) else _early_end(options)
        later = "; starting again later" if code == EXIT_LEAVE else ""
        path = opening.log_path()
        _complain(f"ERROR \"Cannot open log file '{path}'\": {error.strerror}{later}")
        return code


def _run(invocation: Invocation, out: OutLog, signals: Signals) -> int:
    """Everything that has a log to tell of it; returns the exit code."""
    from condor_pydagman.daemon.dag_input import CannotStart
    from condor_pydagman.daemon.loop import Loop
    from condor_pydagman.errors import ConfigError, UsageError
    from condor_pydagman.records import banner

    try:
        run = _begin(invocation, out)
        if not isinstance(run, int):
            return Loop(run, signals).until_end()
        code = run
    except UsageError as error:
        code = _misused(str(error), out)
    except ConfigError as error:
        out.say(str(error), 0)
        _complain(str(error))
        code = _early_end(invocation.options)
    except CannotStart as error:
        out.say(str(error), 0)
        code = error.code
    except Exception as error:  # the last resort: whatever it is must reach the log
        text, code = _mishap(error)
        out.say(text, 0)
        _complain(text)
    out.say(banner.exit_line(os.getpid(), code), 0)
    out.flush()
    return code


def _begin(invocation: Invocation, out: OutLog) -> Run | int:
    """The run that is to be gone through; or the exit code, if there is none.

    Raises:
        UsageError, ConfigError, CannotStart: there can be none.
    """
    from condor_pydagman.daemon import opening, startup, trial
    from condor_pydagman.records import banner

    options = invocation.options
    settings = opening.configure(options, out)
    for line in banner.argument_lines(invocation.words):
        out.say(line, 0)
    if invocation.wrong is not None:
        raise invocation.wrong
    if options.show == "help":
        return _misused("", out)
    if options.wait_for_debug:
        _wait_for_debugger(out)
    if options.dot:
        return trial.draw(options, settings, out)
    run = startup.prepare(options, settings.config, settings.admin, out, invocation.started)
    return trial.set_up(run) if options.setup_only else run


def _mishap(error: Exception) -> tuple[str, int]:
    """What to say of an exception that nobody has expected there, and the exit code.

    It must not be 0, 1 or 2: the schedd would take the DAG's jobs away.
    """
    from condor_pydagman.errors import is_of_the_machine

    if isinstance(error, OSError) and is_of_the_machine(error):
        text = f"ERROR: {error}; DAGMan leaves; started again, it recovers from its nodes log"
        return text, EXIT_LEAVE
    return _story_of_bug(), EXIT_BUG


def _story_of_bug() -> str:
    """What is to be said of the exception that is being handled."""
    error = sys.exc_info()[1]
    try:
        import traceback  # late: nobody should need it

        return f"{_BUG}\n{traceback.format_exc().rstrip()}"
    except Exception:  # no memory, no descriptor to read it with
        return f"{_BUG}\n{error!r}"


def _misused(message: str, out: OutLog) -> int:
    """A wrong command line: the usage goes to standard output, `.lib.out` of a job."""
    from condor_pydagman.cli.option_table import dagman_usage

    if message:
        out.say(message, 0)
        _complain(message)
    out.say(_SEE_USAGE, 0)
    _tell(dagman_usage())
    return EXIT_ERROR


def _wait_for_debugger(out: OutLog) -> None:
    """-WaitForDebug: stop until a debugger, or somebody else, sends SIGCONT."""
    out.say(f"Waiting for a debugger: process {os.getpid()} stops until it gets SIGCONT", 0)
    out.flush()
    os.kill(os.getpid(), signal.SIGSTOP)


def _early_end(options: DagmanOptions) -> int:
    """Before the DAG has begun an error ends it; one that is to be recovered must not lose its
    jobs over a full disk or a slip in the configuration."""
    if not options.dag_files:
        return EXIT_ERROR
    try:
        begun = os.lstat(options.lockfile or options.paths().lock).st_size > 0
    except OSError:
        begun = False
    return EXIT_LEAVE if begun else EXIT_ERROR


def _tell(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # a full disk, or no standard output
        print(text, flush=True)


def _complain(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def run_and_leave() -> NoReturn:
    """The command.  The lock file is gone by then, so the process must not linger: one that is
    killed while Python takes a million nodes apart would be started again by the schedd."""
    gc.disable()  # what is loaded is no garbage; to read the DAG turns it on again
    code = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run_and_leave()

"""condor_dagman: the scheduler-universe executable that runs a DAG.

Exit codes (the schedd acts on them): 0 done, 1 failed, 2 removed, 3 left, to be started again;
ABORT-DAG-ON may give any other.  A bug of ours ends with 4, so that the schedd starts us again and
the run recovers, instead of taking the job away.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from condor_pydagman.daemon.signals import Signals

if TYPE_CHECKING:
    from condor_pydagman.cli.options import DagmanOptions

EXIT_ERROR = 1
EXIT_LEAVE = 3
EXIT_BUG = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run the DAG that the command line names; returns the exit code."""
    started = time.time()
    signals = Signals()  # before the slow imports: condor_rm may come at once
    try:
        return _main(sys.argv[1:] if argv is None else argv, signals, started)
    except Exception:  # whatever it is, the schedd must not take the DAG's jobs away for it
        with contextlib.suppress(OSError):
            traceback.print_exc()
        return EXIT_BUG


def _main(argv: Sequence[str], signals: Signals, started: float) -> int:
    from condor_pydagman.cli import options as cli
    from condor_pydagman.errors import UsageError

    try:
        options = cli.parse_dagman(argv)
    except UsageError as error:
        print(error, file=sys.stderr)
        print(cli.dagman_usage())
        return EXIT_ERROR
    if options.show == "help":
        print(cli.dagman_usage())
        return 0
    if options.show == "version":
        _print_version()
        return 0
    with contextlib.suppress(OSError):  # a full disk
        print("Executing condor dagman ... ", flush=True)
    return _run(options, signals, started)


def _print_version() -> None:
    import htcondor2

    print(htcondor2.version())
    print(htcondor2.platform())


def _run(options: DagmanOptions, signals: Signals, started: float) -> int:
    from condor_pydagman.adapters import knobs
    from condor_pydagman.daemon import dag_input, startup
    from condor_pydagman.daemon.loop import Loop
    from condor_pydagman.errors import PydagmanError
    from condor_pydagman.records import banner

    try:
        admin = knobs.load("")
        file = os.environ.get("_CONDOR_DAGMAN_CONFIG_FILE", "")
        config = knobs.load(file) if file else admin
        config = startup.with_options(config, options)
        out = startup.open_log(options, config)
    except (PydagmanError, OSError) as error:
        print(error, file=sys.stderr)
        return _early_end(options)
    try:
        for line in banner.argument_lines(sys.argv):
            out.say(line)
        if not options.dot:
            run = startup.prepare(options, config, admin, out, started)
            return Loop(run, signals).until_end()
        dag_input.write_dot(options, config, out)
        code = 0
    except dag_input.CannotStart as error:
        out.say(str(error), 0)
        code = error.code
    except Exception:  # the last resort: whatever it is must reach the log
        out.say("ERROR: this is a bug in condor_pydagman; please report it:", 0)
        out.say(traceback.format_exc().rstrip(), 0)
        code = EXIT_BUG
    out.say(banner.exit_line(os.getpid(), code), 0)
    out.flush()
    return code


def _early_end(options: DagmanOptions) -> int:
    """Before the DAG has begun an error ends it; one that is to be recovered must not lose its
    jobs over a full disk or a slip in the configuration."""
    lock = options.lockfile or options.paths().lock
    return EXIT_LEAVE if os.path.lexists(lock) else EXIT_ERROR


def run_and_leave() -> NoReturn:
    """The command.  The lock file is gone by then, so the process must not linger: one that is
    killed while Python takes a million nodes apart would be started again by the schedd."""
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run_and_leave()

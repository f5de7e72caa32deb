"""condor_dagman: the scheduler-universe executable that runs a DAG.

Exit codes (the schedd acts on them): 0 done, 1 failed, 2 removed, 3 left, to be started again;
ABORT-DAG-ON may give any other.  A bug of ours ends with 4, so that the schedd starts us again and
the run recovers, instead of taking the job away.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Sequence

from condor_pydagman.daemon.signals import Signals

EXIT_BUG = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run the DAG that the command line names; returns the exit code."""
    started = time.time()
    signals = Signals()  # before the slow imports: condor_rm may come at once
    from condor_pydagman.cli import options as cli
    from condor_pydagman.errors import UsageError

    try:
        options = cli.parse_dagman(sys.argv[1:] if argv is None else argv)
    except UsageError as error:
        print(error, file=sys.stderr)
        print(cli.dagman_usage())
        return 1
    if options.show == "help":
        print(cli.dagman_usage())
        return 0
    if options.show == "version":
        _print_version()
        return 0
    print("Executing condor dagman ... ", flush=True)
    return _run(options, signals, started)


def _print_version() -> None:
    import htcondor2

    print(htcondor2.version())
    print(htcondor2.platform())


def _run(options, signals: Signals, started: float) -> int:  # type: ignore[no-untyped-def]
    import os

    from condor_pydagman.adapters import knobs
    from condor_pydagman.daemon import startup
    from condor_pydagman.daemon.loop import Loop
    from condor_pydagman.errors import PydagmanError
    from condor_pydagman.records import banner

    try:
        config = knobs.load(os.environ.get("_CONDOR_DAGMAN_CONFIG_FILE", ""))
        config = startup.with_options(config, options)
        out = startup.open_log(options, config, started)
    except (PydagmanError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    try:
        for line in banner.argument_lines(sys.argv):
            out.say(line)
        return Loop(startup.prepare(options, config, out, started), signals).until_end()
    except startup.CannotStart as error:
        out.say(str(error), 0)
        code = error.code
    except Exception:  # the last resort: whatever it is must reach the log
        out.say("ERROR: this is a bug in condor_pydagman; please report it:", 0)
        out.say(traceback.format_exc().rstrip(), 0)
        code = EXIT_BUG
    out.say(banner.exit_line(os.getpid(), code), 0)
    out.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())

"""The files of earlier runs that condor_submit_dag finds before it writes its own.

Source: manual, "Rescue DAGs", and what stock condor_submit_dag prints.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from condor_pydagman.adapters.files import living_holder, rename_rescue_file, rescue_numbers
from condor_pydagman.dagman_job.options import SubmitOptions
from condor_pydagman.dagman_job.output import Output
from condor_pydagman.errors import FileError
from condor_pydagman.names import DagPaths

if TYPE_CHECKING:
    from condor_pydagman.config import Config

_HINT = """\

Some file(s) needed by condor_dagman already exist. Either:
- Rename them
- Use the "-f" option to force them to be overwritten
\tor
- Use the "-update_submit" option to update the submit file and continue.
"""
_OLD_RESCUE = """\
\tYou may want to resubmit your DAG using that file, instead of "{dag}"
\tLook at the HTCondor manual for details about DAG rescue files.
\tPlease investigate and either remove "{rescue}",
\tor use it as the input to condor_submit_dag.
"""


def refuse_running(paths: DagPaths) -> None:
    """Refuse to prepare a DAG whose DAGMan is running: that would delete its files.

    Raises:
        FileError: it does; the message names its job.
    """
    holder = living_holder(paths.lock)
    if holder is None:
        return
    who, stop = "its lock file is held", "stop it"
    if holder.cluster:
        who, stop = f"as job {holder.cluster}", f"remove it with `condor_rm {holder.cluster}`"
    elif holder.pid > 0:
        who, stop = f"as process {holder.pid}", f"stop it with `kill {holder.pid}`"
    raise FileError(
        f"ERROR: DAGMan is running {paths.primary} ({who}; see {paths.lock})\n"
        "       Nothing has been changed or submitted. Wait until it has ended, or\n"
        f"       {stop}, then submit the DAG again."
    )


def clear_old_files(
    options: SubmitOptions, paths: DagPaths, config: Config, output: Output
) -> None:
    """Deal with the files of earlier runs, as the options say, before `.condor.sub` is written.

    `options.auto_rescue` must have been filled in.

    Raises:
        FileError: a file is in the way, is missing, or can't be removed or renamed.
    """
    number = options.do_rescue_from
    if number and not os.path.exists(paths.rescue(number)):
        raise FileError(
            f"ERROR: -dorescuefrom {number} specified, but rescue DAG file "
            f"{paths.rescue(number)} does not exist!"
        )
    highest = config.max_rescue_num
    asked = options.auto_rescue and not options.force
    if not (asked and _announce_rescue(options, paths, highest, output)):
        _refuse_existing(options, paths)
    _delete(paths.halt)
    if options.force:
        for name in (paths.condor_sub, paths.dagman_log, paths.lib_out, paths.lib_err):
            _delete(name)
        _set_rescue_files_aside(paths, highest, output)


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        reason = f"({error.errno}): {error.strerror}"
        raise FileError(f"ERROR: Failed to unlink file {path} {reason}") from None


def _set_rescue_files_aside(paths: DagPaths, highest: int, output: Output) -> None:
    """Rename all rescue files to `.old`; numbers that are missing are passed over."""
    output.err("Renaming rescue DAGs newer than number 0")
    for number in sorted(rescue_numbers(paths)):
        name = paths.rescue(number)
        if number > highest:
            continue
        output.err(f"Renaming {name}")
        rename_rescue_file(name)


def _announce_rescue(options: SubmitOptions, paths: DagPaths, highest: int, output: Output) -> bool:
    """Say which rescue file condor_dagman will run from; whether there is one."""
    numbers = sorted(number for number in rescue_numbers(paths) if 1 <= number <= highest)
    last = numbers[-1] if numbers else 0
    if last and (options.rescue_file or options.load_save):
        return True
    for number in numbers:
        if number > 1 and number - 1 not in numbers:
            missing = f"but not rescue DAG number {number - 1}"
            output.out(f"Warning: Found rescue DAG number {number}, {missing}")
    if last >= highest:
        output.out(f"Warning: Hit maximum rescue DAG number: {highest}")
    if last:
        output.out(f"Running rescue DAG {options.do_rescue_from or last}")
    return bool(last)


def _refuse_existing(options: SubmitOptions, paths: DagPaths) -> None:
    lines = []
    chosen = options.do_rescue_from or options.rescue_file or options.load_save
    if not chosen and not options.update_submit and not options.force:
        for name in (paths.condor_sub, paths.lib_out, paths.lib_err, paths.dagman_log):
            if os.path.lexists(name):
                lines.append(f'ERROR: "{name}" already exists.\n')
    old_rescue = paths.primary + ".rescue"
    if not options.auto_rescue and not options.do_rescue_from and os.path.exists(old_rescue):
        lines.append(f'ERROR: "{old_rescue}" already exists.\n')
        lines.append(_OLD_RESCUE.format(dag=paths.primary, rescue=old_rescue))
    if lines:
        raise FileError("".join(lines) + _HINT.rstrip("\n"))

"""The files that condor_submit_dag finds before it writes one: DAG files and those of earlier runs.

Source: manual, "File Paths in DAGs" and "Rescue DAGs", and what stock condor_submit_dag prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from condor_pydagman.adapters.files import read_text, rescue_numbers
from condor_pydagman.cli.options import SubmitOptions
from condor_pydagman.config import Config
from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.parser import manager_commands
from condor_pydagman.errors import ConfigError, FileError
from condor_pydagman.names import DagPaths

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


class Voice(NamedTuple):
    """Where lines go that stock condor_submit_dag prints: its standard output, its errors."""

    out: Callable[[str], None]
    err: Callable[[str], None]


@dataclass(frozen=True)
class ManagerFacts:
    """What the DAG files say about the DAGMan job itself.

    Attributes:
        config_file: absolute path of the DAG's configuration file, '' for none.
        job_attributes: raw `key = value` of the SET_JOB_ATTR commands.
        insert_env: raw variables of the ENV SET commands.
        include_env: raw variables of the ENV GET commands.
    """

    config_file: str
    job_attributes: tuple[str, ...] = ()
    insert_env: tuple[str, ...] = ()
    include_env: tuple[str, ...] = ()


def read_dag_files(options: SubmitOptions) -> ManagerFacts:
    """Read the CONFIG, SET_JOB_ATTR and ENV commands of all DAG files of the command line.

    Raises:
        FileError: a DAG file can't be read.
        DagFileError: a line is wrong, see `dagfile.parser.manager_commands`.
        ConfigError: more than one configuration file is named.
    """
    configs: list[str] = []
    attributes: list[str] = []
    env: dict[bool, list[str]] = {True: [], False: []}
    for path in options.dag_files:
        text = read_dag(path)
        for command in manager_commands(text, path):
            if isinstance(command, commands.ConfigFile):
                name = _config_path(command.file, path if options.use_dag_dir else "")
                configs += [name] if name not in configs else []
            elif isinstance(command, commands.SetJobAttr):
                attributes.append(command.attribute)
            elif isinstance(command, commands.Env):
                raw = command.variables
                env[command.set].append(raw if command.set else _comma_separated(raw))
    config = _one_config(_config_path(options.config, "") if options.config else "", configs)
    return ManagerFacts(config, tuple(attributes), tuple(env[True]), tuple(env[False]))


def make_way(options: SubmitOptions, paths: DagPaths, config: Config, voice: Voice) -> None:
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
    _delete(paths.halt)
    if options.force:
        for name in (paths.condor_sub, paths.dagman_log, paths.lib_out, paths.lib_err):
            _delete(name)
        _set_rescue_files_aside(paths, config.max_rescue_num, voice)
    if options.auto_rescue and _announce_rescue(options, paths, config.max_rescue_num, voice):
        return
    _refuse_existing(options, paths)


def read_dag(path: str) -> str:
    """The text of a DAG file.

    Raises:
        FileError: the message is stock's, and names the file.
    """
    prefix = "ERROR: "
    if not path:
        raise FileError(prefix + "No file path provided")
    if not os.path.exists(path):
        raise FileError(f"{prefix}Provided file path does not exist: {path}")
    if os.path.isdir(path):
        raise FileError(f"{prefix}Provided file path is not a file: {path}")
    try:
        return read_text(path)
    except FileError:
        raise FileError(f"{prefix}Provided file path is not a file: {path}") from None
    except OSError as error:
        raise FileError(f"{prefix}Failed to open file: {path}: {error.strerror}") from None


def _comma_separated(names: str) -> str:
    return ",".join(names.replace(",", " ").split())


def _config_path(name: str, dag: str) -> str:
    """Absolute path of a configuration file; relative ones start at the cwd or at `dag`'s place.

    Not normalised: stock compares and passes on the paths as they are written.
    """
    return os.path.join(os.getcwd(), os.path.dirname(dag), name)


def _one_config(given: str, found: list[str]) -> str:
    if len(found) > 1:
        raise ConfigError(
            f"ERROR: Multiple ({len(found)}) configuration files provided. "
            f"CONFIG lines name {' and '.join(found)}; only one can be used"
        )
    if given and found and given != found[0]:
        raise ConfigError(
            f"ERROR: Conflicting DAGMan config files specified: {given} and {found[0]}"
        )
    return given or "".join(found)


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise FileError(f"ERROR: can't remove {path}: {error.strerror}") from None


def _set_rescue_files_aside(paths: DagPaths, highest: int, voice: Voice) -> None:
    """Rename all rescue files to `.old`; numbers that are missing are passed over."""
    voice.err("Renaming rescue DAGs newer than number 0")
    for number in sorted(rescue_numbers(paths)):
        name = paths.rescue(number)
        if number > highest:
            continue
        voice.err(f"Renaming {name}")
        try:
            os.replace(name, name + ".old")
        except OSError as error:
            raise FileError(
                f"ERROR: unable to rename old rescue file {name}: {error.strerror}"
            ) from None


def _announce_rescue(options: SubmitOptions, paths: DagPaths, highest: int, voice: Voice) -> bool:
    """Say which rescue file condor_dagman will run from; whether there is one."""
    numbers = sorted(number for number in rescue_numbers(paths) if 1 <= number <= highest)
    if not numbers:
        return False
    last, previous = numbers[-1], [0, *numbers][-2]
    if options.rescue_file or options.load_save:
        return True
    if previous != last - 1:
        voice.out(f"Warning: Found rescue DAG number {last}, but not rescue DAG number {last - 1}")
    if last >= highest:
        voice.out(f"Warning: Hit maximum rescue DAG number: {highest}")
    voice.out(f"Running rescue DAG {options.do_rescue_from or last}")
    return True


def _refuse_existing(options: SubmitOptions, paths: DagPaths) -> None:
    lines = []
    chosen = options.do_rescue_from or options.rescue_file or options.load_save
    if not chosen and not options.update_submit:
        for name in (paths.condor_sub, paths.lib_out, paths.lib_err, paths.dagman_log):
            if os.path.exists(name):
                lines.append(f'ERROR: "{name}" already exists.\n')
    old_rescue = paths.primary + ".rescue"
    if not options.auto_rescue and not options.do_rescue_from and os.path.exists(old_rescue):
        lines.append(f'ERROR: "{old_rescue}" already exists.\n')
        lines.append(_OLD_RESCUE.format(dag=paths.primary, rescue=old_rescue))
    if lines:
        raise FileError("".join(lines) + _HINT.rstrip("\n"))

"""What DAG files say about the DAGMan job itself: the commands CONFIG, SET_JOB_ATTR and ENV.

Source: manual, "File Paths in DAGs" and condor_submit_dag(1), and what stock condor_submit_dag
prints.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from condor_pydagman.adapters.files import read_text
from condor_pydagman.dagman_job.options import SubmitOptions
from condor_pydagman.errors import ConfigError, FileError
from condor_pydagman.language.keywords import concerns_submit_dag
from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from condor_pydagman.language.commands import Command


class ManagerFacts(NamedTuple):
    """What the DAG files say about the DAGMan job itself."""

    config_file: str  # absolute path of the DAG's configuration file, '' for none
    job_attributes: tuple[str, ...] = ()  # raw `key = value` of the SET_JOB_ATTR commands
    insert_env: tuple[str, ...] = ()  # raw variables of the ENV SET commands
    include_env: tuple[str, ...] = ()  # raw variables of the ENV GET commands


def read_dag_files(options: SubmitOptions) -> ManagerFacts:
    """Read the CONFIG, SET_JOB_ATTR and ENV commands of all DAG files of the command line.

    Raises:
        FileError: a DAG file can't be read.
        DagFileError: a line is wrong, see `language.parser.manager_commands`.
        ConfigError: more than one configuration file is named.
    """
    configs: list[str] = []
    attributes: list[str] = []
    env: dict[bool, list[str]] = {True: [], False: []}
    for path in options.dag_files:
        for command in _manager_commands(read_dag(path), path):
            from condor_pydagman.language import commands

            if isinstance(command, commands.ConfigFile):
                name = _config_path(command.file, path if options.use_dag_dir else "")
                configs += [name] if name not in configs else []
            elif isinstance(command, commands.SetJobAttr):
                attributes.append(command.attribute)
            elif isinstance(command, commands.Env):
                raw = command.variables
                env[command.set].append(
                    raw if command.set else ",".join(raw.replace(",", " ").split())
                )
    config = _one_config(_config_path(options.config, "") if options.config else "", configs)
    return ManagerFacts(config, tuple(attributes), tuple(env[True]), tuple(env[False]))


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


_MAX_SCANNED_LENGTH = 1 << 20


def _manager_commands(text: str, path: str) -> Sequence[Command]:
    """As `manager_commands`, which takes longer to import than most DAG files take to be read."""
    if len(text) < _MAX_SCANNED_LENGTH and not concerns_submit_dag(text):
        return ()
    from condor_pydagman.language.parser import manager_commands

    return manager_commands(text, path)


def _config_path(name: str, dag: str) -> str:
    """Absolute path of a configuration file; relative ones start at the cwd or at `dag`'s place.

    The name itself is not normalised: stock compares and passes it on as it is written.
    """
    return os.path.join(os.path.realpath(os.path.dirname(dag)), name)


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

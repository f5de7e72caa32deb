"""Settings of data placement: the knobs, as the worker needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from condor_pydagman.config import Config
from condor_pydagman.data_requests.units import read_size
from condor_pydagman.errors import ConfigError
from condor_pydagman.named_tuple import NamedTuple

Value = TypeVar("Value")
MODULE, DIRECT, GFAL, PLUGIN, CACHE = WAYS = ("module", "direct", "gfal", "plugin", "cache")


class Settings(NamedTuple):
    """Values in force; docs/data-placement.md has the knobs."""

    ways: tuple[str, ...] = WAYS  # which ways are looked at, in order
    module_directories: tuple[str, ...] = ()  # where the site's modules are
    # paths of HTCondor's file-transfer plugins (FILETRANSFER_PLUGINS)
    plugins: tuple[str, ...] = ()
    # shared by all users of the access point: turns, rests, ledgers; '' for one in /var/tmp
    directory: str = ""
    # at once, over all users; 0 is no limit. `limits` names hosts and protocols with limits of
    # their own, as (name, limit).
    max_transfers: int = 10
    max_per_host: int = 0
    max_per_protocol: int = 0
    limits: tuple[tuple[str, int], ...] = ()
    max_streams: int = 4  # placements of one request file at once
    # of one placement, after transient faults
    max_retries: int = 10
    first_delay_s: float = 1
    max_delay_s: float = 600
    # a connection without data for so long is broken off
    connect_timeout_s: float = 20
    stall_timeout_s: float = 60
    # to which an http server may redirect uploads, beside its own
    redirect_hosts: tuple[str, ...] = ()
    module_timeout_s: float = 86400  # a module or plugin that takes longer is killed; 0 is no limit
    host_rest_s: float = 10  # for how long a host that fails is left alone, at first
    # for transfers in two steps; '' for a directory in /var/tmp
    cache_directory: str = ""
    cache_bytes: int = 10 * 1024**3
    capacities: tuple[tuple[str, int], ...] = ()  # (destination, bytes) of allocations
    synchronize: bool = False  # whether files are on the disk before a placement counts as done


PLUGINS, LIBEXEC = "FILETRANSFER_PLUGINS", "LIBEXEC"


def settings_of(config: Config, lookup: Callable[[str], str | None]) -> Settings:
    """The settings of a worker.

    Args:
        config: knobs of DAGMan.
        lookup: gives a value of HTCondor's configuration, None if it is not set.

    Raises:
        ConfigError: a list or a size can't be read; the message names the knob.
    """
    modules = config.placement_modules or lookup(LIBEXEC) or ""
    return Settings(
        ways=_read("PYDAGMAN_PLACEMENT_WAYS", config.placement_ways, read_ways),
        module_directories=tuple(_words(modules)),
        plugins=tuple(_words(lookup(PLUGINS) or "")),
        directory=config.placement_dir,
        max_transfers=config.placement_max,
        max_per_host=config.placement_max_per_host,
        max_per_protocol=config.placement_max_per_protocol,
        limits=tuple(_pairs("PYDAGMAN_PLACEMENT_LIMITS", config.placement_limits, int)),
        max_streams=config.placement_streams,
        max_retries=config.placement_max_retries,
        first_delay_s=config.placement_first_delay,
        max_delay_s=config.placement_max_delay,
        connect_timeout_s=config.placement_connect_timeout,
        stall_timeout_s=config.placement_stall_timeout,
        module_timeout_s=config.placement_module_timeout,
        host_rest_s=config.placement_host_rest,
        cache_directory=config.placement_cache_dir,
        cache_bytes=_read("PYDAGMAN_PLACEMENT_CACHE_SIZE", config.placement_cache_size, read_size),
        capacities=tuple(
            _pairs("PYDAGMAN_PLACEMENT_CAPACITY", config.placement_capacity, read_size)
        ),
        synchronize=config.placement_fsync,
    )


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def read_ways(text: str) -> tuple[str, ...]:
    """Names of ways.

    Raises:
        ValueError: one is not known, or there is none.
    """
    words = tuple(text.lower().replace(",", " ").split())
    wrong = [word for word in words if word not in WAYS]
    if wrong or not words:
        raise ValueError(f"{text!r} is not made of {', '.join(WAYS)}")
    return words


def _read(knob: str, text: str, read: Callable[[str], Value]) -> Value:
    try:
        return read(text)
    except ValueError as error:
        raise ConfigError(f"{knob}: {error}") from None


def _pairs(knob: str, text: str, read: Callable[[str], int]) -> Iterable[tuple[str, int]]:
    """`name=value` pairs; commas separate, since a size may have a blank."""
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, mark, value = part.rpartition("=")
        try:
            if not (mark and name.strip()):
                raise ValueError(f"{part!r} is not like name=value")
            number = read(value.strip())
            if number < 0:
                raise ValueError(f"{value.strip()!r} is negative")
        except ValueError as error:
            raise ConfigError(f"{knob}: {error}") from None
        yield name.strip(), number

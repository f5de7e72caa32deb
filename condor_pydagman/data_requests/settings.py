"""Settings of data placement: the knobs, as the worker needs them."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple

MODULE, DIRECT, PLUGIN, CACHE = WAYS = ("module", "direct", "plugin", "cache")


class Settings(NamedTuple):
    """Values in force; docs/data-placement.md has the knobs.

    Attributes:
        ways: which ways are looked at, in order.
        module_directories: where the site's modules are.
        plugins: paths of HTCondor's file-transfer plugins (FILETRANSFER_PLUGINS).
        directory: shared by all users of the access point: turns, rests, ledgers; '' for one in
            /var/tmp.
        max_transfers, max_per_host, max_per_protocol: at once, over all users; 0 is no limit.
            `limits` names hosts and protocols with limits of their own, as (name, limit).
        max_streams: placements of one request file at once.
        max_retries, first_delay_s, max_delay_s: of one placement, after transient faults.
        connect_timeout_s, stall_timeout_s: a connection without data for so long is broken off.
        redirect_hosts: to which an http server may redirect uploads, beside its own.
        module_timeout_s: a module or plugin that takes longer is killed; 0 is no limit.
        host_rest_s: for how long a host that fails is left alone, at first.
        cache_directory, cache_bytes: for transfers in two steps; '' for a directory in /var/tmp.
        capacities: (destination, bytes) of allocations.
        synchronize: whether files are on the disk before a placement counts as done.
    """

    ways: tuple[str, ...] = WAYS
    module_directories: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    directory: str = ""
    max_transfers: int = 10
    max_per_host: int = 0
    max_per_protocol: int = 0
    limits: tuple[tuple[str, int], ...] = ()
    max_streams: int = 4
    max_retries: int = 10
    first_delay_s: float = 1
    max_delay_s: float = 600
    connect_timeout_s: float = 20
    stall_timeout_s: float = 60
    redirect_hosts: tuple[str, ...] = ()
    module_timeout_s: float = 86400
    host_rest_s: float = 10
    cache_directory: str = ""
    cache_bytes: int = 10 * 1024**3
    capacities: tuple[tuple[str, int], ...] = ()
    synchronize: bool = False

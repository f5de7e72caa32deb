"""`condor_pydagman metrics`: figures about the DAGs of a queue, as OpenMetrics text."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from condor_pydagman.adapters import files
from condor_pydagman.adapters.installation import to_install
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.which_dags import add_schedd_options
from condor_pydagman.errors import PoolError, UsageError
from condor_pydagman.monitor.queue_metrics import FAMILIES, Sums, figures
from condor_pydagman.monitor.queued_dags import QueuedDag, queued_dags

_UP = "dagman_schedd_up"
_DESCRIPTION = """\
Print figures about all DAGs of the schedd's queue as OpenMetrics text: DAGs, nodes and jobs by
state, what DAGs wait for, restarts, memory. With --output the text replaces a file, for the
textfile collector of Prometheus' node_exporter (docs/administrators.md)."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "metrics", "print figures about all DAGs for a monitor", _DESCRIPTION, run
    )
    parser.add_argument("--output", metavar="FILE", help="replace this file instead of printing")
    parser.add_argument("--by-user", action="store_true", help="tell users apart")
    add_schedd_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the figures; returns the exit code: 1 if the schedd does not answer, of which
    the figures tell as well.

    Raises:
        UsageError: the library that writes them is not installed.
        FileError: the file can't be written.
    """
    dags: list[QueuedDag] | None = None
    try:
        dags = queued_dags("true", name=arguments.name, pool=arguments.pool)
    except PoolError as error:
        say(f"condor_pydagman: {error}", error=True)
    metrics = open_metrics(dags, time.time(), by_user=arguments.by_user)
    if arguments.output:
        files.replace(arguments.output, [metrics], durable=False)
    else:
        sys.stdout.write(metrics)
    return 0 if dags is not None else 1


def open_metrics(dags: Sequence[QueuedDag] | None, now: float, *, by_user: bool = False) -> str:
    """The text; `dags` is None if the schedd does not answer.

    Raises:
        UsageError: the library is not installed.
    """
    try:
        from prometheus_client import CollectorRegistry
        from prometheus_client.openmetrics import exposition
    except ImportError:
        raise UsageError(
            f"metrics needs the Python package prometheus_client: {to_install('prometheus_client')}"
        ) from None
    registry = CollectorRegistry()
    sums = figures(dags, now, by_user=by_user) if dags is not None else {}
    registry.register(_Families(sums, by_user=by_user, is_up=dags is not None))
    generate: Callable[[CollectorRegistry], bytes] = exposition.generate_latest
    return generate(registry).decode()


class _Families:
    """Figures, as the library asks for them."""

    def __init__(self, sums: Sums, *, by_user: bool, is_up: bool) -> None:
        self._sums, self._by_user, self._is_up = sums, by_user, is_up

    def collect(self) -> Iterator[Any]:
        """All figures are gauges: they fall when DAGs leave the queue."""
        from prometheus_client.core import GaugeMetricFamily

        yield GaugeMetricFamily(_UP, "whether the schedd has answered", float(self._is_up))
        for name, samples in self._sums.items():
            family = FAMILIES[name]
            has = [bool(family.label), self._by_user]
            labels = [word for word, there in zip((family.label, "user"), has) if there]
            gauge = GaugeMetricFamily(name, family.meaning, labels=labels)
            for values, number in sorted(samples.items()):
                gauge.add_metric([word for word, there in zip(values, has) if there], number)
            yield gauge

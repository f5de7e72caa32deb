"""`condor_pydagman allocations`: the space that DATA nodes have allocated; releases it."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from typing import Any

from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.text_table import columns
from condor_pydagman.data_requests.faults import Fault
from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.errors import PydagmanError
from condor_pydagman.placement.allocations import Known
from condor_pydagman.placement.dag_allocations import OwnAllocations
from condor_pydagman.placement.make_worker import configured_settings
from condor_pydagman.printable import size_text
from condor_pydagman.words import duration

_COLUMNS = ("ID", "WHERE", "SIZE", "USED", "AGE", "ENDS IN", "DAG")
_LEFT = (0, 1, 6)
_DESCRIPTION = """\
List and release your allocations of space, which requests of data placement have made
(dap_type = allocate). Those of a DAG that is removed are released with it."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers,
        "allocations",
        "list and release space that DATA nodes have allocated",
        _DESCRIPTION,
    )
    inner = parser.add_subparsers(metavar="ACTION", required=True)
    what = "list your allocations that have not ended"
    listing = add_subcommand(inner, "list", what, what, _list)
    listing.add_argument("--json", action="store_true", help="print JSON")
    what = "release allocations"
    release = add_subcommand(inner, "release", what, what, _release)
    release.add_argument("identity", nargs="*", metavar="ID", help="allocation_id of the requests")
    release.add_argument(
        "--host", help="only those of this dest_host, as `list` shows it; without ID, all of them"
    )
    release.add_argument(
        "--dag",
        metavar="DAGFILE",
        help="all that nodes of this DAG have made; if it goes on, it allocates them again",
    )
    release.add_argument("--all", action="store_true", help="all of yours")


def _opened() -> OwnAllocations:
    return OwnAllocations(configured_settings(), say)


def _list(arguments: argparse.Namespace) -> int:
    """Print the allocations; returns the exit code.

    Raises:
        PydagmanError: they can't be read.
    """
    known = _read(_opened())
    if arguments.json:
        print(json.dumps([_fields(one) for one in known], indent=4))
        return 0
    if not known:
        say("you have no allocations")
        return 0
    now = time.time()
    say(*columns([_COLUMNS, *(_cells(one, now) for one in known)], left=_LEFT))
    return 0


def _read(own: OwnAllocations) -> list[Known]:
    try:
        return own.all()
    except Fault as fault:
        raise PydagmanError(fault.reason) from None
    finally:
        own.close()


def _cells(one: Known, now: float) -> tuple[str, ...]:
    found = one.allocation
    return (
        found.allocation_id,
        masked_text(found.destination),
        "-" if found.size is None else size_text(found.size),
        "-" if found.size is None else size_text(one.used),
        duration(max(0.0, now - found.made)),
        duration(max(0.0, found.ends - now)) if found.ends else "-",
        ", ".join(dag or "by hand" for dag in one.dags) or "-",
    )


def _fields(one: Known) -> dict[str, Any]:
    found = one.allocation
    return {
        "allocation_id": found.allocation_id,
        "host": masked_text(found.destination),
        "size": found.size,
        "used": one.used,
        "made": found.made,
        "ends": found.ends or None,
        "dags": [dag for dag in one.dags if dag],
    }


def _release(arguments: argparse.Namespace) -> int:
    """Release what is named; returns the exit code.

    Raises:
        PydagmanError: it is not there, or can't be released.
    """
    if not (arguments.identity or arguments.host or arguments.dag or arguments.all):
        arguments.parser.error("name the allocations: ID ..., --host HOST, --dag DAGFILE or --all")
    own = _opened()
    chosen = _chosen(_read(own), arguments)
    try:
        return int(not own.release(chosen, for_now=bool(arguments.dag)))
    finally:
        own.close()


def _chosen(known: Sequence[Known], arguments: argparse.Namespace) -> list[Known]:
    if arguments.host:
        known = [one for one in known if arguments.host in (one.host, one.allocation.destination)]
    if arguments.dag:
        dag = os.path.abspath(arguments.dag)
        known = [one for one in known if dag in one.dags]
    if not arguments.identity:
        if not known:
            say("there is nothing to be released", error=True)
        return list(known)
    found: list[Known] = []
    for identity in arguments.identity:
        same = [one for one in known if one.allocation.allocation_id == identity]
        if not same:
            raise PydagmanError(f"you have no allocation {identity} there; see `allocations list`")
        if len(same) > 1 and not arguments.all:
            hosts = ", ".join(one.allocation.destination for one in same)
            raise PydagmanError(f"there are several {identity}: {hosts}; choose one with --host")
        found += same
    return found

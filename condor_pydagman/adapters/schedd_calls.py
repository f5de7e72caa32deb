"""Performs requests to the schedd with calls of the bindings.

The caller waits for the schedd, perhaps for minutes: DAGMan does it in a process of its own, see
`schedd_process`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.adapters import submit_checks
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.submit_checks import FirstList, remarks_of
from condor_pydagman.errors import PoolError


def obey(adapter: ScheddAdapter, request: ask.Request) -> Any:
    """Perform a request; returns the result, or the PoolError that says why there is none.

    The history part of a ListQueue is done by `history_process`.
    """
    try:
        return _HANDLERS[type(request)](adapter, request)
    except PoolError as error:
        return error


def _submit(adapter: ScheddAdapter, wanted: ask.Submit) -> ask.SubmitResult:
    lines: list[str] = []
    text, directory, checks = wanted.text, wanted.directory, wanted.checks
    outcome: ask.Accepted | ask.FirstCommonInput | PoolError
    try:
        if checks.one_proc and adapter.procs_of(text, directory) > 1:
            raise PoolError(ask.MULTIPLE_PROCS, transient=False)
        inspect = partial(_check_description, text, checks, lines)
        with _environment(wanted.environment):
            outcome = ask.Accepted(*adapter.submit(text, directory, inspect))
    except FirstList as first:
        outcome = ask.FirstCommonInput(first.token)
    except PoolError as error:
        outcome = error
    except OSError as error:
        reason = f"can't read the submit file: {error.strerror or error}"
        outcome = PoolError(reason, transient=False)
    return ask.SubmitResult(outcome, lines)


@contextlib.contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """Within, these variables are set as well."""
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _check_description(text: str, checks: ask.Checks, lines: list[str], description: Any) -> None:
    """Raise and warn in the cases in which stock DAGMan does."""
    if checks.by_condor_submit:
        submit_checks.check_executable(description)
        by, before = "condor_submit", "From submit: WARNING: "
    else:
        submit_checks.check_common_input(description, checks.common_input)
        by, before = "DAGMAN", "Submit warning: Submit:0:"
    remarks = remarks_of(description, text, written=checks.written, name=checks.name, by=by)
    lines += [before + line.removeprefix("WARNING: ") for line in remarks]


_HANDLERS: dict[type, Callable[[ScheddAdapter, Any], Any]] = {
    ask.Submit: _submit,
    ask.ListRemovable: lambda adapter, wanted: adapter.removable(
        wanted.cluster, spare_services=wanted.spare_services, proc=wanted.proc
    ),
    ask.Remove: lambda adapter, wanted: adapter.remove(
        wanted.reason,
        wanted.cluster,
        spare_services=wanted.spare_services,
        ended=wanted.ended,
        proc=wanted.proc,
        force=wanted.force,
    ),
    ask.Hold: lambda adapter, wanted: adapter.hold(
        wanted.cluster, wanted.proc, wanted.reason, release=wanted.release
    ),
    ask.Prioritize: lambda adapter, wanted: adapter.prioritize(wanted.priority, wanted.jobs),
    ask.ListQueue: lambda adapter, _: ask.Listing(adapter.jobs()),
    ask.ReadAttribute: lambda adapter, wanted: adapter.attribute(wanted.cluster, wanted.name),
    ask.ReadLimits: lambda adapter, _: adapter.current_limits(),
    ask.ReadOwnAd: lambda adapter, _: adapter.own_ad(),
    ask.EditOwnAd: lambda adapter, wanted: adapter.publish(
        wanted.attributes, durable=wanted.durable
    ),
}

"""Questions to the schedd about DAGs and their jobs, and to the collector about machines.

htcondor2 is imported with the first question: what the files of a DAG say can be had without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from condor_pydagman.errors import PoolError, bindings_missing
from condor_pydagman.names import logged_name

Ad = Mapping[str, Any]
LOG = ".dagman.log"  # behind the name of the first DAG file: the log of DAGMan's job
_UNIVERSE = 7  # of DAGMan's jobs
IN_UNIVERSE = f"JobUniverse == {_UNIVERSE}"  # more would double the schedd's work; see `is_dagman`
# What that says, as a condition for a search of the history.
IS_DAGMAN = (
    f'{IN_UNIVERSE} && (DAG_NodesTotal =!= undefined || regexp("[.]dagman[.]log$", UserLog))'
)


def is_dagman(ad: Ad) -> bool:
    """Whether a job of the scheduler universe is DAGMan's: by what it has published, or its log."""
    return "DAG_NodesTotal" in ad or text_of(ad, "UserLog").endswith(LOG)


def text_of(ad: Ad, attribute: str) -> str:
    """A string of an ad; '' if it is none, `?` if it is not UTF-8, which the bindings need."""
    try:
        value = ad.get(attribute)
    except ValueError:
        return "?"
    return value if isinstance(value, str) else ""


def dagman_ad(cluster: int) -> Ad:
    """The ad of a DAGMan job, of the queue or else of the history.

    Raises:
        PoolError: the schedd does not answer, or has no such job of DAGMan's.
    """
    condition = f"ClusterId == {cluster} && ProcId == 0 && JobUniverse == 7"
    ads = _asked(
        lambda bindings: (
            bindings.Schedd().query(condition, [], limit=1)
            or list(bindings.Schedd().history(condition, [], match=1))
        ),
        f"the schedd for job {cluster}",
    )
    if not ads:
        raise PoolError(
            f"the schedd has no DAGMan job {cluster}, neither in its queue nor in its history"
            + _of_node(cluster),
            transient=False,
        )
    found: Ad = ads[0]
    return found


def _of_node(cluster: int) -> str:
    """Whose job it is, if it is in the queue."""
    for ad in _query(f"ClusterId == {cluster}", ("DAGManJobId", "DAGNodeName"), 1):
        if "DAGManJobId" in ad:
            node, dagman = ad.get("DAGNodeName"), ad["DAGManJobId"]
            return f"; it is a job of node {node} of the DAG of job {dagman}"
    return ""


def queued_dagman_ad(cluster: int) -> Ad:
    """The ad of a DAGMan job in the queue; {} if it is not there.

    Raises:
        PoolError: the schedd does not answer.
    """
    ads = _query(f"ClusterId == {cluster} && ProcId == 0 && JobUniverse == 7", (), 1)
    return ads[0] if ads else {}


def my_dagman_ads(*, also: str = "false") -> list[Ad]:
    """The ads of one's own DAGMan jobs in the queue, sub-DAGs too, and `also` of jobs for which
    that expression is true.

    Raises:
        PoolError: the schedd does not answer.
    """
    ads = _query(f'({IN_UNIVERSE} || ({also})) && Owner == "{user()}"', ())
    return [ad for ad in ads if ad.get("JobUniverse") != _UNIVERSE or is_dagman(ad)]


def ads_in_queue(condition: str, wanted: Sequence[str], name: str, pool: str) -> list[Ad]:
    """The ads in the queue of any schedd that meet a condition.

    Args:
        wanted: attributes.
        name: of the schedd; '' for this machine's.
        pool: address of the collector that knows it; '' for the usual one.

    Raises:
        PoolError: there is no such schedd, or it does not answer.
    """
    return _asked(
        lambda bindings: list(_schedd(bindings, name, pool).query(condition, list(wanted))),
        f"the schedd {name}".rstrip(),
    )


def ads_in_history(
    condition: str,
    wanted: Sequence[str],
    most: int,
    name: str,
    pool: str,
    *,
    since: str | None = None,
) -> list[Ad]:
    """The same of the history, the newest first, and `most` of them.

    Args:
        since: expression that is true for a job at which the search, going back, stops.

    Raises:
        PoolError: there is no such schedd, or it does not answer.
    """
    return _asked(
        lambda bindings: list(
            _schedd(bindings, name, pool).history(condition, list(wanted), match=most, since=since)
        ),
        f"the schedd {name}".rstrip() + " for its history",
    )


def _schedd(htcondor2: Any, name: str, pool: str) -> Any:
    if not (name or pool):
        return htcondor2.Schedd()
    place = htcondor2.Collector(pool or None).locate(htcondor2.DaemonType.Schedd, name or None)
    if place is None:  # for which the bindings would take this machine's
        raise PoolError(f"the collector knows no schedd {name}", transient=False)
    return htcondor2.Schedd(place)


def jobs_of_dag(cluster: int, wanted: Sequence[str], *, condition: str = "") -> list[Ad]:
    """The ads of a DAG's jobs in the queue.

    Args:
        cluster: of DAGMan's job.
        wanted: attributes; () for all.
        condition: a ClassAd expression that they must meet as well.

    Raises:
        PoolError: the schedd does not answer.
    """
    also = f" && ({condition})" if condition else ""
    return _query(f"DAGManJobId == {cluster}{also}", wanted)


def ended_job(cluster: int, proc: int, wanted: Sequence[str], submitted: float) -> Ad:
    """The ad of a job that has left the queue; {} if the history does not have it.

    Args:
        submitted: when; the history before is not searched, seconds since the epoch.

    Raises:
        PoolError: the schedd does not answer.
    """
    which = f"ClusterId == {cluster} && ProcId == {proc}"
    ads = _ended(which, wanted, 1, cluster, submitted)
    return ads[0] if ads else {}


def jobs_of_node(
    cluster: int, proc: int, procs: int, wanted: Sequence[str], submitted: float
) -> list[Ad]:
    """The ads of so many jobs of a cluster, from the queue and the history, as far as these have
    them.

    Args:
        proc: of the first.
        submitted: when; the history before is not searched, seconds since the epoch.

    Raises:
        PoolError: the schedd does not answer.
    """
    which = f"ClusterId == {cluster} && ProcId >= {proc} && ProcId < {proc + procs}"
    found = _query(which, wanted)
    if len(found) < procs:
        found += _ended(which, wanted, procs - len(found), cluster, submitted)
    return found


def _ended(
    which: str, wanted: Iterable[str], most: int, cluster: int, submitted: float
) -> list[Ad]:
    """Up to `most` jobs of a cluster in the history, which is searched back to its submission."""

    def ask(htcondor2: Any) -> list[Ad]:
        from condor_pydagman.adapters.job_history import left_before

        since = left_before(cluster, submitted)
        return list(htcondor2.Schedd().history(which, list(wanted), match=most, since=since))

    return _asked(ask, "the schedd for its history")


def is_job_of(ad: Ad, node: str) -> bool:
    """Whether a job is one of a node of that name.  A schedd that was set up anew since, or another
    one, has other jobs of the same numbers."""
    return logged_name(str(ad.get("DAGNodeName", ""))) == logged_name(node)


def machine_ads() -> list[Ad]:
    """The ads of the pool's slots.

    Raises:
        PoolError: the collector does not answer.
    """

    def ask(htcondor2: Any) -> list[Ad]:
        return list(htcondor2.Collector().query(htcondor2.AdType.Startd, "true", []))

    return _asked(ask, "the collector for machines")


def _query(condition: str, wanted: Iterable[str], most: int = -1) -> list[Ad]:
    return _asked(
        lambda bindings: list(bindings.Schedd().query(condition, list(wanted), limit=most)),
        "the schedd",
    )


def _asked(ask: Callable[[Any], list[Ad]], whom: str) -> list[Ad]:
    """What `ask` finds out with the bindings.

    Raises:
        PoolError: there is no answer.
    """
    try:
        import htcondor2
    except ImportError as error:
        raise PoolError(f"can't ask {whom}: {bindings_missing(error)}", transient=False) from None
    try:
        return ask(htcondor2)
    except (htcondor2.HTCondorException, OSError, RuntimeError, TypeError, ValueError) as error:
        from condor_pydagman.adapters.descriptions import reason_of

        raise PoolError(f"can't ask {whom}: {reason_of(error)}", transient=True) from None


def user() -> str:
    """The name of whoever runs this, as the schedd knows it."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return os.environ.get("USER", "")

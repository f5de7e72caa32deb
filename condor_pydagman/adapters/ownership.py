"""Which jobs DAGMan accepts as its own: those of the user as whom the schedd knows it.

Any user can submit a job that names a node of another user's DAG: DAGManJobId, DAGNodeName and
DAGManNodesLog are plain attributes that users can set, as are JobStatus and all times.  The schedd
itself sets two attributes that nobody can change (SYSTEM_IMMUTABLE_JOB_ATTRS): Owner, and User,
which is the owner with a domain.  User decides who may remove or edit a job: ann@here and ann@there
have the same Owner "ann", but are different users.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from typing import Any

import htcondor2

from condor_pydagman.adapters.bindings import expanded
from condor_pydagman.adapters.descriptions import reason_of
from condor_pydagman.errors import PoolError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.own_ad import quoted

ATTRIBUTES = ["Owner", "User"]  # of a job, to be checked again in the result of a query
MAX_TRIES = 5  # to ask the schedd for DAGMan's identity; then it is derived from the account
_UNAUTHENTICATED = "unauthenticated"  # the name before the `@` without authentication


class Identity(NamedTuple):
    """A user as the schedd knows them: `user` is `owner` with a domain, `ann@example.org`."""

    owner: str
    user: str


class Owners(tuple[Identity, ...]):
    """The identities that DAGMan's own jobs can have; usually one."""

    __slots__ = ()

    @property
    def clause(self) -> str:
        """The expression that is true only for their jobs, to be joined to others by `&&`."""
        each = [f"(Owner =?= {quoted(o)} && User =?= {quoted(user)})" for o, user in self]
        return f"({' || '.join(each)})" if each else "false"

    def has(self, ad: Mapping[str, Any]) -> bool:
        """Whether a job's ad, which has ATTRIBUTES, is one of theirs."""
        return _identity_of_job(ad) in self


def first_proc(schedd: Any, cluster: int, wanted: list[str], also: str = "") -> Any:
    """Attributes of a cluster's first proc, from a `htcondor2.Schedd`; None if that has none.

    The schedd goes through its queue up to that job and no further, since one is the limit.

    Args:
        also: the rest of the constraint, with ` && ` in front.
    """
    which = f"ClusterId == {cluster} && ProcId == 0{also}"
    return next(iter(schedd.query(constraint=which, projection=wanted, limit=1)), None)


class Ownership:
    """Finds the owners of a DAGMan's jobs, once.

    One is the owner of DAGMan's own job.  The other is the identity of this process at the schedd,
    as which node jobs are submitted.  They are usually the same; but a DAG that was submitted with
    a token belongs to the token's user, while its DAGMan authenticates by the file system as an
    account of the access point.
    """

    def __init__(self, cluster: int) -> None:
        self._cluster = cluster  # 0 without a job
        self._tries = 0
        self._known: Owners | None = None

    def owners(self, schedd: Any) -> Owners:
        """The owners; asks a `htcondor2.Schedd` the first time.

        Raises:
            PoolError: they are unknown now; no job may be accepted as DAGMan's own.
            htcondor2.HTCondorException: the schedd does not answer.
        """
        if self._known is None:
            own = first_proc(schedd, self._cluster, ATTRIBUTES) if self._cluster else None
            found = [] if own is None else [_identity_of_job(own)]
            found.append(self._identity_at_schedd() or _local_identity())
            owners = Owners(dict.fromkeys(one for one in found if one is not None))
            if not owners:
                raise PoolError("can't find out whose jobs are this DAGMan's", transient=True)
            self._known = owners
        return self._known

    def memory(self) -> list[Any]:
        """The results so far, for `remember`; of types that JSON has."""
        return [self._tries, None if self._known is None else [list(one) for one in self._known]]

    def remember(self, memory: list[Any]) -> None:
        """Take over the results of another object, perhaps in another process."""
        self._tries, known = memory
        self._known = None if known is None else Owners(Identity(*one) for one in known)

    def _identity_at_schedd(self) -> Identity | None:
        """The identity of this process at the schedd; None if that can't be asked (bindings before
        25), or if no authentication takes place."""
        ping = getattr(htcondor2, "ping", None)
        if ping is None:
            return None
        self._tries += 1
        try:
            location = htcondor2.Collector().locate(htcondor2.DaemonType.Schedd)
            answer = ping(location, "WRITE")
        except (htcondor2.HTCondorException, OSError, RuntimeError, TypeError, ValueError) as error:
            if self._tries < MAX_TRIES:
                reason = f"can't ask the schedd as whom it knows DAGMan ({reason_of(error)})"
                raise PoolError(reason, transient=True) from None
            return None
        return parse_identity(str(answer.get("MyRemoteUserName") or ""))


def parse_identity(user: str) -> Identity | None:
    """The identity in a name with a domain; None if it is not one of a user."""
    owner, _, domain = user.partition("@")
    return Identity(owner, user) if owner and domain and owner != _UNAUTHENTICATED else None


def _identity_of_job(ad: Mapping[str, Any]) -> Identity | None:
    owner, user = ad.get("Owner"), ad.get("User")
    known = isinstance(owner, str) and isinstance(user, str) and owner and user
    return Identity(str(owner), str(user)) if known else None


def _local_identity() -> Identity | None:
    """The identity of this process at a schedd that authenticates by the file system (FS)."""
    try:
        account = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return None
    return parse_identity(f"{account}@{expanded('UID_DOMAIN') or ''}")

"""Whose jobs DAGMan believes to be its own: those of the user that it is to the schedd.

Anybody may submit a job that names a node of somebody else's DAG: DAGManJobId, DAGNodeName and
DAGManNodesLog are plain attributes, which every user sets as he likes, as he does JobStatus and all
times.  Two the schedd writes itself and lets nobody change (SYSTEM_IMMUTABLE_JOB_ATTRS): Owner, and
User, which is the owner with his domain.  User decides who may remove or edit a job; ann@here and
ann@there are both Owner "ann", and strangers.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from typing import Any, NamedTuple

import htcondor2

from condor_pydagman.errors import PoolError
from condor_pydagman.records.ad_attributes import quoted

ATTRIBUTES = ["Owner", "User"]  # of a job, to look at again in what comes back
TRIES = 5  # to be told by the schedd who we are; then we go by what else we know
_NOBODY = "unauthenticated"  # the name before the `@` of who has not proved who he is


class Identity(NamedTuple):
    """A user as the schedd knows him: `user` is `owner` with a domain, `ann@example.org`."""

    owner: str
    user: str


class Owners(tuple[Identity, ...]):
    """The identities that DAGMan's own jobs can have; mostly one."""

    __slots__ = ()

    @property
    def clause(self) -> str:
        """The expression that holds for their jobs alone, to be joined to others by `&&`."""
        each = [f"(Owner =?= {quoted(o)} && User =?= {quoted(user)})" for o, user in self]
        return f"({' || '.join(each)})" if each else "false"

    def has(self, ad: Mapping[str, Any]) -> bool:
        """Whether a job's ad, which has ATTRIBUTES, is one of theirs."""
        return _of_job(ad) in self


class Ownership:
    """Finds out, once, who the owners of a DAGMan's jobs are.

    Its own job's owner is one.  The other is who the schedd takes us for, since node jobs are
    submitted so: mostly the same, but a DAG that came with a token belongs to that token's user,
    and its DAGMan proves by the file system that it is an account of the access point.
    """

    def __init__(self, cluster: int) -> None:
        self._cluster = cluster  # 0 without a job
        self._tries = 0
        self._known: Owners | None = None

    def owners(self, schedd: Any) -> Owners:
        """Ask a `htcondor2.Schedd`, unless they are known.

        Raises:
            PoolError: they can't be found out now; no job may be taken for ours.
            htcondor2.HTCondorException: the schedd does not answer.
        """
        if self._known is None:
            own: list[Any] = []
            if self._cluster:
                which = f"ClusterId == {self._cluster} && ProcId == 0"
                own = schedd.query(constraint=which, projection=ATTRIBUTES)
            found = [_of_job(own[0])] if own else []
            found.append(self._as_told() or _account())
            owners = Owners(dict.fromkeys(one for one in found if one is not None))
            if not owners:
                raise PoolError("can't find out whose jobs are this DAGMan's", transient=True)
            self._known = owners
        return self._known

    def _as_told(self) -> Identity | None:
        """Who we are to the schedd; None if it can't be asked (bindings before 25), or does not
        want to know."""
        ping = getattr(htcondor2, "ping", None)
        if ping is None:
            return None
        self._tries += 1
        try:
            location = htcondor2.Collector().locate(htcondor2.DaemonType.Schedd)
            answer = ping(location, "WRITE")
        except (htcondor2.HTCondorException, OSError, RuntimeError, TypeError, ValueError) as error:
            if self._tries < TRIES:
                reason = f"can't ask the schedd as whom it knows DAGMan ({error})"
                raise PoolError(" ".join(reason.split()), transient=True) from None
            return None
        return named(str(answer.get("MyRemoteUserName") or ""))


def named(user: str) -> Identity | None:
    """The identity behind a name with its domain; None if it is nobody's."""
    owner, _, domain = user.partition("@")
    return Identity(owner, user) if owner and domain and owner != _NOBODY else None


def _of_job(ad: Mapping[str, Any]) -> Identity | None:
    owner, user = ad.get("Owner"), ad.get("User")
    known = isinstance(owner, str) and isinstance(user, str) and owner and user
    return Identity(str(owner), str(user)) if known else None


def _account() -> Identity | None:
    """Who this process is for a schedd that trusts the file system (FS)."""
    try:
        account = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return None
    return named(f"{account}@{htcondor2.param.get('UID_DOMAIN') or ''}")

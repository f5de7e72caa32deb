"""Which limits the administrator applies to DAGs that need not name them: PYDAGMAN_APPLIED_LIMITS.

    production ALL; tape USERS ann bob; batch GROUPS group_physics

A DAG is its user's, as the owner of DAGMan's job, and its accounting group is that of this job.  A
mistake in a rule, or in what limits are defined by, must not stop the DAGs of all users: they run
without, and are told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from condor_pydagman.adapters.shared_directory import user_name
from condor_pydagman.config import Config
from condor_pydagman.errors import ConfigError
from condor_pydagman.features.shared_limits.commands import LimitsOfDag
from condor_pydagman.features.shared_limits.configured import KNOB as DEFINITIONS
from condor_pydagman.features.shared_limits.definitions import Limit, parse, shown, statements
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

KNOB = "PYDAGMAN_APPLIED_LIMITS"
ALL, USERS, GROUPS = ("ALL", "USERS", "GROUPS")
_FORM = f"expected NAME {ALL}, NAME {USERS} <user> ..., or NAME {GROUPS} <accounting group> ..."


class Rule(NamedTuple):
    """A limit, and to whose DAGs it applies."""

    limit: str
    whose: str  # one of the three words
    names: tuple[str, ...]  # of users, or of groups

    def is_about(self, user: str, group: str) -> bool:
        """Whether it applies to DAGs of a user, in an accounting group ('': none).

        A group has those below it, `group_physics.cms` of `group_physics`, and its name is not
        case-sensitive, as for HTCondor's negotiator.
        """
        if self.whose == USERS:
            return user in self.names
        own = f"{group}.".lower()
        return self.whose == ALL or any(own.startswith(f"{one}.".lower()) for one in self.names)


class Applied(NamedTuple):
    """What the rules come to for a DAG."""

    limits: tuple[Limit, ...]
    mistakes: tuple[str, ...] = ()  # sentences: why rules do not count


def rule(text: str) -> Rule:
    """A rule.

    Raises:
        ConfigError: it is none.
    """
    words = text.replace(",", " ").split()
    whose = words[1].upper() if len(words) > 1 else ""
    if whose not in (ALL, USERS, GROUPS) or (whose == ALL) != (len(words) == 2):
        raise ConfigError(f"{' '.join(text.split())}: {_FORM}")
    return Rule(words[0], whose, tuple(words[2:]))


def applied(admin: Config, user: str, group: str) -> Applied:
    """The limits that apply to a DAG of a user, in an accounting group ('': none)."""
    mistakes, found = [], {}
    try:
        defined = {limit.key: limit for limit in parse(admin.shared_limits, DEFINITIONS)}
    except ConfigError as error:
        return Applied((), (f"{KNOB}: no limit is applied: {error}",))
    for text in statements(admin.applied_limits):
        try:
            one = rule(text)
        except ConfigError as error:
            mistakes.append(f"{KNOB}: {error}")
            continue
        key = one.limit.lower()
        if key in defined and one.is_about(user, group):
            found[key] = defined[key]
        elif key not in defined:
            mistakes.append(f"{KNOB}: {one.limit} is not defined in {DEFINITIONS}")
    return Applied(tuple(found.values()), tuple(mistakes))


def _sentences(of: Applied) -> Iterator[str]:
    for limit in of.limits:
        yield f"Note: shared limit {limit.name} applies to this DAG ({shown(limit)}; {KNOB})"
    for mistake in of.mistakes:
        yield f"Warning: {mistake} (DAGs run without it; tell your administrator)"


def foretell(admin: Config, group: str) -> list[str]:
    """What will apply to a DAG that this user submits in an accounting group, in sentences."""
    return [*_sentences(applied(admin, user_name(os.geteuid()), group))]


def apply(dag: Dag, admin: Config, owner: str, group: str) -> list[str]:
    """Apply limits to a DAG that DAGMan is about to run; returns what is to be told of them.

    Args:
        owner: of DAGMan's job, '' if there is none.
    """
    found = applied(admin, owner or user_name(os.geteuid()), group)
    if found.limits:
        LimitsOfDag.put(dag).applied = tuple(limit.name for limit in found.limits)
    return [*_sentences(found)]

"""The text of a claims file: which sites one DAGMan keeps for its groups.

One file for each DAGMan, in a directory that all users of the access point share.  It is JSON, and
nothing in it is trusted: see `parse`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from condor_pydagman.named_tuple import NamedTuple

MAX_BYTES = 4_000_000  # of a claims file; more is no claims file
MAX_NAME = 500  # characters of a site's name


class Claims(NamedTuple):
    """What a DAGMan keeps.

    Attributes:
        dag: its DAG file, for people.
        sites: group and site of each claim.
    """

    dag: str
    sites: tuple[tuple[str, str], ...]

    def counts(self) -> Counter[str]:
        """How many claims there are, by site."""
        return Counter(site for _, site in self.sites)


def text_of(dag: str, claims: Iterable[tuple[str, str]]) -> str:
    """The text of a file."""
    return json.dumps({"version": 1, "dag": dag, "claims": [list(one) for one in claims]}) + "\n"


def parse(text: str) -> Claims | None:
    """What a file says; None if it is none of ours."""
    try:
        read = json.loads(text)
        dag, claims = read["dag"], read["claims"]
        sites = tuple((group, site) for group, site in claims)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    names = (name for claim in sites for name in claim)
    if not isinstance(dag, str) or not all(isinstance(name, str) for name in names):
        return None
    if any(len(site) > MAX_NAME for _, site in sites):
        return None
    return Claims(dag, sites)

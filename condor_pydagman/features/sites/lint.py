"""What the checker finds in SITE_POLICY lines."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.features.common.expression_text import free_names
from condor_pydagman.features.sites.commands import ALL_GROUPS, SitePolicyLine, groups_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.commands import Command
from condor_pydagman.lint.findings import Code, Findings, Severity

CODES = {
    "DAG414": Code(
        Severity.WARNING,
        "a SITE_POLICY expression with an unknown prefix before a dot",
        "TARGET is the site, MY the group; any other prefix is undefined",
    ),
}
_ADS = ("my", "target")  # the words for them in an expression


def check(dag: Dag, findings: Findings) -> None:
    """Look for prefixes in expressions that mean nothing."""
    for group in groups_of(dag):
        policy = group.policy
        known = {*_ADS, *(name.lower() for name, _ in policy.attributes)}
        for key in ("requirements", "rank", "rematch_if"):
            names = (name.partition(".") for name in free_names(getattr(policy, key)))
            for scope in dict.fromkeys(word for word, point, _ in names if point):
                if scope.lower() not in known and not scope.startswith("'"):
                    message = (
                        f"{key.upper()} of group {group.name}: '{scope}.' is an unknown prefix"
                    )
                    findings.add("DAG414", message, words=("SITE_POLICY", group.name, key.upper()))


def is_about(command: Command, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """As of BRAKE's; words are of a group and a key."""
    if not isinstance(command, SitePolicyLine) or words[1] != command.key:
        return False
    return command.group.upper() == ALL_GROUPS or words[0] == prefixes[-1] + command.group

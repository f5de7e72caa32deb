"""What SITE_POLICY lines say of a group: how its site is chosen, and when that is taken back."""

from __future__ import annotations

from typing import Any

from condor_pydagman.named_tuple import NamedTuple

ROUNDS = 5  # sites that a group is matched to before it fails, unless its policy says otherwise
REMOVAL_S = 600  # that the removal of a group's jobs may take, unless its policy says otherwise


class SitePolicy(NamedTuple):
    """The policy of a group; times are seconds, 0 for no limit.

    Attributes:
        requirements: what a site must be, a ClassAd expression; '' for anything.
        rank: which site is preferred, a ClassAd expression: the greatest value; '' for none.
        attributes: of the group's ad, name and ClassAd expression, for the sites' Requirements.
        wait: how long the group may wait for a site before it fails.
        idle: how long one of its jobs may be idle before the group is taken back from its site.
        held: how long one may be on hold.
        gone: how long the site's ad may be missing.
        failures: how many runs of its nodes may fail at a site; 0: they do not count.
        rematch_if: the group is taken back when this ClassAd expression becomes true; '' for never.
        rounds: how many sites it is matched to at most.
        clean_up: the node that runs at the old site when the group has been taken back; '' if none.
        clean_up_time: how long it may take.
        removal: how long the removal of jobs may take when the group leaves its site, before they
            are removed by force: a site that is dead does not confirm it.
        old_site: LAST or NEVER: whether sites that the group was taken back from are chosen again.
    """

    requirements: str = ""
    rank: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    wait: int = 0
    idle: int = 0
    held: int = 0
    gone: int = 0
    failures: int = 0
    rematch_if: str = ""
    rounds: int = ROUNDS
    clean_up: str = ""
    clean_up_time: int = 0
    removal: int = REMOVAL_S
    old_site: str = "LAST"

    def said(self, key: str, value: Any) -> SitePolicy:
        """With what a line says; `key` and `value` as in `dagfile.commands.SitePolicyLine`."""
        if key == "ATTRIBUTE":
            name = value[0].lower()
            others = (one for one in self.attributes if one[0].lower() != name)
            return self._replace(attributes=(*others, value))
        if key == "CLEAN_UP":
            return self._replace(clean_up=value[0], clean_up_time=value[1])
        return self._replace(**{key.lower(): value})

    def lines(self) -> list[tuple[str, Any]]:
        """Keys and values that give this policy, as `said` takes them."""
        found: list[tuple[str, Any]] = [("ATTRIBUTE", one) for one in self.attributes]
        if self.clean_up:
            found.append(("CLEAN_UP", (self.clean_up, self.clean_up_time)))
        for field, value in self._asdict().items():
            plain = field not in ("attributes", "clean_up", "clean_up_time")
            if plain and value != getattr(NO_POLICY, field):
                found.append((field.upper(), value))
        return found


NO_POLICY = SitePolicy()

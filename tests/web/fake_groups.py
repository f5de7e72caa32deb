"""Groups of nodes of a DAG in memory that run at sites, for tests of the page."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any


class FakeGroups:
    """Groups by number: the nodes of each; where they are changes.

    Args:
        nodes: of each group, by number.
        names: of the groups.
    """

    def __init__(self, names: Sequence[str], nodes: Sequence[Sequence[int]]) -> None:
        self.names, self.nodes = list(names), [list(some) for some in nodes]
        self.states = ["unmatched"] * len(self.names)
        self.sites = [""] * len(self.names)
        self.reasons = [""] * len(self.names)
        self.rounds = [0] * len(self.names)
        self.since = time.time() - 900
        self.seen: list[str] = []  # sites, in the order of their colours
        self.group_of = {node: group for group, some in enumerate(self.nodes) for node in some}
        self.problem = ""

    def match(self, group: int, site: str) -> None:
        """It is at a site now."""
        self.sites[group], self.states[group], self.reasons[group] = site, "matched", ""
        self.rounds[group] += 1
        if site not in self.seen:
            self.seen.append(site)

    def leave(self, group: int, why: str, state: str = "waiting") -> None:
        """It has none any more."""
        self.sites[group], self.states[group], self.reasons[group] = "", state, why

    def places(self) -> dict[str, Any]:
        """As the stream tells of all."""
        of = [self.seen.index(site) + 1 if site else 0 for site in self.sites]
        counts = Counter[int]()
        for group, site in enumerate(of):
            counts[site] += len(self.nodes[group])
        nodes = [counts[number + 1] for number in range(len(self.seen))]
        return {"names": list(self.seen), "nodes": nodes, "of": of}

    def counted(self) -> dict[str, Any]:
        """As overviews have it."""
        at = Counter(site for site in self.sites if site)
        without = self.sites.count("")
        return {"at": dict(sorted(at.items())), "leaving": 0, "without": without}

    def of_box(self, box: dict[str, Any], numbers: Sequence[int]) -> None:
        """Tell the sites of a box of the picture."""
        if box["node"] is not None:
            if box["node"] in self.group_of:
                box["site_group"] = self.group_of[box["node"]]
            return
        found = Counter(self.sites[self.group_of[node]] for node in numbers
                        if node in self.group_of)  # fmt: skip
        box["sites"] = [[number + 1, found[site]] for number, site in enumerate(self.seen)
                        if found[site]]  # fmt: skip

    def row(self, group: int, done: int) -> dict[str, Any]:
        """As in the table."""
        is_there = self.states[group] not in ("unmatched", "over")
        return {
            "number": group, "name": self.names[group], "state": self.states[group],
            "site": self.sites[group], "round": self.rounds[group],
            "since": self.since if is_there else None, "total": len(self.nodes[group]),
            "done": done, "reason": self.reasons[group],
        }  # fmt: skip

    def matching(self, query: dict[str, str]) -> Iterator[int]:
        """Those that are searched for."""
        search, state = query.get("search", "").casefold(), query.get("state", "")
        for group, name in enumerate(self.names):
            words = (name.casefold(), self.sites[group].casefold())
            if state in ("", self.states[group]) and any(search in word for word in words):
                yield group

    def command(self, name: str, *, dry: bool) -> dict[str, Any]:
        """Have a group matched again, or tell what that would do."""
        group = self.names.index(name)
        effect = f"Group {name} leaves its site. Its jobs are removed."
        refused = []
        if self.states[group] != "matched":
            refused = [{"node": "", "state": "", "reason": "it waits for a site"}]
        elif not dry:
            self.leave(group, "somebody wants another one", "leaving")
        return {"done": 1 - len(refused), "refused": refused, "refused_count": len(refused),
                "effect": effect, "loses_work": True}  # fmt: skip

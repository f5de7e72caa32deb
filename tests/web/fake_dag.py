"""A DAG that only exists in memory: states that change, a folded picture, and commands that work.

It stands for what the server of `condor_pydagman web` knows of a DAG, so that the page can be
tested without HTCondor.
"""

from __future__ import annotations

import base64
import fnmatch
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable, TypeVar

from condor_pydagman.follow.shown_states import COUNTED, KEYS, LOOKS
from tests.web.fake_groups import FakeGroups

MOST_BOXES = 500
WIDTH, HEIGHT, STEP_X, STEP_Y, IN_A_ROW = 110, 28, 130, 70, 25
T = TypeVar("T")
_IN_QUEUE = ("idle", "running", "held")


class FakeDag:
    """A first node, layers of `width` nodes each, and a last node.

    Each layer is a group of the picture. `changed` is notified with each new version.
    """

    def __init__(self, id: str, layers: Sequence[tuple[str, int]], file: str = "") -> None:
        self.id, self.file = id, file or f"{id}.dag"
        self.begun = time.time() - 3600
        self.names = ["stage_in"]
        self.groups: dict[str, range] = {}
        for name, width in layers:
            start = len(self.names)
            digits = len(str(width - 1))
            self.names += [f"{name}_{n:0{digits}}" for n in range(width)]
            self.groups[name] = range(start, len(self.names))
        self.names.append("merge")
        self.states = bytearray(len(self.names))
        self.ended, self.halted, self.note = 0.0, False, ""
        self.exit_code: int | None = None
        self.word = "running"
        self.limits = {"jobs": 100, "idle": 50, "pre": 20, "post": 20, "priority": 0}
        self.can, self.why_not = True, ""
        self.files: dict[str, bytes] = {"dagman.out": b"11/23/26 10:00:00 DAGMan starts\n"}
        self.findings: list[dict[str, Any]] = []
        self.reasons: dict[int, str] = {}
        self.changes: list[tuple[int, str]] = []
        self.version = 1
        self.changed = threading.Condition()
        self.at_sites: FakeGroups | None = None
        self.shapes = False  # whether the last node is a FINAL node, and edges are weak
        self.shared_limits: list[dict[str, Any]] = []
        self.more: dict[str, Any] = {}  # of the overview
        self.more_of_jobs: dict[str, Any] = {}

    def set(self, number: int, state: str) -> None:
        """A node is in another state now."""
        self.set_many([number], state)

    def set_many(self, numbers: Sequence[int], state: str) -> None:
        """The same for several nodes at once."""
        with self.changed:
            for number in numbers:
                self.states[number] = KEYS.index(state)
                self.changes.append((number, state))
            self.version += len(numbers)
            self.changed.notify_all()

    def touch(self) -> None:
        """Something but states is different: all who listen get an overview."""
        with self.changed:
            self.changed.notify_all()

    def state_of(self, number: int) -> str:
        """Its word."""
        return KEYS[self.states[number]]

    def count(self, numbers: Sequence[int]) -> dict[str, int]:
        """How many of these nodes are in each state, without those in which none is."""
        part = self.states[numbers[0] : numbers[-1] + 1]
        counts = {state: part.count(place) for place, state in enumerate(KEYS)}
        return {state: count for state, count in counts.items() if count}

    def overview(self) -> dict[str, Any]:
        """As `condor_pydagman watch --json` prints it, with version and controls."""
        states = self.count(range(len(self.names)))
        counts = dict.fromkeys(COUNTED, 0) | {"total": len(self.names)}
        for look in LOOKS.values():
            counts[look.counted] += states.get(look.key, 0)
        now = time.time()
        done, total = counts["done"], len(self.names)
        own = self.at_sites
        at = {"groups": len(own.names), "sites": own.counted()} if own is not None else {}
        return {
            **at,
            "dag": f"/home/physicist/study/{self.file}", "state": self.word, "note": self.note,
            "cluster": 4711, "begun": self.begun, "ended": self.ended, "now": now,
            "exit_code": self.exit_code, "counts": counts, "counted": now, "states": states,
            "per_second": done / 3600, "stalled_s": 0.0,
            "remaining_s": 3600 * (total - done) / done if done and not self.ended else None,
            "longest": [], "held": [], "failures": [], "throttles": [], "subdags": [],
            "placements": {}, "shared_limits": self.shared_limits, "version": self.version,
            "controls": {"can": self.can, "why_not": self.why_not, "halted": self.halted,
                         "limits": self.limits},
            **self.more,
        }  # fmt: skip

    def in_list(self) -> dict[str, Any]:
        """As in the list of DAGs."""
        seen = self.overview()
        return {
            "id": self.id, "file": self.file, "directory": "/home/physicist/study",
            "cluster": 4711, "state": self.word, "counts": seen["counts"],
            "total": len(self.names), "done": seen["counts"]["done"], "started": self.begun,
            "ends_about": time.time() + seen["remaining_s"] if seen["remaining_s"] else None,
        }  # fmt: skip

    def packed_states(self) -> dict[str, Any]:
        """One byte for each node."""
        with self.changed:
            states = base64.b64encode(self.states).decode()
            return {"version": self.version, "states": states, "legend": KEYS}

    def picture(self, open_groups: Sequence[str]) -> dict[str, Any]:
        """First node, layers one below the other, last node."""
        boxes: list[dict[str, Any]] = []
        rows: list[list[dict[str, Any]]] = []
        for group, numbers in ((None, range(1)), *self.groups.items(),
                               (None, range(len(self.names) - 1, len(self.names)))):  # fmt: skip
            unfolded = group is None or group in open_groups or len(numbers) <= 12
            if unfolded and len(boxes) + len(numbers) <= MOST_BOXES:
                parts = [numbers[at : at + IN_A_ROW] for at in range(0, len(numbers), IN_A_ROW)]
                made = [[self._node_box(number) for number in part] for part in parts]
            else:
                made = [[self._group_box(group or "", numbers)]]
            rows += made
            boxes += [box for row in made for box in row]
        if self.at_sites is not None:
            for box in boxes:
                self.at_sites.of_box(box, self.groups.get(box["group"] or "", range(0)))
        width = max(sum(box["w"] + 20 for box in row) for row in rows)
        y = 0.0
        for row in rows:
            x = (width - sum(box["w"] + 20 for box in row)) / 2
            for box in row:
                box.update(x=x, y=y)
                x += box["w"] + 20
            y += row[0]["h"] + 46
        edges = [_edge(above, below) for one, two in zip(rows, rows[1:]) for above in one
                 for below in two if len(one) == 1 or len(two) == 1]  # fmt: skip
        legend = []
        if self.shapes:
            final = f"M0 0H{WIDTH}V{HEIGHT - 9}L{WIDTH - 9} {HEIGHT}H9L0 {HEIGHT - 9}Z"
            boxes[-1].update(kind="FINAL", outline=final, inset=12, words="FINAL")
            edges = [{**edge, "look": "weak"} for edge in edges]
            legend = [{"words": "FINAL: runs last", "outline": final, "look": ""},
                      {"words": "WEAK: starts", "outline": "", "look": "weak"}]  # fmt: skip
        return {"version": self.version, "width": width, "height": y, "boxes": boxes,
                "edges": edges, "legend": legend}  # fmt: skip

    def _node_box(self, number: int) -> dict[str, Any]:
        return {"id": f"n{number}", "label": self.names[number][:40], "w": WIDTH, "h": HEIGHT,
                "node": number, "group": None, "count": 1,
                "states": {self.state_of(number): 1}}  # fmt: skip

    def _group_box(self, group: str, numbers: range) -> dict[str, Any]:
        label = f"{self.names[numbers[0]][:24]} … {self.names[numbers[-1]][:24]}"
        return {"id": f"g{group}", "label": label, "w": 250, "h": 61, "node": None,
                "group": group, "count": len(numbers), "states": self.count(numbers)}  # fmt: skip

    def row(self, number: int) -> dict[str, Any]:
        """As in the table."""
        state = self.state_of(number)
        begun = state not in ("waiting", "ready", "futile")
        return {
            "number": number, "name": self.names[number], "state": state,
            "attempt": 0 if begun else None, "cluster": 5000 + number if begun else None,
            "started": self.begun + number % 1000 if begun else None,
            "ended": self.begun + number % 1000 + 60 if state in ("done", "failed") else None,
            "runtime_s": (number * 37) % 600 + 1.0 if begun else None,
            "reason": self.reasons.get(number, "exit code 1" if state == "failed" else ""),
        }  # fmt: skip

    def rows(self, query: dict[str, str]) -> dict[str, Any]:
        """Searched, filtered, sorted; a page."""
        search, state = query.get("search", "").casefold(), query.get("state", "")
        found: list[int] = list(range(len(self.names)))
        if state:
            place = KEYS.index(state)
            found = [number for number in found if self.states[number] == place]
        if search:
            found = [number for number in found if _fits(self.names[number].casefold(), search)]
        page = _page(found, self._key(query.get("sort", "name")), query)
        rows = [self.row(number) for number in page]
        return {"version": self.version, "total": len(self.names), "matches": len(found),
                "rows": rows}  # fmt: skip

    def _key(self, sort: str) -> Any:
        if sort == "name":
            return self.names.__getitem__
        if sort == "state":
            return self.states.__getitem__
        key = {"runtime": "runtime_s"}.get(sort, sort)
        return lambda number: self.row(number)[key] or 0

    def node(self, number: int) -> dict[str, Any]:
        """All that is known of a node."""
        near = {"parents": [0] if number else [], "children": [len(self.names) - 1]}
        failed = self.state_of(number) == "failed"
        finding = {"weight": "problem", "finding": f"{self.names[number]} has failed",
                   "evidence": ["study.dag.nodes.log: exit code 1\nTraceback: <b>no</b>"],
                   "advice": ["look at its error file"], "nodes": []}  # fmt: skip
        own = self.at_sites
        group = own.group_of.get(number) if own is not None else None
        return {
            **self.row(number), **({} if group is None else {"group": self.group_row(group)}),
            **{what: [{"number": n, "name": self.names[n], "state": self.state_of(n)} for n in some]
               for what, some in near.items()},
            "parents_count": len(near["parents"]), "children_count": len(near["children"]),
            "job": {"job": f"{5000 + number}.0", "hosts": ["slot1@node17"], "cpu_s": 12.5,
                    **self.more_of_jobs},
            "vars": {"run": str(number), "sample": "<script>alert(1)</script>"},
            "explain": [finding] if failed else [],
            "files": [{"kind": "output", "path": f"out/{number}.out", "exists": True},
                      {"kind": "error", "path": f"out/{number}.err", "exists": True}],
        }  # fmt: skip

    def group_row(self, group: int) -> dict[str, Any]:
        """As in the table of groups."""
        assert self.at_sites is not None
        states = [self.state_of(node) for node in self.at_sites.nodes[group]]
        return self.at_sites.row(group, states.count("done"))

    def group_rows(self, query: dict[str, str]) -> dict[str, Any]:
        """Searched, filtered, sorted; a page."""
        own = self.at_sites
        assert own is not None
        found = [self.group_row(group) for group in own.matching(query)]
        sort = query.get("sort", "name")
        page = _page(found, lambda row: (row[sort] is not None, row[sort]), query)
        return {"problem": own.problem, "total": len(own.names), "matches": len(found),
                "rows": page}  # fmt: skip

    def group(self, number: int) -> dict[str, Any]:
        """All of one group."""
        own = self.at_sites
        assert own is not None
        nodes = [{"number": node, "name": self.names[node], "state": self.state_of(node)}
                 for node in own.nodes[number]]  # fmt: skip
        states = {node["state"]: 0 for node in nodes}
        for node in nodes:
            states[node["state"]] += 1
        return {**self.group_row(number), "problem": own.problem, "states": states,
                "nodes": nodes[:50]}  # fmt: skip

    def timeline(self, query: dict[str, str]) -> dict[str, Any]:
        """A hill, and a few failures on it."""
        count = int(query.get("buckets", 120))
        begin = float(query.get("from") or self.begun)
        end = float(query.get("to") or self.ended or time.time())
        step = (end - begin) / count
        buckets = [{"t": begin + n * step, "running": round(120 * n / count * (1 - n / count), 2),
                    "ended": n % 7 + n // 20, "failed": int(n % 23 == 5)}
                   for n in range(count)]  # fmt: skip
        longest = sorted((n for n in range(min(len(self.names), 500)) if self.row(n)["runtime_s"]),
                         key=lambda n: -self.row(n)["runtime_s"])  # fmt: skip
        return {"buckets": buckets, "longest": [self.row(n) for n in longest[:20]]}

    def text(self, file: str, begin: int) -> dict[str, Any] | None:
        """A piece of a file; None if there is none."""
        if file not in self.files:
            return None
        data = self.files[file]
        again = begin > len(data)
        first = max(len(data) + begin, 0) if begin < 0 else 0 if again else begin
        piece = data[first : first + (256 << 10)]
        return {"from": first, "to": first + len(piece), "size": len(data),
                "text": piece.decode("utf-8", "replace"), "again": again}  # fmt: skip

    def command(self, body: dict[str, Any]) -> dict[str, Any]:
        """Do what a command says, or tell what it would do."""
        word, options, dry = body["command"], body.get("options") or {}, body.get("dry", False)
        if word == "rematch" and self.at_sites is not None:
            answer = self.at_sites.command(body["nodes"]["group"], dry=dry)
            self.touch()
            return answer
        if not body.get("nodes"):
            return self._dag_command(word, options, dry)
        chosen = list(self._selected(body["nodes"]))
        able = [number for number in chosen if _allows(word, self.state_of(number))]
        refused = [{"node": self.names[number], "state": self.state_of(number),
                    "reason": f"{word} is not for nodes in this state"}
                   for number in chosen if number not in set(able)]  # fmt: skip
        loses = word in ("cancel", "hold") and any(
            self.state_of(number) in _IN_QUEUE for number in able
        )
        after = {"cancel": "retry" if options.get("retry") else "failed", "hold": "held",
                 "release": "idle", "rerun": "ready", "done": "done", "skip": "done"}  # fmt: skip
        if not dry and word in after and able:
            self.set_many(able, after[word])
        tense = "would be" if dry else "is"
        return {"done": len(able), "refused": refused[:20], "refused_count": len(refused),
                "effect": f"{word} {tense} done with {len(able)} node(s); options: {options}",
                "loses_work": loses}  # fmt: skip

    def _selected(self, nodes: dict[str, Any]) -> Iterator[int]:
        for number, name in enumerate(self.names):
            if (
                number in nodes.get("numbers", ())
                or name in nodes.get("names", ())
                or nodes.get("state") == self.state_of(number)
                or fnmatch.fnmatch(name, nodes.get("pattern", ""))
            ):
                yield number

    def _dag_command(self, word: str, options: dict[str, Any], dry: bool) -> dict[str, Any]:
        effects = {"halt": "no more jobs are submitted", "resume": "jobs are submitted again",
                   "limits": f"limits are {options}", "priority": f"priority is {options}",
                   "cancel-all": "all jobs are removed; 12 nodes lose their work"}  # fmt: skip
        if not dry:
            if word in ("halt", "resume"):
                self.halted = word == "halt"
                self.word = "halted" if self.halted else "running"
            elif word == "limits":
                self.limits.update(options)
            elif word == "priority":
                self.limits["priority"] = options["value"]
            elif word == "cancel-all":
                self.word, self.ended, self.exit_code = "removed", time.time(), 1
                self.can, self.why_not = False, "the DAG has ended"
            self.touch()
        return {"done": 1, "refused": [], "refused_count": 0, "effect": effects[word],
                "loses_work": word == "cancel-all"}  # fmt: skip


def _page(found: list[T], key: Callable[[T], Any], query: dict[str, str]) -> list[T]:
    """Sorted; those that are asked for."""
    found.sort(key=key, reverse=bool(query.get("descending")))
    offset, limit = int(query.get("offset", 0)), min(int(query.get("limit", 200)), 200)
    return found[offset : offset + limit]


def _fits(name: str, search: str) -> bool:
    return fnmatch.fnmatch(name, search) if set(search) & set("*?") else search in name


def _allows(word: str, state: str) -> bool:
    return {
        "cancel": state in (*_IN_QUEUE, "pre", "post", "retry"),
        "hold": state in ("idle", "running"),
        "release": state == "held",
        "rerun": state in ("done", "failed"),
        "done": state in ("waiting", "ready", "retry", "failed"),
        "skip": state in ("waiting", "ready", "retry", "failed", "futile"),
    }.get(word, True)


def _edge(above: dict[str, Any], below: dict[str, Any]) -> dict[str, str]:
    x0, y0 = above["x"] + above["w"] / 2, above["y"] + above["h"]
    x1, y1 = below["x"] + below["w"] / 2, below["y"]
    half = (y0 + y1) / 2
    return {"path": f"M{x0} {y0}C{x0} {half} {x1} {half} {x1} {y1}", "look": ""}

"""Rounds of several DAGMans about the same limits."""

from __future__ import annotations

from condor_pydagman.features.shared_limits.definitions import Kind, parse
from condor_pydagman.features.shared_limits.fair_shares import (
    NO_LIMIT,
    Demand,
    Grant,
    Outcome,
    decide,
)
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims

NOTHING = (0, 0, 0, 0)


class Board:
    """The files of several DAGMans, and rounds one after another."""

    def __init__(self, text: str) -> None:
        self.limits = {limit.key: limit for limit in parse(text, "test")}
        self.files: dict[str, LimitClaims] = {}
        self.now = 1000.0

    def round(self, name: str, *demands: Demand) -> Outcome:
        own = self.files.get(name, LimitClaims(name, name, {}))._replace(name="")
        others = [file for other, file in self.files.items() if other != name]
        outcome = decide(own, others, self.limits, demands, self.now)
        self.files[name] = outcome.claims._replace(name=name)
        self.now += 1
        return outcome

    def nodes(self, name: str, limits: str, used: int, nodes: int, kept: int = 0) -> Grant:
        four, more = (used, 0, 0, 0), (max(kept, used), 0, 0, 0)
        return self.round(name, Demand(tuple(limits.split()), four, more, nodes)).grants[0]

    def held(self, key: str, kind: Kind = Kind.JOBS) -> int:
        return sum(file.claim(key, kind).held for file in self.files.values())


def test_a_dag_alone_gets_what_it_wants_up_to_the_limit() -> None:
    board = Board("a = JOBS 10")
    assert board.nodes("x", "a", 0, 4) == Grant((4, NO_LIMIT, NO_LIMIT, NO_LIMIT), NO_LIMIT)
    grant = board.nodes("x", "a", 4, 50)
    assert grant.places[0] == 10 and grant.full == ("a", Kind.JOBS)


def test_a_dag_that_has_more_than_its_share_is_woken_and_gives_back_what_ends() -> None:
    board = Board("a = JOBS 10")
    board.nodes("x", "a", 0, 50)
    outcome = board.round("y", Demand(("a",), nodes=50))
    assert outcome.grants[0].places[0] == 0 and outcome.contested
    assert outcome.woken == ["x"]
    assert board.nodes("x", "a", 10, 40).places[0] == 5  # no node of its starts until 5 are left
    assert board.held("a") == 10
    outcome = board.round("x", Demand(("a",), (7, 0, 0, 0), (7, 0, 0, 0), 40))
    assert outcome.woken == ["y"]
    assert board.nodes("y", "a", 0, 50).places[0] == 3
    assert board.held("a") == 10


def test_places_ahead_are_given_while_nobody_waits() -> None:
    board = Board("a = JOBS 10")
    outcome = board.round("x", Demand(("a",), nodes=2, ahead=4))
    assert outcome.grants[0].places[0] == 6
    assert outcome.claims.claim("a", Kind.JOBS).used == 2, "those ahead are not in use"
    assert board.round("y", Demand(("a",), nodes=9)).woken == ["x"]
    four = (2, 0, 0, 0)
    assert board.round("x", Demand(("a",), four, four, 0)).grants[0].places[0] == 2


def test_places_that_may_be_in_use_before_the_answer_are_kept() -> None:
    board = Board("a = JOBS 10")
    board.nodes("x", "a", 0, 10)
    board.nodes("y", "a", 0, 10)
    board.nodes("x", "a", 2, 8, kept=10)  # it may have started others meanwhile
    assert board.held("a") == 10
    assert board.nodes("y", "a", 0, 10).places[0] == 0


def test_a_limit_that_has_been_lowered_takes_nothing_away_but_gives_nothing() -> None:
    board = Board("a = JOBS 10")
    board.nodes("x", "a", 0, 10)
    board.limits = {limit.key: limit for limit in parse("a = JOBS 4", "test")}
    grant = board.nodes("x", "a", 10, 5)
    assert grant.places[0] == 4 and board.held("a") == 10
    assert board.nodes("x", "a", 3, 5).places[0] == 4
    board.limits = {limit.key: limit for limit in parse("a = JOBS 20", "test")}
    assert board.nodes("x", "a", 4, 5).places[0] == 9


def test_a_class_gets_places_of_all_its_limits_or_none() -> None:
    board = Board("a = JOBS 10; b = JOBS 1")
    board.nodes("x", "b", 1, 0)
    grant = board.nodes("y", "a b", 0, 5)
    assert grant.places[0] == 0 and grant.full == ("b", Kind.JOBS)
    assert board.held("a") == 0
    assert board.nodes("z", "a", 0, 10).places[0] == 10


def test_what_one_class_may_still_take_no_other_gets() -> None:
    board = Board("a = JOBS 4 IDLE 4; b = JOBS 9")
    both = Demand(("a", "b"), (2, 0, 0, 0), (3, 1, 0, 0))
    for one in (Demand(("a",), nodes=5), Demand(("a",), ahead=5)):
        for demands in ((both, one), (one, both)):
            grants = board.round("x", *demands).grants
            assert grants[demands.index(one)].places[0] == 1
            assert board.held("a") == 4
    wants = both._replace(nodes=1)
    assert board.round("x", wants, one).grants[0].places[0] == 3  # its own are among them


def test_what_must_be_given_back_of_one_limit_is_not_free_in_another_yet() -> None:
    board = Board("a = JOBS 2; b = JOBS 1")
    board.nodes("x", "b", 1, 0)
    four = (1, 0, 0, 0)
    both, one = Demand(("a", "b"), four, four), Demand(("a",), four, four, nodes=5)
    grants = board.round("y", both, one).grants
    assert grants[0].places[0] == 0  # it still runs, and so does the other
    assert grants[1].places[0] == 1
    assert board.held("a") == 2


def test_two_that_wait_do_not_wake_each_other_for_ever() -> None:
    board = Board("a = JOBS 10 IDLE 1")
    one = (1, 1, 0, 0)
    board.round("x", Demand(("a",), one, one, 0))
    for _ in range(3):
        board.round("y", Demand(("a",), nodes=5))
        board.round("z", Demand(("a",), nodes=5))
    assert not board.round("y", Demand(("a",), nodes=5)).woken
    assert not board.round("z", Demand(("a",), nodes=5)).woken


def test_idle_places_are_used_again_when_jobs_run() -> None:
    board = Board("a = JOBS 10 IDLE 2")
    grant = board.nodes("x", "a", 0, 20)
    assert grant.places[:2] == (2, 2)
    running = (2, 0, 0, 0)
    grant = board.round("x", Demand(("a",), running, running, 18)).grants[0]
    assert grant.places[:2] == (4, 2)
    running = (10, 0, 0, 0)
    grant = board.round("x", Demand(("a",), running, running, 10)).grants[0]
    assert grant.places[:2] == (10, 2)  # for the node that follows when one has ended


def test_scripts_have_places_of_their_own() -> None:
    board = Board("a = PRE 3 POST 1")
    grant = board.round("x", Demand(("a",), nodes=7, pre=5, post=5)).grants[0]
    assert grant.places == (NO_LIMIT, NO_LIMIT, 3, 1) and grant.starts == NO_LIMIT


def test_starts_are_spread_over_the_minute_and_over_dags() -> None:
    board = Board("a = STARTS-PER-MINUTE 600")
    first = board.round("x", Demand(("a",), nodes=1000))
    assert first.grants[0].starts == 10 and first.again_s is not None
    board.now -= 0.9
    assert board.round("y", Demand(("a",), nodes=1000)).grants[0].starts == 0
    board.now += 1
    assert board.round("y", Demand(("a",), nodes=1000)).grants[0].starts == 10


def test_there_are_never_more_starts_in_a_minute() -> None:
    board = Board("a = STARTS-PER-MINUTE 7")
    taken: list[tuple[float, int]] = []
    for second in range(300):
        for name in ("x", "y", "z"):
            board.now = 1000.0 + second
            starts = board.round(name, Demand(("a",), nodes=3)).grants[0].starts
            taken += [(board.now, starts)] if starts else []
    for begin in range(1000, 1240):
        assert sum(n for when, n in taken if begin <= when < begin + 60) <= 7
    assert sum(n for _, n in taken) >= 30


def test_fewer_places_than_dags_go_round() -> None:
    board = Board("a = JOBS 1")
    running: str | None = None
    ran = dict.fromkeys("wxyz", 0)
    for _ in range(200):
        for name in ran:
            used = int(running == name)
            grant = board.nodes(name, "a", used, 5)
            if running is None and grant.places[0] > used:
                running = name
                ran[name] += 1
        if running is not None:
            name, running = running, None
            grant = board.nodes(name, "a", 0, 5)
            if grant.places[0]:
                running = name
                ran[name] += 1
    assert min(ran.values()) > max(ran.values()) - 5

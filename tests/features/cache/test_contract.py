"""The process that looks up nodes with a CACHE command, and those of tests, answer the same."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest

from condor_pydagman.features.cache.helper import CacheHelper
from condor_pydagman.features.cache.run import (
    CachedKept,
    CachedResult,
    CachedWanted,
    KeepCached,
    LookUpCached,
)
from tests import make
from tests.features.cache.cached import Store
from tests.features.cache.sim import Caches
from tests.helping import Asker

DAG = make.dag("A B\nCACHE A\nCACHE B")
DAG.descriptions["n.sub"] = "queue\n"


class Kind(Protocol):
    """What looks up node A, and keeps its end."""

    def look_up(self, wanted: CachedWanted) -> CachedResult:
        """The answer."""

    def keep(self, result: str) -> None:
        """The node has ended well."""


class Real:
    """The helper and its process."""

    def __init__(self, directory: Path) -> None:
        helper = CacheHelper(DAG, str(directory / "x.dag.cache"), pytest.fail)
        self.asker = Asker(helper)

    def look_up(self, wanted: CachedWanted) -> CachedResult:
        (found,) = self.asker.ask(LookUpCached((wanted,))).results
        assert isinstance(found, CachedResult)
        return found

    def keep(self, result: str) -> None:
        assert self.asker.ask(KeepCached(((0, result),))) == CachedKept([0])


class Faked:
    """One of those of tests, which need the DAG."""

    def __init__(self, fake: Store | Caches) -> None:
        self._fake = fake

    def look_up(self, wanted: CachedWanted) -> CachedResult:
        return self._fake.look_up(DAG, wanted)

    def keep(self, result: str) -> None:
        self._fake.keep(DAG, 0, result)


@pytest.fixture(params=["process", "unit tests", "simulator"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "process":
        real = Real(tmp_path)
        yield real
        real.asker.process.end()
    elif request.param == "unit tests":
        yield Faked(Store())
    else:
        world: Any = SimpleNamespace(seed=1, era=0)
        yield Faked(Caches(world))


def ask(kind: Kind, parents: str, *, anew: bool = False) -> tuple[bool, str]:
    """Whether nothing has changed, and the name of the result."""
    node, number, hit, result, why = kind.look_up(CachedWanted(0, 7, parents, "why", anew))
    assert (node, number, bool(why)) == (0, 7, not hit)
    return hit, result


def test_what_was_done_with_the_same_is_found(kind: Kind) -> None:
    hit, result = ask(kind, "p")
    assert not hit
    kind.keep(result)
    assert ask(kind, "p") == ask(kind, "p") == (True, result)


def test_each_run_makes_a_result_of_another_name(kind: Kind) -> None:
    results = [ask(kind, "p")[1] for _ in range(4)]
    assert len(set(results)) == 4
    kind.keep(results[0])  # which counts no more
    assert not ask(kind, "p")[0]


def test_a_run_that_began_forgets_the_one_before(kind: Kind) -> None:
    kind.keep(ask(kind, "p")[1])
    assert not ask(kind, "q")[0]
    assert not ask(kind, "p")[0]


def test_what_is_not_known_or_wanted_anew_runs(kind: Kind) -> None:
    kind.keep(ask(kind, "p")[1])
    hit, result = ask(kind, "p", anew=True)
    assert not hit
    kind.keep(result)
    assert ask(kind, "p") == (True, result)
    hit, result = ask(kind, "")
    kind.keep(result)
    assert (hit, ask(kind, "")[0], ask(kind, "p")[0]) == (False, False, False)

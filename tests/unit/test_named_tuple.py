"""Our NamedTuple against typing's: every class of ours behaves as theirs would."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from condor_pydagman import named_tuple

BODY = """
class Job(NamedTuple):
    '''A job.'''

    cluster: int
    proc: int = 0
    name: str = ""

    @property
    def id(self) -> str:
        return f"{self.cluster}.{self.proc}"


class Empty(NamedTuple):
    '''Nothing.'''


class Held(Job):
    '''A job of a subclass.'''

    __slots__ = ()
    reason = "no"
"""


def made(base: Any) -> Any:
    """The classes above, of our NamedTuple or typing's."""
    space: dict[str, Any] = {"NamedTuple": base, "__name__": __name__}
    exec("from __future__ import annotations\n" + BODY, space)
    return space


OURS, THEIRS = made(named_tuple.NamedTuple), made(typing.NamedTuple)
Job = OURS["Job"]  # by this name pickle finds it
QUESTIONS: list[Any] = [
    lambda of: of["Job"](1),
    lambda of: of["Job"](1, name="A", proc=2),
    lambda of: of["Job"](1).id,
    lambda of: of["Job"](1, 2) == (1, 2, ""),
    lambda of: hash(of["Job"](1, 2)) == hash((1, 2, "")),
    lambda of: of["Job"](3, 4)._replace(name="B"),
    lambda of: of["Job"](3, 4)._asdict(),
    lambda of: of["Job"]._make([5, 6, "C"]),
    lambda of: of["Job"]._fields,
    lambda of: of["Job"]._field_defaults,
    lambda of: of["Job"].__doc__,
    # Python 3.9 has no `match`, and no such attribute.
    lambda of: getattr(of["Job"], "__match_args__", of["Job"]._fields),
    lambda of: of["Job"].__module__,
    lambda of: isinstance(of["Job"](1), tuple),
    lambda of: type(of["Job"]),
    lambda of: copy.deepcopy(of["Job"](1)),
    lambda of: list(of["Job"].__annotations__),
    lambda of: hasattr(of["Job"](1), "__dict__"),
    lambda of: of["Empty"](),
    lambda of: of["Empty"]._fields,
    lambda of: of["Held"](7),
    lambda of: (of["Held"](7, 8).id, of["Held"](7).reason, of["Held"]._fields),
    lambda of: [field.__doc__ for field in (of["Job"].cluster, of["Job"].name)],
]
MISTAKES: list[Any] = [
    lambda of: of["Job"](),
    lambda of: of["Job"](1, 2, "A", 4),
    lambda of: of["Job"](1, place=2),
    lambda of: of["Empty"](1),
    lambda of: of["Job"]._make([1]),
    lambda of: setattr(of["Job"](1), "proc", 2),
    lambda of: setattr(of["Job"](1), "place", 2),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_answer(question: Any) -> None:
    ours, theirs = question(OURS), question(THEIRS)
    assert (ours, repr(ours)) == (theirs, repr(theirs))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_same_kind_of_error(mistake: Any) -> None:
    with pytest.raises((TypeError, AttributeError)) as theirs:
        mistake(THEIRS)
    for _ in range(2):  # the first object, and others
        with pytest.raises(theirs.type):
            mistake(made(named_tuple.NamedTuple))


def test_a_wrong_name_in_replace() -> None:
    with pytest.raises((TypeError, ValueError), match="place"):
        Job(1)._replace(place=2)


def test_a_default_before_a_field_without() -> None:
    for base in (named_tuple.NamedTuple, typing.NamedTuple):
        with pytest.raises(TypeError, match="default"):
            exec("class A(base):\n    a: int = 0\n    b: int", {"base": base})


def test_pickle_and_first_objects() -> None:
    fresh = made(named_tuple.NamedTuple)
    assert fresh["Held"](1, 2) == fresh["Job"](1, 2) == fresh["Held"](1, 2)
    assert type(fresh["Held"](1)) is fresh["Held"]
    assert pickle.loads(pickle.dumps(Job(1, 2, "A"))) == Job(1, 2, "A")


def test_where_there_is_no_getter_of_cpython(monkeypatch: pytest.MonkeyPatch) -> None:
    source = vars(named_tuple)["__file__"]
    space: dict[str, Any] = {"__name__": "other"}
    monkeypatch.setitem(__import__("sys").modules, "_collections", None)
    with open(source, encoding="utf-8") as file:
        exec(compile(file.read(), source, "exec"), space)
    job = made(space["NamedTuple"])["Job"](1, 2)
    assert (job.cluster, job.id, job) == (1, "1.2", Job(1, 2))

"""`NamedTuple`: what `typing.NamedTuple` is, for type checkers and for those who use such classes,
but eight times as fast to define.

The modules of a DAGMan define some 250 such classes, and each command starts a Python anew:
typing's take a quarter of the time to load them (docs/performance.md, "Start-up").  They compile
every annotation, and a constructor; here nothing is compiled before the first object of a class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    try:
        from _collections import _tuplegetter as field_getter
    except ImportError:  # not CPython

        def field_getter(index, doc):
            """A property: the element of a tuple with that index."""
            return property(lambda self: self[index], doc=doc)

    class _Fields(tuple):
        """What all classes have."""

        __slots__ = ()
        _fields = ()
        _field_defaults: ClassVar = {}

        def __new__(cls, *args, **kwargs):
            """Make the first object: it makes the constructor for those that follow."""
            kind = next(kind for kind in cls.__mro__ if "_fields" in vars(kind))
            defaults = kind._field_defaults.values()
            made = namedtuple(kind.__name__, kind._fields, defaults=defaults)
            kind.__new__ = staticmethod(made.__new__)
            return kind.__new__(cls, *args, **kwargs)

        @classmethod
        def _make(cls, values):
            """An object with these values, in the order of the fields."""
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, **changes):
            """An object with other values of some fields."""
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        __replace__ = _replace

        def _asdict(self):
            """The values by the names of the fields."""
            return dict(zip(self._fields, self))

        def __repr__(self):
            values = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self):
            return tuple(self)

    class _Definition(type):
        """Makes a class of what stands in a class statement."""

        def __new__(mcs, name, bases, body):
            if not bases:
                return super().__new__(mcs, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default follows one with a default")
            for index, field in enumerate(fields):
                body[field] = field_getter(index, f"Alias for field number {index}")
            body.update(
                _fields=fields, _field_defaults=defaults, __match_args__=fields, __slots__=()
            )
            return type(name, (_Fields,), body)

    class NamedTuple(metaclass=_Definition):
        """Base of a class statement whose annotations are the fields; see `typing.NamedTuple`."""

"""Macros in values of a request: `$(NAME)`, `$(NAME:default)`, `$ENV(NAME)`.

A DATA node's are its VARS, and those that DAGMan sets for jobs.  They are expanded in values that
have been read, so nothing in a macro can end a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from condor_pydagman.language.hints import nearest

MAX_DEPTH = 20
MAX_VALUE_LENGTH = 100_000  # characters
_DOLLAR = re.compile(r"\$\(DOLLAR\)", re.IGNORECASE)
_MACRO = re.compile(
    r"\$(ENV)?\((?!DOLLAR\))\s*([A-Za-z_][\w.]*)\s*(?::([^()$]*))?\)", re.IGNORECASE
)


class UndefinedMacro(ValueError):
    """A macro has no value; `hint`: what may have been meant."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(f"{text} is not defined")
        self.hint = hint


class Macros:
    """Macros by name; upper and lower case are the same.

    Args:
        values: macros.
        environment: variables for `$ENV`.
    """

    def __init__(self, values: Mapping[str, str] = {}, environment: Mapping[str, str] = {}) -> None:
        self._values = {name.lower(): value for name, value in values.items()}
        self._values["dagman_dollar"] = "$(DOLLAR)"  # see `language.lexer.item_text`
        self._names = list(values)
        self._environment = environment

    def expand(self, text: str) -> str:
        """`text` with the values of its macros.

        Raises:
            UndefinedMacro: one has no value and no default.
            ValueError: macros refer to each other in a circle.
        """
        for _ in range(MAX_DEPTH):
            if "$" not in text:
                return text
            if not _MACRO.search(text):
                return _DOLLAR.sub("$", text)
            text = _MACRO.sub(self._value, text)
            if len(text) > MAX_VALUE_LENGTH:
                raise ValueError(f"it has more than {MAX_VALUE_LENGTH} characters")
        raise ValueError("its macros refer to each other in a circle")

    def _value(self, found: re.Match[str]) -> str:
        env, name, default = found.groups()
        value = self._environment.get(name) if env else self._values.get(name.lower())
        if value is None:
            value = default
        if value is None:
            raise UndefinedMacro(found[0], self._hint(name, bool(env)))
        return value

    def _hint(self, name: str, env: bool) -> str:
        if env:
            return f"the environment has no variable {name}; $ENV({name}:default) gives a default"
        meant = nearest(name, self._names)
        if meant:
            return f"did you mean $({meant})?"
        return f"set it with VARS, or give a default: $({name}:default)"


def variables_named(texts: Iterable[str]) -> set[str]:
    """The variables that occur in them as `$ENV(NAME)`."""
    found = (one for text in texts for one in _MACRO.finditer(text))
    return {one[2] for one in found if one[1]}

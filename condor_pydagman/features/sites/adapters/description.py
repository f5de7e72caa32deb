"""What a submit description gets of the site that its node's group is matched to.

Before the user's lines, a macro `MATCH_<attribute>` for each attribute of the site's ad; after them
the same as attributes of the job, as the negotiator gives them (manual: "Job ClassAd Attributes"),
the site's name, and the variables of its SiteEnvironment beside those of the description.  The
request of a DATA node has the same macros.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from condor_pydagman.language.description import Template, statements
from condor_pydagman.records.job_description import attribute, literal

SITE_ATTRIBUTE = "PYDAGMAN_Site"
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def with_site(
    template: Template, site: str, values: Mapping[str, Any], environment: Mapping[str, str]
) -> Template:
    """The description for a node that runs at `site`.

    Args:
        values: plain attributes of the site's ad: text, numbers, truth values.
        environment: variables that its jobs get.
    """
    lines = "".join(f"{name} = {value}\n" for name, value in macros(values).items())
    attributes = "".join(
        f"My.MATCH_{name} = {_attribute(name, value)}\n" for name, value in _known(values)
    )
    attributes += f"My.{SITE_ATTRIBUTE} = {attribute(site)}\n"
    parts = []
    so_far = ""
    for body, queue in template:
        so_far += body
        parts.append((lines + body + attributes + _environment(so_far, environment), queue))
        lines = ""
    return tuple(parts)


def macros(values: Mapping[str, Any]) -> dict[str, str]:
    """The macros of a site's plain attributes; no macro in a value is expanded."""
    return {f"MATCH_{name}": _macro(value) for name, value in _known(values)}


def _known(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in values.items() if _NAME.fullmatch(name)]


def _macro(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return literal(_one_line(str(value)))


def _attribute(name: str, value: Any) -> str:
    """By the macro, where that can be: one that nothing uses would lead to a warning."""
    if not isinstance(value, str):
        return f"$(MATCH_{name})"
    text = _one_line(value)
    return attribute(text) if '"' in text or "\\" in text else f'"$(MATCH_{name})"'


def _one_line(text: str) -> str:
    return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text


def _environment(before: str, more: Mapping[str, str]) -> str:
    """A line with the variables that the description sets so far, and these."""
    if not more:
        return ""
    assigned = filter(None, (one.assigned for one in statements(before)))
    values = [value for key, value in assigned if key in ("environment", "env")]
    theirs = values[-1] if values else ""
    if theirs and not theirs.startswith('"'):
        plain = {name: value for name, value in more.items() if not re.search("[;\"']", value)}
        pairs = ";".join(f"{name}={literal(value)}" for name, value in plain.items())
        return f"environment = {theirs.rstrip(';')};{pairs}\n"
    inside = theirs[1:-1].strip() if len(theirs) > 1 and theirs.endswith('"') else ""
    pairs = " ".join(f"{name}={_quoted(value)}" for name, value in more.items())
    return f'environment = "{inside + " " if inside else ""}{pairs}"\n'


def _quoted(value: str) -> str:
    """In the new syntax of `environment` (man page condor_submit)."""
    text = literal(value.replace('"', '""'))
    return "'" + text.replace("'", "''") + "'" if re.search(r"[\s']", text) or not text else text

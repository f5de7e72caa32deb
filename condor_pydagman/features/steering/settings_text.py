"""What a person has set for a node, as text: in the nodes log, and for people."""

from __future__ import annotations

import json
from typing import Any

from condor_pydagman.engine.node_settings import NodeSettings

_LIMITS = ("queued", "running", "total", "late queued", "late running", "late total")


def settings_text(settings: NodeSettings) -> str:
    """One line of ASCII; `read_settings` reads it back."""
    said = {name: value for name, value in settings._asdict().items() if value not in (None, ())}
    return json.dumps(said, separators=(",", ":"), ensure_ascii=True)


def read_settings(text: str) -> NodeSettings | None:
    """Read a text; None if it is of a later version, or damaged."""
    try:
        found: Any = json.loads(text)
        timeout, variables = found.pop("timeout", None), found.pop("variables", ())
        return NodeSettings(
            timeout=None if timeout is None else tuple(timeout),
            variables=tuple((str(key), str(value)) for key, value in variables),
            **found,
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def recorded_bytes(name: str, text: str) -> int:
    """How many bytes a node's name and a text take in the nodes log, at most."""
    both = name + text
    return len(both.encode("utf-8", "replace")) + both.count('"') + both.count("\\")


def shown(settings: NodeSettings) -> str:
    """What is set, for `.dagman.out`."""
    said = [
        f"{name} {getattr(settings, name)}"
        for name in ("priority", "retries", "category")
        if getattr(settings, name) is not None
    ]
    if settings.timeout is not None:
        kinds = zip(_LIMITS, settings.timeout)
        said += [f"timeout {kind} {limit} s" for kind, limit in kinds if limit is not None]
    said += [f"VARS {key}" for key, _ in settings.variables]  # a value may be long, or a secret
    return ", ".join(said)

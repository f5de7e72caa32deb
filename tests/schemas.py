"""Whether documents that commands print meet the schemas that are shipped, and have no field that
these do not name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from condor_pydagman.cli.schema_command import schema_text
from condor_pydagman.follow.dag_events import DagEvent


def check(name: str, document: Any) -> None:
    """Raise jsonschema.ValidationError if a document does not meet a schema, or has more fields."""
    _validator(name).validate(document)


def check_events(events: Iterable[DagEvent]) -> None:
    """The same of events, as they are printed."""
    for event in events:
        check("events", json.loads(event.placed(event.id, event.dag or "t.dag").to_json()))


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads(schema_text(name))
    return Draft202012Validator(_strict(schema))


def _strict(schema: Any) -> Any:
    """The same without fields that it does not name."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _strict(value) for key, value in schema.items() if key != "allOf"}
    if "allOf" in schema:  # which name more fields of the same object
        found["allOf"] = schema["allOf"]
        found["unevaluatedProperties"] = False
    elif "properties" in schema and isinstance(schema.get("required"), list):
        found["additionalProperties"] = False
    return found

"""The file beside a DAG that keeps what has been added to it: `<dag>.grown`.

It only gets longer.  Each section is a head line with the digest and the length of what follows, a
line of JSON with the texts and how they are to be read.  A section is found by its digest; one that
was cut short, by a full disk or a crash, is passed over.
"""

from __future__ import annotations

import re
from typing import Any

from condor_pydagman.features.growth.commands import Feeding
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.stepwise import Steps

DIGEST_LENGTH = 32
MAX_HEAD_BYTES = 100

_HEAD = re.compile(rb"PIECE ([0-9a-f]{32}) ([0-9]{1,12})\n")
_HALF_A_HEAD = re.compile(rb"P(I(E(C(E( ([0-9a-f]{0,31}|[0-9a-f]{32}( [0-9]{0,12})?))?)?)?)?)?\Z")


def section(text: PieceText) -> Steps[tuple[str, bytes]]:
    """The digest of a piece's text, and its section."""
    import json  # late, as below: most DAGs do not grow

    fields = {**text._asdict(), "options": text.options._asdict()}
    body = json.dumps(fields, ensure_ascii=True)
    yield
    data = body.encode("ascii") + b"\n"
    digest = _digest(data)
    return digest, f"PIECE {digest} {len(data)}\n".encode("ascii") + data


def read_head(data: bytes) -> tuple[str, int, int] | None:
    """Digest, length of the head and of what follows, of the section that begins here; None if
    there is none."""
    found = _HEAD.match(data)
    return None if found is None else (found[1].decode("ascii"), found.end(), int(found[2]))


def is_cut_short(data: bytes) -> bool:
    """Whether the end of a file, of which these are the first MAX_HEAD_BYTES, may be the beginning
    of a section: what a crash or a full disk has left, also as zeros, and not somebody's own."""
    return bool(_HEAD.match(data) or _HALF_A_HEAD.match(data)) or not data.strip(b"\0")


def read_body(digest: str, data: bytes) -> PieceText | None:
    """What a section says; None if it is damaged."""
    import json

    if _digest(data) != digest:
        return None
    try:
        fields: dict[str, Any] = json.loads(data)
        options = BuildOptions(**fields.pop("options"))
        fields["children"] = tuple(fields["children"])
        if fields.get("feeding") is not None:
            fields["feeding"] = Feeding(*fields["feeding"])
        return PieceText(**fields, options=options)
    except (ValueError, TypeError, KeyError):
        return None


def _digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()[:DIGEST_LENGTH]

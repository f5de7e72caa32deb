"""Whether a submit description could run a command when it is read: HTCondor runs those that an
`include` or a `queue ... from` names, as the user who reads, be it somebody else's description.
"""

from __future__ import annotations

import re

_CONTINUED = re.compile(r"\\[ \t\r]*\n\s*")
# Anywhere in a line: which lines are comments, and which go on in the next, is for HTCondor to say.
_INCLUDE = re.compile(r"include[^\n]*:", re.I)
_FROM = re.compile(r"queue[^\n]*\bfrom\b[^\n]*\|", re.I)


def may_run_commands(text: str) -> bool:
    """Whether reading a description may run a command, or read another file, which may.

    Rather says so of one that does not than the other way round.
    """
    joined = _CONTINUED.sub("", text)
    return any(form.search(part) for form in (_INCLUDE, _FROM) for part in (text, joined))

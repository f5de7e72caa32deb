"""What commands print for people: each line passes here, and has no control codes then.

Text of DAG files, logs, ads and names of files may hold codes for the terminal.  Whatever makes
text can leave them in it.  What is for programs (JSON and other formats) is printed as it is.
"""

from __future__ import annotations

import sys

from condor_pydagman.printable import printable


def say(*lines: str, error: bool = False, flush: bool = False) -> None:
    """Print lines, each of which stays one whatever is in it.

    Raises:
        OSError: the disk is full, or whoever reads has gone.
    """
    for line in lines:
        print(printable(line), file=sys.stderr if error else sys.stdout, flush=flush)

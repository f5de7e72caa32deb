"""The report of a run as a value: a page that can be saved, sent, or shown in a notebook."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape

from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.cli.output_file import write_output

_HEIGHT = 600  # of the frame in a notebook, pixels


@dataclass(frozen=True)
class RunReport:
    """What `condor_pydagman report` writes.

    Attributes:
        name: of the DAG file.
        html: the page, which needs nothing else.
    """

    name: str
    html: str = field(repr=False)

    def save(self, path: StrPath = "") -> str:
        """Write the page; returns the name of the file.

        Args:
            path: '' for that of the DAG file plus `.report.html`.

        Raises:
            FileError: it can't be written.
        """
        file = os.fspath(path) or f"{self.name}.report.html"
        write_output(file, [self.html])
        return file

    def _repr_html_(self) -> str:
        """In a frame of its own, so that its style stays there."""
        return (
            f"<iframe sandbox srcdoc='{escape(self.html)}' title='report of a DAG'"
            f" style='width:100%;height:{_HEIGHT}px;border:0'></iframe>"
        )

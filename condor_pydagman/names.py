"""Every file name that DAGMan derives from the name of the primary DAG file.  Pure string work.

`primary` is always the first DAG file as the user wrote it, directory included: the names stay
relative to the submit directory, as stock DAGMan's do.
"""

from __future__ import annotations

import os.path
import re
import zlib
from collections.abc import Mapping

from condor_pydagman.named_tuple import NamedTuple

BUNDLE = "bundle"  # with a number behind it, what the job of a bundle has for the name of a node
MAX_LOGGED_NAME_BYTES = 500  # readers of the job log take lines of 1023 bytes


def logged_name(node: str) -> str:
    """The name of a node in events that DAGMan writes: its own, if a line of the log can hold it.

    A longer name is cut and carries a checksum; so does one with characters that a line can't hold.
    """
    if len(node) <= MAX_LOGGED_NAME_BYTES // 4 and node.isprintable():
        return node
    data = node.encode("utf-8", "surrogateescape")
    if len(data) <= MAX_LOGGED_NAME_BYTES and node.isprintable():
        return node
    plain = "".join(c if c.isascii() and c.isprintable() else "?" for c in node)
    return f"{plain[: MAX_LOGGED_NAME_BYTES - 9]}~{zlib.crc32(data):08x}"


def is_in_slash_tmp(nodes_log: str) -> bool:
    """Whether DAGMan refuses to keep its log there, unless DAGMAN_AVOID_SLASH_TMP is false."""
    return nodes_log.startswith("/tmp")  # noqa: S108 - as the stock program compares


PLACEMENTS = ".placements"


class DagPaths(NamedTuple):
    """The files that belong to one DAG (or to several run as one)."""

    primary: str  # first DAG file, as given
    # whether more than one DAG file was given (rescue files are then `P_multi.rescueNNN`)
    multi: bool = False
    outfile_dir: str = ""  # directory for `.dagman.out`, '' for the DAG's own

    @property
    def condor_sub(self) -> str:
        """Submit file of the DAGMan job."""
        return self.primary + ".condor.sub"

    @property
    def dagman_out(self) -> str:
        """DAGMan's debug log.  The path is joined as stock does, since some tools compare it."""
        if self.outfile_dir:
            return f"{self.outfile_dir}/{os.path.basename(self.primary)}.dagman.out"
        return self.primary + ".dagman.out"

    @property
    def dagman_log(self) -> str:
        """Job event log of the DAGMan job itself."""
        return self.primary + ".dagman.log"

    @property
    def lib_out(self) -> str:
        """Standard output of DAGMan."""
        return self.primary + ".lib.out"

    @property
    def lib_err(self) -> str:
        """Standard error of DAGMan."""
        return self.primary + ".lib.err"

    @property
    def lock(self) -> str:
        """Lock file: while it exists, the DAG runs or is to be recovered."""
        return self.primary + ".lock"

    @property
    def halt(self) -> str:
        """Halt file, made by a user: while it exists, nothing is submitted."""
        return self.primary + ".halt"

    @property
    def metrics(self) -> str:
        """Summary in JSON, written at the end."""
        return self.primary + ".metrics"

    @property
    def grown(self) -> str:
        """What has been added to the DAG while it ran."""
        return self.primary + ".grown"

    @property
    def cache(self) -> str:
        """What nodes with a CACHE command were last done with."""
        return self.primary + ".cache"

    @property
    def sites(self) -> str:
        """What is known of the sites that groups of nodes were matched to."""
        return self.primary + ".sites"

    @property
    def bundles(self) -> str:
        """Directory for what DAGMan and the jobs of bundles tell each other."""
        return self.primary + ".bundles"

    @property
    def placements(self) -> str:
        """Directory, of the user's alone, for what DAGMan and the workers of DATA nodes tell each
        other."""
        return self.primary + PLACEMENTS

    def nodes_log(
        self,
        cwd: str,
        template: str = "@(DAG_DIR)/@(DAG_FILE).nodes.log",
        words: Mapping[str, str] | None = None,
    ) -> str:
        """Absolute path of the nodes log, with the `/./` that stock DAGMan writes.

        `template` is DAGMAN_DEFAULT_NODE_LOG, where `@(WORD)` stands for the text of `words`, or
        for the DAG's directory and file.
        """
        known = {
            "DAG_DIR": os.path.dirname(self.primary) or ".",
            "DAG_FILE": os.path.basename(self.primary),
            **(words or {}),
        }
        name = re.sub(r"@\((\w+)\)", lambda found: known.get(found[1], found[0]), template)
        return os.path.join(cwd, name)

    def save(self, file: str, cwd: str, node_directory: str = "") -> str:
        """Where save file `file` of a SAVE_POINT_FILE line, or of -load_save, is.

        A name without a directory is in `save_files` beside the DAG (a directory that may have to
        be made); one with a directory is relative to the working directory `cwd`, or to the node's
        directory, which is given only with -UseDagDir.
        """
        directory = os.path.dirname(self.primary)
        if "/" not in file:
            return os.path.join(cwd, directory, "save_files", file)
        return os.path.join(node_directory, file)

    def rescue(self, number: int) -> str:
        """Name of rescue file `number` (1 is the first)."""
        stem = self.primary + "_multi" if self.multi else self.primary
        return f"{stem}.rescue{number:03d}"

"""The program that copies one file by gfal2, in a process of its own: a library in C may hang.

Started by path, with nothing of this package imported: `gfal_way` gives it the directory of the
module gfal2 and a directory with the file `request`.  There it writes `progress` (bytes so far, and
of the whole) as it goes, and `result` at its end.  SIGTERM cancels the copy.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import sys
import threading
import time
from typing import Any

# What a service says that can't rename.
_CANT = (errno.ENOSYS, errno.ENOTSUP, errno.EPROTONOSUPPORT, errno.EOPNOTSUPP)
REQUEST, PROGRESS, RESULT = "request", "progress", "result"


_LONGEST_S = 30  # beyond twice the time that gfal2 itself allows for an answer


class Failure(Exception):
    """It failed at one end ("source", "destination") or between ('')."""

    def __init__(self, end: str, code: object, text: object) -> None:
        super().__init__(text)
        self.end = end
        # a number of errno(3); 0 if it is none of a server's, but gfal2's own
        self.code = code if isinstance(code, int) else 0


def main(module_directory: str, directory: str) -> None:
    """Do what the request in a directory says; the result tells how it went."""
    sys.path.append(module_directory)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with open(os.path.join(directory, REQUEST), encoding="ascii") as file:
        asked = json.load(file)
    answer: dict[str, Any]
    try:
        if asked:
            answer = _Copy(asked, directory).run()
        else:
            import gfal2

            answer = {"plugins": [str(one) for one in gfal2.creat_context().get_plugin_names()]}
    except Failure as failure:
        answer = {"end": failure.end, "code": failure.code, "text": str(failure)}
    temporary = os.path.join(directory, "new")
    with open(temporary, "w", encoding="ascii") as file:
        json.dump(answer, file)
    os.rename(temporary, os.path.join(directory, RESULT))


class _Copy:
    """One copy.

    Args:
        asked: `source`, `destination`: URLs; `part`: one to write to first, '' for none, if the
            service `renames`, as far as known; `if_exists`; `checksum`: [algorithm, digits];
            `streams`: whether data may pass through this machine; `tokens`: pairs of a URL's
            beginning and its bearer token; `timeout`: seconds, of the whole, and `answer_timeout`,
            of a single question; `patience`: seconds that a server may take to show a copy.
        directory: where it tells of its progress.
    """

    def __init__(self, asked: dict[str, Any], directory: str) -> None:
        import gfal2

        self._gfal2 = gfal2
        self._asked = asked
        self._context = gfal2.creat_context()
        seconds = asked["answer_timeout"]
        for group, name, value in (
            ("CORE", "NAMESPACE_TIMEOUT", seconds),
            ("HTTP PLUGIN", "OPERATION_TIMEOUT", seconds),
            ("GRIDFTP PLUGIN", "OPERATION_TIMEOUT", seconds),
            ("SRM PLUGIN", "OPERATION_TIMEOUT", seconds),
        ):
            self._context.set_opt_integer(group, name, value)
        self._context.set_opt_boolean("HTTP PLUGIN", "ENABLE_STREAM_COPY", asked["streams"])
        for beginning, token in asked["tokens"]:
            self._context.cred_set(beginning, self._context.cred_new("BEARER", token))
        self._progress = os.open(os.path.join(directory, PROGRESS), os.O_WRONLY | os.O_CREAT, 0o600)
        self._total = 0
        self._stopped = False

    def run(self) -> dict[str, Any]:
        """The result: `size` in bytes, whether the file was `skipped`, and `renames`."""
        asked = self._asked
        final, part = asked["destination"], asked["part"]
        self._total = int(self._question("source", "stat", asked["source"]).st_size)
        if asked["if_exists"] != "overwrite":
            there = self._look(final)
            if there is not None and asked["if_exists"] == "fail":
                raise Failure("destination", errno.EEXIST, f"{final} is there already")
            if there is not None and self._is_right(there):
                return {"size": self._total, "skipped": True, "renames": asked["renames"]}
        if part:
            self._remove(part)  # what a killed attempt has left
        if part and asked["renames"]:
            self._copy(part)
            if self._rename(part, final):
                return {"size": self._total, "skipped": False, "renames": True}
            self._remove(part)
        self._copy(final)
        return {"size": self._total, "skipped": False, "renames": False}

    def _ask(self, end: str, method: str, *arguments: object) -> Any:
        try:
            return getattr(self._context, method)(*arguments)
        except self._gfal2.GError as error:
            raise Failure(end, error.code, error.message or "an error without a text") from None
        except Exception as error:  # gfal2 is another one than this program knows
            raise Failure("", 0, f"{type(error).__name__}: {error}") from None

    def _question(self, end: str, method: str, *arguments: object) -> Any:
        """Ask what is answered soon: a library that hangs is ended, by the kernel."""
        signal.alarm(2 * self._asked["answer_timeout"] + _LONGEST_S)
        try:
            return self._ask(end, method, *arguments)
        finally:
            signal.alarm(0)

    def _look(self, url: str) -> int | None:
        try:
            return int(self._question("destination", "stat", url).st_size)
        except Failure as failure:
            if failure.code == errno.ENOENT:
                return None
            raise

    def _is_right(self, size: int) -> bool:
        """Whether what is there has the right checksum, or size if no checksum was asked for."""
        if not self._asked["checksum"]:
            return size == self._total
        algorithm, digits = self._asked["checksum"]
        found = self._ask("destination", "checksum", self._asked["destination"], algorithm)
        return bool(str(found).lower().lstrip("0") == digits.lower().lstrip("0"))

    def _copy(self, to: str) -> None:
        """Copy, then compare sizes; nothing is left of a copy that failed."""
        try:
            self._transfer(to)
            size = self._settled(to)
            if size != self._total:
                raise Failure("", errno.EILSEQ, f"{size} bytes were made of {self._total}")
        except Failure as failure:
            if failure.code != errno.EEXIST:
                self._remove(to)
            raise

    def _settled(self, to: str) -> int | None:
        """Size of a copy; a server may show it late, so this looks again before it is judged."""
        pause, end = 0.5, time.monotonic() + self._asked["patience"]
        while (size := self._look(to)) != self._total and time.monotonic() < end:
            time.sleep(pause)
            pause *= 2
        return size

    def _transfer(self, to: str) -> None:
        """Copy in a thread, so that this one sees a signal to stop."""
        parameters = self._parameters(to)
        ends: list[Failure | None] = []

        def work() -> None:
            try:
                self._ask("", "filecopy", parameters, self._asked["source"], to)
                ends.append(None)
            except Failure as failure:
                ends.append(failure)

        def stop(number: int, frame: object) -> None:
            self._stopped = True
            self._context.cancel()

        before = signal.signal(signal.SIGTERM, stop)
        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
        signal.signal(signal.SIGTERM, before)
        if self._stopped:
            raise Failure("", errno.ECANCELED, "stopped")
        failure = ends[0] if ends else Failure("", 0, "the copy has ended in an unknown way")
        if failure is not None:
            raise failure

    def _parameters(self, to: str) -> Any:
        asked = self._asked
        found = self._context.transfer_parameters()
        found.overwrite = asked["if_exists"] == "overwrite" and to == asked["destination"]
        found.create_parent = True
        found.local_transfers = asked["streams"]
        found.timeout = asked["timeout"]
        if asked["checksum"]:
            algorithm, digits = asked["checksum"]
            found.set_checksum(self._gfal2.checksum_mode.both, algorithm.upper(), digits)
        found.monitor_callback = self._tell
        return found

    def _tell(self, *told: Any) -> None:
        """The bytes so far, as gfal2 reports: source, destination, rates, bytes, seconds."""
        os.pwrite(self._progress, b"%-20d %-20d" % (told[4], self._total), 0)

    def _rename(self, part: str, final: str) -> bool:
        """Whether the service can; the file that had the name is replaced."""
        try:
            try:
                self._question("destination", "rename", part, final)
            except Failure as failure:
                if failure.code != errno.EEXIST or self._asked["if_exists"] == "fail":
                    raise
                self._remove(final)
                self._question("destination", "rename", part, final)
        except Failure as failure:
            if failure.code in _CANT:
                return False
            self._remove(part)
            raise
        return True

    def _remove(self, url: str) -> None:
        with contextlib.suppress(Failure):
            self._question("destination", "unlink", url)


if __name__ == "__main__":
    main(*sys.argv[1:])

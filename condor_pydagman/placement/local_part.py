"""A place beside a local destination for programs that write a file by its name.

The program gets a name in a directory that nobody else may enter: beside NAME, the directory
`.NAME.<hash of the source>.part` has the file `lock` and the directory `new`, in which NAME is
made.  It is checked there, then renamed, so nothing half written has the final name, also if the
program writes files of its own beside its destination.  Each attempt begins anew: only the program
knows whether what it has left is a beginning of the same file.

The lock lives as long as the attempt, and as long as anything that a killed attempt has started is
still there (the supervisor of `child_process` has it, too): else that would write into the file of
the next attempt.  What a killed attempt has left is removed by the next one of
the same transfer; two at once take turns.  If the name is somebody else's, or the file system has
no locks, the directory gets a random name.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence

from condor_pydagman.adapters import deleted_directories
from condor_pydagman.data_requests.faults import Fault, FaultKind, no_file
from condor_pydagman.data_requests.requests import FAIL, SKIP, Transfer
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement import child_process, site_modules
from condor_pydagman.placement.checksums import new_hash, same_digits
from condor_pydagman.placement.child_process import Ended, Streams
from condor_pydagman.placement.endpoints.disk_faults import writing
from condor_pydagman.placement.endpoints.local_files import has_name, mode_of
from condor_pydagman.placement.private_places import locked, make_private
from condor_pydagman.placement.waits import Wait
from condor_pydagman.placement.way import Outcome, Progress, Surroundings, made_file

WAIT_S = 1.0  # between looks at whether another placement has ended
_NAME_BYTES = 255  # of one name in most file systems
_BLOCK = 1 << 20
_NEW_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK


class LocalPart:
    """A destination that is being made."""

    def __init__(self, final: str, directory: str, lock: int) -> None:
        self.final = final  # where the file is to be
        self.lock = lock  # descriptor of the lock; who writes is to have it, too
        self._directory = directory
        # where the program is to write
        self.path = os.path.join(directory, "new", os.path.basename(final))

    def size(self) -> int:
        """Bytes of the file so far; 0 if there is none."""
        try:
            return os.stat(self.path, follow_symlinks=False).st_size
        except OSError:
            return 0

    def finish(self, transfer: Transfer, surroundings: Surroundings, progress: Progress) -> int:
        """Check the file and give it its final name; its size in bytes.

        Raises:
            Fault: there is none, it is wrong, or it can't be renamed.
        """
        with writing(self.final):
            size = self._checked(transfer, progress)
            if surroundings.settings.synchronize:
                synchronize(self.path)
            if transfer.if_exists == FAIL:
                progress.names(self.path)
            _rename(self.path, self.final, replaces=transfer.if_exists != FAIL)
            if surroundings.settings.synchronize:
                synchronize(os.path.dirname(self.final))
        return size

    def _checked(self, transfer: Transfer, progress: Progress) -> int:
        try:
            found = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            raise Fault(
                FaultKind.MODULE, f"it made no file for {self.final}", transient=False
            ) from None
        if not stat.S_ISREG(found.st_mode):
            raise Fault(
                FaultKind.MODULE, f"what it made for {self.final} is no file", transient=False
            )
        if transfer.source.is_local:
            _compare_sizes(transfer.source.path, found.st_size)
        if transfer.checksum:
            compare_checksum(self.path, transfer.checksum, progress)
        return found.st_size


def destination_file(transfer: Transfer) -> str:
    """Path of the local file that the transfer makes.

    Raises:
        Fault: the destination is a directory but is not written as one, or the source has no name.
    """
    path = made_file(transfer).path
    if not transfer.destination.is_directory and os.path.isdir(path):
        raise Fault(
            FaultKind.DESTINATION, f"{path} is a directory; end it in / to put the file into it"
        )
    mode_of(path)
    return path


def is_there_already(transfer: Transfer, final: str, progress: Progress) -> bool:
    """Whether the request says to skip the file and it is there: with the right checksum, or with
    the right size if there is no checksum and the source is local.

    What an attempt has left that was killed when it had just given the file its name is removed.

    Raises:
        Fault: the request says to fail if it is there.
    """
    is_there = _is_there(transfer, final, progress)
    left = _part_name(transfer.source, final)
    if is_there and os.path.lexists(left):
        remove_left(left)
    return is_there


def _is_there(transfer: Transfer, final: str, progress: Progress) -> bool:
    if transfer.if_exists == FAIL and progress.has_named(final):
        return True
    if transfer.if_exists == FAIL and os.path.lexists(final):
        raise Fault(FaultKind.DESTINATION, f"{final} is there already")
    if transfer.if_exists != SKIP or not os.path.isfile(final):
        return False
    try:
        if transfer.checksum:
            compare_checksum(final, transfer.checksum, progress)
            return True
        if transfer.source.is_local:
            return os.stat(final).st_size == os.stat(transfer.source.path).st_size
    except (Fault, OSError):
        progress.check_stop()
    return False


@contextlib.contextmanager
def local_part(
    source: Url, final: str, surroundings: Surroundings, progress: Progress
) -> Iterator[LocalPart]:
    """A place to make the file `final`, which is gone after the `with` block.

    Raises:
        Fault: it can't be made, or the worker is to stop while another placement has it.
    """
    with writing(final):
        os.makedirs(os.path.dirname(final), exist_ok=True)
        directory, lock = _locked_directory(source, final, surroundings, progress)
    try:
        part = LocalPart(final, directory, lock)
        with writing(final):
            _remove(os.path.dirname(part.path))
            os.mkdir(os.path.dirname(part.path), 0o700)
        yield part
    finally:
        _remove(os.path.join(directory, "new"))
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(directory, "lock"))
        with contextlib.suppress(OSError):
            os.rmdir(directory)
        os.close(lock)


def _locked_directory(
    source: Url, final: str, surroundings: Surroundings, progress: Progress
) -> tuple[str, int]:
    """A directory beside `final`, and the descriptor that locks it."""
    usual = _part_name(source, final)
    wait = Wait(surroundings.say)
    try:
        found = _locked(usual, final, wait, progress)
    finally:
        wait.over()
    if found is not None:
        return usual, found
    other = f"{usual[:-5]}.{os.urandom(8).hex()}.part"
    os.mkdir(other, 0o700)
    return other, os.open(os.path.join(other, "lock"), _NEW_LOCK, 0o600)


def _locked(usual: str, final: str, wait: Wait, progress: Progress) -> int | None:
    """The descriptor that locks the usual directory; None if that can't be."""
    while True:
        try:
            lock = _lock_in(usual)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise
            return None  # somebody else's, or there are no locks
        if lock is not None:
            return lock
        wait.begins(f"another placement of the same file: {final}")
        progress.wait(WAIT_S)


def _part_name(source: Url, final: str) -> str:
    key = hashlib.sha256(os.fsencode(f"{source.with_secrets()}\0{final}")).hexdigest()[:12]
    directory, name = os.path.split(final)
    room = _NAME_BYTES - len(f"..{key}.{'0' * 16}.part")
    return os.path.join(directory, f".{os.fsdecode(os.fsencode(name)[:room])}.{key}.part")


def _lock_in(directory: str) -> int | None:
    """Lock a directory of ours, made if it is not there; None if another process has it."""
    make_private(directory)
    path = os.path.join(directory, "lock")
    try:
        lock = locked(path)
    except FileNotFoundError:  # the one that had it has just removed it
        return None
    if lock is not None and not has_name(os.fstat(lock), path):
        os.close(lock)
        return None
    return lock


def remove_left(directory: str) -> bool:
    """Remove a directory that a killed attempt has left; False if it is in use or another's."""
    try:
        lock = _lock_in(directory)
    except OSError:
        return False
    if lock is None:
        return False
    try:
        os.unlink(os.path.join(directory, "lock"))
        _remove(directory)
    finally:
        os.close(lock)
    return True


def _remove(directory: str) -> None:
    """Remove a directory of ours with all in it, also what a program has made read-only."""
    if not os.path.lexists(directory):
        return
    deleted_directories.delete_directory(directory)
    if os.path.lexists(directory):
        with contextlib.suppress(OSError):
            os.chmod(directory, 0o700)
        for folder, folders, _ in os.walk(directory):  # each is opened after its name is seen
            for path in (os.path.join(folder, name) for name in folders):
                if not os.path.islink(path):
                    with contextlib.suppress(OSError):
                        os.chmod(path, 0o700)
        deleted_directories.delete_directory(directory)


def _rename(path: str, final: str, *, replaces: bool) -> None:
    if replaces:
        os.rename(path, final)
    elif not named_if_free(path, final):
        raise Fault(FaultKind.DESTINATION, f"{final} is there already")


def named_if_free(path: str, final: str) -> bool:
    """Give a file its final name, unless something has it; whether it has it now."""
    try:
        os.link(path, final, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if os.path.lexists(final):
            return False
        os.rename(path, final)
    else:
        os.unlink(path)
    return True


def synchronize(path: str) -> None:
    """Wait until a file or a directory is on the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _compare_sizes(source: str, size: int) -> None:
    try:
        expected = os.stat(source).st_size
    except OSError:
        return
    if expected != size:
        raise Fault(FaultKind.MISMATCH, f"it made {size} bytes of {expected} of {source}")


def compare_checksum(path: str, checksum: str, progress: Progress) -> None:
    """Compare a file with `algorithm:digits`.

    Raises:
        Fault: it differs, or there is no such algorithm.
        OSError: the file can't be read.
    """
    algorithm, _, digits = checksum.partition(":")
    found = new_hash(algorithm)
    buffer = memoryview(bytearray(_BLOCK))
    with open(path, "rb", buffering=0) as file:
        while size := file.readinto(buffer):
            found.update(buffer[:size])
            progress.check_stop()
    if not same_digits(found.hexdigest(), digits):
        raise Fault(
            FaultKind.MISMATCH, f"{algorithm} is {found.hexdigest()}, expected {digits.lower()}"
        )


def grown(progress: Progress, size: int) -> None:
    """Tell how large a file has become that a program writes.

    Raises:
        Fault: there is no room for it, or the worker is to stop.
    """
    progress.add(size - progress.moved - progress.offset)


def local_size(source: Url) -> int | None:
    """Bytes of a local file that is to be transferred, None if it is no local file.

    Raises:
        Fault: it is not there, or is no file.
    """
    if not source.is_local or source.is_directory:
        return None
    try:
        found = os.stat(source.path)
    except FileNotFoundError:
        raise Fault(FaultKind.MISSING, f"{source} is not there") from None
    except OSError as error:
        raise Fault(FaultKind.DENIED, f"{source}: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise no_file(source)
    if not stat.S_ISREG(found.st_mode):
        raise Fault(FaultKind.REQUEST, f"{source} is not a regular file")
    return found.st_size


class ProgramRun:
    """One attempt by a program: a module, a plugin, or one of ours with a library that may hang.

    Args:
        label: the way, as a person reads it.
    """

    def __init__(
        self, label: str, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> None:
        self._label = label
        self._transfer = transfer
        self._surroundings = surroundings
        self._progress = progress
        self._keeps: tuple[int, ...] = ()  # as of `child_process.run`

    def to_file(self) -> Outcome:
        """Make a local file.

        Raises:
            Fault: it failed.
        """
        transfer, progress = self._transfer, self._progress
        final = destination_file(transfer)
        if is_there_already(transfer, final, progress):
            return Outcome(self._label, os.path.getsize(final), 0, skipped=True)
        progress.begin(0, local_size(transfer.source))
        with local_part(transfer.source, final, self._surroundings, progress) as part:
            self._keeps = (part.lock,)
            self._write(part)
            grown(progress, part.size())
            size = part.finish(transfer, self._surroundings, progress)
        return Outcome(self._label, size, size)

    def to_elsewhere(self) -> Outcome:
        """Let the program write to a server, or a whole directory.

        Raises:
            Fault: it failed.
        """
        total = local_size(self._transfer.source)
        self._progress.begin(0, total)
        self._send(total)
        self._progress.add(total or 0)
        return Outcome(self._label, total, total or 0)

    def _write(self, part: LocalPart) -> None:
        """Have the program write the file."""
        raise NotImplementedError

    def _send(self, total: int | None) -> None:
        """Have the program write elsewhere; `total`: bytes of a local source."""
        raise NotImplementedError

    def _run(
        self,
        words: Sequence[str],
        variables: Mapping[str, str],
        part: LocalPart | None,
        streams: Streams | None = None,
    ) -> Ended:
        """Run the program, with these variables beside the worker's; `part`: what it writes."""
        surroundings, progress = self._surroundings, self._progress
        proxy = site_modules.proxy_path(self._transfer.proxy, surroundings)
        return child_process.run(
            words,
            site_modules.environment(surroundings, {**variables, "X509_USER_PROXY": proxy}),
            surroundings.directory,
            progress,
            streams=streams,
            timeout_s=surroundings.settings.module_timeout_s,
            tick=lambda: grown(progress, part.size()) if part else None,
            keeps=self._keeps,
        )

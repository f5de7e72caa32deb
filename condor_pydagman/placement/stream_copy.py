"""One file from one endpoint to another: where to go on, the copy, the checks, the rename."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import FAIL, Transfer
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.checksums import Hash, new_hash, same_digits
from condor_pydagman.placement.endpoints.disk_faults import writing
from condor_pydagman.placement.endpoints.endpoint import Endpoint, Entry, Reader, SendAgain, Writer
from condor_pydagman.placement.endpoints.local_files import (
    BusyFault,
    LocalFiles,
    LocalReader,
    LocalWriter,
    copy_by_kernel,
)
from condor_pydagman.placement.local_part import named_if_free, synchronize
from condor_pydagman.placement.object_store import store_of
from condor_pydagman.placement.waits import what_stays_wrong
from condor_pydagman.placement.way import Progress, Surroundings

_NAME_BYTES = 255  # of one name in most file systems
_END = ".part"
_ROOM = _NAME_BYTES - len(f"...{_END}") - 2 * 8  # what the other parts of the name leave


def partial_name(source: Url, version: str, name: str) -> str:
    """The temporary name of a file that is to be called `name`."""
    return f"{_beginning(source, name)}.{_hash(version)}{_END}"


def _is_part(candidate: str, source: Url, name: str) -> bool:
    return candidate.startswith(_beginning(source, name) + ".") and candidate.endswith(_END)


def _beginning(source: Url, name: str) -> str:
    if len(name) * 4 > _ROOM:  # a character may have four bytes; none is cut in two
        while len(os.fsencode(name)) > _ROOM:
            name = name[:-1]
    return f".{name}.{_hash(source.with_secrets())}"


def _hash(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:8]


BUFFER_BYTES = 1 << 20
# A remote part that can be no larger is not looked for: to send it again takes no longer.
SMALL_BYTES = 1 << 20
SMALL_LOCAL_BYTES = 1 << 16
WAIT_S = 0.2  # between looks at what another placement writes


class _OfDestination:
    """A context: what is missing where a file is to be is not its source, but a bucket or a
    directory.  There are several for each small file, so this is no generator."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Fault) and error.kind is FaultKind.MISSING:
            raise Fault(FaultKind.DESTINATION, error.reason, transient=False) from None


_of_destination = _OfDestination()


class Digest(NamedTuple):
    """A checksum that is being computed, and what it should become."""

    algorithm: str
    hash: Hash
    expected: str


class StreamCopy:
    """A copy of one file."""

    def __init__(
        self,
        transfer: Transfer,
        reads: Endpoint,
        writes: Endpoint,
        surroundings: Surroundings,
        progress: Progress,
    ) -> None:
        self._transfer = transfer
        self._reads = reads
        self._writes = writes
        self._surroundings = surroundings
        self._progress = progress
        self.by_service = False  # whether the service has copied by itself

    def run(self) -> int:
        """Copy; bytes of the whole file.

        Raises:
            Fault: it failed; what was moved so far may be continued.
        """
        with contextlib.suppress(SendAgain):  # then the service can't
            size = self._copy_by_service()
            if size is not None:
                return size
        while True:
            try:
                return self._attempt()
            except BusyFault as busy:
                size = self._wait(busy)
                if size is not None:
                    return size
            except SendAgain:
                self._progress.check_stop()

    def _attempt(self) -> int:
        reader: Reader = self._reads.read(self._transfer.source, 0)
        try:
            temporary = self._temporary(reader)
            offset = self._size_of_part(temporary, reader)
            digest: Digest | None = None
            if offset and offset == reader.size:
                reader = _ReadToTheEnd(reader)
            elif offset:
                version, size = reader.version, reader.size
                reader.close()
                # A server waits for a reader of what was asked for not as long as this may take.
                digest = self._digest_of_part(reader, temporary, offset)
                reader = self._reads.read(self._transfer.source, offset)
                has_version = reader.version != ""
                if has_version and reader.version != version:
                    raise Fault(
                        FaultKind.SERVER, f"{self._transfer.source} is changing", transient=True
                    )
                # What a range says is not to be trusted.
                if size not in (None, reader.size) or (version and not has_version):
                    reader.close()
                    reader = self._reads.read(self._transfer.source, 0)
                    temporary = self._temporary(reader)
                    digest = None
            return self._copy(reader, temporary, digest, offset)
        finally:
            reader.close()

    def _wait(self, busy: BusyFault) -> int | None:
        """Wait for a placement of the same content; bytes of the file if it has brought it.

        Raises:
            Fault: it is stalled, or the worker is to stop.
        """
        patience = self._surroundings.settings.stall_timeout_s
        seen, since = -1, time.monotonic()
        while not busy.is_over():
            size = _size_of(busy.path)
            if size != seen:
                seen, since = size, time.monotonic()
            elif time.monotonic() - since > patience:
                raise busy
            self._progress.wait(WAIT_S)
        self._progress.wait(0.001)  # the name may change at this moment
        return self._brought(busy)

    def _brought(self, busy: BusyFault) -> int | None:
        transfer = self._transfer
        try:
            found = os.lstat(transfer.destination.path)
        except OSError:
            return None
        if (found.st_dev, found.st_ino) != busy.file or transfer.if_exists == FAIL:
            return None
        if transfer.checksum:
            algorithm, _, digits = transfer.checksum.partition(":")
            known = self.checksum_of(self._writes, transfer.destination, algorithm)
            if not same_digits(known, digits):
                return None
        self._progress.begin(found.st_size, found.st_size)
        return found.st_size

    def _digest_of_part(self, reader: Reader, temporary: Url, size: int) -> Digest | None:
        """The checksum of what is there already; None if nobody gives any."""
        digest = self._digest(reader)
        if digest is not None and size:
            self._progress.begin(size, reader.size)
            _take_in(digest.hash, self._writes, temporary, size, self._progress)
        return digest

    def _copy(self, reader: Reader, temporary: Url, digest: Digest | None, offset: int) -> int:
        """`digest`: of the first `offset` bytes, if it was computed."""
        if digest is None or reader.offset != offset:
            digest = self._digest_of_part(reader, temporary, reader.offset)
        self._progress.begin(reader.offset, reader.size)
        with _of_destination:
            writer = self._open(reader, temporary)
        try:
            self._move(reader, writer, digest.hash if digest is not None else None)
            size = reader.offset + self._progress.moved
            self._check_size(reader, size)
            self._check_digest(digest)
            if isinstance(writer, LocalWriter):
                writer.finish(synchronize=self._surroundings.settings.synchronize)
        except BaseException as error:
            writer.abort()
            if isinstance(error, Fault) and error.kind is FaultKind.MISMATCH:
                self._discard(temporary)
            raise
        self._put_in_place(writer, temporary, size, digest)
        return size

    def _move(self, reader: Reader, writer: Writer, digest: Hash | None) -> None:
        local = isinstance(reader, LocalReader) and isinstance(writer, LocalWriter)
        if digest is None and local and copy_by_kernel(reader, writer, self._progress):  # type: ignore[arg-type]
            return
        length = BUFFER_BYTES if reader.size is None else min(max(reader.size, 1), BUFFER_BYTES)
        buffer = memoryview(bytearray(length))
        while count := reader.readinto(buffer):
            data = buffer[:count]
            self._progress.add(count)
            with _of_destination:
                writer.write(data)
            if digest is not None:
                digest.update(data)

    def _open(self, reader: Reader, temporary: Url) -> Writer:
        if isinstance(self._writes, LocalFiles):
            mode = getattr(reader, "mode", 0o666)
            return self._writes.write(temporary, reader.offset, reader.size, mode)
        return self._writes.write(temporary, reader.offset, reader.size)

    def _put_in_place(
        self, writer: Writer, temporary: Url, size: int, digest: Digest | None
    ) -> None:
        destination = self._transfer.destination
        if isinstance(writer, LocalWriter):
            # Renamed while it is locked: another placement of the same file must not go on with it.
            try:
                self._rename(temporary, destination, size)
            finally:
                writer.commit()
            return
        with _of_destination:
            writer.commit()
            self._refuse(lambda: self._what_is_wrong(temporary, size, digest), temporary)
            if temporary != destination:
                self._rename(temporary, destination, size)

    def _what_is_wrong(self, temporary: Url, size: int | None, digest: Digest | None = None) -> str:
        destination = self._transfer.destination
        found = self._writes.look(temporary)
        if found is None or (None not in (size, found.size) and found.size != size):
            there = "nothing" if found is None else f"{found.size} bytes"
            return f"{destination} has {there}, {size} were written"
        known = known_checksum(self._writes, temporary, found, digest.algorithm) if digest else ""
        if digest is None or not known or same_digits(known, digest.hash.hexdigest()):
            return ""
        written = digest.hash.hexdigest()
        return f"{destination} has the {digest.algorithm} {known}, {written} was written"

    def _refuse(self, wrong: Callable[[], str], made: Url | None = None) -> None:
        """Raise a `Fault` if something is wrong, and stays so; what was made is removed."""
        destination = self._transfer.destination
        reason = what_stays_wrong(wrong, destination, self._surroundings, self._progress)
        if not reason:
            return
        if made is not None:
            self._discard(made)
        raise Fault(FaultKind.MISMATCH, reason)

    def _discard(self, made: Url) -> None:
        """Remove what is wrong; a service that does not let us must not hide what was wrong."""
        with contextlib.suppress(Fault):
            self._writes.remove(made)

    def _rename(self, temporary: Url, destination: Url, size: int | None) -> None:
        if self._transfer.if_exists != FAIL or not destination.is_local:
            self._writes.rename(temporary, destination)
            if (wrong := getattr(self._writes, "wrong_after_move", None)) is not None:
                self._refuse(lambda: str(wrong(destination, size)))
        else:
            with writing(destination.path):
                self._progress.names(temporary.path)
                if not named_if_free(temporary.path, destination.path):
                    raise Fault(FaultKind.DESTINATION, f"{destination} is there already")
        if destination.is_local and self._surroundings.settings.synchronize:
            with contextlib.suppress(OSError):
                synchronize(os.path.dirname(destination.path))

    def _temporary(self, reader: Reader) -> Url:
        destination = self._transfer.destination
        if not self._writes.can_rename:
            return destination
        name = partial_name(self._transfer.source, reader.version, destination.name)
        return destination.sibling(name)

    def _size_of_part(self, temporary: Url, reader: Reader) -> int:
        """Bytes that an earlier attempt has written, and that this one can go on behind."""
        self._remove_older_parts(reader)
        if not (self._writes.can_append and self._writes.can_rename):
            return 0
        if not reader.version and not self._transfer.checksum:
            return 0  # nothing would tell a part of another content
        small = SMALL_LOCAL_BYTES if temporary.is_local else SMALL_BYTES
        if reader.size is not None and reader.size <= small:
            return 0
        found = self._writes.look(temporary)
        if found is None or not found.size:
            return 0
        if temporary.is_local and not self._transfer.checksum and is_of_earlier_boot(temporary):
            return 0  # a power cut may have left blocks that were never written
        return found.size if reader.size is None or found.size <= reader.size else 0

    def _remove_older_parts(self, reader: Reader) -> None:
        destination = self._transfer.destination
        # A small file leaves no parts that matter, and a directory may have many files.
        is_small = reader.size is not None and reader.size <= SMALL_BYTES
        if is_small or not destination.is_local:
            return
        directory, name = os.path.split(destination.path)
        source = self._transfer.source
        own = partial_name(source, reader.version, name)
        with contextlib.suppress(OSError):
            for candidate in os.listdir(directory):
                if _is_part(candidate, source, name) and candidate != own:
                    os.unlink(os.path.join(directory, candidate))

    def _digest(self, reader: Reader) -> Digest | None:
        """What is to be compared; None if nobody gives any."""
        if self._transfer.checksum:
            algorithm, _, digits = self._transfer.checksum.partition(":")
            return Digest(algorithm, new_hash(algorithm), digits)
        for algorithm, digits in reader.checksums.items():
            return Digest(algorithm, new_hash(algorithm), digits)
        return None

    def _check_digest(self, digest: Digest | None) -> None:
        if digest is None:
            return
        found = digest.hash.hexdigest()
        if not same_digits(found, digest.expected):
            raise Fault(
                FaultKind.MISMATCH,
                f"{digest.algorithm} of {self._transfer.source} is {found}, expected"
                f" {digest.expected}",
            )

    def _check_size(self, reader: Reader, size: int) -> None:
        if reader.size is not None and size != reader.size:
            raise Fault(
                FaultKind.MISMATCH,
                f"{self._transfer.source} gave {size} bytes and should have {reader.size}",
            )

    def _copy_by_service(self) -> int | None:
        """Bytes of the file, if the service has copied it; None if it can't."""
        source, destination = self._transfer.source, self._transfer.destination
        if source.is_local or self._transfer.checksum or not self._is_one_service():
            return None
        found = self._reads.look(source)
        if found is None:
            raise Fault(FaultKind.MISSING, f"{source} is not there")
        self._progress.begin(0, found.size)
        target = destination
        if self._writes.can_rename:
            target = destination.sibling(partial_name(source, found.version, destination.name))
        try:
            with _of_destination:
                if not self._writes.copy(source, target):
                    return None
        except Fault as fault:
            if source.server == destination.server or fault.kind is not FaultKind.REFUSED:
                raise
            return None  # it copies only within a bucket
        self._refuse(lambda: self._what_is_wrong(target, found.size), target)
        if target != destination:
            self._rename(target, destination, found.size)
        self.by_service = True
        self._progress.add(found.size or 0)
        return found.size or 0

    def _is_one_service(self) -> bool:
        """Whether both ends are at one server, or in buckets of one store."""
        source, destination = self._transfer.source, self._transfer.destination
        if (source.scheme, source.user) != (destination.scheme, destination.user):
            return False
        stores = [
            store_of(url, self._surroundings.environment, self._transfer.credential)
            for url in (source, destination)
        ]
        same_store = stores[0] != "" and stores[0] == stores[1]
        return same_store or source.server == destination.server

    @staticmethod
    def checksum_of(endpoint: Endpoint, url: Url, algorithm: str) -> str:
        """Digits of a file that is read for it."""
        digest = new_hash(algorithm)
        reader = endpoint.read(url, 0)
        buffer = memoryview(bytearray(BUFFER_BYTES))
        try:
            while count := reader.readinto(buffer):
                digest.update(buffer[:count])
        finally:
            reader.close()
        return digest.hexdigest()


class _ReadToTheEnd:
    """A source of which an earlier attempt has written all; many servers know no empty range."""

    def __init__(self, reader: Reader) -> None:
        assert reader.size is not None
        self.offset = reader.size
        self.size: int | None = reader.size
        self.version: str = reader.version
        self.checksums: Mapping[str, str] = reader.checksums
        self.close = reader.close
        self.mode = reader.mode if isinstance(reader, LocalReader) else 0o666

    def readinto(self, buffer: memoryview, /) -> int:
        """See `endpoint.Reader`."""
        return 0


def remove_second_name(source: Url, path: str) -> None:
    """Remove the temporary name of a file that has its final name as well: the attempt that gave it
    the one was killed before it took the other."""
    directory, name = os.path.split(path)
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        for candidate in os.listdir(directory) if found.st_nlink > 1 else ():
            part = os.path.join(directory, candidate)
            if _is_part(candidate, source, name) and os.path.samestat(found, os.lstat(part)):
                os.unlink(part)


def is_of_earlier_boot(url: Url) -> bool:
    """Whether a local file was last written before this machine was started."""
    started = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    try:
        return os.lstat(url.path).st_mtime < started
    except OSError:
        return False


def _size_of(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1


def known_checksum(endpoint: Endpoint, url: Url, entry: Entry, algorithm: str) -> str:
    """Hexadecimal digits that a service tells of a file; '' if it does not."""
    known = entry.checksums.get(algorithm, "")
    if known or not hasattr(endpoint, "announced"):
        return known
    return str(endpoint.announced(url, algorithm))


def _take_in(digest: Hash, endpoint: Endpoint, url: Url, size: int, progress: Progress) -> None:
    """Read what an earlier attempt has written, for the checksum."""
    reader = endpoint.read(url, 0)
    buffer = memoryview(bytearray(BUFFER_BYTES))
    try:
        while size and (count := reader.readinto(buffer[: min(size, BUFFER_BYTES)])):
            digest.update(buffer[:count])
            size -= count
            progress.check_stop()
    finally:
        reader.close()
    if size:
        raise Fault(FaultKind.MISMATCH, f"{url} is shorter than it was")

"""Reads a request file: text to transfers, allocations and releases, each with its line.

Everything that can be known without a network is checked here, with the place of what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from condor_pydagman.data_requests.request_ads import (
    EXPECTED,
    TYPE_KEY,
    Ad,
    RequestText,
    Value,
    read_ads,
)
from condor_pydagman.data_requests.request_keys import (
    ALLOCATE,
    BY_NAME,
    KEYS,
    TRANSFER,
    TYPES,
    Key,
)
from condor_pydagman.data_requests.request_macros import Macros, UndefinedMacro
from condor_pydagman.data_requests.requests import Allocate, Placement, Release, Transfer
from condor_pydagman.data_requests.urls import Url, parse_url
from condor_pydagman.errors import DagFileError
from condor_pydagman.language.hints import nearest
from condor_pydagman.named_tuple import NamedTuple

MAX_ERRORS = 20  # of a file that are told
_PATTERN = frozenset("*?[")
_FIELDS = {key.name: key.field for key in KEYS if key.field}
_REQUIRED = {
    kind: [key for key in KEYS if key.required and kind in key.types] for kind in TYPES.values()
}


class RequestFile(NamedTuple):
    """A request file: what it asks for, in order, and the job event log that it names, or ''."""

    placements: tuple[Placement, ...]
    log: str = ""


def read_requests(text: str, name: str, macros: Macros, directory: str = "/") -> RequestFile:
    """Read the text of a request file.

    Args:
        text: of the file, or an inline description.
        name: of the file, for messages.
        macros: for its values.
        directory: absolute path at which relative paths of the request begin.

    Raises:
        DagFileError: with file, line, the line itself, a caret and what to do.
    """
    source = RequestText(text, name)
    reader = _RequestReader(source, macros, directory)
    errors: list[DagFileError] = []
    placements: list[Placement] = []
    try:
        for ad in read_ads(source):
            try:
                placements.append(reader.placement(ad))
            except DagFileError as error:
                errors += [error, *error.others]
    except DagFileError as error:  # behind this one nothing can be told apart
        errors.append(error)
    if errors:
        raise _together(errors)
    if not placements:
        source.fail(0, "there is no request in the file", EXPECTED)
    return RequestFile(tuple(placements), reader.log)


def _together(errors: list[DagFileError]) -> DagFileError:
    """The first error, with the others."""
    errors[0].others = tuple(errors[1:MAX_ERRORS])
    return errors[0]


class _RequestReader:
    def __init__(self, source: RequestText, macros: Macros, directory: str) -> None:
        self.source = source
        self.macros = macros
        self.directory = directory
        self.log = ""

    def placement(self, ad: Ad) -> Placement:
        kind = self.kind(ad)
        given = self.values(ad, kind)
        line = self.source.line_of(_begin(ad))
        self.log = self.log or given.get("log", "")
        fields = {_FIELDS[name]: value for name, value in given.items() if name in _FIELDS}
        if kind == TRANSFER:
            return self.transfer(ad, given, fields, line)
        fields.setdefault("allocation_id", "1")
        return Allocate(line=line, **fields) if kind == ALLOCATE else Release(line=line, **fields)

    def kind(self, ad: Ad) -> str:
        value = ad.get(TYPE_KEY)
        if value is None:
            keys = [BY_NAME[key].name for key in ad if key in BY_NAME]
            wrong = [key for key in ad if key not in BY_NAME]
            if wrong and nearest(wrong[0], BY_NAME):
                self.unknown_key(ad[wrong[0]], wrong[0], BY_NAME)
            hint = "transfer" if "src_url" in keys else "transfer, allocate or release"
            self.source.fail(_begin(ad), "the request has no dap_type", f"expected {hint}")
        word = self.expanded(TYPE_KEY, value)
        if word.lower() not in TYPES:
            meant = nearest(word, TYPES)
            hint = f"did you mean {meant}?" if meant else f"expected {', '.join(TYPES)}"
            self.source.fail(value.at, f"there is no dap_type {word!r}", hint)
        return TYPES[word.lower()]

    def values(self, ad: Ad, kind: str) -> dict[str, Any]:
        """Values of all keys, by their documented names."""
        given: dict[str, Any] = {}
        errors: list[DagFileError] = []
        for name, value in ad.items():
            try:
                key = self.known_key(name, value, kind)
                if key.name in given:
                    same = f"{name} is the same as {key.name}, which is there"
                    self.source.fail(value.key_at, same)
                given[key.name] = self.read(key, name, value)
            except DagFileError as error:
                errors.append(error)
        if errors:
            raise _together(errors)
        for key in _REQUIRED[kind]:
            if key.name not in given:
                missing = f"the {kind} has no {key.name}"
                self.source.fail(_begin(ad), missing, f"it is the {key.summary}")
        return given

    def known_key(self, name: str, value: Value, kind: str) -> Key:
        """The key of a name, which requests of that kind have."""
        key = BY_NAME.get(name)
        if key is not None and kind in key.types:
            return key
        valid = [known for known, one in BY_NAME.items() if kind in one.types]
        if key is None:
            self.unknown_key(value, name, valid)
        self.source.fail(value.key_at, f"a request of type {kind} has no {name}", _list_of(valid))

    def unknown_key(self, value: Value, name: str, valid: Iterable[str]) -> NoReturn:
        valid = list(valid)
        meant = nearest(name, valid)
        hint = f"did you mean {meant}?" if meant else _list_of(valid)
        self.source.fail(value.key_at, f"a request has no key {name!r}", hint)

    def read(self, key: Key, name: str, value: Value) -> Any:
        if not isinstance(value.value, str) and len(value.value) != 1 and not key.is_list:
            self.source.fail(value.at, f"{name} is one value, and here are {len(value.value)}")
        text = self.expanded(name, value)
        try:
            return key.read(text)
        except ValueError as error:
            self.source.fail(value.at, f"{name}: {error}")

    def expanded(self, name: str, value: Value) -> str:
        text = value.value if isinstance(value.value, str) else ", ".join(value.value)
        try:
            return self.macros.expand(text)
        except UndefinedMacro as error:
            self.source.fail(value.at, f"{name}: {error}", error.hint)
        except ValueError as error:
            self.source.fail(value.at, f"{name}: {error}")

    def transfer(
        self, ad: Ad, given: dict[str, Any], fields: dict[str, Any], line: int
    ) -> Transfer:
        source = self.url(ad["src_url"], "src_url", given["src_url"])
        destination = self.url(ad["dest_url"], "dest_url", given["dest_url"])
        at = ad["dest_url"].at
        if source.is_directory and not destination.is_directory:
            self.source.fail(
                at, "the source is a directory, the destination is not", "a directory ends in /"
            )
        if source == destination:
            self.source.fail(at, "the destination is the source")
        if is_several(source, destination) and fields.get("checksum"):
            self.source.fail(ad["checksum"].at, "a checksum is for one file, not for several")
        files = tuple(given.get(name, "") for name in ("input", "output", "err"))
        return Transfer(source, destination, line=line, files=files, **fields)

    def url(self, value: Value, name: str, text: str) -> Url:
        try:
            return parse_url(text, self.directory)
        except ValueError as error:
            self.source.fail(value.at, f"{name} is no URL: {error}")


def is_several(source: Url, destination: Url) -> bool:
    """Whether a transfer may be of several files: from a directory, or of a pattern to one.

    To a destination that is no directory, `*`, `?` and `[` are characters of a name.
    """
    pattern = not _PATTERN.isdisjoint(source.name) and destination.is_directory
    return source.is_directory or pattern


def is_pattern_to_file(transfer: Transfer) -> bool:
    """Whether a source looks like a pattern, and is taken for a name: the destination is no
    directory.  A name that the destination has as well is meant as one."""
    source, destination = transfer.source, transfer.destination
    pattern = not _PATTERN.isdisjoint(source.name) and not destination.is_directory
    return pattern and source.name != destination.name


def _begin(ad: Ad) -> int:
    """Index of the first key of an ad; 0 if it has none."""
    return next((value.key_at for value in ad.values()), 0)


def _list_of(valid: list[str]) -> str:
    return f"expected {', '.join(dict.fromkeys(BY_NAME[name].name for name in valid))}"

"""CEDAR, HTCondor's wire protocol, as far as a command with a ClassAd each way needs it.

Bytes in, messages out, and back: nothing here knows of sockets or files.  A *message* is cut into
*frames*; each begins with a byte (1: the message ends with this frame) and the length of what
follows.  Inside are integers of 8 bytes, texts that end with a zero byte, and ClassAds: the number
of attributes, each as a text `Name = expression`, then two type names.

Once both sides have a key, frames are encrypted with AES-256-GCM.  The first frame of each
direction carries the start value (IV) and vouches for all that went back and forth before in the
clear, so that nobody can have changed the negotiation; each frame vouches for its own header.
Before a text its length stands then.

There is no published description: this is what 25.14.1 was seen to do, held by recorded samples.
Everything that comes in is a stranger's, so that every size has a limit.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Mapping
from typing import Union

from condor_pydagman.adapters.cedar_crypto import TAG, AesGcm, CryptoError

MESSAGE_MAX = 16 * 1024  # bytes of one message, in however many frames
FRAME_MAX = MESSAGE_MAX + 64
FRAMES_MAX = 64  # of one message
ATTRIBUTES_MAX = 100  # of one ClassAd
HEADER = 5
IV = 16

Value = Union[str, int, float, bool, None]
Ad = dict[str, str]  # expressions by name, names in small letters

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_REAL = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE][+-]?[0-9]{1,3})?")
# Old ClassAd syntax: of all characters the quote alone is escaped.
_TEXT = re.compile(r'"((?:[^"]|(?<=\\)")*)"', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")
_KEYWORDS: Mapping[str, Value] = {"true": True, "false": False}


class CedarError(Exception):
    """What came in is not CEDAR, larger than anything we expect, or not encrypted as agreed."""


class Message:
    """Takes one message apart.

    Args:
        data: its bytes.
        counted: whether texts have their lengths before them (encrypted messages).
    """

    def __init__(self, data: bytes, counted: bool = False) -> None:
        self._data = data
        self._counted = counted
        self._at = 0

    def integer(self) -> int:
        """The next 8 bytes."""
        if self._at + 8 > len(self._data):
            raise CedarError("a message ends in an integer")
        number: int = struct.unpack_from(">q", self._data, self._at)[0]
        self._at += 8
        return number

    def text(self) -> str:
        """The next text; bytes that are no UTF-8 are kept as Python keeps them in file names."""
        begin = self._at + (8 if self._counted else 0)
        size = self.integer() if self._counted else 0
        end = self._data.find(b"\0", begin)
        if end < begin or (self._counted and end - begin + 1 != size):
            raise CedarError("a text without an end")
        self._at = end + 1
        return self._data[begin:end].decode("utf-8", "surrogateescape")

    def ad(self) -> Ad:
        """The next ClassAd; its two type names are dropped."""
        count = self.integer()
        if not 0 <= count <= ATTRIBUTES_MAX:
            raise CedarError("a ClassAd with more attributes than any we know")
        ad: Ad = {}
        for _ in range(count):
            name, equals, expression = self.text().partition("=")
            name = name.strip()
            if not equals or not _NAME.fullmatch(name):
                raise CedarError("a ClassAd's attribute without a name")
            ad[name.lower()] = expression.strip()
        for _ in range(2):
            self.text()
        return ad

    def end(self) -> None:
        """Nothing may follow."""
        if self._at != len(self._data):
            raise CedarError("a message with more than its command takes")


def value(ad: Ad, name: str) -> Value:
    """What an attribute says, if that is a plain text, number or truth value; None for all else.

    No expression is evaluated: it is a stranger's.
    """
    expression = ad.get(name.lower(), "")
    text = _TEXT.fullmatch(expression)
    if text is not None:
        return text[1].replace('\\"', '"')
    if _INTEGER.fullmatch(expression):
        return int(expression)
    if _REAL.fullmatch(expression):
        return float(expression)
    return _KEYWORDS.get(expression.lower())


def expression(plain: Value) -> str:
    """The text of an expression that says `plain`."""
    if isinstance(plain, str):
        return '"' + plain.replace('"', '\\"').replace("\0", "") + '"'
    return str(plain).lower() if isinstance(plain, (bool, float)) else f"{plain:d}"


def integer(number: int) -> bytes:
    """An integer on the wire."""
    return struct.pack(">q", number)


def text(words: str, counted: bool = False) -> bytes:
    """A text on the wire."""
    data = words.encode("utf-8", "surrogateescape") + b"\0"
    return integer(len(data)) + data if counted else data


def ad(attributes: Mapping[str, Value], counted: bool = False) -> bytes:
    """A ClassAd on the wire."""
    lines = [f"{name} = {expression(plain)}" for name, plain in attributes.items()]
    return integer(len(lines)) + b"".join(text(line, counted) for line in [*lines, "", ""])


class Channel:
    """Both directions of one connection.

    Attributes:
        out: bytes that are to be sent; who sends some takes them away.
        encrypted: whether messages are, from now on.
    """

    def __init__(self) -> None:
        self.out = bytearray()
        self.encrypted = False
        self._in = bytearray()
        self._parts = bytearray()
        self._frames = 0
        self._sending = _Direction()
        self._receiving = _Direction()

    def encrypt(self, key: bytes) -> None:
        """Both sides have agreed on a key of 32 bytes."""
        cipher = AesGcm(key)
        sent, received = self._sending.digest(), self._receiving.digest()
        self._sending.use(cipher, sent + received)
        self._receiving.use(cipher, received + sent)
        self.encrypted = True

    def feed(self, data: bytes) -> None:
        """Bytes have come in.

        Raises:
            CedarError: so many that they can't be one message.
        """
        self._in += data
        if len(self._in) > 2 * FRAME_MAX:
            raise CedarError("more bytes than our commands have")

    def message(self) -> Message | None:
        """The next message, None if it is not complete.

        Raises:
            CedarError: what came in is no message of ours.
        """
        while True:
            frame = self._frame()
            if frame is None:
                return None
            last, data = frame
            self._parts += data
            self._frames += 1
            if len(self._parts) > MESSAGE_MAX or self._frames > FRAMES_MAX:
                raise CedarError("a message larger than any of ours")
            if last:
                whole = bytes(self._parts)
                self._parts.clear()
                self._frames = 0
                return Message(whole, self.encrypted)

    def _frame(self) -> tuple[bool, bytes] | None:
        """The next frame: whether it is the last of its message, and what is in it."""
        if len(self._in) < HEADER:
            return None
        last, size = struct.unpack_from(">BI", self._in)
        if last > 1 or size > FRAME_MAX:
            raise CedarError("that is not the protocol of HTCondor")
        if len(self._in) < HEADER + size:
            return None
        header, data = bytes(self._in[:HEADER]), bytes(self._in[HEADER : HEADER + size])
        del self._in[: HEADER + size]
        return bool(last), self._receiving.opened(header, data)

    def send(self, message: bytes) -> None:
        """Send a message, in one frame."""
        self.out += self._sending.closed(message)


class _Direction:
    """What one direction of a connection remembers."""

    def __init__(self) -> None:
        import hashlib  # large, and most DAGMans are never called

        self._clear = hashlib.sha256()
        self._cipher: AesGcm | None = None
        self._before = b""
        self._iv = b""
        self._count = 0

    def digest(self) -> bytes:
        """Of all that went this way in the clear."""
        return self._clear.digest()

    def use(self, cipher: AesGcm, before: bytes) -> None:
        """Encrypt from now on; the first frame vouches for what was `before`."""
        self._cipher, self._before = cipher, before

    def opened(self, header: bytes, data: bytes) -> bytes:
        """What is in a frame."""
        if self._cipher is None:
            self._clear.update(header + data)
            return data
        if not self._iv:
            self._iv, data = data[:IV], data[IV:]
            if len(self._iv) < IV:
                raise CedarError("an encrypted frame without a start value")
        try:
            return self._cipher.decrypt(self._next_iv(), data, self._vouched(header))
        except CryptoError as error:
            raise CedarError(str(error)) from None

    def closed(self, data: bytes) -> bytes:
        """A frame with `data` in it."""
        if self._cipher is None:
            frame = struct.pack(">BI", 1, len(data)) + data
            self._clear.update(frame)
            return frame
        first = b"" if self._iv else os.urandom(IV)
        self._iv = self._iv or first
        header = struct.pack(">BI", 1, len(first) + len(data) + TAG)
        return header + first + self._cipher.encrypt(self._next_iv(), data, self._vouched(header))

    def _next_iv(self) -> bytes:
        """The start value's first four bytes count the frames."""
        number = (int.from_bytes(self._iv[:4], "big") + self._count) & 0xFFFFFFFF
        self._count += 1
        return number.to_bytes(4, "big") + self._iv[4:]

    def _vouched(self, header: bytes) -> bytes:
        before, self._before = self._before, b""
        return before + header

"""CEDAR, HTCondor's wire protocol, as far as a command with a ClassAd each way needs it.

Converts between bytes and messages, without sockets or files.  A *message* is cut into
*frames*; each begins with a byte (1: the message ends with this frame) and the length of what
follows.  Inside are integers of 8 bytes, texts that end with a zero byte, and ClassAds: the number
of attributes, each as a text `Name = expression`, then two type names.

Once both sides have a key, frames are encrypted with AES-256-GCM.  The first frame of each
direction has the initialization vector (IV), and authenticates all that was sent before in the
clear, so that a change to the negotiation is detected; each frame authenticates its own header.
Texts are then preceded by their lengths.

There is no published description: this is the behaviour of 25.14.1, tested with recorded samples.
Input is not trusted, so every size has a limit.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Mapping
from typing import Union

from condor_pydagman.adapters.cedar_crypto import TAG_BYTES, AesGcm, CryptoError

MAX_MESSAGE_BYTES = 16 * 1024  # of one message, in all its frames
MAX_FRAME_BYTES = MAX_MESSAGE_BYTES + 64
MAX_FRAMES = 64  # of one message
MAX_ATTRIBUTES = 100  # of one ClassAd
HEADER_BYTES = 5
IV_BYTES = 16

Value = Union[str, int, float, bool, None]
Ad = dict[str, str]  # expressions by name, names in small letters

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_REAL = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE][+-]?[0-9]{1,3})?")
# Old ClassAd syntax: only the quote is escaped.
_TEXT = re.compile(r'"((?:[^"]|(?<=\\)")*)"', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")
_KEYWORDS: Mapping[str, Value] = {"true": True, "false": False}


class CedarError(Exception):
    """The input is not CEDAR, too large, or not encrypted as agreed."""


class Message:
    """Decodes one message.

    Args:
        data: its bytes.
        counted: whether texts are preceded by their lengths (encrypted messages).
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
        """The next text; bytes that are not UTF-8 are kept as surrogates."""
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
        if not 0 <= count <= MAX_ATTRIBUTES:
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
        """Check that the message has no more data.

        Raises:
            CedarError: it has.
        """
        if self._at != len(self._data):
            raise CedarError("a message with more than its command takes")


def value(ad: Ad, name: str) -> Value:
    """The value of an attribute that is a literal text, number or boolean; otherwise None.

    No expression is evaluated, since input is not trusted.
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
    """The text of an expression with the value `plain`."""
    if isinstance(plain, str):
        return '"' + plain.replace('"', '\\"').replace("\0", "") + '"'
    return str(plain).lower() if isinstance(plain, (bool, float)) else f"{plain:d}"


def integer(number: int) -> bytes:
    """Encode an integer."""
    return struct.pack(">q", number)


def text(words: str, counted: bool = False) -> bytes:
    """Encode a text."""
    data = words.encode("utf-8", "surrogateescape") + b"\0"
    return integer(len(data)) + data if counted else data


def ad(attributes: Mapping[str, Value], counted: bool = False) -> bytes:
    """Encode a ClassAd."""
    lines = [f"{name} = {expression(plain)}" for name, plain in attributes.items()]
    return integer(len(lines)) + b"".join(text(line, counted) for line in [*lines, "", ""])


class Channel:
    """Both directions of one connection.

    Attributes:
        out: bytes to be sent; the sender removes those that it has sent.
        encrypted: whether messages are encrypted from now on.
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
        """Encrypt from now on, with a key of 32 bytes that both sides have agreed on."""
        cipher = AesGcm(key)
        sent, received = self._sending.digest(), self._receiving.digest()
        self._sending.use(cipher, sent + received)
        self._receiving.use(cipher, received + sent)
        self.encrypted = True

    def feed(self, data: bytes) -> None:
        """Add received bytes.

        Raises:
            CedarError: more than one message can have.
        """
        self._in += data
        if len(self._in) > 2 * MAX_FRAME_BYTES:
            raise CedarError("more bytes than our commands have")

    def message(self) -> Message | None:
        """The next message, None if it is not complete.

        Raises:
            CedarError: it is not a valid message.
        """
        while True:
            frame = self._frame()
            if frame is None:
                return None
            last, data = frame
            self._parts += data
            self._frames += 1
            if len(self._parts) > MAX_MESSAGE_BYTES or self._frames > MAX_FRAMES:
                raise CedarError("a message larger than any of ours")
            if last:
                whole = bytes(self._parts)
                self._parts.clear()
                self._frames = 0
                return Message(whole, self.encrypted)

    def _frame(self) -> tuple[bool, bytes] | None:
        """The next frame: whether it is the last of its message, and what is in it."""
        if len(self._in) < HEADER_BYTES:
            return None
        last, size = struct.unpack_from(">BI", self._in)
        if last > 1 or size > MAX_FRAME_BYTES:
            raise CedarError("that is not the protocol of HTCondor")
        if len(self._in) < HEADER_BYTES + size:
            return None
        end = HEADER_BYTES + size
        header, data = bytes(self._in[:HEADER_BYTES]), bytes(self._in[HEADER_BYTES:end])
        del self._in[:end]
        return bool(last), self._receiving.decode(header, data)

    def send(self, message: bytes) -> None:
        """Send a message, in one frame."""
        self.out += self._sending.encode(message)


class _Direction:
    """The state of one direction of a connection."""

    def __init__(self) -> None:
        import hashlib  # late: it is large, and most DAGMans never have a client

        self._clear = hashlib.sha256()
        self._cipher: AesGcm | None = None
        self._before = b""
        self._iv = b""
        self._count = 0

    def digest(self) -> bytes:
        """Digest of all that was sent in this direction in the clear."""
        return self._clear.digest()

    def use(self, cipher: AesGcm, before: bytes) -> None:
        """Encrypt from now on; the first frame authenticates the digests `before`."""
        self._cipher, self._before = cipher, before

    def decode(self, header: bytes, data: bytes) -> bytes:
        """Decode a frame."""
        if self._cipher is None:
            self._clear.update(header + data)
            return data
        if not self._iv:
            self._iv, data = data[:IV_BYTES], data[IV_BYTES:]
            if len(self._iv) < IV_BYTES:
                raise CedarError("an encrypted frame without a start value")
        try:
            return self._cipher.decrypt(self._next_iv(), data, self._authenticated_data(header))
        except CryptoError as error:
            raise CedarError(str(error)) from None

    def encode(self, data: bytes) -> bytes:
        """Encode a frame with `data`."""
        if self._cipher is None:
            frame = struct.pack(">BI", 1, len(data)) + data
            self._clear.update(frame)
            return frame
        first = b"" if self._iv else os.urandom(IV_BYTES)
        self._iv = self._iv or first
        header = struct.pack(">BI", 1, len(first) + len(data) + TAG_BYTES)
        also = self._authenticated_data(header)
        return header + first + self._cipher.encrypt(self._next_iv(), data, also)

    def _next_iv(self) -> bytes:
        """The IV's first four bytes count the frames."""
        number = (int.from_bytes(self._iv[:4], "big") + self._count) & 0xFFFFFFFF
        self._count += 1
        return number.to_bytes(4, "big") + self._iv[4:]

    def _authenticated_data(self, header: bytes) -> bytes:
        before, self._before = self._before, b""
        return before + header

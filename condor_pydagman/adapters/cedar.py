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

import importlib.util
import os
import re
import struct
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Union

from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec

# The cryptography of HTCondor's wire protocol: ECDH on P-256, HKDF, AES-256-GCM.
#
# Stock clients encrypt all that they send, also the secret of a DAG, with a new key for each
# connection.  The Python package `cryptography`, that is OpenSSL, does the work.  It takes 10 MB of
# memory, and most DAGMans never have a client: so it is imported for the first client that offers
# encryption, all at once, since the files of an installation may be replaced while DAGMan runs.
#
# Sources: FIPS 186-4 (curve P-256), SEC 1 (ECDH), RFC 5869 (HKDF), NIST SP 800-38D (AES-GCM).

TAG_BYTES = 16  # bytes of an authentication tag
POINT_BYTES = 65  # bytes of an uncompressed point
KEY_BYTES = 32  # bytes of a key of AES-256
_UNCOMPRESSED = 4  # the first byte of such a point


class CryptoError(Exception):
    """An invalid key, a message that was not encrypted with ours, or no library."""


class KeyPair(NamedTuple):
    """A private key of P-256, and the public point that belongs to it, as 65 bytes."""

    private: ec.EllipticCurvePrivateKey
    public: bytes


def is_installed() -> bool:
    """Whether the library is installed; it is not imported."""
    try:
        spec = importlib.util.find_spec("cryptography")
    except ValueError:  # a module without a specification has its name
        return False
    return spec is not None and spec.origin is not None


def missing() -> str:
    """The message for users whose Python lacks the library."""
    return (
        "the Python package cryptography is not installed; "
        f"install it with: {sys.executable} -m pip install cryptography"
    )


def load() -> None:
    """Import the library, if it is not imported.

    Raises:
        CryptoError: it can't be imported; the message says why.
    """
    try:
        import cryptography.exceptions
        import cryptography.hazmat.primitives.asymmetric.ec
        import cryptography.hazmat.primitives.ciphers.aead
        import cryptography.hazmat.primitives.kdf.hkdf  # noqa: F401
    except (KeyboardInterrupt, SystemExit):
        raise
    # An extension written in Rust may fail with an exception that is no subclass of Exception.
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        raise CryptoError(f"the Python package cryptography can't be loaded: {reason}") from None


def key_pair() -> KeyPair:
    """A new key pair, for one connection.

    Raises:
        CryptoError: the library can't be loaded.
    """
    load()
    from cryptography.hazmat.primitives.asymmetric import ec

    return _pair(ec.generate_private_key(ec.SECP256R1()))


def key_pair_of(private: int) -> KeyPair:
    """The key pair with this private number.

    Raises:
        CryptoError: the library can't be loaded.
    """
    load()
    from cryptography.hazmat.primitives.asymmetric import ec

    return _pair(ec.derive_private_key(private, ec.SECP256R1()))


def _pair(private: ec.EllipticCurvePrivateKey) -> KeyPair:
    # The library's own function for this (`public_bytes`) imports two dozen more modules.
    point = private.public_key().public_numbers()
    x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
    return KeyPair(private, bytes([_UNCOMPRESSED]) + x + y)


def shared_secret(private: ec.EllipticCurvePrivateKey, public: bytes) -> bytes:
    """The shared secret of both sides: 32 bytes.

    Raises:
        CryptoError: `public` is not an uncompressed point of the curve.
    """
    from cryptography.hazmat.primitives.asymmetric import ec

    if len(public) != POINT_BYTES or public[0] != _UNCOMPRESSED:
        raise CryptoError("that is no public key")
    try:
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public)
    except ValueError:
        raise CryptoError("the public key is not on the curve") from None
    return private.exchange(ec.ECDH(), point)


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """A key of 32 bytes (RFC 5869 with SHA-256)."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=info).derive(secret)


class AesGcm:
    """AES-256 in Galois/counter mode, under one key.

    Raises:
        CryptoError: the key is not of 32 bytes, or the library can't be loaded.
    """

    def __init__(self, key: bytes) -> None:
        load()
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if len(key) != KEY_BYTES:
            raise CryptoError(f"a key has {KEY_BYTES} bytes")
        self._cipher = AESGCM(key)

    def encrypt(self, iv: bytes, text: bytes, also: bytes) -> bytes:
        """The encrypted text, followed by a tag that authenticates it and `also`."""
        return self._cipher.encrypt(iv, text, also)

    def decrypt(self, iv: bytes, text: bytes, also: bytes) -> bytes:
        """The text that `encrypt` was given.

        Raises:
            CryptoError: it was encrypted with another key, or changed.
        """
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(iv, text, also)
        except InvalidTag:
            raise CryptoError("a message that was not encrypted with our key, or changed") from None


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

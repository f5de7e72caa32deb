"""CEDAR, HTCondor's wire protocol: the part for commands whose request and reply are a ClassAd.

Converts between bytes and messages, without sockets or files.  A *message* is cut into
*frames*; each begins with a byte (1: the message ends with this frame) and the length of what
follows.  Inside are integers of 8 bytes, strings that end with a zero byte, and ClassAds: the
number of attributes, each as a string `Name = expression`, then two type names.

Once both sides have a key, frames are encrypted with AES-256-GCM.  The first frame of each
direction has the initialization vector (IV), and authenticates all that was sent before in the
clear, so that a change to the negotiation is detected; each frame authenticates its own header.
Strings are then preceded by their lengths.  The key is made anew for each connection, by ECDH on
P-256 and HKDF; stock clients encrypt all that they send, also the secret of a DAG.

The Python package `cryptography`, that is OpenSSL, does the work.  It takes 10 MB of memory, and
most DAGMans never have a client: so it is imported for the first client that offers encryption, all
at once, since the files of an installation may be replaced while DAGMan runs.

Sources: FIPS 186-4 (curve P-256), SEC 1 (ECDH), RFC 5869 (HKDF), NIST SP 800-38D (AES-GCM).

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

TAG_BYTES = 16  # of an authentication tag
POINT_BYTES = 65  # of an uncompressed point
KEY_BYTES = 32  # of a key of AES-256
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


def missing_library_message() -> str:
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


def _pair(private: ec.EllipticCurvePrivateKey) -> KeyPair:
    # The library's own function for this (`public_bytes`) imports two dozen more modules.
    point = private.public_key().public_numbers()
    x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
    return KeyPair(private, bytes([_UNCOMPRESSED]) + x + y)


def shared_secret(private: ec.EllipticCurvePrivateKey, public: bytes) -> bytes:
    """The ECDH shared secret: 32 bytes.

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

    def encrypt(self, iv: bytes, plaintext: bytes, associated_data: bytes) -> bytes:
        """The ciphertext, followed by a tag that authenticates it and `associated_data`."""
        return self._cipher.encrypt(iv, plaintext, associated_data)

    def decrypt(self, iv: bytes, ciphertext: bytes, associated_data: bytes) -> bytes:
        """The plaintext of `ciphertext`, whose end is the tag.

        Raises:
            CryptoError: it was encrypted with another key, or changed.
        """
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(iv, ciphertext, associated_data)
        except InvalidTag:
            raise CryptoError("a message that was not encrypted with our key, or changed") from None


MAX_MESSAGE_BYTES = 16 * 1024  # of one message, in all its frames
MAX_FRAME_BYTES = MAX_MESSAGE_BYTES + 64
MAX_FRAMES = 64  # of one message
MAX_ATTRIBUTES = 100  # of one ClassAd
HEADER_BYTES = 5
IV_BYTES = 16

Value = Union[str, int, float, bool]
Ad = dict[str, str]  # expressions by name, names in small letters

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_REAL = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE][+-]?[0-9]{1,3})?")
# Old ClassAd syntax: only the quote is escaped.
_TEXT = re.compile(r'"((?:[^"]|(?<=\\)")*)"', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")
_KEYWORDS: Mapping[str, Value] = {"true": True, "false": False}


class CedarError(Exception):
    """The input is not CEDAR, too large, or not encrypted as agreed."""


class MessageReader:
    """A cursor over the bytes of one message; each method decodes what comes next.

    Args:
        data: its bytes.
        length_prefixed: whether strings are preceded by their lengths (encrypted messages).
    """

    def __init__(self, data: bytes, length_prefixed: bool = False) -> None:
        self._data = data
        self._length_prefixed = length_prefixed
        self._at = 0

    def integer(self) -> int:
        """The next integer: 8 bytes, signed, big-endian."""
        if self._at + 8 > len(self._data):
            raise CedarError("a message ends in an integer")
        number: int = struct.unpack_from(">q", self._data, self._at)[0]
        self._at += 8
        return number

    def string(self) -> str:
        """The next string; bytes that are not UTF-8 are kept as surrogates."""
        begin = self._at + (8 if self._length_prefixed else 0)
        size = self.integer() if self._length_prefixed else 0
        end = self._data.find(b"\0", begin)
        if end < begin or (self._length_prefixed and end - begin + 1 != size):
            raise CedarError("a string without an end")
        self._at = end + 1
        return self._data[begin:end].decode("utf-8", "surrogateescape")

    def ad(self) -> Ad:
        """The next ClassAd; its two type names are dropped."""
        count = self.integer()
        if not 0 <= count <= MAX_ATTRIBUTES:
            raise CedarError(f"a ClassAd of {count} attributes; the limit is {MAX_ATTRIBUTES}")
        ad: Ad = {}
        for _ in range(count):
            name, equals, expression = self.string().partition("=")
            name = name.strip()
            if not equals or not _NAME.fullmatch(name):
                raise CedarError("a ClassAd's attribute without a name")
            ad[name.lower()] = expression.strip()
        for _ in range(2):
            self.string()
        return ad

    def end(self) -> None:
        """Check that the message has no more data.

        Raises:
            CedarError: bytes are left.
        """
        if self._at != len(self._data):
            raise CedarError("a message with more than its command takes")


def value(ad: Ad, name: str) -> Value | None:
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


def literal(plain: Value) -> str:
    """A value in the ClassAd language."""
    if isinstance(plain, str):
        return '"' + plain.replace('"', '\\"').replace("\0", "") + '"'
    return str(plain).lower() if isinstance(plain, (bool, float)) else f"{plain:d}"


def encode_integer(number: int) -> bytes:
    """8 bytes, signed, big-endian."""
    return struct.pack(">q", number)


def encode_string(text: str, length_prefixed: bool = False) -> bytes:
    """Its bytes and a zero byte, with their number before them if that is wanted."""
    data = text.encode("utf-8", "surrogateescape") + b"\0"
    return encode_integer(len(data)) + data if length_prefixed else data


def encode_ad(attributes: Mapping[str, Value], length_prefixed: bool = False) -> bytes:
    """A ClassAd without type names."""
    lines = [f"{name} = {literal(plain)}" for name, plain in attributes.items()]
    strings = (encode_string(line, length_prefixed) for line in [*lines, "", ""])
    return encode_integer(len(lines)) + b"".join(strings)


class Channel:
    """Both directions of one connection."""

    def __init__(self) -> None:
        self.out = bytearray()  # bytes to be sent; the sender removes those that it has sent
        self.encrypted = False  # whether messages are encrypted from now on
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
            CedarError: more than 2 * MAX_FRAME_BYTES are unread.
        """
        self._in += data
        if len(self._in) > 2 * MAX_FRAME_BYTES:
            raise CedarError(f"more than {2 * MAX_FRAME_BYTES} bytes without a message")

    def message(self) -> MessageReader | None:
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
                raise CedarError(
                    f"a message of over {MAX_MESSAGE_BYTES} bytes or {MAX_FRAMES} frames"
                )
            if last:
                whole = bytes(self._parts)
                self._parts.clear()
                self._frames = 0
                return MessageReader(whole, self.encrypted)

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

        self._clear_digest = hashlib.sha256()
        self._cipher: AesGcm | None = None
        self._handshake_digests = b""
        self._iv = b""
        self._count = 0

    def digest(self) -> bytes:
        """Digest of all that was sent in this direction in the clear."""
        return self._clear_digest.digest()

    def use(self, cipher: AesGcm, digests: bytes) -> None:
        """Encrypt from now on; the first frame authenticates the digests of the handshake."""
        self._cipher, self._handshake_digests = cipher, digests

    def decode(self, header: bytes, data: bytes) -> bytes:
        """The contents of a frame, decrypted once `use` was called."""
        if self._cipher is None:
            self._clear_digest.update(header + data)
            return data
        if not self._iv:
            self._iv, data = data[:IV_BYTES], data[IV_BYTES:]
            if len(self._iv) < IV_BYTES:
                raise CedarError("an encrypted frame without an IV")
        try:
            return self._cipher.decrypt(self._next_iv(), data, self._associated_data(header))
        except CryptoError as error:
            raise CedarError(str(error)) from None

    def encode(self, data: bytes) -> bytes:
        """A frame with `data`, encrypted once `use` was called."""
        if self._cipher is None:
            frame = struct.pack(">BI", 1, len(data)) + data
            self._clear_digest.update(frame)
            return frame
        first = b"" if self._iv else os.urandom(IV_BYTES)
        self._iv = self._iv or first
        header = struct.pack(">BI", 1, len(first) + len(data) + TAG_BYTES)
        ciphertext = self._cipher.encrypt(self._next_iv(), data, self._associated_data(header))
        return header + first + ciphertext

    def _next_iv(self) -> bytes:
        """Its first four bytes have the frame's number added: no IV serves twice under one key."""
        number = (int.from_bytes(self._iv[:4], "big") + self._count) & 0xFFFFFFFF
        self._count += 1
        return number.to_bytes(4, "big") + self._iv[4:]

    def _associated_data(self, header: bytes) -> bytes:
        """Call it once a frame: that of the first one also has the digests of the handshake."""
        digests, self._handshake_digests = self._handshake_digests, b""
        return digests + header

"""The cryptography of HTCondor's wire protocol: ECDH on P-256, HKDF, AES-256-GCM.

Stock clients encrypt all that they send, also the secret of a DAG, with a new key for each
connection.  The Python package `cryptography`, that is OpenSSL, does the work.  It takes 10 MB of
memory, and most DAGMans never have a client: so it is imported for the first client that offers
encryption, all at once, since the files of an installation may be replaced while DAGMan runs.

Sources: FIPS 186-4 (curve P-256), SEC 1 (ECDH), RFC 5869 (HKDF), NIST SP 800-38D (AES-GCM).
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec

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

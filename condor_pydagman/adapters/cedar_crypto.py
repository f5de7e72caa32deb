"""The cryptography that HTCondor's wire protocol asks for: ECDH on P-256, HKDF, AES-256-GCM.

Stock clients encrypt whatever they send, the secret of a DAG among it, with a key that both sides
agree on anew for each connection.  Python's standard library has none of this but SHA-256, and the
bindings are no server, hence these few functions.  They are slow (3 ms for 16 KB, 1 ms for a key),
which is enough for a person's commands, and not hardened against somebody who measures times on the
same machine: keys live for one connection.

Sources: FIPS 186-4 (curve P-256), SEC 1 (ECDH), RFC 5869 (HKDF), FIPS 197 (AES), NIST SP 800-38D.
"""

from __future__ import annotations

import functools
import os
import struct
from typing import NamedTuple

TAG = 16  # bytes of an authentication tag
POINT = 65  # bytes of an uncompressed point

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_INFINITY = (1, 1, 0)

_Point = tuple[int, int, int]  # x/z^2, y/z^3: no division until the end


class CryptoError(Exception):
    """A key that is none, or a message that was not encrypted with ours."""


class KeyPair(NamedTuple):
    """A private number and the public point that belongs to it, as 65 bytes."""

    private: int
    public: bytes


def key_pair() -> KeyPair:
    """A new one, for one connection."""
    return key_pair_of(1 + int.from_bytes(os.urandom(48), "big") % (_N - 1))


def key_pair_of(private: int) -> KeyPair:
    """The pair with this private number."""
    return KeyPair(private, _encode(_multiply(private, _G)))


def shared_secret(private: int, public: bytes) -> bytes:
    """What both sides have in common: 32 bytes.

    Raises:
        CryptoError: `public` is no point of the curve.
    """
    x, y = int.from_bytes(public[1:33], "big"), int.from_bytes(public[33:], "big")
    if len(public) != POINT or public[0] != 4 or max(x, y) >= _P:
        raise CryptoError("that is no public key")
    if (y * y - (x * x * x - 3 * x + _B)) % _P:
        raise CryptoError("the public key is not on the curve")
    return _encode(_multiply(private, (x, y)))[1:33]


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """A key of 32 bytes (RFC 5869, SHA-256, one block)."""
    import hmac  # large, and most DAGMans are never called

    extracted = hmac.digest(salt, secret, "sha256")
    return hmac.digest(extracted, info + b"\1", "sha256")


def _encode(point: _Point) -> bytes:
    x, y, z = point
    if not z:
        raise CryptoError("a key exchange with no result")
    inverse = pow(z, -1, _P)
    x, y = x * inverse * inverse % _P, y * pow(inverse, 3, _P) % _P
    return b"\4" + x.to_bytes(32, "big") + y.to_bytes(32, "big")


def _multiply(number: int, point: tuple[int, int]) -> _Point:
    """Four bits at a time."""
    multiples: list[_Point] = [_INFINITY, (*point, 1)]
    for _ in range(14):
        multiples.append(_add(multiples[-1], multiples[1]))
    result = _INFINITY
    for shift in range(252, -4, -4):
        for _ in range(4):
            result = _double(result)
        result = _add(result, multiples[number >> shift & 15])
    return result


def _double(point: _Point) -> _Point:
    x, y, z = point
    if not z:
        return point
    yy = y * y % _P
    s = 4 * x * yy % _P
    zz = z * z % _P
    m = 3 * (x - zz) * (x + zz) % _P
    new_x = (m * m - 2 * s) % _P
    return new_x, (m * (s - new_x) - 8 * yy * yy) % _P, 2 * y * z % _P


def _add(one: _Point, other: _Point) -> _Point:
    (x1, y1, z1), (x2, y2, z2) = one, other
    if not z1 or not z2:
        return one if z1 else other
    zz1, zz2 = z1 * z1 % _P, z2 * z2 % _P
    u1, u2 = x1 * zz2 % _P, x2 * zz1 % _P
    s1, s2 = y1 * z2 * zz2 % _P, y2 * z1 * zz1 % _P
    if u1 == u2:
        return _double(one) if s1 == s2 else _INFINITY
    h, r = u2 - u1, s2 - s1
    hh = h * h % _P
    hhh, v = h * hh % _P, u1 * hh % _P
    x = (r * r - hhh - 2 * v) % _P
    return x, (r * (v - x) - s1 * hhh) % _P, z1 * z2 * h % _P


class AesGcm:
    """AES-256 in Galois/counter mode, under one key."""

    def __init__(self, key: bytes) -> None:
        self._rounds = _round_keys(key)
        self._hash_table = _hash_table(int.from_bytes(self._blocks(bytes(16)), "big"))

    def encrypt(self, iv: bytes, text: bytes, also: bytes) -> bytes:
        """The text encrypted, and a tag behind it that vouches for it and for `also`."""
        mask, stream = self._stream(iv, len(text))
        hidden = _xor(text, stream)
        return hidden + self._tag(mask, hidden, also)

    def decrypt(self, iv: bytes, text: bytes, also: bytes) -> bytes:
        """What `encrypt` was given.

        Raises:
            CryptoError: somebody has another key, or changed a bit on the way.
        """
        import hmac

        hidden = text[:-TAG]
        mask, stream = self._stream(iv, len(hidden))
        if len(text) < TAG or not hmac.compare_digest(self._tag(mask, hidden, also), text[-TAG:]):
            raise CryptoError("a message that was not encrypted with our key, or changed")
        return _xor(hidden, stream)

    def _stream(self, iv: bytes, size: int) -> tuple[bytes, bytes]:
        """What hides the tag, and what hides a text of that size: encrypted counters."""
        if len(iv) == 12:
            fixed, number = iv, 1
        else:
            start = self._hash(_padded(iv) + struct.pack(">QQ", 0, 8 * len(iv)))
            fixed, number = start[:12], int.from_bytes(start[12:], "big")
        counters = range(number, number + 1 + -(-size // 16))
        stream = self._blocks(
            b"".join(fixed + (each & 0xFFFFFFFF).to_bytes(4, "big") for each in counters)
        )
        return stream[:16], stream[16 : 16 + size]

    def _tag(self, mask: bytes, hidden: bytes, also: bytes) -> bytes:
        lengths = struct.pack(">QQ", 8 * len(also), 8 * len(hidden))
        return _xor(self._hash(_padded(also) + _padded(hidden) + lengths), mask)

    def _hash(self, text: bytes) -> bytes:
        """GHASH, eight bits at a time."""
        table, overflow = self._hash_table, _overflow_table()
        total = 0
        for place in range(0, len(text), 16):
            mixed = (total ^ int.from_bytes(text[place : place + 16], "big")).to_bytes(16, "little")
            total = 0
            for byte in mixed:
                total = total >> 8 ^ overflow[total & 255] ^ table[byte]
        return total.to_bytes(16, "big")

    def _blocks(self, text: bytes) -> bytes:
        """AES of many blocks, all at once, so that few steps of Python's are needed.

        The first bytes of all blocks stand together, then the second ones, and so on to the 16th.
        """
        box, twice, thrice = _tables()
        count = len(text) // 16
        keys = [_spread(key, count) for key in self._rounds]
        state = _xor(b"".join(text[place::16] for place in range(16)), keys[0])
        for key in keys[1:-1]:
            plain, times2, times3 = (state.translate(table) for table in (box, twice, thrice))
            state = _xor(
                _picked(times2, _ROWS[0], count),
                _picked(times3, _ROWS[1], count),
                _picked(plain, _ROWS[2], count),
                _picked(plain, _ROWS[3], count),
                key,
            )
        state = _xor(_picked(state.translate(box), _ROWS[0], count), keys[-1])
        result = bytearray(len(text))
        for place in range(16):
            result[place::16] = state[place * count : (place + 1) * count]
        return bytes(result)


# For each byte of a block, the one that row N of MixColumns takes, ShiftRows being done before.
_ROWS = [
    [4 * ((place // 4 + (place + row) % 4) % 4) + (place + row) % 4 for place in range(16)]
    for row in range(4)
]


def _picked(state: bytes, places: list[int], count: int) -> bytes:
    return b"".join(state[place * count : (place + 1) * count] for place in places)


def _spread(key: bytes, count: int) -> bytes:
    return b"".join(key[place : place + 1] * count for place in range(16))


def _xor(*texts: bytes) -> bytes:
    result = 0
    for text in texts:
        result ^= int.from_bytes(text, "big")
    return result.to_bytes(len(texts[0]), "big")


def _padded(text: bytes) -> bytes:
    return text + bytes(-len(text) % 16)


def _hash_table(key: int) -> list[int]:
    """Products of the hash key with every number of eight bits, the highest bit first (1 = 128)."""
    table = [0] * 256
    for bit in (128, 64, 32, 16, 8, 4, 2, 1):
        table[bit] = key
        key = key >> 1 ^ (0xE1 << 120 if key & 1 else 0)
    for number in range(1, 256):
        lowest = number & -number
        table[number] = table[lowest] ^ table[number ^ lowest]
    return table


@functools.lru_cache(maxsize=1)
def _overflow_table() -> list[int]:
    """What eight bits that are shifted out add."""
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0xE1 << 120 if number & 1 else 0)
        table.append(number)
    return table


@functools.lru_cache(maxsize=1)
def _tables() -> tuple[bytes, bytes, bytes]:
    """AES's S-box, and two and three times what is in it; made when first needed."""
    powers, logs, value = [0] * 255, [0] * 256, 1
    for exponent in range(255):
        powers[exponent], logs[value] = value, exponent
        value ^= _twice(value)  # times 3, which reaches every number
    box = bytearray(256)
    for number in range(256):
        inverse = powers[-logs[number] % 255] if number else 0
        turned = inverse
        for _ in range(4):
            inverse = (inverse << 1 | inverse >> 7) & 255
            turned ^= inverse
        box[number] = turned ^ 0x63
    return bytes(box), bytes(map(_twice, box)), bytes(_twice(s) ^ s for s in box)


def _twice(number: int) -> int:
    return (number << 1) ^ (0x11B if number & 0x80 else 0)


def _round_keys(key: bytes) -> list[bytes]:
    """The 15 round keys of AES-256."""
    if len(key) != 32:
        raise CryptoError("a key has 32 bytes")
    box = _tables()[0]
    words, constant = [key[i : i + 4] for i in range(0, 32, 4)], 1
    for place in range(8, 60):
        word = words[-1]
        if place % 8 == 0:
            word = bytes(box[b] for b in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _twice(constant)
        elif place % 8 == 4:
            word = bytes(box[b] for b in word)
        words.append(bytes(x ^ y for x, y in zip(word, words[-8])))
    return [b"".join(words[place : place + 4]) for place in range(0, 60, 4)]

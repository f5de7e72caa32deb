"""Conversations with clients: recorded ones of stock 25.14.1, and with those that are none."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.adapters import cedar
from condor_pydagman.adapters.cedar import Ad, CedarError, Channel
from condor_pydagman.adapters.control_socket import (
    DAGMAN_GENERIC,
    DC_AUTHENTICATE,
    Conversation,
    Server,
)
from tests.unit.adapters.cedar_keys import VERSION, sent, talk

OFFER: Mapping[str, cedar.Value] = {
    "Command": DAGMAN_GENERIC,
    "Enact": "NO",
    "Authentication": "OPTIONAL",
    "Encryption": "OPTIONAL",
    "Integrity": "OPTIONAL",
    "AuthMethods": "FS",
    "NewSession": "YES",
    "NegotiatedSession": True,
}
REQUIRED = "REQUIRED"
DIRECTORY = "/tmp/FS_x_"


def server(proofs: tuple[str, ...] = (), **more: Any) -> Server:
    return Server(
        **{
            "version": VERSION,
            "domain": "vm",
            "hosts": frozenset(["127.0.0.1", "fd00::2"]),
            "port": 9618,
            "new_directory": lambda: DIRECTORY,
            "is_proof": lambda path: path in proofs,
            **more,
        }
    )


class Client:
    """A client's side of a conversation."""

    def __init__(self, the_server: Server) -> None:
        self.channel = Channel()
        self.conversation = Conversation(the_server)
        self.pair = cedar.key_pair()
        self.request: Ad | None = None

    def say(self, message: bytes) -> None:
        self.channel.send(message)
        data = bytes(self.channel.out)
        self.channel.out.clear()
        self.request = self.conversation.feed(data)
        self.channel.feed(bytes(self.conversation.out))
        self.conversation.out.clear()

    def hears(self) -> cedar.MessageReader:
        message = self.channel.message()
        assert message is not None
        return message

    def offers(self, aes: bool = True, **more: cedar.Value) -> Ad:
        """Begin; returns the server's policy."""
        offer = {**OFFER, **more}
        if aes:
            offer["CryptoMethods"] = "AES,BLOWFISH"
            offer["ECDHPublicKey"] = base64.b64encode(self.pair.public).decode()
        self.say(cedar.encode_integer(DC_AUTHENTICATE) + cedar.encode_ad(offer))
        return self.hears().ad()

    def goes_on(self, policy: Ad) -> Ad:
        """Encrypt if that is agreed; returns the ad that opens the session."""
        key = cedar.value(policy, "ECDHPublicKey")
        if isinstance(key, str):
            shared = cedar.shared_secret(self.pair.private, base64.b64decode(key))
            self.channel.encrypt(cedar.hkdf(shared, b"htcondor", b"keygen"))
        return self.hears().ad()

    def asks(self, **request: cedar.Value) -> None:
        self.say(cedar.encode_ad(request, self.channel.encrypted))


@pytest.mark.parametrize("how", ["plain", "default", "required", "oldcrypto"])
@pytest.mark.parametrize("piece", [1, 7, 100000])
def test_recorded_clients(how: str, piece: int) -> None:
    """What a stock client sent, whole or in pieces, is understood, also when it is encrypted: our
    answers must be what they were, byte for byte, until then."""
    conversation, request = talk(how), None
    for octets in sent(how):
        for at in range(0, len(octets), piece):
            assert request is None
            request = conversation.feed(octets[at : at + piece])
    assert request is not None
    assert cedar.value(request, "HaltReason") == 'the "tea" is ready'
    assert cedar.value(request, "DagCommand") == 1
    conversation.reply({"Result": True})
    assert conversation.over


@pytest.mark.parametrize("what", ["Encryption", "Integrity"])
@pytest.mark.parametrize("policy_of_client", ["NEVER", "OPTIONAL", "PREFERRED", REQUIRED])
def test_everything_is_encrypted_for_who_offers_aes(what: str, policy_of_client: str) -> None:
    client = Client(server())
    policy = client.offers(True, **{what: policy_of_client})
    assert cedar.value(policy, what) == (
        "YES" if policy_of_client in ("PREFERRED", REQUIRED) else "NO"
    )
    assert cedar.value(policy, "Authentication") == "NO"
    opened = client.goes_on(policy)
    assert cedar.value(opened, "ReturnCode") == "AUTHORIZED"
    assert str(DAGMAN_GENERIC) not in str(cedar.value(opened, "ValidCommands"))
    client.asks(DagCommand=2)
    assert client.request == {"dagcommand": "2"}
    client.conversation.reply({"Result": True, "Trusted": True})
    assert b"Trusted" not in client.conversation.out
    client.channel.feed(bytes(client.conversation.out))
    assert cedar.value(client.hears().ad(), "Trusted") is True
    assert client.conversation.over


def test_a_client_without_aes_is_served_in_the_clear() -> None:
    client = Client(server())
    assert cedar.value(client.goes_on(client.offers(aes=False)), "ReturnCode") == "AUTHORIZED"
    client.asks(DagCommand=2)
    assert client.request is not None


@pytest.mark.parametrize("what", ["Encryption", "Integrity"])
def test_a_client_that_insists_but_has_no_aes(what: str) -> None:
    with pytest.raises(CedarError, match=f"insists on {what.lower()}"):
        Client(server()).offers(False, **{what: REQUIRED})


def test_a_client_that_insists_on_authentication_by_what_we_have_not() -> None:
    with pytest.raises(CedarError, match="authentication"):
        Client(server()).offers(Authentication=REQUIRED, AuthMethods="TOKEN,SSL")


def test_the_newer_word_on_authentication_counts() -> None:
    """Clients ask older servers for authentication only to get a key."""
    client = Client(server())
    policy = client.offers(Authentication=REQUIRED, AuthenticationNew="OPTIONAL")
    assert cedar.value(policy, "Authentication") == "NO"


@pytest.mark.parametrize("endpoint", ["127.0.0.1:9618", "[fd00::2]:9618", "[fd00--2]:9618"])
def test_who_has_made_the_directory_is_believed(endpoint: str) -> None:
    client = Client(server(proofs=(DIRECTORY + endpoint,)))
    policy = client.offers(Authentication=REQUIRED)
    client.say(cedar.encode_integer(4 + 256))
    assert client.hears().integer() == 4
    assert client.hears().string() == DIRECTORY
    client.say(cedar.encode_integer(0) + cedar.encode_string(endpoint))
    assert client.hears().integer() == 0
    assert client.hears().integer() == 0
    assert cedar.value(client.goes_on(policy), "ReturnCode") == "AUTHORIZED"
    client.asks(DagCommand=1)
    assert client.request is not None


@pytest.mark.parametrize(
    ("failed", "endpoint"),
    [
        (0, "127.0.0.1:9618"),
        (13, "192.0.2.1:9618"),
        (0, "127.0.0.1:9619"),
        (0, "10.1.1.1:9618"),
        (0, "x/../../etc:9618"),
        (0, "127.0.0.1"),
        (0, ""),
    ],
)
def test_who_has_not_is_not(failed: int, endpoint: str) -> None:
    proofs = tuple(DIRECTORY + e for e in (endpoint, "192.0.2.1:9618") if e != "127.0.0.1:9618")
    client = Client(server(proofs=proofs, hosts=frozenset(["127.0.0.1", "192.0.2.1"])))
    client.offers(Authentication=REQUIRED)
    client.say(cedar.encode_integer(4))
    client.hears(), client.hears()
    client.say(cedar.encode_integer(failed) + cedar.encode_string(endpoint))
    assert client.hears().integer() == -1
    client.say(cedar.encode_integer(0))  # no other method
    assert client.hears().integer() == 0
    assert client.conversation.over


def test_no_session_is_resumed() -> None:
    client = Client(server())
    resume: dict[str, cedar.Value] = {
        "Command": DAGMAN_GENERIC,
        "UseSession": "YES",
        "Sid": "x",
        "ResumeResponse": True,
    }
    client.say(cedar.encode_integer(DC_AUTHENTICATE) + cedar.encode_ad(resume))
    assert cedar.value(client.hears().ad(), "ReturnCode") == "SID_NOT_FOUND"
    assert client.conversation.over


@pytest.mark.parametrize(
    "message",
    [
        cedar.encode_integer(60011),
        cedar.encode_integer(DC_AUTHENTICATE) + cedar.encode_ad({"Command": 60000}),
        cedar.encode_integer(DC_AUTHENTICATE) + cedar.encode_ad({"Command": "61500"}),
        cedar.encode_integer(DC_AUTHENTICATE) + cedar.encode_ad({**OFFER, "UseSession": "YES"}),
        cedar.encode_integer(DC_AUTHENTICATE) + cedar.encode_ad(OFFER) + b"x",
        cedar.encode_integer(DAGMAN_GENERIC) + cedar.encode_ad({"DagCommand": 1}) + b"x",
        cedar.encode_integer(DC_AUTHENTICATE)
        + cedar.encode_ad({**OFFER, "CryptoMethods": "AES", "ECDHPublicKey": "no key"}),
        cedar.encode_integer(DC_AUTHENTICATE)
        + cedar.encode_ad({**OFFER, "CryptoMethods": "AES", "ECDHPublicKey": "QUJD"}),
        b"",
    ],
)
def test_what_is_refused(message: bytes) -> None:
    with pytest.raises(CedarError):
        Client(server()).say(message)


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", *map(cedar.encode_integer, (DC_AUTHENTICATE, DAGMAN_GENERIC))]),
)
def test_garbage(data: bytes, start: bytes) -> None:
    with contextlib.suppress(CedarError):
        Client(server()).say(start + data)


@given(
    st.dictionaries(
        st.sampled_from(sorted(OFFER)),
        st.one_of(st.text('AR"\\', max_size=3), st.integers(-9, 9), st.none()),
    )
)
def test_any_offer(more: dict[str, cedar.Value]) -> None:
    offer = {name: value for name, value in {**OFFER, **more}.items() if value is not None}
    with contextlib.suppress(CedarError):
        Client(server()).say(cedar.encode_integer(DC_AUTHENTICATE) + cedar.encode_ad(offer))

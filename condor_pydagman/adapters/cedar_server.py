"""The server side of a connection with one client, up to the ClassAd with its command.

HTCondor's clients begin with DC_AUTHENTICATE: a ClassAd of what they support and require.  The
reply says what will be done.  As stock DAGMan, the server requires nothing itself (the command is
registered at ALLOW, and the secret in it is checked) and does what the client asks for:

- encryption and integrity with AES for clients that support it, which all do since 9.0;
- authentication only if the client requires it, by FS: it makes a directory, whose owner is
  checked;
- a session is offered, but never resumed: the client is told to start a new one.

A client that is configured not to negotiate sends its command at once, in the clear.
"""

from __future__ import annotations

import binascii
import enum
import os
import re
from collections.abc import Callable, Collection

from condor_pydagman.adapters import cedar, cedar_crypto
from condor_pydagman.adapters.cedar import Ad, CedarError, Channel, Message, Value
from condor_pydagman.adapters.cedar_crypto import KeyPair
from condor_pydagman.named_tuple import NamedTuple

# HTCondor's numbers of commands
DC_AUTHENTICATE = 60010
DAGMAN_GENERIC = 61500  # a ClassAd each way
_DC_NOP = 60011
_REQUIRED = "REQUIRED"
MAX_TRIES = 4  # to authenticate; then the client is dropped
FS_METHOD = 4  # bit of the authentication method FS

_KEY_LABELS = ("htcondor", "keygen")  # salt and purpose of a session's key
_OFFERED = re.compile(r"[,\s]+")
_ENDPOINT = re.compile(r"[A-Za-z0-9\[\]:._-]{1,100}")


class _Step(enum.Enum):
    COMMAND = "what the client wants"
    METHODS = "which ways to authenticate the client knows"
    DIRECTORY = "the directory that the client has made"
    REQUEST = "the ClassAd"
    REPLY = "our answer"
    OVER = "nothing"


class Server(NamedTuple):
    """What all conversations have in common.

    Attributes:
        version: HTCondor's version string, `$CondorVersion: ... $`.
        domain: the pool's trust domain.
        hosts: the server's addresses, as in DAG_Address.
        port: of the socket.
        new_directory: returns a path that does not exist, at which a client makes a directory; the
            client adds the address that it has connected to.
        is_proof: whether the client has made that directory.
        new_key: makes the key pair of one connection.
    """

    version: str
    domain: str
    hosts: Collection[str]
    port: int
    new_directory: Callable[[], str]
    is_proof: Callable[[str], bool]
    new_key: Callable[[], KeyPair] = cedar_crypto.key_pair


class Conversation:
    """The protocol with one client: takes received bytes, gives bytes to send and the request.

    Attributes:
        over: whether nothing more will be sent.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._channel = Channel()
        self._step = _Step.COMMAND
        self._key = b""
        self._directory = ""
        self._tries = 0
        self._steps: dict[_Step, Callable[[Message], Ad | None]] = {
            _Step.COMMAND: self._read_command,
            _Step.METHODS: self._choose_method,
            _Step.DIRECTORY: self._check_directory,
            _Step.REQUEST: self._read_request,
        }

    @property
    def out(self) -> bytearray:
        """Bytes to be sent; the sender removes those that it has sent."""
        return self._channel.out

    @property
    def over(self) -> bool:
        """Whether nothing more will be sent after `out`."""
        return self._step is _Step.OVER

    def feed(self, data: bytes) -> Ad | None:
        """Process received bytes; returns the client's request when it is complete.

        Raises:
            CedarError: the client is not valid, or can't be served.
        """
        self._channel.feed(data)
        while self._step in self._steps:
            message = self._channel.message()
            if message is None:
                return None
            request = self._steps[self._step](message)
            if request is not None:
                return request
        return None

    def reply(self, attributes: dict[str, Value]) -> None:
        """Answer the request."""
        self._channel.send(cedar.ad(attributes, self._channel.encrypted))
        self._step = _Step.OVER

    def _read_command(self, message: Message) -> Ad | None:
        command = message.integer()
        if command == DAGMAN_GENERIC:
            return self._read_request(message)
        if command != DC_AUTHENTICATE:
            raise CedarError(f"command {command} is not known here")
        wanted = message.ad()
        message.end()
        if cedar.value(wanted, "Command") != DAGMAN_GENERIC:
            raise CedarError(f"command {cedar.value(wanted, 'Command')} is not known here")
        if cedar.value(wanted, "UseSession") == "YES":
            self._refuse_session(wanted)
        else:
            self._negotiate(wanted)
        return None

    def _refuse_session(self, wanted: Ad) -> None:
        if cedar.value(wanted, "ResumeResponse") is not True:
            raise CedarError("a client resumes a session that we don't have")
        self._send_ad({"ReturnCode": "SID_NOT_FOUND", "RemoteVersion": self._server.version})
        self._step = _Step.OVER

    def _negotiate(self, wanted: Ad) -> None:
        policy: dict[str, Value] = {"Enact": "YES"}
        pair = self._agree_on_key(wanted)
        authenticate = _client_policy(wanted, "Authentication", pair is not None) == _REQUIRED
        for what in ("Integrity", "Encryption"):
            client_policy = _client_policy(wanted, what)
            if client_policy == _REQUIRED and pair is None:
                raise CedarError(f"a client insists on {what.lower()}, but offers no AES")
            wanted_so = client_policy in (_REQUIRED, "PREFERRED") or authenticate
            policy[what] = "YES" if pair is not None and wanted_so else "NO"
        if authenticate and "FS" not in _offered(wanted, "AuthMethods"):
            raise CedarError("a client insists on authentication, but not by FS, all we have")
        policy["TrustDomain"] = self._server.domain
        policy["RemoteVersion"] = self._server.version
        policy["Authentication"] = "YES" if authenticate else "NO"
        policy["AuthMethods"] = policy["AuthMethodsList"] = "FS"
        policy["SessionDuration"] = "60"
        policy["NegotiatedSession"] = True
        if pair is not None:
            policy["CryptoMethods"] = policy["CryptoMethodsList"] = "AES"
            policy["ECDHPublicKey"] = binascii.b2a_base64(pair.public, newline=False).decode()
        self._send_ad(policy)
        if authenticate:
            self._step = _Step.METHODS
        else:
            self._open_session("unauthenticated@unmapped")

    def _agree_on_key(self, wanted: Ad) -> KeyPair | None:
        import base64  # late: most DAGMans never have a client

        public = cedar.value(wanted, "ECDHPublicKey")
        if "AES" not in _offered(wanted, "CryptoMethods") or not isinstance(public, str):
            return None
        try:
            pair = self._server.new_key()
        except cedar_crypto.CryptoError as error:  # in the clear the secret would be visible
            raise CedarError(f"no encryption, since {error}") from None
        try:
            point = base64.b64decode(public, validate=True)
            secret = cedar_crypto.shared_secret(pair.private, point)
        except (binascii.Error, ValueError, cedar_crypto.CryptoError):
            raise CedarError("a client with a key that is none") from None
        salt, purpose = (word.encode("ascii") for word in _KEY_LABELS)
        self._key = cedar_crypto.hkdf(secret, salt, purpose)
        return pair

    def _choose_method(self, message: Message) -> None:
        methods = message.integer()
        message.end()
        self._tries += 1
        if self._tries > MAX_TRIES:
            raise CedarError("a client that tries to authenticate again and again")
        if not methods & FS_METHOD:
            self._channel.send(cedar.integer(0))
            self._step = _Step.OVER
            return
        self._channel.send(cedar.integer(FS_METHOD))
        self._directory = self._server.new_directory()
        self._channel.send(cedar.text(self._directory))
        self._step = _Step.DIRECTORY

    def _check_directory(self, message: Message) -> None:
        failed, endpoint = message.integer(), message.text()
        message.end()
        ours = self._is_ours(endpoint)
        proven = not failed and ours and self._server.is_proof(self._directory + endpoint)
        self._channel.send(cedar.integer(0 if proven else -1))
        if proven:
            self._channel.send(cedar.integer(0))  # FS gives no key of its own
            self._open_session(f"dagman@{self._server.domain}")
        else:
            self._step = _Step.METHODS  # it may try another one

    def _is_ours(self, endpoint: str) -> bool:
        """Whether the client has connected to an address of this server, with nobody in between."""
        if not _ENDPOINT.fullmatch(endpoint):
            return False
        host, _, port = endpoint.rpartition(":")
        plain = host.strip("[]").replace("-", ":") if ":" in host or "[" in host else host
        return port == str(self._server.port) and (plain in self._server.hosts)

    def _open_session(self, user: str) -> None:
        """Encrypt from now on, if agreed, and let the client send its request."""
        if self._key:
            self._channel.encrypt(self._key)
        session: dict[str, Value] = {
            "Sid": f"dagman:{os.urandom(8).hex()}",
            "User": user,
            "ReturnCode": "AUTHORIZED",
            # Without DAGMAN_GENERIC, so that the session is not resumed.
            "ValidCommands": str(_DC_NOP),
        }
        self._send_ad(session)
        self._step = _Step.REQUEST

    def _send_ad(self, attributes: dict[str, Value]) -> None:
        self._channel.send(cedar.ad(attributes, self._channel.encrypted))

    def _read_request(self, message: Message) -> Ad:
        request = message.ad()
        message.end()
        self._step = _Step.REPLY
        return request


def _client_policy(wanted: Ad, what: str, has_key: bool = False) -> Value:
    """With a key, `AuthenticationNew` has precedence over `Authentication`, if the client sends
    it."""
    new = cedar.value(wanted, what + "New") if has_key else None
    return cedar.value(wanted, what) if new is None else new


def _offered(wanted: Ad, what: str) -> list[str]:
    listed = cedar.value(wanted, what)
    return _OFFERED.split(listed.upper()) if isinstance(listed, str) else []

"""Who may talk to the viewer: this machine's own pages; from elsewhere, who has the token."""

import hmac
import ipaddress
import socket
from typing import final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


@final
class Guard:
    """Refuses requests by their Host, Origin and (beyond loopback) token, before anything else.

    The Host check keeps other sites' names from being pointed at this machine; the Origin check
    keeps other sites' pages from sending commands.
    """

    def __init__(self, app: ASGIApp, host: str, port: int, token: str | None) -> None:
        """`token` is None on the loopback address only."""
        self._app = app
        self._host = host
        self._port = port
        self._token = token
        # Cookies do not know of ports: viewers side by side would overwrite each other's.
        self._cookie = f"olive-iw-token-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
            await send(message)

        if scope["type"] == "http":
            await (self._refusal(scope) or self._app)(scope, receive, sent)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._host_allowed(host):
            return PlainTextResponse("refused: unknown Host", 403)
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("refused: another Origin", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return PlainTextResponse("refused: from another site", 403)
        return None if self._token is None else self._token_refusal(scope, headers)

    def _host_allowed(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname, parts.port or 80
        except ValueError:
            return False
        if name is None or port != self._port:
            return False
        if name in LOOPBACK_NAMES or name == self._host:
            return True
        # Beyond loopback, addresses as such are safe; of names only this machine's own.
        own = socket.gethostname().lower()
        return self._token is not None and (_address(name) is not None or name == own)

    def _token_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.get("token", [""])[0]
        if scope["path"] == "/" and self._is_token(given):
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self._cookie, given, httponly=True, samesite="strict")
            return answer
        # By hand: whatever other sites on this host have set beside our cookie must not hide it.
        pairs = ";".join(headers.getlist("cookie")).split(";")
        found = [pair.strip().partition("=") for pair in pairs]
        if any(name == self._cookie and self._is_token(value) for name, _, value in found):
            return None
        return PlainTextResponse("refused: open the address with its token", 401)

    def _is_token(self, given: str) -> bool:
        expected = self._token or ""
        return hmac.compare_digest(given.encode(), expected.encode())


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None

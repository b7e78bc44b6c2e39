"""Who may ask: the right host, the token, the same origin; and what browsers may do with the answer."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# For the page of a run, which has a policy of its own: whatever is in it cannot reach the workbench.
PAGE_POLICY = "sandbox allow-scripts; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
LOCKED = (
    "This workbench needs its token. Open the address shown in the terminal, with ?token= in it; after a restart "
    "the address is a new one.\n"
)


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Parameters
    ----------
    token : str
        The secret that the page's address carries.
    host : str
        On which address the server listens.
    port : int
        0 for any.

    Examples
    --------
    >>> access = Access("a token of your own", port=8765)
    >>> access.knows_host("localhost:8765"), access.knows_host("evil.example:8765")
    (True, False)
    """

    token: str
    host: str = "127.0.0.1"
    port: int = 0

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers send it to every port of a host."""
        return f"fewer-{self.port}"

    @property
    def badge(self) -> str:
        """The value of the cookie: it opens this port alone, and the token cannot be found from it."""
        return hmac.new(self.token.encode(), f"fewer on port {self.port}".encode(), "sha256").hexdigest()

    def knows_host(self, host: str) -> bool:
        """Say whether a request was meant for this server, and not for a name that was made to point here.

        Parameters
        ----------
        host : str
            From the header.

        Returns
        -------
        bool
        """
        try:
            name = urlsplit(f"//{host}")
            port = name.port
        except ValueError:  # such as an open bracket
            return False
        if self.port and port not in (None, self.port):
            return False
        if self.host in ("0.0.0.0", "::"):
            return True  # it has many names; the token is asked for in any case
        allowed = LOOPBACK if self.host in LOOPBACK else (self.host.lower(),)
        return (name.hostname or "") in allowed

    def is_token(self, given: str | None) -> bool:
        """Compare a token in constant time.

        Parameters
        ----------
        given : str or None
            What came with the request.

        Returns
        -------
        bool
        """
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


class Guard:
    """Turn away who may not ask, before anything else happens.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    access : Access
        Who may enter.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _protect(MutableHeaders(scope=message), scope["path"].startswith("/static/"))
            await send(message)

        refused = self._refuse(Request(scope))
        if refused is not None:
            await refused(scope, receive, send_guarded)
        else:
            await self.app(scope, receive, send_guarded)

    def _refuse(self, request: Request) -> Response | None:
        hosts = Headers(scope=request.scope).getlist("host")
        if len(hosts) != 1 or not self.access.knows_host(hosts[0]):
            return PlainTextResponse("This is not the host that the workbench was started for.\n", 403)
        if not same_origin(request, hosts[0]):
            return PlainTextResponse("Another site asked for this; it was refused.\n", 403)
        if secrets.compare_digest(request.cookies.get(self.access.cookie, "").encode(), self.access.badge.encode()):
            return None
        if request.method == "GET" and self.access.is_token(request.query_params.get("token")):
            return self._let_in(request)
        return PlainTextResponse(LOCKED, 403)

    def _let_in(self, request: Request) -> Response:
        """Give a cookie for the token, and take the token out of the address."""
        rest = urlencode([(key, value) for key, value in request.query_params.multi_items() if key != "token"])
        place = "/" + request.url.path.lstrip("/") + (f"?{rest}" if rest else "")
        # After a redirect the browser still counts as sent by the page it came from, and a strict cookie stays at
        # home. Our own page sends it on instead, where it comes from a file of `opener`.
        strange = request.headers.get("sec-fetch-site") == "cross-site"
        answer = HTMLResponse(forward_page(place)) if strange else RedirectResponse(place, 303)
        answer.set_cookie(self.access.cookie, self.access.badge, httponly=True, samesite="strict", path="/")
        return answer


def forward_page(address: str) -> str:
    """Return a page that goes on to another address at once."""
    link = escape(address)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>fewer</title><link rel="icon" href="data:,">'
        f'<meta http-equiv="refresh" content="0;url={link}"><p><a href="{link}">Open the workbench</a></p></html>\n'
    )


def same_origin(request: Request, host: str) -> bool:
    """Say whether a request that changes something comes from a page of ours; a plain look may come from a link."""
    site = request.headers.get("sec-fetch-site")
    if request.method in ("GET", "HEAD"):
        top = request.headers.get("sec-fetch-mode") in (None, "navigate")
        return site in (None, "same-origin", "none") or top
    origin = request.headers.get("origin")
    if origin is None:
        return site == "same-origin"
    return origin == f"{request.url.scheme}://{host}"


def _protect(headers: MutableHeaders, is_static: bool) -> None:
    headers.setdefault("content-security-policy", POLICY)
    headers["x-content-type-options"] = "nosniff"
    headers["referrer-policy"] = "no-referrer"
    headers["cross-origin-resource-policy"] = "same-origin"
    headers["cross-origin-opener-policy"] = "same-origin"
    headers["cache-control"] = "no-cache" if is_static else "no-store"

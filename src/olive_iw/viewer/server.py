"""The server: one page, its files, a stream of frames, commands, and details of nodes."""

import asyncio
import json
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from time import monotonic
from typing import Self, final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from olive_iw.errors import InputError
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.playback import Playback
from olive_iw.viewer.security import Guard, is_loopback

SCRIPTS = dict.fromkeys(("viewer.js", "tree.js", "panels.js"), "text/javascript")
STATIC = {"": "text/html", "viewer.css": "text/css", **SCRIPTS}
"""Files there are, by path; nothing else can be asked for."""

LONGEST_COMMAND = 10_000
"""Bytes."""
REQUEST_SECONDS = 10.0
"""A request has to arrive within so long."""
MOST_CONNECTIONS = 100
LAST_PORT = 65_535
ALIVE_SECONDS = 10.0
LOOK_SECONDS = 0.02
"""Between two looks for a new frame."""


def make_app(hub: Hub, playback: Playback, closing: Callable[[], bool]) -> Starlette:
    """Application without its guard; streams end soon after `closing` says so."""

    def static(request: Request) -> Response:
        name = request.url.path.lstrip("/")
        content = (files("olive_iw.viewer") / "static" / (name or "index.html")).read_bytes()
        return Response(content, media_type=STATIC[name])

    async def stream(request: Request) -> Response:
        return StreamingResponse(_frames(hub, closing), media_type="text/event-stream")

    async def command(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return PlainTextResponse("a command is JSON", 415)
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                body = await _body(request, LONGEST_COMMAND)
        except (TimeoutError, ClientDisconnect):
            return PlainTextResponse("the command did not come", 408)
        if body is None:
            return PlainTextResponse("too long for a command", 413)
        try:
            fields = json.loads(body)
            if not isinstance(fields, dict):
                raise InputError("a command is an object")
            playback.controls.command(fields)
        except (ValueError, RecursionError) as error:
            return PlainTextResponse(str(error), 400)
        playback.command_done()
        return JSONResponse({"done": True})

    async def node(request: Request) -> Response:
        given = [request.query_params.get(name, "") for name in ("decision", "node")]
        if not all(re.fullmatch("[0-9]{1,9}", text) for text in given):
            return PlainTextResponse("decision and node are whole numbers", 400)
        decision, number = map(int, given)
        answer = asyncio.wrap_future(playback.node(decision, number))
        try:
            details = await asyncio.wait_for(answer, 10)
        except TimeoutError:
            return PlainTextResponse("the planner is busy", 503)
        # A node of a decision that has passed is nothing wrong: the page just asked too late.
        return JSONResponse(details)

    return Starlette(
        routes=[
            *(Route(f"/{name}", static, methods=["GET"]) for name in STATIC),
            Route("/api/stream", stream, methods=["GET"]),
            Route("/api/command", command, methods=["POST"]),
            Route("/api/node", node, methods=["GET"]),
        ]
    )


async def _body(request: Request, longest: int) -> bytes | None:
    """Read a request's body; None, without reading on, as soon as it is longer than `longest`."""
    if int(request.headers.get("content-length", "0")) > longest:
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > longest:
            return None
    return body


async def _frames(hub: Hub, closing: Callable[[], bool]) -> AsyncIterator[str]:
    """Frames as server-sent events; a comment now and then shows that the server lives."""
    page, told = hub.join(), monotonic()
    try:
        while not closing():
            frame = hub.take(page)
            if frame is not None or monotonic() - told >= ALIVE_SECONDS:
                told = monotonic()
                yield ": alive\n\n" if frame is None else f"data: {frame}\n\n"
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        hub.leave(page)


@final
class _Connection(H11Protocol):
    """A connection that ends where no request comes; uvicorn would wait for one for ever."""

    _looking: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self._looking.cancel()
        super().connection_lost(exc)

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(REQUEST_SECONDS, self._look, self.cycle)

    def _look(self, last: object) -> None:
        """End the connection if no request is being answered, and none began since `last`."""
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self.cycle is last:
            self.transport.close()
        else:
            self._look_later()


@final
class ViewerServer:
    """Listens from the moment it is made; `serve` serves until it is told to stop."""

    def __init__(self, hub: Hub, playback: Playback, host: str, port: int) -> None:
        """Port 0 is any free one. Beyond the loopback address a token is needed, made here."""
        self.playback = playback
        self._socket = _listen(host, port)
        self.port: int = self._socket.getsockname()[1]
        token = None if is_loopback(host) else secrets.token_urlsafe(24)
        name = f"[{host}]" if ":" in host else host
        self.address = f"http://{name}:{self.port}/" + (f"?token={token}" if token else "")
        """What to open in a browser."""
        app = make_app(hub, playback, lambda: self._server.should_exit)
        config = uvicorn.Config(
            Guard(app, host, self.port, token),
            log_level="error",
            http=_Connection,
            ws="none",
            lifespan="off",
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=3,
        )
        self._server = uvicorn.Server(config)

    def serve(self, browser: bool = False) -> None:
        """Serve until `stop` or Ctrl-C; open the page in a browser if that is wanted."""
        if browser:  # it waits at most for the line below: the server listens already
            threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._server.run(sockets=[self._socket])
            return
        # In a notebook this thread has a loop already.
        beside = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        beside.start()
        try:
            beside.join()
        finally:
            self.stop()

    def stop(self) -> None:
        """End `serve`, from another thread."""
        self._server.should_exit = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self.playback.close()
        if not self._server.started:
            self._socket.close()


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= LAST_PORT:
        raise InputError(f"port {port} is not possible; it must be from 0 (any) to {LAST_PORT}")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror or error}); give another --port"
        ) from None

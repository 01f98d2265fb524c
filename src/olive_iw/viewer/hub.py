"""Between the planner and the pages: every page has a short queue, and who is slow skips frames.

The hub knows the whole state as well as the changes. A page that joins, or whose queue was full,
is given the whole state, then changes again; so a page may miss frames but is never wrong, and
the planner never waits for one.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from typing import final

from olive_iw.viewer.page_messages import Dropped, Message, Setup, TreeChange, encode

QUEUE_LENGTH = 8
"""Frames that wait for a page at most."""


@final
class Page:
    """One connected page. Its methods but `next` are called with the hub's lock held."""

    def __init__(self, hub: "Hub", loop: asyncio.AbstractEventLoop) -> None:
        self._hub = hub
        self._loop = loop
        self._ready = asyncio.Event()
        self.frames: deque[str] = deque()
        self.behind = True
        """The page needs the whole state next."""
        self.fresh = True
        """It has not had it yet: until then nothing is missed."""
        self.dropped = 0

    def put(self, frame: str) -> None:
        """Queue a frame, or drop those that wait."""
        if self.behind:
            self.dropped += not self.fresh
        elif len(self.frames) == QUEUE_LENGTH:
            self.dropped += len(self.frames) + 1
            self.frames.clear()
            self.behind = True
        else:
            self.frames.append(frame)
        self.wake()

    def wake(self) -> None:
        """Let `next` look again."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ready.set)

    async def next(self, timeout: float) -> str | None:
        """Return the next frame, or None if none comes within `timeout` seconds."""
        frame = self._hub.take(self)
        if frame is None:
            try:
                await asyncio.wait_for(self._ready.wait(), timeout)
            except TimeoutError:
                return None
            frame = self._hub.take(self)
        return frame

    def reset(self) -> None:
        """Note that all frames were taken."""
        self._ready.clear()


@final
class Hub:
    """The latest state, and the pages that follow it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: list[Page] = []
        self._latest: dict[str, Message] = {}
        self._tree: _WholeTree | None = None

    @property
    def watched(self) -> bool:
        """Whether any page is connected."""
        return bool(self._pages)

    def join(self, loop: asyncio.AbstractEventLoop) -> Page:
        """Connect a page; its first frame is the whole state."""
        page = Page(self, loop)
        with self._lock:
            self._pages.append(page)
            page.wake()
        return page

    def leave(self, page: Page) -> None:
        """Disconnect a page."""
        with self._lock:
            if page in self._pages:
                self._pages.remove(page)

    def publish(self, *messages: Message) -> None:
        """Send a frame to all pages; never waits for any."""
        frame = encode(messages)
        with self._lock:
            for message in messages:
                self._note(message)
            for page in self._pages:
                page.put(frame)

    def latest(self, kind: str) -> Message | None:
        """Return the newest message of a type."""
        return self._latest.get(kind)

    def take(self, page: Page) -> str | None:
        """Take a page's next frame: the whole state if it missed some."""
        with self._lock:
            if page.behind:
                if not self._latest:
                    page.reset()
                    return None
                page.behind = page.fresh = False
                return encode([*self._whole(), Dropped(page.dropped)])
            if page.frames:
                return page.frames.popleft()
            page.reset()
            return None

    def _note(self, message: Message) -> None:
        if isinstance(message, Setup):
            kept = ("library", "control", "training", "screens")
            self._latest = {kind: self._latest[kind] for kind in kept if kind in self._latest}
            self._latest = {message.type: message, **self._latest}
            self._tree = None
        elif isinstance(message, TreeChange):
            if message.reset or self._tree is None:
                self._tree = _WholeTree()
            self._tree.add(message)
        else:
            self._latest[message.type] = message

    def _whole(self) -> Sequence[Message]:
        trees = [] if self._tree is None else [self._tree.message()]
        return [*self._latest.values(), *trees]


@final
class _WholeTree:
    """Changes of a tree added up."""

    def __init__(self) -> None:
        self._nodes: list[Sequence[float]] = []
        self._marks: dict[int, int] = {}
        self._last: TreeChange | None = None

    def add(self, change: TreeChange) -> None:
        self._nodes += change.nodes
        self._marks.update((node, mark) for node, mark in change.marks)
        self._last = change

    def message(self) -> TreeChange:
        assert self._last is not None, "a whole tree begins with a change"
        marks = [[node, mark] for node, mark in self._marks.items()]
        return TreeChange(self._last.decision, True, self._nodes, marks, self._last.branch)

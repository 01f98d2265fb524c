"""Between the planner and the pages: who is slow skips frames, and the planner never waits.

The hub keeps the newest message of every type. Whenever a page asks, it is given the messages that
it has not seen. So a page may miss something that was shown meanwhile, but is never wrong.
"""

import threading
from dataclasses import dataclass
from typing import final

from olive_iw.viewer.page_messages import Dropped, Lasting, Message, Setup, encode
from olive_iw.viewer.search_view import TreeSnapshot

LATE = 8
"""A page that is behind by more frames is told so."""


@final
@dataclass(eq=False, slots=True)
class Page:
    """One connected page, and what it has been told."""

    version: int = 0
    """Number of the last frame it knows of."""
    tree: TreeSnapshot | None = None
    """The tree that it shows."""
    dropped: int = 0


@final
class Hub:
    """The newest messages, and the pages that follow them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: list[Page] = []
        self._latest: dict[type, tuple[int, Message | TreeSnapshot]] = {}
        self._version = 0

    @property
    def watched(self) -> bool:
        """Whether any page is connected."""
        return bool(self._pages)

    def join(self) -> Page:
        """Connect a page; its first frame is the whole state."""
        page = Page()
        with self._lock:
            self._pages.append(page)
        return page

    def leave(self, page: Page) -> None:
        """Disconnect a page."""
        with self._lock:
            self._pages.remove(page)

    def publish(self, *messages: Message | TreeSnapshot) -> None:
        """Send a frame to all pages; never waits for any."""
        with self._lock:
            self._version += 1
            for message in messages:
                if isinstance(message, Setup):
                    told = self._latest.items()
                    lasting = {kind: news for kind, news in told if issubclass(kind, Lasting)}
                    self._latest = {Setup: (self._version, message), **lasting}
                self._latest[type(message)] = (self._version, message)

    def take(self, page: Page) -> str | None:
        """Take a page's next frame: all that is newer than what it has been told; None: nothing."""
        with self._lock:
            behind = self._version - page.version
            news = [message for version, message in self._latest.values() if version > page.version]
            if not news:
                return None
            frame: list[Message] = []
            for message in news:
                if isinstance(message, Setup):
                    page.tree = None
                if isinstance(message, TreeSnapshot):  # the page is told what changed
                    frame.append(message.since(page.tree))
                    page.tree = message
                else:
                    frame.append(message)
            if not page.version or behind > LATE:
                page.dropped += behind if page.version else 0
                frame.append(Dropped(page.dropped))
            page.version = self._version
            return encode(frame)

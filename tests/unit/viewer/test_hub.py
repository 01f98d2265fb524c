"""Pages may be slow; the planner never waits, and no page is ever wrong."""

import asyncio
import json
import threading

import numpy as np

from olive_iw.viewer.hub import LATE, Hub
from olive_iw.viewer.page_messages import Control, Note, Setup
from olive_iw.viewer.search_view import TreeSnapshot

SETUP = Setup("g", "a-laptop", 0, 100, ["UP"], 1.0, [], [], True, "", "", "", None)


def tree_of(nodes, decision=0):
    """Return a tree that is one path of some nodes."""
    rows = np.zeros((nodes, 5))
    rows[:, 0] = np.arange(nodes) - 1
    marks = np.arange(nodes, dtype=np.int8) % 3
    return TreeSnapshot(decision, 0, rows, marks, [0])


def take_all(hub, page):
    frames = []
    while (frame := hub.take(page)) is not None:
        frames.append(json.loads(frame))
    return frames


def apply(frames):
    """What a page would show of the tree after some frames."""
    nodes = {}
    for message in (message for frame in frames for message in frame):
        if message["type"] == "TreeChange":
            if message["reset"]:
                nodes = {}
            assert not nodes.keys() & {row[0] for row in message["nodes"]}
            nodes.update((row[0], row) for row in message["nodes"])
    return nodes


def in_loop(work):
    """Run a function within an event loop, as the server does."""

    async def run():
        return work(asyncio.get_running_loop())

    return asyncio.run(run())


def test_a_slow_page_skips_frames_and_is_told():
    def work(loop):
        hub = Hub()
        hub.publish(SETUP)
        quick, slow = hub.join(loop), hub.join(loop)
        shown = take_all(hub, quick)
        late = take_all(hub, slow)
        for nodes in range(1, 1001):
            hub.publish(tree_of(nodes))
            shown += take_all(hub, quick)
        late += take_all(hub, slow)
        assert len(late) == 2  # the first, and one for all that it missed
        assert late[1][-1] == {"type": "Dropped", "frames": 1000}
        assert [message["type"] for message in shown[-1]] == ["TreeChange"]
        assert len(shown[-1][-1]["nodes"]) == 1  # the quick page got changes only
        assert apply(late) == apply(shown)
        assert len(apply(late)) == 1000
        hub.publish(tree_of(1001))
        assert apply(late + take_all(hub, slow)) == apply(shown + take_all(hub, quick))

    in_loop(work)


def test_a_page_that_is_hardly_late_is_not_told():
    def work(loop):
        hub = Hub()
        hub.publish(SETUP)
        page = hub.join(loop)
        take_all(hub, page)
        for number in range(LATE):
            hub.publish(Note(str(number)))
        assert take_all(hub, page) == [[{"type": "Note", "text": str(LATE - 1), "error": False}]]

    in_loop(work)


def test_a_page_that_joins_later_sees_the_whole_state():
    def work(loop):
        hub = Hub()
        hub.publish(SETUP, Control(True, 2), Note("first"))
        hub.publish(tree_of(1))
        page = hub.join(loop)
        hub.publish(tree_of(2), Note("second"))  # before it asks: nothing is missed
        kinds = {message["type"]: message for message in take_all(hub, page)[0]}
        assert kinds["Note"]["text"] == "second"
        assert len(kinds["TreeChange"]["nodes"]) == 2
        assert kinds["Dropped"]["frames"] == 0
        hub.publish(SETUP)  # another game: the old tree and note are void, the controls stay
        kinds = [message["type"] for message in take_all(hub, hub.join(loop))[0]]
        assert kinds == ["Setup", "Control", "Dropped"]

    in_loop(work)


def test_the_tree_of_another_game_begins_anew():
    def work(loop):
        hub = Hub()
        hub.publish(SETUP, tree_of(5))
        page = hub.join(loop)
        take_all(hub, page)
        hub.publish(SETUP, tree_of(7))  # the same decision, but of another game
        changes = [m for frame in take_all(hub, page) for m in frame if m["type"] == "TreeChange"]
        assert [change["reset"] for change in changes] == [True]
        assert len(changes[0]["nodes"]) == 7

    in_loop(work)


def test_publishing_from_another_thread_wakes_a_page():
    async def run():
        hub = Hub()
        page = hub.join(asyncio.get_running_loop())
        assert hub.watched
        assert await page.next(timeout=0.01) is None
        threading.Timer(0.05, hub.publish, [SETUP]).start()
        frame = None
        while frame is None:
            frame = await page.next(timeout=5)
        assert json.loads(frame)[0]["type"] == "Setup"
        hub.leave(page)
        assert not hub.watched

    asyncio.run(run())

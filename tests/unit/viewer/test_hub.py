"""Pages may be slow; the planner never waits, and no page is ever wrong."""

import asyncio
import json
import threading

from olive_iw.viewer.hub import QUEUE_LENGTH, Hub
from olive_iw.viewer.page_messages import Control, Note, Setup, TreeChange

SETUP = Setup(True, "g", "a", "laptop", 0, 100, ["UP"], 1.0, [], [], True, "", "", "", None)


def change(decision, node, reset=False):
    rows = [[node, node - 1, 0, node, 0.0, 0]]
    return TreeChange(decision, reset, rows, [[node, 1]], [0])


def take_all(hub, page):
    frames = []
    while (frame := hub.take(page)) is not None:
        frames.append(json.loads(frame))
    return frames


def apply(frames):
    """What a page would show of the tree after some frames."""
    nodes = {}
    for message in (message for frame in frames for message in frame):
        if message["type"] == "tree":
            if message["reset"]:
                nodes = {}
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
        take_all(hub, slow)
        for node in range(1000):
            hub.publish(change(0, node, reset=node == 0))
            shown += take_all(hub, quick)
            assert len(slow.frames) <= QUEUE_LENGTH
        late = take_all(hub, slow)
        assert len(late) == 1
        assert late[0][-1] == {"type": "dropped", "frames": 1000}
        assert late[0][0]["type"] == "setup"
        assert shown[-1][-1]["type"] == "tree"  # the quick page got changes only
        assert len(shown[-1][-1]["nodes"]) == 1
        assert apply(late) == apply(shown)
        assert len(apply(late)) == 1000
        hub.publish(change(0, 1000))
        assert apply(late + take_all(hub, slow)) == apply(shown + take_all(hub, quick))

    in_loop(work)


def test_a_page_that_joins_later_sees_the_whole_state():
    def work(loop):
        hub = Hub()
        hub.publish(SETUP, Control(True, 2), Note("first"))
        hub.publish(change(0, 0, reset=True))
        page = hub.join(loop)
        hub.publish(change(0, 1), Note("second"))  # before it asks: nothing is missed
        kinds = {message["type"]: message for message in take_all(hub, page)[0]}
        assert kinds["note"]["text"] == "second"
        assert len(kinds["tree"]["nodes"]) == 2
        assert kinds["dropped"]["frames"] == 0
        hub.publish(SETUP)  # another game: the old tree and note are void, the controls stay
        kinds = [message["type"] for message in take_all(hub, hub.join(loop))[0]]
        assert kinds == ["setup", "control", "dropped"]

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
        assert json.loads(frame)[0]["type"] == "setup"
        hub.leave(page)
        assert not hub.watched

    asyncio.run(run())

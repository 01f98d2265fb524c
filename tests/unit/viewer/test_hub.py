"""Pages may be slow; the planner never waits, and no page is ever wrong."""

import json

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


def test_a_slow_page_skips_frames_and_is_told():
    hub = Hub()
    hub.publish(SETUP)
    quick, slow = hub.join(), hub.join()
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


def test_a_page_that_is_hardly_late_is_not_told():
    hub = Hub()
    hub.publish(SETUP)
    page = hub.join()
    take_all(hub, page)
    for number in range(LATE):
        hub.publish(Note(str(number)))
    assert take_all(hub, page) == [[{"type": "Note", "text": str(LATE - 1), "error": False}]]


def test_a_page_that_joins_later_sees_the_whole_state():
    hub = Hub()
    hub.publish(SETUP, Control(True, 2), Note("first"))
    hub.publish(tree_of(1))
    page = hub.join()
    hub.publish(tree_of(2), Note("second"))  # before it asks: nothing is missed
    kinds = {message["type"]: message for message in take_all(hub, page)[0]}
    assert kinds["Note"]["text"] == "second"
    assert len(kinds["TreeChange"]["nodes"]) == 2
    assert kinds["Dropped"]["frames"] == 0
    hub.publish(SETUP)  # another game: the old tree and note are void, the controls stay
    kinds = [message["type"] for message in take_all(hub, hub.join())[0]]
    assert kinds == ["Setup", "Control", "Dropped"]


def test_the_tree_of_another_game_begins_anew():
    hub = Hub()
    hub.publish(SETUP, tree_of(5))
    page = hub.join()
    take_all(hub, page)
    hub.publish(SETUP, tree_of(7))  # the same decision, but of another game
    changes = [m for frame in take_all(hub, page) for m in frame if m["type"] == "TreeChange"]
    assert [change["reset"] for change in changes] == [True]
    assert len(changes[0]["nodes"]) == 7


def test_somebody_watches_while_a_page_is_connected():
    hub = Hub()
    assert not hub.watched
    one, other = hub.join(), hub.join()
    hub.leave(one)
    assert hub.watched
    assert hub.take(other) is None  # nothing was published yet
    hub.leave(other)
    assert not hub.watched

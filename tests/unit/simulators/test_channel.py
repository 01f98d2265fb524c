"""Messages between processes: whole, in order, both ways, and what happens at the end of a line."""

import itertools
import socket
import threading

import pytest

from olive_iw.simulators import channel as module
from olive_iw.simulators.channel import ROOM, Channel


@pytest.fixture(params=[0.0, 0.02], ids=["sleeping", "looking out"])
def ends(request):
    """Two ends of a line, which wait for a message in one of two ways."""
    sockets = socket.socketpair()
    yield tuple(Channel(end, request.param) for end in sockets)
    for end in sockets:
        end.close()


def test_messages_arrive_whole_and_in_order_both_ways(ends):
    one, other = ends
    for sender, receiver in ((one, other), (other, one)):
        messages = [b"", b"a", bytes(range(256)) * 40, b"last"]
        for message in messages:
            sender.send(message)
        assert [receiver.receive() for _ in messages] == messages


def test_pieces_make_one_message(ends):
    one, other = ends
    one.send(b"ab", memoryview(b"xcdx")[1:3], b"", b"e")
    assert other.receive() == b"abcde"


def test_a_message_may_be_longer_than_what_the_line_holds(ends):
    one, other = ends
    message = bytes(range(251)) * (8 * ROOM // 251)
    sender = threading.Thread(target=one.send, args=(message,))
    sender.start()
    assert other.receive() == message
    sender.join()


def test_ready_tells_of_messages_and_of_the_end(ends):
    one, other = ends
    assert not other.ready()
    one.send(b"x")
    assert other.ready()
    other.receive()
    assert not other.ready()
    one.close()
    assert other.ready()


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_a_message_that_comes_late_is_waited_for(ends, delay):
    one, other = ends
    sender = threading.Timer(delay, one.send, args=(b"late",))
    sender.start()
    assert other.receive() == b"late"
    sender.join()


def test_the_end_is_an_error_also_within_a_message(ends):
    one, other = ends
    one.send(b"x")
    one.close()
    assert other.receive() == b"x"
    with pytest.raises(EOFError):
        other.receive()
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        other.send(b"y")
    sender, receiver = socket.socketpair()
    sender.send((5).to_bytes(8, "little") + b"abc")
    sender.close()
    with pytest.raises(EOFError):
        Channel(receiver, 0.0).receive()
    receiver.close()


def test_a_patient_wait_ends_when_its_time_is_up(monkeypatch):
    clock = itertools.count()
    looks = []
    monkeypatch.setattr(module, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(module, "_let_others_run", lambda: looks.append(None))
    ends = socket.socketpair()
    one, other = Channel(ends[0], 0), Channel(ends[1], 5)
    one.send(b"x")
    other.ready = lambda: False
    assert other.receive() == b"x"
    assert len(looks) == 4  # at 1, 2, 3 and 4; at 5 it fell asleep
    for end in ends:
        end.close()


def test_a_line_works_where_the_system_has_no_poll(monkeypatch):
    monkeypatch.delattr(module.select, "poll")
    ends = socket.socketpair()
    one, other = (Channel(end, 0.01) for end in ends)
    assert not other.ready()
    one.send(b"x")
    assert other.ready()
    assert other.receive() == b"x"
    for end in ends:
        end.close()

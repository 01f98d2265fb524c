"""Messages between processes, whole and in order; processes, and how they end."""

import itertools
import os
import signal
import socket
import threading
import time

import numpy as np
import pytest

from olive_iw import processes as module
from olive_iw.processes import ROOM, Channel, ChildProcess, forget_peak_memory, peak_memory


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


def test_a_limit_ends_waiting_for_a_message_and_for_a_reader():
    ends = socket.socketpair()
    one = Channel(ends[0], limit=0.05)
    with pytest.raises(TimeoutError):
        one.receive()
    ends[1].send(b"\x09")  # a message that breaks off
    with pytest.raises(TimeoutError):
        one.receive()
    with pytest.raises(TimeoutError):
        one.send(bytes(64 * ROOM))
    for end in ends:
        end.close()


def answer(channel, *numbers):
    """Send the sum, then do what is said."""
    channel.send_object(sum(numbers))
    word = channel.receive_object()
    if isinstance(word, int):
        os.kill(os.getpid(), word)
    if word == "sleep":
        time.sleep(600)
    os._exit(3 if word == "exit" else 0)


@pytest.mark.parametrize("preload", [None, "olive_iw.processes"])
@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("end", "ended with exit code 0"),
        ("exit", "ended with exit code 3"),
        (signal.SIGSEGV, "was ended by SIGSEGV"),
        (signal.SIGKILL, "was ended by SIGKILL, perhaps for want of memory"),
    ],
)
def test_a_process_answers_and_its_end_is_known_at_once(preload, word, says):
    child = ChildProcess(answer, 1, 2, 3, preload=preload)
    assert child.channel.receive_object() == 6
    assert child.exit_code is None
    child.channel.send_object(word)
    with pytest.raises(EOFError):
        child.channel.receive()
    assert child.how_it_ended() == says
    child.close()


def test_a_process_that_does_not_answer_is_ended():
    child = ChildProcess(answer, limit=60)
    assert child.channel.receive_object() == 0
    os.kill(child.pid, signal.SIGINT)  # as Ctrl-C sends it to all processes of a terminal
    child.channel.send_object("sleep")
    child.join(0.05)
    assert child.exit_code is None
    child.ask_to_stop()
    assert child.how_it_ended() == "was ended by SIGTERM"
    child.close()
    stopped = ChildProcess(answer)
    os.kill(stopped.pid, signal.SIGSTOP)
    stopped.close()
    assert stopped.exit_code == -signal.SIGKILL


def test_peak_memory_grows_with_what_is_held():
    if peak_memory() is None:
        pytest.skip("this system does not tell a process's memory")
    forget_peak_memory()
    now = peak_memory()
    held = np.ones(int(200e6), np.uint8)
    assert peak_memory() > now + 150e6
    assert len(held) == 200e6

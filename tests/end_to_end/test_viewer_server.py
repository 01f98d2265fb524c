"""The server by itself: who is refused, what can be asked for."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from olive_iw.algorithms import make_agent
from olive_iw.cli.view import view
from olive_iw.errors import InputError
from olive_iw.viewer import live_viewer
from olive_iw.viewer.hub import LATE, Hub
from olive_iw.viewer.page_messages import Note
from olive_iw.viewer.playback import Playback
from olive_iw.viewer.server import ViewerServer

PATIENCE = 120


@contextmanager
def served(host="127.0.0.1"):
    with live_viewer("grid:corridor", make_agent("patch-iw"), host=host, port=0) as viewer:
        thread = threading.Thread(target=viewer.serve, daemon=True)
        thread.start()
        try:
            yield viewer
        finally:
            viewer.stop()
            thread.join(timeout=PATIENCE)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def viewer():
    with served() as viewer:
        yield viewer


def ask(viewer, path="/", method="GET", body=None, **headers):
    """Status, headers and body; a header given as None is left out."""
    port = urlsplit(viewer.address).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    sent = {"Host": f"127.0.0.1:{port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request(method, path, body, sent)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


def command(viewer, fields, **headers):
    body = fields if isinstance(fields, str) else json.dumps(fields)
    sent = {"Content_Type": "application/json", **headers}
    return ask(viewer, "/api/command", "POST", body, **sent)[0]


def test_the_page_and_its_files_are_there(viewer):
    status, headers, text = ask(viewer)
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "http://" not in text
    assert "https://" not in text
    for path in ("/viewer.css", "/viewer.js", "/tree.js", "/panels.js"):
        assert ask(viewer, path)[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/../server.py", "/static/index.html", "/%2e%2e/server.py", "//etc/passwd"],
)
def test_other_paths_are_refused(viewer, path):
    assert ask(viewer, path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "a:b"])
def test_other_hosts_are_refused(viewer, host):
    port = urlsplit(viewer.address).port
    assert ask(viewer, Host=host.format(port=port))[0] == 403
    assert ask(viewer, Host=f"localhost:{port}")[0] == 200


def test_other_origins_are_refused(viewer):
    port = urlsplit(viewer.address).port
    pause = {"type": "pause"}
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1"):
        assert command(viewer, pause, Origin=origin) == 403
        assert ask(viewer, "/api/stream", Origin=origin)[0] == 403
    assert command(viewer, pause, Sec_Fetch_Site="cross-site") == 403
    assert command(viewer, pause, Origin=f"http://127.0.0.1:{port}") == 200
    assert command(viewer, pause) == 200


def test_bad_commands_are_refused(viewer):
    assert command(viewer, {"type": "nonsense"}) == 400
    assert command(viewer, "{") == 400
    assert command(viewer, "[]") == 400
    assert command(viewer, "[" * 9_000) == 400
    assert command(viewer, '{"type":' * 1_000 + "1" + "}" * 1_000) == 400
    assert command(viewer, {"type": "pause", "more": "x" * 20_000}) == 413
    assert command(viewer, {"type": "pause"}, Content_Type="text/plain") == 415
    assert ask(viewer, "/api/command")[0] == 405


@contextmanager
def raw(viewer, text):
    """Send some text to the viewer by a connection of its own; it may be half a request."""
    port = urlsplit(viewer.address).port
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(text.replace("PORT", str(port)).replace("\n", "\r\n").encode())
        yield connection


POST = "POST /api/command HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Type: application/json\n"


def test_a_long_body_is_refused_before_it_is_read(viewer):
    with raw(viewer, POST + "Content-Length: 1000000000000\n\n") as connection:
        assert b" 413 " in connection.recv(4096)
    with raw(viewer, POST + "Transfer-Encoding: chunked\n\n") as connection:
        chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
        connection.sendall(chunk * 3)  # more is on its way, for all the server knows
        assert b" 413 " in connection.recv(4096)


HALF_REQUESTS = {
    "nothing": "",
    "half a header": "GET / HTTP/1.1\nHost: 127.0",
    "a second request's half": "GET /nothing HTTP/1.1\nHost: 127.0.0.1:PORT\n\nGET / HT",
}


@pytest.mark.parametrize("name", HALF_REQUESTS)
def test_a_connection_without_a_request_is_ended(viewer, monkeypatch, name):
    monkeypatch.setattr("olive_iw.viewer.server.REQUEST_SECONDS", 0.2)
    with raw(viewer, HALF_REQUESTS[name]) as connection:
        while connection.recv(4096):
            pass


def test_a_body_that_does_not_come_is_not_waited_for(viewer, monkeypatch):
    monkeypatch.setattr("olive_iw.viewer.server.REQUEST_SECONDS", 0.2)
    with raw(viewer, POST + "Content-Length: 20\n\n{") as connection:
        assert b" 408 " in connection.recv(4096)


def test_a_stream_is_not_taken_for_a_half_open_connection(viewer, monkeypatch):
    monkeypatch.setattr("olive_iw.viewer.server.REQUEST_SECONDS", 0.1)
    monkeypatch.setattr("olive_iw.viewer.server.ALIVE_SECONDS", 0.5)
    command(viewer, {"type": "pause"})
    with raw(viewer, "GET /api/stream HTTP/1.1\nHost: 127.0.0.1:PORT\n\n") as connection:
        read = b""
        while read.count(b": alive") < 2:
            more = connection.recv(1 << 16)
            assert more, "the stream was ended"
            read += more


def test_nodes_are_asked_for_by_numbers(viewer):
    assert ask(viewer, "/api/node?decision=0&node=x")[0] == 400
    assert ask(viewer, "/api/node?decision=0&node=-1")[0] == 400
    assert ask(viewer, "/api/node?decision=0")[0] == 400
    status, _, text = ask(viewer, "/api/node?decision=0&node=0")
    assert status == 200
    assert json.loads(text)["depth"] == 0
    assert ask(viewer, "/api/node?decision=0&node=123456")[2] == "null"


def test_the_stream_begins_with_the_whole_state(viewer):
    port = urlsplit(viewer.address).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/api/stream")
    answer = connection.getresponse()
    line = answer.readline().decode()
    connection.close()
    kinds = [message["type"] for message in json.loads(line.removeprefix("data: "))]
    assert kinds[0] == "Setup"
    assert {"Control", "Moment", "RootScreen", "TreeChange", "RootActions"} <= set(kinds)


def test_beyond_loopback_a_token_is_needed():
    with served("0.0.0.0") as viewer:
        token = viewer.address.partition("?token=")[2]
        assert len(token) >= 32
        assert ask(viewer)[0] == 401
        assert ask(viewer, "/viewer.js")[0] == 401
        assert ask(viewer, "/?token=guess")[0] == 401
        status, headers, _ = ask(viewer, f"/?token={token}")
        assert status == 303
        cookie = headers["set-cookie"].partition(";")[0]
        assert "HttpOnly" in headers["set-cookie"]
        assert ask(viewer, Cookie=cookie)[0] == 200
        assert ask(viewer, Cookie=cookie + "x")[0] == 401
        for other in ('a={"b": [1, 2]}', "a b", "=", "a[1]=2", cookie.partition("=")[0] + "=old"):
            assert ask(viewer, Cookie=f"{other}; {cookie}")[0] == 200
            assert ask(viewer, Cookie=f"{cookie}; {other}")[0] == 200
            assert ask(viewer, Cookie=other)[0] == 401
        port = urlsplit(viewer.address).port
        assert ask(viewer, Cookie=cookie, Host=f"evil.example:{port}")[0] == 403
        assert command(viewer, {"type": "pause"}, Cookie=cookie, Origin="http://a.example") == 403


def test_viewers_side_by_side_have_cookies_of_their_own():
    def cookie_name(viewer):
        path = "/" + viewer.address.rpartition("/")[2]
        return ask(viewer, path)[1]["set-cookie"].partition("=")[0]

    with served("0.0.0.0") as one, served("0.0.0.0") as other:
        assert cookie_name(one) != cookie_name(other)


def test_a_busy_port_is_said(viewer):
    port = urlsplit(viewer.address).port
    opened = live_viewer("grid:corridor", make_agent("patch-iw"), port=port)
    with pytest.raises(InputError, match="give another --port"), opened:
        pass


@pytest.mark.parametrize("port", [-1, 65_536, 99_999])
def test_an_impossible_port_is_said(port):
    opened = live_viewer("grid:corridor", make_agent("patch-iw"), port=port)
    with pytest.raises(InputError, match="from 0"), opened:
        pass


def test_the_command_serves_until_interrupted():
    command = [sys.executable, "-m", "olive_iw", "view", "grid:corridor", "--port", "0"]
    process = subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        with urlopen(address, timeout=PATIENCE) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 130
    finally:
        process.kill()
        process.communicate()


IN_A_SCRIPT = """
import asyncio, gymnasium, olive_iw as olive

def watch():
    env = gymnasium.make("CartPole-v1")
    olive.view(env, olive.make_agent("value-iw", calls_per_action=10), port=0, browser=False)

async def in_a_notebook():  # where a loop runs already
    watch()

IN
print("ended")
"""


@pytest.mark.parametrize(
    "call", ["watch()", "asyncio.new_event_loop().run_until_complete(in_a_notebook())"]
)
def test_an_environment_is_viewed_from_python_until_interrupted(call):
    code = IN_A_SCRIPT.replace("IN\n", f"{call}\n")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
        with urlopen(address + "api/stream", timeout=PATIENCE) as answer:
            assert "CartPole-v1" in answer.readline().decode()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE)
        assert rest == "ended\n"
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_the_command_says_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        view(str(tmp_path), port=0, no_browser=True)
    with pytest.raises(InputError, match="is not a folder"):
        view("runs/nothing/here", port=0, no_browser=True)
    with pytest.raises(InputError, match="unknown game"):
        view("brakeout", port=0, no_browser=True)


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_a_missing_package_is_said(package):
    code = (
        f"import sys; sys.modules[{package!r}] = None; from olive_iw.cli.main import main; "
        "sys.argv = ['olive-iw', 'view', 'grid:corridor']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"needs {package}: pip install 'olive-iw[viewer]'" in " ".join(done.stderr.split())


def test_a_page_that_does_not_read_is_skipped_and_told():
    hub = Hub()
    server = ViewerServer(hub, Playback(hub), "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    hub.publish(Note("first"))
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        request = f"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
        connection.sendall(request.encode())
        while not hub.watched:
            time.sleep(0.01)
        published = 0
        while not any(hub._version - page.version > LATE for page in hub._pages):
            published += 1
            assert published < 2000, "the server read on, though its page did not"
            hub.publish(Note(f"{published}" + "x" * 100_000))
            time.sleep(0.001)
        hub.publish(Note("last"))
        read = b""
        while b'"last"' not in read:
            more = connection.recv(1 << 20)
            assert more, "the server closed the connection"
            read = read[-200_000:] + more
    # The first frame of a page tells of none; it may be among what was read last.
    told = re.findall(rb'"type":"Dropped","frames":(\d+)', read)
    assert told
    assert 0 < int(told[-1]) <= published + 1
    server.stop()
    thread.join(timeout=PATIENCE)
    assert not thread.is_alive()

"""The Ray engine when its cluster goes away, on a stand-in for Ray that can be told to."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from olive_iw.errors import InputError
from olive_iw.sweeps.engines import EngineOptions, make_engine, ray
from olive_iw.sweeps.file import parse_sweep

ADDRESS = "head:6379"


class StandIn:
    """As much of Ray as the engine uses: tasks never end, and the cluster may be gone."""

    exceptions = SimpleNamespace(TaskCancelledError=(), RayTaskError=())

    def __init__(self):
        self.there = True
        self.connected = []
        self.connections = 0

    def answers(self, address):
        assert address == ADDRESS
        return self.there

    def is_initialized(self):
        return bool(self.connected)

    def init(self, **options):
        assert not self.connected, "it was not shut down before"
        self.connected.append(options)
        self.connections += 1

    def shutdown(self):
        self.connected.clear()

    def get_runtime_context(self):
        return SimpleNamespace(gcs_address=ADDRESS)

    def remote(self, **needs):
        task = SimpleNamespace(remote=lambda *arguments: Reference(Future()))
        return lambda work: task

    def cluster_resources(self):
        assert self.there, "Ray would wait for a minute, then end the process"
        return {"CPU": 2.0}


class Reference:
    def __init__(self, future):
        self.future = lambda: future


@pytest.fixture
def stand_in(monkeypatch):
    found = StandIn()
    monkeypatch.setattr(ray, "_import_ray", lambda: found)
    monkeypatch.setattr(ray, "_answers", found.answers)
    return found


@pytest.fixture
def slept(monkeypatch):
    seconds = []
    monkeypatch.setattr(ray.time, "sleep", seconds.append)
    return seconds


def job_of(tmp_path):
    (job,) = parse_sweep('games = "grid:corridor"\nalgorithms = "uct"', tmp_path)
    return job


def test_a_cluster_that_comes_back_is_used_again(tmp_path, stand_in, monkeypatch):
    engine = make_engine("ray", EngineOptions(address=ADDRESS))
    future = engine.submit(print, job_of(tmp_path))
    stand_in.there = False
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        stand_in.there = len(waited) == 3

    monkeypatch.setattr(ray.time, "sleep", sleep)
    with pytest.warns(UserWarning, match="the Ray cluster at head:6379 is gone"):
        assert engine.workers == 2
    assert waited == [1, 2, 4], "each time twice as long"
    assert stand_in.connections == 2
    error = future.exception(0)
    assert (error.kind, error.reason) == ("died", "the Ray cluster is gone")
    assert not engine.submit(print, job_of(tmp_path)).done()


def test_a_cluster_that_stays_away_is_given_up(tmp_path, stand_in, slept):
    engine = make_engine("ray", EngineOptions(address=ADDRESS))
    stand_in.there = False
    with (
        pytest.warns(UserWarning, match="asking for it for 255 s"),
        pytest.raises(InputError, match="when it is there again give the same command"),
    ):
        _ = engine.workers
    assert slept == list(ray.BACK_OFF)


def test_a_connection_that_was_there_before_is_not_ours_to_make_again(stand_in, slept):
    stand_in.init()
    engine = make_engine("ray", EngineOptions())
    stand_in.there = False
    with pytest.raises(InputError, match="is gone"):
        _ = engine.workers
    assert not slept
    assert stand_in.connected


def test_a_run_folder_with_links_is_not_fetched_into(tmp_path, stand_in):
    engine = make_engine("ray", EngineOptions(address=ADDRESS, fetch=True))
    job, elsewhere = job_of(tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()
    job.folder.mkdir(parents=True)
    (job.folder / "episodes").symlink_to(elsewhere)
    error = engine.submit(print, job).exception(0)
    assert error.kind == "input"
    assert "is a symbolic link" in error.reason

"""Sweeps on a Ray cluster of two nodes, real processes all of them."""

import io
import json
import sys
import threading
import time
from functools import partial

import pytest
from rich.console import Console

from olive_iw.errors import InputError
from olive_iw.sweeps.engines import EngineOptions, make_engine
from olive_iw.sweeps.file import parse_sweep
from olive_iw.sweeps.status import status
from olive_iw.sweeps.sweep import do_run, sweep

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.xdist_group("ray")  # one cluster at a time

PATIENCE = 300
FETCH = EngineOptions(workers=1, fetch=True)
SWEEP = """
games = ["grid:corridor"]
algorithms = ["patch-iw"]
seeds = [0, 1, 2]
calls_per_action = 5
episodes = 2
max_actions = 3
"""


@pytest.fixture(scope="module")
def cluster():
    """Two nodes; the second will be lost."""
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster()
    cluster.add_node(wait=False, include_dashboard=False, **small)
    cluster.wait_for_nodes(PATIENCE)
    cluster.doomed = cluster.add_node(wait=False, **small)
    cluster.wait_for_nodes(PATIENCE)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="FATAL")
    # Workers of Ray cannot import this file; they are sent its functions.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def node_and_run(doomed, lost, job):
    """Note the node and wait for the doomed one to be lost; on that one, wait for ever."""
    job.folder.mkdir(parents=True, exist_ok=True)
    node = ray.get_runtime_context().get_node_id()
    with (job.folder / "nodes.txt").open("a") as file:
        file.write(node + "\n")
    while node == doomed or not lost.exists():
        time.sleep(0.05)
    return do_run(job)


def wait_for_ever(begun, job):
    (job.folder / "half.txt").write_text("done so far")
    begun.touch()
    while True:
        time.sleep(0.01)


def make_jobs(out):
    return parse_sweep(SWEEP, out)


def write(tmp_path, text=SWEEP):
    file = tmp_path / "small.toml"
    file.write_text(text)
    return file


def quiet():
    return Console(file=io.StringIO(), width=200)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "auto"])
def test_no_cluster_at_the_address(address, monkeypatch, tmp_path):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    # There Ray notes clusters of this machine, also such as are gone.
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    with pytest.raises(InputError, match=f"no Ray cluster answers at {address}"):
        make_engine("ray", EngineOptions(address=address))


def test_folders_come_back_where_no_disk_is_shared(tmp_path, cluster):
    """The driver's folder is not the worker's: results travel, failures with what there is."""
    file = write(tmp_path, SWEEP.replace("[0, 1, 2]", "[0]"))
    report = sweep(file, tmp_path / "runs", "ray", FETCH, console=quiet())
    assert (report.done, report.exit_code) == (1, 0)
    (folder,) = (tmp_path / "runs").rglob("seed-0")
    assert len(json.loads((folder / "result.json").read_text())["scores"]) == 2
    assert len(list((folder / "episodes").glob("evaluation-*.json"))) == 2
    assert (folder / "worker.log").read_text().startswith("--- process")
    assert not list(folder.glob(".*"))


def test_tasks_stop_when_asked_and_bring_back_what_they_have(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("olive_iw.sweeps.engines.ray.GRACE", PATIENCE)
    engine = make_engine("ray", FETCH)
    job = make_jobs(tmp_path)[0]
    begun = tmp_path / "begun"
    future = engine.submit(partial(wait_for_ever, begun), job)
    again = engine.submit(partial(wait_for_ever, begun), job)
    assert again.exception(PATIENCE).kind == "busy", "the driver holds the run's lock meanwhile"
    deadline = time.monotonic() + PATIENCE
    while not begun.exists():
        assert time.monotonic() < deadline, "it never began"
        time.sleep(0.05)
    engine.stop()
    assert future.exception(PATIENCE).kind == "stopped"
    assert (job.folder / "half.txt").read_text() == "done so far"
    assert ray.is_initialized(), "a cluster that was there before stays"


def test_a_lost_node_costs_no_run(tmp_path, cluster):
    doomed, lost = cluster.doomed.node_id, tmp_path / "lost"
    removed = threading.Event()

    def lose_the_node():
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not removed.is_set():
            if any(doomed in path.read_text() for path in tmp_path.rglob("nodes.txt")):
                cluster.remove_node(cluster.doomed, allow_graceful=False)
                removed.set()
            time.sleep(0.05)
        lost.touch()

    thread = threading.Thread(target=lose_the_node)
    thread.start()
    console = quiet()
    work, options = partial(node_and_run, doomed, lost), EngineOptions(workers=2)
    report = sweep(write(tmp_path), tmp_path / "runs", "ray", options, console=console, work=work)
    thread.join()
    assert removed.is_set(), "no run was ever on the node"
    assert (report.done, report.failed) == (3, {})
    assert status(tmp_path / "runs").counts["done"] == 3
    assert "will be tried again" in console.file.getvalue()
    histories = [path.read_text().split() for path in tmp_path.rglob("nodes.txt")]
    moved = [nodes for nodes in histories if doomed in nodes]
    assert moved
    assert all(nodes[-1] != doomed for nodes in moved)

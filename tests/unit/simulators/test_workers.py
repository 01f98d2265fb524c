"""Copies of a simulator in other processes: what they show, and what happens when they die."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from synthetic import HeavySimulator, PixelFeatures, SyntheticSimulator, WaywardSimulator

from olive_iw.errors import InputError
from olive_iw.planners import RolloutIW
from olive_iw.simulators import (
    AtariSimulator,
    GridWorld,
    GymnasiumSimulator,
    SimulatorError,
    make_simulator,
)
from olive_iw.simulators import workers as module
from olive_iw.simulators.messages import CallRequest, freeze
from olive_iw.simulators.workers import MOST_ASKED, Workers

PATIENCE = 120


@pytest.fixture
def start():
    """Starts workers, and ends them with the test."""
    started = []

    def begin(simulator, count=1):
        started.append(Workers(simulator, count))
        return started[-1]

    yield begin
    for workers in started:
        workers.close()


def same_step(one, other):
    assert np.array_equal(one.screen, other.screen)
    assert (one.reward, one.terminal, one.lives) == (other.reward, other.terminal, other.lives)
    assert not other.screen.flags.writeable
    if one.ram is not None:
        assert np.array_equal(one.ram, other.ram)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SyntheticSimulator(seed=3),
        lambda: GridWorld("lava"),
        lambda: AtariSimulator("pong"),
        lambda: make_simulator("gym:MiniGrid-DoorKey-5x5-v0", seed=7),
        lambda: make_simulator("gym:CartPole-v1", seed=2),
    ],
    ids=["synthetic", "grid", "atari", "minigrid", "cart-pole"],
)
def test_a_worker_shows_what_the_simulator_shows(start, make):
    simulator = make()
    workers = start(simulator)
    simulator.reset()
    state, continues = freeze(simulator.save()), False
    for action in (1, 0, 1, 1, 0):
        workers.ask(0, CallRequest(state, action, continues))
        step, state, *_ = workers.answer(0)
        same_step(simulator.step(action), step)
        if step.terminal:
            assert state is None
            break
        continues = not continues  # restored from bytes, or gone on: it must not matter


def test_colours_that_only_a_worker_met_become_the_simulators(start):
    simulator = AtariSimulator("pong")
    far = AtariSimulator("pong")
    far.reset()
    for _ in range(30):
        step = far.step(1)
    assert set(np.unique(step.screen)) - set(np.unique(simulator.reset().screen))
    simulator.reset()
    workers = start(simulator)
    state = freeze(simulator.save())
    for _ in range(30):
        workers.ask(0, CallRequest(state, 1, continues=False))
        step, state, *_ = workers.answer(0)
    for array in ("grey_levels", "palette"):
        shown = np.unique(step.screen)
        assert np.array_equal(getattr(simulator, array)[shown], getattr(far, array)[shown])


def test_options_of_a_game_travel_with_it():
    simulator = AtariSimulator("pong", frame_skip=4, pool_frames=True, difficulty=1)
    copy = pickle.loads(pickle.dumps(simulator))
    assert (copy.frame_skip, copy.pool_frames) == (4, True)
    for action in (0, 2, 3, 3, 1):
        same_step(simulator.step(action), copy.step(action))


def test_each_worker_answers_its_own_question_in_any_order(start):
    simulator = SyntheticSimulator(terminal_chance=0.0)
    workers = start(simulator, 3)
    state = freeze(simulator.save())
    for worker in range(3):
        workers.ask(worker, CallRequest(state, worker, continues=False))
    for worker in (2, 0, 1):
        simulator.reset()
        same_step(simulator.step(worker), workers.answer(worker).step)


def test_answered_names_those_that_need_no_waiting(start):
    workers = start(WaywardSimulator(at={(1,): PATIENCE}), 2)
    state = freeze(SyntheticSimulator().save())
    assert workers.answered() == []
    workers.ask(1, CallRequest(state, 1, continues=False))  # sleeps
    workers.ask(0, CallRequest(state, 0, continues=False))
    workers.answer(0)
    assert workers.answered() == []
    workers.ask(0, CallRequest(state, 2, continues=False))
    deadline = time.monotonic() + PATIENCE
    while not workers.answered():
        assert time.monotonic() < deadline
    assert workers.answered() == [0]
    workers.forget()
    workers.ask(1, CallRequest(state, 0, continues=False))  # a new one, which does not sleep
    assert workers.answer(1).step.reward == SyntheticSimulator().step(0).reward


def test_a_worker_answers_in_the_order_of_its_questions_also_when_it_died(start):
    simulator = SyntheticSimulator(terminal_chance=0.0)
    workers = start(simulator)
    state = freeze(simulator.save())
    workers.ask(0, CallRequest(state, 0, continues=False))
    workers.ask(0, CallRequest(state, 2, continues=False))
    os.kill(workers.processes[0], signal.SIGKILL)
    for action in (0, 2):
        simulator.reset()
        same_step(simulator.step(action), workers.answer(0).step)


def test_long_questions_do_not_wait_for_long_answers(start):
    simulator = HeavySimulator()
    workers = start(simulator)
    state = freeze(simulator.save())
    for action in range(6):
        workers.ask(0, CallRequest(state, action % 3, continues=False))
        if action:
            simulator.reset()
            same_step(simulator.step((action - 1) % 3), workers.answer(0).step)


def test_a_worker_takes_so_many_questions_at_a_time(start):
    workers = start(SyntheticSimulator())
    request = CallRequest(freeze(SyntheticSimulator().save()), 0, continues=False)
    for _ in range(MOST_ASKED):
        workers.ask(0, request)
    with pytest.raises(RuntimeError, match="not answered"):
        workers.ask(0, request)


@pytest.mark.parametrize("asked_first", [True, False])
def test_a_killed_worker_is_replaced_and_asked_again(start, asked_first):
    simulator = WaywardSimulator(terminal_chance=0.0)
    workers = start(simulator)
    simulator.step(2)
    state = freeze(simulator.save())
    workers.ask(0, CallRequest(freeze(SyntheticSimulator().save()), 2, continues=False))
    workers.answer(0)
    killed = workers.processes[0]
    if asked_first:
        workers.ask(0, CallRequest(state, 1, continues=True))
    os.kill(killed, signal.SIGKILL)
    if not asked_first:
        workers.ask(0, CallRequest(state, 1, continues=True))
    same_step(simulator.step(1), workers.answer(0).step)
    if not asked_first:
        assert workers.processes[0] != killed


def test_a_call_that_kills_every_worker_is_given_up(start):
    workers = start(WaywardSimulator(at={(1,): "die"}))
    state = freeze(SyntheticSimulator().save())
    workers.ask(0, CallRequest(state, 1, continues=False))
    with pytest.raises(SimulatorError, match=r"3 processes died .* action 1"):
        workers.answer(0)
    workers.ask(0, CallRequest(state, 0, continues=False))  # others are still possible
    assert workers.answer(0).state is not None


def with_limit(simulator, seconds):
    simulator.call_seconds = seconds
    return simulator


def test_a_worker_that_hangs_is_replaced_and_asked_again_in_order(start):
    simulator = with_limit(SyntheticSimulator(terminal_chance=0.0), 0.3)
    workers = start(simulator)
    state = freeze(simulator.save())
    workers.ask(0, CallRequest(state, 1, continues=False))
    workers.answer(0)
    hung = workers.processes[0]
    os.kill(hung, signal.SIGSTOP)
    workers.ask(0, CallRequest(state, 0, continues=False))
    workers.ask(0, CallRequest(state, 2, continues=False))
    with pytest.warns(RuntimeWarning, match=r"within 0\.3 seconds; another took its place"):
        answers = [workers.answer(0) for _ in range(2)]
    assert workers.processes[0] != hung
    for action, answer in zip((0, 2), answers, strict=True):
        simulator.reset()
        same_step(simulator.step(action), answer.step)


def test_a_worker_that_does_not_even_read_is_replaced(start):
    simulator = with_limit(HeavySimulator(), 0.5)
    workers = start(simulator)
    state = freeze(simulator.save())
    workers.ask(0, CallRequest(state, 1, continues=False))
    workers.answer(0)
    os.kill(workers.processes[0], signal.SIGSTOP)
    with pytest.warns(RuntimeWarning, match="another took its place"):
        workers.ask(0, CallRequest(state, 2, continues=False))
    simulator.reset()
    same_step(simulator.step(2), workers.answer(0).step)


@pytest.mark.filterwarnings("ignore:a search worker did not answer")
def test_a_call_in_which_every_worker_hangs_is_given_up(start, monkeypatch):
    monkeypatch.setattr(module, "START_SECONDS", 3.0)
    workers = start(with_limit(WaywardSimulator(at={(1,): PATIENCE}), 0.3))
    state = freeze(SyntheticSimulator().save())
    workers.ask(0, CallRequest(state, 1, continues=False))
    says = "3 processes did not answer within 3 seconds one after another .* action 1"
    with pytest.raises(SimulatorError, match=says):
        workers.answer(0)
    workers.ask(0, CallRequest(state, 0, continues=False))  # others are still possible
    assert workers.answer(0).state is not None


def test_a_search_ends_as_without_it_when_a_worker_hangs():
    found = []
    for hangs in (False, True):
        simulator = with_limit(SyntheticSimulator(terminal_chance=0.0), 0.5)
        planner = RolloutIW(PixelFeatures(), bandit="uniform", workers=2)
        planner.start(simulator, seed=0)
        planner.decide(30, seconds=PATIENCE)
        if hangs:
            os.kill(planner.driver.pool.processes[0], signal.SIGSTOP)
            with pytest.warns(RuntimeWarning, match="another took its place"):
                decision = planner.decide(60, seconds=PATIENCE)
        else:
            decision = planner.decide(60, seconds=PATIENCE)
        found.append((decision.action, decision.values.tolist(), decision.calls))
        planner.close()
    assert found[0] == found[1]


def test_what_a_simulator_raises_is_raised_here(start):
    workers = start(WaywardSimulator(at={(1,): "raise"}))
    state = freeze(SyntheticSimulator().save())
    workers.ask(0, CallRequest(state, 1, continues=False))
    with pytest.raises(ZeroDivisionError, match=r"no luck at \(1,\)"):
        workers.answer(0)
    workers.ask(0, CallRequest(state, 0, continues=False))
    assert workers.answer(0).state is not None


def test_a_simulator_that_cannot_be_copied_is_refused():
    simulator = SyntheticSimulator()
    simulator.hook = lambda: None
    with pytest.raises(InputError, match="cannot be copied into other processes"):
        Workers(simulator, 2)
    with pytest.raises(InputError, match="at least 0"):
        Workers(SyntheticSimulator(), -1)


def test_an_environment_with_a_window_is_copied_without_it(start):
    drawn = GymnasiumSimulator(gymnasium.make("CartPole-v1", render_mode="rgb_array"))
    assert drawn._env.unwrapped.screen is not None
    workers = start(drawn)
    workers.ask(0, CallRequest(freeze(drawn.save()), 1, continues=False))
    same_step(drawn.step(1), workers.answer(0).step)


def gone(process):
    """Whether a process that is not ours has ended; one that nobody has waited for counts."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_workers_end_when_they_are_closed_or_their_planner_dies():
    workers = Workers(SyntheticSimulator(), 2)
    processes = workers.processes
    workers.close()
    assert all(map(gone, processes))
    script = (
        "import sys, time\n"
        "from olive_iw.simulators import GridWorld\n"
        "from olive_iw.simulators.workers import Workers\n"
        "if __name__ == '__main__':\n"
        "    workers = Workers(GridWorld('lava'), 2)\n"
        "    print(*workers.processes, flush=True)\n"
        "    time.sleep(600)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    processes = [int(word) for word in owner.stdout.readline().split()]
    assert len(processes) == 2
    owner.kill()
    owner.communicate()
    deadline = time.monotonic() + PATIENCE
    while not all(map(gone, processes)):
        assert time.monotonic() < deadline, "they live on"
        time.sleep(0.05)


def test_no_process_is_left_behind_by_a_forgotten_pool():
    workers = Workers(SyntheticSimulator(), 1)
    process = workers.processes[0]
    del workers
    assert process not in [child.pid for child in multiprocessing.active_children()]


def test_workers_of_a_script_that_is_not_guarded_say_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from olive_iw.planners import RolloutIW\n"
        "from olive_iw.simulators import GridWorld\n"
        "planner = RolloutIW(None, workers=2)\n"
        "planner.start(GridWorld('lava'), seed=0)\n"
        "planner.decide(20)\n"
    )
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 1
    assert "3 processes died" in ran.stderr
    assert "under `if __name__ == " in ran.stderr.splitlines()[-1]


def test_nobody_looks_out_for_messages_where_cores_must_be_shared(start, monkeypatch):
    for cores, is_patient in ((3, True), (2, False)):
        monkeypatch.setattr(module, "usable_cores", lambda cores=cores: cores)
        workers = start(SyntheticSimulator(), 2)  # and this process
        assert (workers.patience > 0) == is_patient

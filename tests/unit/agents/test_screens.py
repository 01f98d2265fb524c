import json

import numpy as np
import pytest
from scipy.stats import chisquare

from olive_iw.agents.screens import Reservoir, ScreenSet, digest
from olive_iw.errors import InputError


def image(number):
    """An image for each number, equal for equal numbers."""
    pixels = np.zeros((128, 128), np.uint8)
    pixels[0, :2] = divmod(number, 256)
    return pixels


def numbers(images):
    return [int(pixels[0, 0]) * 256 + int(pixels[0, 1]) for pixels in images]


def test_screen_set_keeps_each_once_in_order_up_to_its_limit():
    screens = ScreenSet(3)
    assert [screens.add(image(n)) for n in (5, 2, 5, 9, 7)] == [True, True, False, True, False]
    assert numbers(screens.images) == [5, 2, 9]
    assert image(2) in screens
    assert image(7) not in screens
    assert (len(screens), screens.room) == (3, 0)


def test_screen_set_keeps_its_own_copy():
    screens = ScreenSet(3)
    mine = image(1)
    screens.add(mine)
    mine[:] = 7
    assert numbers(screens.images) == [1]
    with pytest.raises(ValueError, match="read-only"):
        screens.images[0] = 0


def test_screen_set_grows_past_its_first_room():
    screens = ScreenSet(500)
    for n in range(300):
        screens.add(image(n))
    assert numbers(screens.images) == list(range(300))


def test_screen_set_is_saved_exactly(tmp_path):
    screens = ScreenSet(4)
    for n in (3, 1, 2):
        screens.add(image(n))
    screens.save(tmp_path / "screens.npy")
    loaded = ScreenSet.load(tmp_path / "screens.npy", 4)
    assert np.array_equal(loaded.images, screens.images)
    assert not loaded.add(image(1))
    assert loaded.add(image(8))
    assert [file.name for file in tmp_path.iterdir()] == ["screens.npy"]
    with pytest.raises(InputError, match="expected at most 2"):
        ScreenSet.load(tmp_path / "screens.npy", 2)


def test_wrong_files_are_refused(tmp_path):
    path = tmp_path / "screens.npy"
    with pytest.raises(InputError, match="cannot be read"):
        ScreenSet.load(path, 5)
    path.write_bytes(b"hello")
    with pytest.raises(InputError, match=r"no \.npy file"):
        ScreenSet.load(path, 5)
    np.save(path, np.zeros((2, 64, 64), np.uint8))
    with pytest.raises(InputError, match="something else"):
        ScreenSet.load(path, 5)
    np.save(path, np.zeros((2, 128, 128), np.uint8))
    with pytest.raises(InputError, match="twice"):
        ScreenSet.load(path, 5)


def test_wrong_images_and_limits_are_refused():
    for wrong in (np.zeros((128, 128)), np.zeros((210, 160), np.uint8)):
        for add in (ScreenSet(2).add, ScreenSet().add, reservoir(2).offer):
            with pytest.raises(InputError, match="expected uint8"):
                add(wrong)
    with pytest.raises(InputError, match="at least 1"):
        ScreenSet(0)


def test_episode_screens_are_candidates_once_each(tmp_path):
    met = ScreenSet()
    assert [met.add(image(n)) for n in (4, 4, 6, 1)] == [True, False, True, True]
    kept = ScreenSet(10)
    kept.add(image(6))
    assert numbers(met.images) == [4, 6, 1]
    assert numbers(met.not_in(kept)) == [4, 1]
    assert image(6) in met
    met.save(tmp_path / "met.npy")
    again = ScreenSet.load(tmp_path / "met.npy")
    assert np.array_equal(again.images, met.images)
    assert ScreenSet().not_in(kept).shape == (0, 128, 128)


def test_digest_sees_contents_and_shapes_and_never_changes():
    array = np.arange(6, dtype=np.uint8)
    arrays = [array, array[::-1], array.reshape(2, 3), array.reshape(3, 2), array[:3]]
    keys = [digest(each) for each in arrays]
    assert len(set(keys)) == len(keys)
    assert digest(array[::-1]) == digest(array[::-1].copy())
    # As version 0.1 wrote them to files.
    assert digest(array).hex() == "42db60edb941f634f162d678545adf19"


def reservoir(limit, seed=0):
    return Reservoir(limit, np.random.default_rng(seed))


def test_reservoir_counts_distinct_screens_only():
    sample = reservoir(10)
    for n in [1, 2, 2, 1, 3]:
        sample.offer(image(n))
    assert (sample.seen, len(sample)) == (3, 3)
    assert numbers(sample.images) == [1, 2, 3]


def test_reservoir_is_uniform_over_distinct_screens():
    # Screens 0 to 11, some offered often; 4 of 12 are kept, so each in a third of all trials.
    trials, counts = 1500, np.zeros(12)
    stream = [image(n) for n in [0, 0, 1, *range(12), 11, 11, 3]]
    generator = np.random.default_rng(0)
    for _ in range(trials):
        sample = Reservoir(4, generator)
        for pixels in stream:
            sample.offer(pixels)
        counts[numbers(sample.images)] += 1
    assert counts.sum() == 4 * trials
    assert chisquare(counts).pvalue > 0.01


def test_reservoir_goes_on_exactly_after_loading(tmp_path):
    path = tmp_path / "reservoir.npy"
    straight, stopped = reservoir(5), reservoir(5)
    for n in range(30):
        straight.offer(image(n))
        stopped.offer(image(n))
    stopped.save(path)
    resumed = Reservoir.load(path)
    assert (resumed.limit, resumed.seen) == (5, 30)
    taken = [(straight.offer(image(n)), resumed.offer(image(n))) for n in [3, 7, *range(30, 120)]]
    assert all(one == other for one, other in taken)
    assert np.array_equal(straight.images, resumed.images)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["reservoir.json", "reservoir.npy"]


def test_reservoir_refuses_files_that_do_not_belong_together(tmp_path):
    path = tmp_path / "reservoir.npy"
    sample = reservoir(5)
    sample.offer(image(1))
    sample.save(path)
    sample.offer(image(2))
    np.save(path, sample.images)
    with pytest.raises(InputError, match="not saved together"):
        Reservoir.load(path)
    beside = path.with_suffix(".json")
    beside.write_text(json.dumps({**json.loads(beside.read_text()), "format": "x"}))
    with pytest.raises(InputError, match="format 'x'"):
        Reservoir.load(path)
    mixed = {**json.loads(beside.read_text()), "format": "olive-iw reservoir 1", "seen": ["x"]}
    for wrong in ("{", "[]", '{"format": "olive-iw reservoir 1"}', json.dumps(mixed)):
        beside.write_text(wrong)
        with pytest.raises(InputError, match="no saved reservoir"):
            Reservoir.load(path)
    beside.unlink()
    with pytest.raises(InputError, match="no saved reservoir"):
        Reservoir.load(path)

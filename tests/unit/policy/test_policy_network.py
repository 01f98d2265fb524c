"""Policy networks: their sizes, atoms, values, inputs and files."""

import numpy as np
import pytest
import torch
from synthetic import ScriptedSimulator, SyntheticSimulator

from olive_iw.errors import InputError
from olive_iw.features import Ram
from olive_iw.features.image import grey_tiles, small_image
from olive_iw.policy import N_CPL, PI_IW, PI_IW_PLUS, PolicyConfig, PolicyGuide
from olive_iw.policy.guide import padded
from olive_iw.policy.network import build, expected, two_hot
from olive_iw.simulators import make_simulator

SMALL = PolicyConfig(side=36, channels=2, hidden=4)


def seeded():
    return torch.Generator().manual_seed(0)


def guide_of(config=SMALL, **options):
    return PolicyGuide(config, seeded, **options)


@pytest.mark.parametrize("actions", [4, 18])
def test_networks_have_the_published_numbers_of_parameters(actions):
    count = lambda network, *parts: sum(  # noqa: E731
        it.numel()
        for name, it in network.named_parameters()
        if not parts or name.split(".")[0] in parts
    )
    pi_iw = build(PI_IW["paper"].network, actions, seeded())
    assert count(pi_iw) == 676_144 + 257 * actions
    n_cpl = build(N_CPL["paper"].network, actions, seeded())
    assert count(n_cpl, "trunk", "policy") == 1_684_128 + 513 * actions
    assert count(n_cpl, "value_trunk", "value") == 1_684_641


def test_laptop_networks_are_smaller():
    for profiles in (PI_IW, PI_IW_PLUS, N_CPL):
        sizes = [
            sum(it.numel() for it in build(profiles[name].network, 6, seeded()).parameters())
            for name in ("laptop", "paper")
        ]
        assert sizes[0] < 0.6 * sizes[1]


def test_a_unit_gives_an_atom_whether_it_is_on_or_off():
    guide, simulator = guide_of(), ScriptedSimulator({})
    first = simulator.reset()
    guide.prepare(simulator, first)
    found = []
    for units in ([0, 0.3, 0, 2], [0, 0.3, 1, 2], [0, 0, 0, 2]):
        guide.network.trunk.forward = lambda inputs, units=units: torch.tensor([units]).float()
        found.append(guide.of_path([first]).atoms)
    assert found[0].tolist() == [0, 3, 4, 7]  # (0, no), (1, yes), (2, no), (3, yes)
    assert found[0].dtype == np.int32
    assert set(found[1]) - set(found[0]) == {5}  # it only adds, and (2, yes) is new
    assert set(found[2]) - set(found[0]) == {2}  # it only loses, and (1, no) is new
    assert guide.size == 8


@pytest.mark.parametrize(
    ("value", "places"),
    [
        (1.0, {150: 0.5, 151: 0.5}),
        (-300.0, {0: 1.0}),
        (301.0, {300: 1.0}),
        (0.5, {150: 0.75, 151: 0.25}),
        (-1e9, {0: 1.0}),
    ],
)
def test_a_return_lies_between_two_outputs(value, places):
    shares = two_hot(torch.tensor([value]), 301)[0]
    assert {int(it): float(shares[it]) for it in shares.nonzero()} == places
    logits = shares.clamp(min=1e-30).log()[np.newaxis]
    assert float(expected(logits)[0]) == pytest.approx(np.clip(value, -300, 300), abs=1e-3)


def test_outputs_of_no_value_and_of_a_plain_one():
    assert expected(torch.zeros(2, 0)).tolist() == [0.0, 0.0]
    assert expected(torch.tensor([[3.5], [-1.0]])).tolist() == [3.5, -1.0]


def test_the_policy_is_a_softmax_and_its_own_when_it_guides():
    simulator = SyntheticSimulator()
    for guides in (True, False):
        guide = guide_of(guides=guides)
        step = simulator.reset()
        guide.prepare(simulator, step)
        said = guide.of_path([step])
        assert said.prior.dtype == np.float32
        if guides:
            assert said.prior.sum() == pytest.approx(1.0)
            assert len(set(said.prior.tolist())) == 3
        else:
            assert said.prior.tolist() == [1, 1, 1]
            assert said.value == 0.0


def test_the_newest_screen_is_last_and_the_first_is_repeated():
    images = [np.full((2, 2), level, np.uint8) for level in range(3)]
    assert [int(it[0, 0]) for it in padded(images)] == [0, 0, 1, 2]
    guide, simulator = guide_of(), SyntheticSimulator()
    steps = [simulator.reset(), *(simulator.step(0) for _ in range(5))]
    guide.prepare(simulator, steps[0])
    seen = []
    guide.network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    guide.of_path(steps)
    guide.of_path(steps[:1])
    assert np.array_equal(seen[0][0], np.stack([guide.image(step) for step in steps[-4:]]))
    assert np.array_equal(seen[1][0], np.stack([guide.image(steps[0])] * 4))


def test_other_features_can_give_the_atoms():
    simulator = make_simulator("breakout")
    guide, ram = guide_of(atoms=Ram()), Ram()
    step = simulator.reset()
    guide.prepare(simulator, step)
    ram.prepare(simulator, step)
    assert guide.size == ram.size
    assert np.array_equal(guide.of_path([step]).atoms, ram.of_step(step, None))


def test_weights_are_saved_and_are_for_as_many_actions(tmp_path):
    guide, simulator = guide_of(guides=False), SyntheticSimulator(action_count=3)
    step = simulator.reset()
    guide.prepare(simulator, step)
    guide.guides = True
    guide.save(tmp_path / "weights")
    other = guide_of(guides=False)
    other.load_weights(tmp_path / "weights")
    other.prepare(simulator, step)
    assert np.array_equal(other.of_path([step]).prior, guide.of_path([step]).prior)
    with pytest.raises(InputError, match="for 3 actions; the simulator has 4"):
        other.prepare(make_simulator("grid:lava"), step)
    with pytest.raises(InputError, match="expected"):
        guide_of(PolicyConfig(side=36, channels=2, hidden=5)).load_weights(tmp_path / "weights")
    (tmp_path / "weights").write_bytes(b"x")
    with pytest.raises(InputError, match="weights"):
        other.load_weights(tmp_path / "weights")


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"value_bins": 4}, "odd"), ({"side": 84, "image": "area"}, "divide 128")],
)
def test_configurations_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        PolicyConfig(**settings)


def test_small_images():
    levels = np.arange(256, dtype=np.uint8)
    screen = np.random.default_rng(0).integers(0, 256, (210, 160), dtype=np.uint8)
    for kind, side in (("area", 64), ("bilinear", 84)):
        image = small_image(screen, levels, side, kind)
        assert image.shape == (side, side)
        assert image.dtype == np.uint8
        assert (small_image(np.full((210, 160), 7, np.uint8), levels, side, kind) == 7).all()
    blocks = small_image(screen[:128, :128], levels, 64, "area").astype(int)
    means = screen[:128, :128].reshape(64, 2, 64, 2).astype(int).sum(axis=(1, 3))
    assert np.array_equal(blocks, (means + 2) // 4)


def test_tiles_are_means_in_steps():
    levels = np.arange(256, dtype=np.uint8)
    screen = np.zeros((210, 160), np.uint8)
    screen[:105] = 255
    tiles = grey_tiles(screen, levels, 8, 11, 8)
    assert tiles.shape == (8, 11)
    assert tiles[:4].tolist() == [[7] * 11] * 4
    assert tiles[4:].tolist() == [[0] * 11] * 4
    drawn = np.random.default_rng(1).integers(0, 256, (16, 22), dtype=np.uint8)
    means = drawn.reshape(8, 2, 11, 2).astype(float).mean(axis=(1, 3))
    assert np.array_equal(grey_tiles(drawn, levels, 8, 11, 8), (means // 32).astype(np.uint8))

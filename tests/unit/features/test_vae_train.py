import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from olive_iw.errors import InputError
from olive_iw.features.vae import laptop, new_network, paper, training
from olive_iw.features.vae.config import (
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    LaptopConfig,
    PaperConfig,
    TrainingConfig,
    TrainingDivergedError,
)
from olive_iw.features.vae.devices import choose_device
from olive_iw.features.vae.training import train

SHORT = dataclasses.replace(LAPTOP_TRAINING, steps=20, history_every=8)


def network(config=None, seed=0):
    return new_network(config or LaptopConfig(), np.random.default_rng(seed))


def sprites(count, seed=0):
    """Images with a bright and a grey sprite at random places."""
    rng = np.random.default_rng(seed)
    images = np.zeros((count, 128, 128), np.uint8)
    for image, (row, column, other) in zip(images, rng.integers(118, size=(count, 3)), strict=True):
        image[row : row + 6, column : column + 4] = 255
        image[100:104, other : other + 9] = 140
    return images


def weights(model):
    return model.weights()


def same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one)


def test_profiles_are_those_of_the_design():
    assert (LAPTOP_TRAINING.steps, LAPTOP_TRAINING.batch) == (600, 512)
    assert (LAPTOP_TRAINING.learning_rate, LAPTOP_TRAINING.balance) == (3e-3, 0.0)
    assert LAPTOP_TRAINING.warm_start
    assert (PAPER_TRAINING.epochs, PAPER_TRAINING.batch) == (100, 64)
    assert PAPER_TRAINING.learning_rate == 1e-4
    assert (PAPER_TRAINING.gradient_clip, PAPER_TRAINING.logit_clamp) == (1.0, 8.0)
    assert PAPER_TRAINING.held_out_share == 0.05
    assert not PAPER_TRAINING.warm_start
    assert {LAPTOP_TRAINING.beta, PAPER_TRAINING.beta} == {1e-4}
    assert (PAPER_TRAINING.temperature_max, PAPER_TRAINING.temperature_min) == (5.0, 0.5)


def test_loss_falls_on_held_out_images_too():
    report = train(network(), sprites(200), dataclasses.replace(SHORT, steps=120), rng(0))
    assert report.images == 190
    assert report.steps == 120
    assert report.history[-1].loss < 0.5 * report.history[0].loss
    assert report.held_out_loss < 0.5 * report.history[0].held_out_loss


def rng(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("config", "how", "count"),
    [
        (LaptopConfig(), SHORT, 100),
        (PaperConfig(), TrainingConfig(steps=2, batch=2, learning_rate=1e-4, warm_start=True), 4),
    ],
)
def test_same_seed_same_weights_bit_for_bit(config, how, count):
    before = torch.get_rng_state()
    results = []
    for seed in (1, 1, 2):
        model = network(config)
        train(model, sprites(count), how, rng(seed))
        results.append(weights(model))
    assert same(results[0], results[1])
    assert not same(results[0], results[2])
    assert torch.equal(torch.get_rng_state(), before)


def test_cold_start_forgets_the_weights_and_warm_start_does_not():
    for warm, equal in ((False, True), (True, False)):
        how = dataclasses.replace(SHORT, steps=3, warm_start=warm)
        one, other = network(seed=1), network(seed=2)
        for model in (one, other):
            train(model, sprites(30), how, rng(0))
        assert same(weights(one), weights(other)) == equal


def test_epochs_see_every_training_item_once_each():
    how = TrainingConfig(epochs=2, batch=30, learning_rate=1e-3, warm_start=True)
    state = training._Training(network(), sprites(100), how, rng(0))
    assert state.images == 95
    items = set(state.trained)
    whole, rest = divmod(len(items), 30)
    assert rest > 0
    assert state.steps == 2 * (whole + 1)
    seen = [batch for batch, _ in zip(state._batches(), range(state.steps), strict=False)]
    assert [len(batch) for batch in seen] == 2 * [*[30] * whole, rest]
    stream = np.concatenate(seen)
    first, second = stream[: len(items)], stream[len(items) :]
    assert set(first) == set(second) == items
    assert first.tolist() != second.tolist()


def test_steps_are_full_batches_across_passes():
    how = dataclasses.replace(SHORT, steps=4, batch=200, held_out_share=0.0)
    state = training._Training(network(), sprites(2), how, rng(0))
    count = len(state.trained)
    assert count < 200
    stream = np.concatenate([batch for batch, _ in zip(state._batches(), range(4), strict=False)])
    assert len(stream) == 800
    assert set(stream[:count]) == set(stream[count : 2 * count]) == set(state.trained)


def test_an_epoch_of_few_images_is_one_small_batch():
    how = dataclasses.replace(PAPER_TRAINING, epochs=2, held_out_share=0.0)
    report = train(network(PaperConfig(channels=2)), sprites(3), how, rng(0))
    assert report.steps == 2
    assert report.images_per_second * report.seconds == pytest.approx(2 * 3)


@pytest.mark.parametrize("config", [LaptopConfig(), PaperConfig(channels=2)])
def test_read_only_images_are_trained_on_without_a_warning(config):
    images = sprites(3)
    images.flags.writeable = False
    how = dataclasses.replace(PAPER_TRAINING, epochs=1)
    train(network(config), images, how, rng(0))  # warnings are errors here


@pytest.mark.parametrize(
    ("wrong", "loss"), [({"learning_rate": 10.0, "steps": 200}, "e"), ({"beta": 1e6}, "e")]
)
def test_a_training_that_diverges_says_so_and_keeps_the_weights(wrong, loss, monkeypatch):
    monkeypatch.setattr(training, "_LARGEST_LOSS", 1e7)
    model = network()
    before = weights(model)
    how = dataclasses.replace(SHORT, **wrong)
    with pytest.raises(TrainingDivergedError, match=f"diverged: the loss is .*{loss}.* at step"):
        train(model, sprites(20), how, rng(0))
    assert same(before, weights(model))


def test_weights_that_are_no_numbers_after_the_last_step_are_a_divergence(monkeypatch):
    def spoilt(self, *batch):
        self.network.parameters[0] = float("nan")
        return 1.0

    monkeypatch.setattr(laptop._Training, "step", spoilt)
    model = network()
    before = weights(model)
    with pytest.raises(TrainingDivergedError):
        train(model, sprites(20), dataclasses.replace(SHORT, held_out_share=0.0), rng(0))
    assert same(before, weights(model))


def test_items_of_held_out_images_alone_are_not_trained_on():
    images = np.zeros((20, 128, 128), np.uint8)
    for number, image in enumerate(images):
        image[:8, :8] = number + 1
    how = dataclasses.replace(SHORT, held_out_share=0.25)
    state = training._Training(network(), images, how, rng(0))
    assert (state.images, state.held_out_images) == (15, 5)
    own = set(range(len(state.items.inputs))) - set(state.trained)
    assert len(own) == 5
    assert own <= set(np.flatnonzero(state.held_out))


@pytest.mark.parametrize(("balance", "ratio"), [(0.0, 1.0), (0.5, 2.0), (1.0, 4.0)])
def test_balance_weighs_items_by_how_often_they_occur(balance, ratio):
    images = np.zeros((4, 128, 128), np.uint8)
    images[:, :8, :8] = 7
    images[0, 8:16, :8] = 9
    how = dataclasses.replace(SHORT, held_out_share=0.0, balance=balance)
    state = training._Training(network(), images, how, rng(0))
    weight = {
        int(patch[0]): float(w) for patch, w in zip(state.items.inputs, state.weights, strict=True)
    }
    assert weight[7] / weight[9] == pytest.approx(ratio)
    assert float(state.weights.mean()) == pytest.approx(1.0)


def test_progress_tells_every_step_and_anneals():
    steps = []
    train(network(), sprites(40), SHORT, rng(0), on_step=steps.append)
    assert [step.step for step in steps] == list(range(1, 21))
    assert {step.steps for step in steps} == {20}
    assert (steps[0].temperature, steps[-1].temperature) == (5.0, 0.5)
    assert all(np.isfinite(step.loss) for step in steps)


def test_history_has_the_last_step():
    report = train(network(), sprites(40), SHORT, rng(0))
    assert [entry.step for entry in report.history] == [8, 16, 20]
    assert report.seconds > 0
    assert report.images_per_second > 0


def test_few_images_leave_none_held_out():
    report = train(network(), sprites(3), SHORT, rng(0))
    assert report.images == 3
    assert report.held_out_loss is None


def test_evaluation_mode_after_training_even_when_stopped():
    model = network(PaperConfig())
    how = TrainingConfig(steps=2, batch=2, learning_rate=1e-4, warm_start=True)

    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(model, sprites(2), how, rng(0), on_step=interrupt)
    assert not model.module.training


def test_patience_stops_and_returns_to_the_best_weights():
    # A learning rate this large makes things worse from some step on.
    how = dataclasses.replace(
        SHORT, steps=200, learning_rate=0.5, patience=2, history_every=5, held_out_share=0.5
    )
    model = network()
    report = train(model, sprites(60), how, rng(0))
    assert report.steps < 200
    held_out = [entry.held_out_loss for entry in report.history]
    assert held_out.index(min(held_out)) == len(held_out) - 3


def test_bad_input_says_what_is_wrong():
    with pytest.raises(InputError, match="no images"):
        train(network(), np.zeros((0, 128, 128), np.uint8), SHORT, rng(0))
    with pytest.raises(InputError, match="uint8 of shape"):
        train(network(), np.zeros((2, 64, 64), np.uint8), SHORT, rng(0))
    with pytest.raises(InputError, match="uint8 of shape"):
        train(network(), np.zeros((2, 128, 128), np.float32), SHORT, rng(0))
    with pytest.raises(InputError, match="either epochs or steps"):
        TrainingConfig(learning_rate=1.0, warm_start=True)
    for wrong in ({"steps": 0}, {"held_out_share": 1.0}, {"temperature_min": 9.0}, {"batch": 0}):
        with pytest.raises(InputError):
            dataclasses.replace(SHORT, **wrong)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, "1", True, 10**400, None])
@pytest.mark.parametrize("name", ["beta", "learning_rate", "temperature_max", "batch"])
def test_settings_that_are_no_plausible_numbers_are_refused(name, value):
    with pytest.raises(InputError, match=f"{name} = "):
        dataclasses.replace(SHORT, **{name: value})


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        (LaptopConfig, {"hidden": 5000}),
        (LaptopConfig, {"bits": 0}),
        (LaptopConfig, {"slope": float("nan")}),
        (LaptopConfig, {"image": "cubic"}),
        (PaperConfig, {"channels": 10**9}),
        (PaperConfig, {"dropout": 1.0}),
    ],
)
def test_networks_that_cannot_be_are_refused(config, wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        config(**wrong)


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in {"cpu", "cuda", "mps"}
    with pytest.raises(InputError, match="unknown device"):
        choose_device("abacus")


def test_device_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="'cuda' is not there"):
        choose_device("cuda")


def test_adam_is_fused_where_torch_has_it(monkeypatch):
    parameters = list(network(PaperConfig(channels=2)).module.parameters())
    assert paper._adam(parameters, 0.25).defaults["fused"]
    adam = torch.optim.Adam

    def without(parameters, lr, fused=None):
        if fused:
            raise RuntimeError("not on this device")
        return adam(parameters, lr)

    monkeypatch.setattr(torch.optim, "Adam", without)
    plain = paper._adam(parameters, 0.25)
    assert not plain.defaults["fused"]
    assert plain.defaults["lr"] == 0.25


def test_paper_network_stays_channels_last_forward_and_backward():
    """Another layout in between would be converted at every convolution."""
    model = network(PaperConfig())
    wrong, gradients = [], []

    def check(name, tensor):
        if not tensor.is_contiguous(memory_format=torch.channels_last):
            wrong.append(name)

    def check_gradient(name, gradient):
        gradients.append(name)
        check(f"gradient of {name}", gradient)

    def spy(name):
        def hook(module, inputs, output):
            check(f"input of {name}", inputs[0])
            check(f"output of {name}", output)
            if output.requires_grad:
                output.register_hook(lambda gradient: check_gradient(name, gradient))

        return hook

    layers = {
        name: module
        for name, module in model.module.named_modules()
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d | nn.BatchNorm2d)
    }
    handles = [module.register_forward_hook(spy(name)) for name, module in layers.items()]
    how = TrainingConfig(
        steps=1, batch=2, learning_rate=1e-3, warm_start=False, logit_clamp=8.0, held_out_share=0.4
    )
    train(model, sprites(4), how, rng(0))
    for handle in handles:
        handle.remove()
    for name, parameter in model.module.named_parameters():
        if parameter.dim() == 4:
            check(name, parameter)
            check(f"gradient of {name}", parameter.grad)
    assert wrong == []
    assert set(gradients) == set(layers)

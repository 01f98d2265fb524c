import numpy as np
import pytest

from olive_iw import arithmetic
from olive_iw.features.vae import LaptopConfig, new_network
from olive_iw.features.vae.laptop import orthonormalise
from olive_iw.features.vae.training import balanced


def network(seed=0, **config):
    return new_network(LaptopConfig(**config), np.random.default_rng(seed))


def test_the_network_counts_its_layers():
    each_way = 2 * (64 * 64 + 64) + 64 * 20
    assert len(network().parameters) == 2 * each_way + 20 + 64


def test_files_have_the_names_and_shapes_of_torchs_modules():
    shapes = {name: tensor.shape for name, tensor in network(bits=10, hidden=30).weights().items()}
    assert shapes == {
        **{"encoder.0.weight": (30, 64), "encoder.0.bias": (30,)},
        **{"encoder.2.weight": (30, 30), "encoder.2.bias": (30,)},
        **{"encoder.4.weight": (10, 30), "encoder.4.bias": (10,)},
        **{"decoder.0.weight": (30, 10), "decoder.0.bias": (30,)},
        **{"decoder.2.weight": (30, 30), "decoder.2.bias": (30,)},
        **{"decoder.4.weight": (64, 30), "decoder.4.bias": (64,)},
    }


def test_weights_come_back_as_they_were():
    one, other = network(1), network(2)
    assert not np.array_equal(one.parameters, other.parameters)
    other.set_weights(one.weights())
    assert np.array_equal(one.parameters, other.parameters)


def test_first_weights_are_orthogonal_and_biases_zero():
    for layer in network(bits=10).layers:
        few = layer.weight if layer.weight.shape[0] <= layer.weight.shape[1] else layer.weight.T
        np.testing.assert_allclose(few @ few.T, 2.0 * np.eye(len(few)), atol=1e-6)
        assert not layer.bias.any()


def test_orthonormal_rows_span_what_the_rows_spanned():
    rows = np.random.default_rng(0).standard_normal((5, 9))
    rows[1] = rows[0] + 1e-7 * rows[1]  # nearly parallel: one pass would not do
    made = rows.copy()
    orthonormalise(made)
    np.testing.assert_allclose(made @ made.T, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(rows @ made.T @ made, rows, atol=1e-9)


def test_latents_see_their_patch_only():
    images = np.random.default_rng(0).integers(200, size=(2, 128, 128), dtype=np.uint8)
    images[1] = images[0]
    images[1, 8 * 3 + 2, 8 * 5 + 7] += 40
    items = network().items(images)
    _, logits = network().evaluate(items.inputs)
    differs = (logits[items.index[0]] != logits[items.index[1]]).any(axis=1)
    assert np.flatnonzero(differs).tolist() == [16 * 3 + 5]


def test_a_patch_has_the_same_values_whatever_is_beside_it():
    patches = np.random.default_rng(0).integers(256, size=(5000, 64), dtype=np.uint8)
    together = network().evaluate(patches)
    for number in (0, 4095, 4096, 4999):
        alone = network().evaluate(patches[number : number + 1])
        for one, all_of_them in zip(alone, together, strict=True):
            assert np.array_equal(one[0], all_of_them[number])


def test_items_put_the_images_together_again():
    rng = np.random.default_rng(0)
    # Few different patches, and more than the hash table has room for at first.
    images = np.repeat(np.repeat(rng.integers(3, size=(4, 32, 32)), 4, axis=1), 4, axis=2)
    many = rng.integers(256, size=(20, 128, 128))
    for stack in (images.astype(np.uint8), many.astype(np.uint8)):
        items = network().items(stack)
        assert np.array_equal(items.images(items.inputs), stack)
        assert len(np.unique(items.inputs, axis=0)) == len(items.inputs)
    assert len(network().items(images.astype(np.uint8)).inputs) <= 3**4


def test_occurrences_count_every_item():
    images = np.zeros((4, 128, 128), np.uint8)
    images[1, :8, :8] = 9
    items = network().items(images)
    assert items.occurrences(np.array([0, 1, 1])).tolist() == [3 * 256 - 2, 2]


def test_balance_is_a_power_of_what_occurs():
    occurs = np.array([1, 4, 0, 16])
    for balance in (0.0, 0.5, 1.0):
        found = balanced(occurs, balance)[[0, 1, 3]]
        expected = np.array([1.0, 4.0, 16.0]) ** balance
        np.testing.assert_allclose(found, expected / expected.mean(), rtol=1e-6)


@pytest.mark.parametrize("name", ["exp", "log"])
def test_exponentials_are_right_to_two_units_of_the_last_digit(name):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(-40, 40, 3000), rng.uniform(-700, 700, 500), [0.0, 1.0]])
    values = values if name == "exp" else np.exp(values)
    found = np.array([getattr(arithmetic, name)(float(value)) for value in values])
    expected = getattr(np, name)(values.astype(np.longdouble))
    assert (np.abs(found - expected) <= 2 * np.spacing(np.abs(found))).all()
    assert arithmetic.exp(0.0) == 1.0
    assert arithmetic.log(1.0) == 0.0
    assert arithmetic.exp(-1e9) == arithmetic.exp(-np.inf) == 0.0
    assert np.isfinite(arithmetic.exp(1e9))


def test_a_product_is_summed_in_order():
    rng = np.random.default_rng(0)
    for terms in (1, 3, 4, 10):
        left = rng.standard_normal((3, terms)).astype(np.float32)
        right = rng.standard_normal((terms, 7)).astype(np.float32)
        expected = np.ones((3, 7), np.float32)
        out = expected.copy()
        for k in range(terms):
            expected += left[:, k : k + 1] * right[k]
        arithmetic.add_product(left, right, out)
        assert np.array_equal(out, expected)

"""The laptop network: each 8×8 patch on its own through a small perceptron, there and back.

Written out as the textbook has it, layer by layer, so that it needs no library and gives the same
weights on every machine: every sum has the order of its loop. Loops run over independent outputs
inside, so vector units work on several sums at a time, never on parts of one.

All parameters are one vector, and so are their gradients; the layers are views of its parts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.arithmetic import add_product, log, sigmoid
from olive_iw.compiled import njit
from olive_iw.errors import InputError
from olive_iw.features.base import Atoms
from olive_iw.features.patches import PATCH_SIZE, PER_SIDE, number_rows, patch_rows
from olive_iw.features.vae import losses
from olive_iw.features.vae.config import LaptopConfig, TrainingConfig
from olive_iw.features.vae.laptop_planning import LaptopPlanning
from olive_iw.features.vae.network import Bytes, Floats, Items, Step

CONTRAST = 4.0
"""Grey levels enter the network as ±CONTRAST/2: most pixels of a game are nearly black, and without
it (and without orthogonal first weights) 300 steps tell 20 patches of Breakout apart, not 160."""
GAIN = 1.4142135623730951
"""Length of the first weights' rows or columns: √2, since a leaky ReLU halves the variance."""
SMALLEST_DRAW = 1e-7
"""Uniform draws are kept this far from 0 and 1, where their logits end."""
AT_A_TIME = 4_096
"""Patches evaluated at a time: their values stay in the processor's caches."""


class Layer(NamedTuple):
    """Outputs = inputs @ weight + bias."""

    weight: Floats
    """Shape (inputs, outputs); files have it the other way round."""
    bias: Floats
    """Shape (1, outputs)."""


@final
class LaptopNetwork:
    """64 pixels → hidden → hidden → bits, and back; between the layers leaky ReLU."""

    def __init__(self, config: LaptopConfig) -> None:
        """Make a network without weights: `initialise` draws them, `set_weights` takes others."""
        self.config = config
        pixels = PATCH_SIZE**2
        hidden = config.hidden
        self._sizes = [pixels, hidden, hidden, config.bits, hidden, hidden, pixels]
        shapes = ((before + 1) * after for before, after in self._pairs())
        self.parameters: Floats = np.zeros(sum(shapes), np.float32)
        self.layers = self._cut(self.parameters)
        self.slope = np.float32(config.slope)

    def _pairs(self) -> list[tuple[int, int]]:
        """Return the inputs and outputs of each layer; from the bits on they decode."""
        return list(zip(self._sizes, self._sizes[1:], strict=False))

    def _cut(self, vector: Floats) -> list[Layer]:
        """Cut a vector of parameters, or of their gradients, into layers."""
        layers, end = list[Layer](), 0
        for before, after in self._pairs():
            start, middle, end = end, end + before * after, end + (before + 1) * after
            weight = vector[start:middle].reshape(before, after)
            layers.append(Layer(weight, vector[middle:end].reshape(1, after)))
        return layers

    @property
    def encoder(self) -> list[Layer]:
        """Layers from pixels to bits."""
        return self.layers[:3]

    @property
    def decoder(self) -> list[Layer]:
        """Layers from bits to pixels."""
        return self.layers[3:]

    def weights(self) -> dict[str, NDArray[Any]]:
        """Copy all weights, by their names in files."""
        named = {}
        for way, layers in (("encoder", self.encoder), ("decoder", self.decoder)):
            for number, layer in enumerate(layers):  # a leaky ReLU is counted as a layer there
                named[f"{way}.{2 * number}.weight"] = layer.weight.T.copy()
                named[f"{way}.{2 * number}.bias"] = layer.bias[0].copy()
        return named

    def set_weights(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `weights` gave."""
        for way, layers in (("encoder", self.encoder), ("decoder", self.decoder)):
            for number, layer in enumerate(layers):
                layer.weight[:] = weights[f"{way}.{2 * number}.weight"].T
                layer.bias[0] = weights[f"{way}.{2 * number}.bias"]

    def initialise(self, generator: np.random.Generator) -> None:
        """Draw orthogonal weights; biases are zero."""
        for layer in self.layers:
            few, many = sorted(layer.weight.shape)
            # The sum of twelve uniform draws is nearly normal, and needs no logarithm.
            rows = np.zeros((few, many))
            for _ in range(12):
                rows += generator.random((few, many)) - 0.5
            orthonormalise(rows)
            rows *= GAIN
            layer.weight[:] = rows if layer.weight.shape == rows.shape else rows.T
            layer.bias[:] = 0.0

    def items(self, images: Bytes) -> Items:
        """Distinct patches of images, shape (N, 128, 128), in the order of their first place."""
        rows = patch_rows(images)
        distinct = np.empty_like(rows)
        index = np.empty(len(rows), np.int64)
        slots = np.zeros(1 << max(12, (2 * len(rows)).bit_length()), np.int32)
        count = number_rows(rows, distinct, slots, 0, index)
        patches = distinct[:count].copy().view(np.uint8)
        return Items(patches, index.reshape(len(images), PER_SIDE**2))

    def evaluate(self, inputs: Bytes) -> tuple[Floats, Floats]:
        """Pixel logits, shape (M, 64), and latent logits, shape (M, bits), of patches."""
        pixels = np.empty(inputs.shape, np.float32)
        logits = np.empty((len(inputs), self.config.bits), np.float32)
        for start in range(0, len(inputs), AT_A_TIME):
            part = slice(start, start + AT_A_TIME)
            logits[part] = self._through(self.encoder, _entering(inputs[part]))[-1]
            probabilities = np.empty_like(logits[part])
            # Without noise and at temperature 1 this is sigmoid(logit), the mean of the bits.
            relaxed(logits[part], np.full(probabilities.shape, 0.5), 1.0, probabilities)
            pixels[part] = self._through(self.decoder, _centred(probabilities))[-1]
        return pixels, logits

    def planning(self) -> LaptopPlanning:
        """Make the planning encoder of the present weights."""
        weights = [layer.weight.copy() for layer in self.encoder]
        biases = [layer.bias.copy() for layer in self.encoder]
        # (x - 0.5) · CONTRAST, done once to the first layer instead of to every patch.
        sums = np.zeros_like(biases[0])
        add_product(np.ones((1, len(weights[0])), np.float32), weights[0], sums)
        biases[0] -= np.float32(0.5 * CONTRAST) * sums
        weights[0] *= np.float32(CONTRAST)
        return LaptopPlanning(tuple(weights), tuple(biases), self.slope)

    def noisy_atoms(self, image: Bytes, generator: np.random.Generator) -> Atoms:
        """Refuse: nothing of this network is random."""
        raise InputError("training_mode is for the profile paper: this network has no dropout")

    @contextmanager
    def training(self, config: TrainingConfig, generator: np.random.Generator) -> Iterator[Step]:
        """Make a step of training, with Adam's memory."""
        yield _Training(self, config, generator).step

    def _through(self, layers: Sequence[Layer], values: Floats) -> list[Floats]:
        """Put values, shape (M, inputs), through layers; return them and each layer's outputs."""
        met = [values]
        for layer in layers:
            outputs = np.repeat(layer.bias, len(values), axis=0)
            add_product(met[-1], layer.weight, outputs)
            if layer is not layers[-1]:
                leaky_relu(outputs, self.slope)
            met.append(outputs)
        return met

    def _back(
        self,
        layers: Sequence[Layer],
        gradients: Sequence[Layer],
        met: Sequence[Floats],
        gradient: Floats,
    ) -> Floats:
        """Fill in the gradients of layers from that of their last outputs.

        `met` is what `_through` returned. Returns the gradient of the values that went in.
        """
        ones = np.ones((1, len(gradient)), np.float32)  # a product with it sums, in order
        for number in reversed(range(len(layers))):
            layer, of_layer, inputs = layers[number], gradients[number], met[number]
            of_layer.weight[:] = 0.0
            of_layer.bias[:] = 0.0
            add_product(np.ascontiguousarray(inputs.T), gradient, of_layer.weight)
            add_product(ones, gradient, of_layer.bias)
            before = np.zeros_like(inputs)
            add_product(gradient, np.ascontiguousarray(layer.weight.T), before)
            if number > 0:
                leaky_relu_gradient(inputs, self.slope, before)
            gradient = before
        return gradient


@final
class _Training:
    """Gradients of one step after another, and Adam's memory of them."""

    def __init__(
        self, network: LaptopNetwork, config: TrainingConfig, generator: np.random.Generator
    ) -> None:
        self.network, self.config, self.generator = network, config, generator
        self.gradient: Floats = np.zeros_like(network.parameters)
        self.by_layer = network._cut(self.gradient)
        self.first = np.zeros_like(network.parameters)
        self.second = np.zeros_like(network.parameters)
        self.first_share = self.second_share = 1.0
        """What the zeros that `first` and `second` began as still weigh in them."""

    def step(self, inputs: Bytes, weights: Floats, temperature: float) -> float:
        """Take a step; see `network.Step`."""
        shape = len(inputs), self.network.config.bits
        draws = self.generator.random(shape)
        loss = self.backward(inputs, weights, temperature, draws)
        self.update()
        return loss

    def backward(
        self, inputs: Bytes, weights: Floats, temperature: float, draws: NDArray[np.float64]
    ) -> float:
        """Weighted mean of a batch's losses; its gradient is left in `gradient`.

        `draws`, in [0, 1], shape (B, bits), are the noise.
        """
        network, config = self.network, self.config
        encoded = network._through(network.encoder, _entering(inputs))
        clamp = np.float32(np.inf if config.logit_clamp is None else config.logit_clamp)
        logits = np.clip(encoded[-1], -clamp, clamp)
        latents = np.empty_like(logits)
        relaxed(logits, draws, temperature, latents)
        decoded = network._through(network.decoder, _centred(latents))
        of_pixels = np.empty_like(decoded[-1])
        reconstruction_gradient(decoded[-1], inputs, weights, of_pixels)
        of_latents = network._back(network.decoder, self.by_layer[3:], decoded, of_pixels)
        of_logits = np.empty_like(logits)
        latent_gradient(logits, latents, of_latents, weights, temperature, config.beta, of_logits)
        # Where a logit was clamped, the loss does not depend on it.
        of_logits[np.abs(encoded[-1]) > clamp] = 0.0
        network._back(network.encoder, self.by_layer[:3], encoded, of_logits)
        each = losses.loss(decoded[-1], inputs, logits, config.beta)
        total = 0.0
        for loss, weight in zip(each.tolist(), weights.tolist(), strict=True):
            total += loss * weight
        return total / len(inputs)

    def update(self) -> None:
        """Change the parameters by the gradient, with Adam."""
        if self.config.gradient_clip is not None:
            self.gradient *= np.float32(min(1.0, self.config.gradient_clip / norm(self.gradient)))
        self.first_share *= 0.9
        self.second_share *= 0.999
        adam(
            self.network.parameters,
            self.gradient,
            self.first,
            self.second,
            np.float32(self.config.learning_rate),
            np.float32(1.0 - self.first_share),
            np.float32(1.0 - self.second_share),
        )


def _entering(inputs: Bytes) -> Floats:
    """Patches as they enter the network, from −CONTRAST/2 to CONTRAST/2."""
    grey = inputs.astype(np.float32) / np.float32(255.0)
    return (grey - np.float32(0.5)) * np.float32(CONTRAST)


def _centred(latents: Floats) -> Floats:
    """Latents in [0, 1] as the decoder takes them, from −1 to 1."""
    return np.float32(2.0) * latents - np.float32(1.0)


@njit
def leaky_relu(values: Floats, slope: np.float32) -> None:
    """Multiply what is below zero by `slope`, in place."""
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            if values[row, column] < 0:
                values[row, column] *= slope


@njit
def leaky_relu_gradient(values: Floats, slope: np.float32, gradient: Floats) -> None:
    """Turn the gradient of what `leaky_relu` gave into that of what it was given, in place."""
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            if values[row, column] < 0:
                gradient[row, column] *= slope


@njit
def relaxed(
    logits: Floats, draws: NDArray[np.float64], temperature: float, latents: Floats
) -> None:
    """Set latents to relaxed bits: sigmoid((logit + Logistic(0, 1)) / temperature).

    The logit of a uniform draw is logistic. Draws of a half are no noise.
    """
    for row in range(logits.shape[0]):
        for column in range(logits.shape[1]):
            draw = min(max(draws[row, column], SMALLEST_DRAW), 1.0 - SMALLEST_DRAW)
            noise = log(draw / (1.0 - draw))
            latents[row, column] = sigmoid((logits[row, column] + noise) / temperature)


@njit
def reconstruction_gradient(
    pixel_logits: Floats, inputs: Bytes, weights: Floats, gradient: Floats
) -> None:
    """Gradient, shape (B, 64), of the weighted mean reconstruction loss by the pixel logits."""
    for row in range(inputs.shape[0]):
        share = weights[row] / np.float32(inputs.shape[0])
        for column in range(inputs.shape[1]):
            # The loss, ln(1 + e^x) − x · grey, has the derivative sigmoid(x) − grey.
            probability = sigmoid(np.float64(pixel_logits[row, column]))
            gradient[row, column] = (probability - inputs[row, column] / 255.0) * share


@njit
def latent_gradient(
    logits: Floats,
    latents: Floats,
    of_latents: Floats,
    weights: Floats,
    temperature: float,
    beta: float,
    gradient: Floats,
) -> None:
    """Gradient, shape (B, bits), by the logits: through the relaxed latents, and of beta · KL.

    `of_latents` is the gradient by 2 · latent − 1, which the decoder was given.
    """
    for row in range(logits.shape[0]):
        share = weights[row] / np.float32(logits.shape[0])
        for column in range(logits.shape[1]):
            z, logit = np.float64(latents[row, column]), np.float64(logits[row, column])
            # z = sigmoid((logit + noise) / temperature), of which the decoder was given 2z − 1.
            sampled = 2.0 * of_latents[row, column] * z * (1.0 - z) / temperature
            # KL = ln 2 − entropy(p); the entropy has the derivative −logit · p(1 − p) by the logit.
            p = sigmoid(logit)
            gradient[row, column] = sampled + beta * share * logit * p * (1.0 - p)


@njit
def norm(gradient: Floats) -> float:
    """Euclidean length."""
    total = 0.0
    for value in gradient:
        total += np.float64(value) * np.float64(value)
    return np.sqrt(total)  # type: ignore[no-any-return]


@njit
def adam(
    parameters: Floats,
    gradient: Floats,
    first: Floats,
    second: Floats,
    rate: np.float32,
    first_share: np.float32,
    second_share: np.float32,
) -> None:
    """Adam (Kingma and Ba 2015), with its usual 0.9, 0.999 and 1e-8, in place.

    The shares are what the gradients met weigh in `first` and `second`; zeros have the rest.
    """
    for n in range(len(parameters)):
        first[n] = np.float32(0.9) * first[n] + np.float32(0.1) * gradient[n]
        second[n] = np.float32(0.999) * second[n] + np.float32(0.001) * gradient[n] * gradient[n]
        deviation = np.sqrt(second[n] / second_share) + np.float32(1e-8)
        parameters[n] -= rate * (first[n] / first_share) / deviation


@njit
def orthonormalise(rows: NDArray[np.float64]) -> None:
    """Make rows, no more than columns, orthonormal in place: Gram and Schmidt, each row twice."""
    count, size = rows.shape
    for row in range(count):
        for _ in range(2):  # once leaves what rounding adds
            for other in range(row):
                product = 0.0
                for column in range(size):
                    product += rows[row, column] * rows[other, column]
                for column in range(size):
                    rows[row, column] -= product * rows[other, column]
        square = 0.0
        for column in range(size):
            square += rows[row, column] * rows[row, column]
        for column in range(size):
            rows[row, column] /= np.sqrt(square)

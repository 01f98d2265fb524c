"""The paper's network, with the interface that features and training use; it needs torch."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from olive_iw.features.base import Atoms
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.vae import paper_loss
from olive_iw.features.vae.config import PaperConfig, TrainingConfig
from olive_iw.features.vae.devices import choose_device, kept_memory, torch_generator
from olive_iw.features.vae.network import Bytes, Floats, Items, PlanningEncoder, Step
from olive_iw.features.vae.paper_modules import PaperVae, build, initialise, on_device
from olive_iw.features.vae.paper_planning import TrainingModePlanning, planning_encoder

_AT_A_TIME = 64
"""Images evaluated at a time."""


@final
class PaperNetwork:
    """VAE-IW's network on a device; `module` is the network as torch has it."""

    def __init__(self, config: PaperConfig, device: str = "cpu") -> None:
        """Make a network without weights: `initialise` draws them, `set_weights` takes others."""
        self.config = config
        self.module: PaperVae = build(config).to(choose_device(device))
        self.device = next(self.module.parameters()).device
        self._in_training: TrainingModePlanning | None = None

    def weights(self) -> dict[str, NDArray[Any]]:
        """Copy all weights, by their names in files."""
        state = self.module.state_dict()
        return {name: tensor.cpu().contiguous().numpy().copy() for name, tensor in state.items()}

    def set_weights(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `weights` gave."""
        self.module.load_state_dict({name: torch.tensor(it) for name, it in weights.items()})

    def initialise(self, generator: np.random.Generator) -> None:
        """Draw new weights."""
        initialise(self.module, torch_generator(generator))

    def items(self, images: Bytes) -> Items:
        """Each of the images, uint8, shape (N, 128, 128), an item."""
        return Items(
            images.reshape(len(images), IMAGE_SIZE**2), np.arange(len(images))[:, np.newaxis]
        )

    def evaluate(self, inputs: Bytes) -> tuple[Floats, Floats]:
        """Pixel logits, shape (M, 16384), and latent logits, shape (M, latents), of images."""
        training = self.module.training
        self.module.eval()
        pixels = np.empty(inputs.shape, np.float32)
        logits = np.empty((len(inputs), self.config.side**2 * self.config.bits), np.float32)
        with torch.inference_mode():
            for start in range(0, len(inputs), _AT_A_TIME):
                # Some at a time: of thousands of images the layers would fill the memory.
                part = slice(start, start + _AT_A_TIME)
                latents = self.module.encode(on_device(self.module, inputs[part]))
                decoded = self.module.decode(torch.sigmoid(latents))
                logits[part] = latents.flatten(1).cpu().numpy()
                pixels[part] = decoded.flatten(1).cpu().numpy()
        self.module.train(training)
        return pixels, logits

    def planning(self) -> PlanningEncoder:
        """Make the planning encoder of the present weights."""
        self._in_training = None  # it has a copy of the weights that were
        return planning_encoder(self.module)

    def noisy_atoms(self, image: Bytes, generator: np.random.Generator) -> Atoms:
        """Atoms of an image, shape (128, 128), in training mode: others every time."""
        if self._in_training is None:
            self._in_training = TrainingModePlanning(self.module)
        return self._in_training.atoms(image, torch_generator(generator, self.device))

    @contextmanager
    def training(self, config: TrainingConfig, generator: np.random.Generator) -> Iterator[Step]:
        """Make a step of training, in training mode until the context ends."""
        noise = torch_generator(generator, self.device)
        parameters = list(self.module.parameters())
        optimiser = _adam(parameters, config.learning_rate)

        def step(inputs: Bytes, weights: Floats, temperature: float) -> float:
            images = on_device(self.module, inputs)
            logits = self.module.encode(images, noise)
            if config.logit_clamp is not None:
                logits = logits.clamp(-config.logit_clamp, config.logit_clamp)
            latents = paper_loss.concrete_sample(logits, temperature, noise)
            pixels = self.module.decode(latents, noise)
            each = paper_loss.loss(pixels, images, logits, config.beta)
            loss = (each * torch.tensor(weights, device=self.device)).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            if config.gradient_clip is not None:
                torch.nn.utils.clip_grad_norm_(parameters, config.gradient_clip)
            optimiser.step()
            return float(loss.detach())

        self.module.train()
        try:
            with kept_memory():
                yield step
        finally:
            self.module.eval()


def _adam(parameters: list[torch.nn.Parameter], learning_rate: float) -> torch.optim.Adam:
    """Adam in one call for all parameters, where torch has that for their device."""
    try:
        return torch.optim.Adam(parameters, lr=learning_rate, fused=True)
    except RuntimeError:
        return torch.optim.Adam(parameters, lr=learning_rate)

"""Pictures for the page: small PNGs as data addresses."""

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from olive_iw.features.binary_vae import BinaryVae
from olive_iw.features.image import grey_image
from olive_iw.runs.replay import picture
from olive_iw.simulators.base import Simulator, Step, grey_levels
from olive_iw.viewer.page_messages import NetworkView


def data_address(pixels: NDArray[np.uint8]) -> str:
    """PNG of grey (height, width) or RGB (height, width, 3) pixels, as a data address."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=4)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def screen_address(simulator: Simulator, step: Step) -> str:
    """Show a step's screen in colour."""
    return data_address(picture(simulator, step))


def network_view(vae: BinaryVae, simulator: Simulator, step: Step) -> NetworkView:
    """Show what a VAE makes of a step's screen."""
    image = grey_image(step.screen, grey_levels(simulator), vae.config.image)
    images = image[np.newaxis]
    decoded = np.clip(vae.reconstruct(images)[0] * 255, 0, 255).astype(np.uint8)
    difference = np.abs(decoded.astype(np.int16) - image)
    side, bits = vae.config.side, vae.config.bits
    active = vae.encode(images)[0].reshape(side * side, bits).sum(axis=1)
    return NetworkView(
        input=data_address(image),
        reconstruction=data_address(decoded),
        error_map=data_address(np.minimum(4 * difference, 255).astype(np.uint8)),
        error=round(float(vae.reconstruction_error(images)[0]), 1),
        elbo=round(float(vae.elbo(images)[0]), 1),
        side=side,
        bits=bits,
        active=[int(count) for count in active],
    )

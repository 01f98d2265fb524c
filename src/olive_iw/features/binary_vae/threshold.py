"""When a latent counts as true in planning."""

import math

LOGIT_THRESHOLD = math.log(0.9 / 0.1)
"""sigmoid(logit) > 0.9 is logit > this."""

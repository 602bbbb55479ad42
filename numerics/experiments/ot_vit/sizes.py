"""Which six-layer models have 3.2 M parameters; the document prints that number, but no width, no heads, no patches.

Counted on the models themselves.  Where templates are keys and values in one, OT-ViT is hidden² + hidden parameters smaller
than ViT, and both are 3.2 M only for some widths; where it keeps ViT's keys and values, both have the same number.

Claims      deciphering.tab1
"""

from dataclasses import dataclass, replace

from numerics.experiments.ot_vit.model import Architecture, Kind, parameters

FEWEST, MOST = 3_150_000, 3_250_000  # what is rounded to 3.2 M
RATIOS = (1, 2, 3, 4)  # width of the perceptron over that of a token
STEP = 8  # widths that are tried are its multiples, as heads ask for
IMAGES = {"fashion-mnist": (28, 1, 10), "cifar10": (32, 3, 10), "cifar100": (32, 3, 100)}


@dataclass(frozen=True)
class Size:
    """A configuration and the parameters of both models."""

    architecture: Architecture
    vit: int
    transport: int

    @property
    def both(self) -> bool:
        """Whether both models have the printed number."""
        return FEWEST <= self.vit < MOST and FEWEST <= self.transport < MOST


def size(architecture: Architecture) -> Size:
    """Count the parameters of both models."""
    return Size(architecture, parameters(architecture, Kind.ORDINARY), parameters(architecture, Kind.TRANSPORT))


def fitting(dataset: str, patch: int = 4, ratios: tuple[int, ...] = RATIOS) -> list[Size]:
    """All widths (multiples of `STEP`) for which one of the two models, or both, has the printed number of parameters.

    Raises:
        ValueError: for a dataset that is not in Table 1.
    """
    if dataset not in IMAGES:
        raise ValueError(f"dataset: expected one of {', '.join(IMAGES)}, got {dataset!r}")
    side, channels, classes = IMAGES[dataset]
    sizes = []
    for ratio in ratios:
        base = Architecture(side, channels, classes, patch, hidden=STEP, heads=1, mlp=ratio * STEP)
        hidden = _smallest(base, ratio)
        while (each := size(_wide(base, hidden, ratio))).transport < MOST:
            sizes.append(each)
            hidden += STEP
    return sizes


def _smallest(base: Architecture, ratio: int) -> int:
    """The smallest width at which ViT, the larger of the two, has `FEWEST` parameters; they grow with the width."""
    low, high = 0, 1
    while parameters(_wide(base, high * STEP, ratio), Kind.ORDINARY) < FEWEST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        reached = parameters(_wide(base, middle * STEP, ratio), Kind.ORDINARY) >= FEWEST
        low, high = (low, middle) if reached else (middle, high)
    return high * STEP


def _wide(base: Architecture, hidden: int, ratio: int) -> Architecture:
    return replace(base, hidden=hidden, mlp=ratio * hidden)

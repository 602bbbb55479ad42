"""A larger problem compared with POT's Sinkhorn in the log domain, at equal marginal errors: a pair to time."""

import math
from collections.abc import Callable

import numpy as np
import ot
import torch
from torch import Tensor

from numerics import tolerances
from numerics.transport import sinkhorn
from tests.numerics.transport.problems import connection


def race(size: int = 128, epsilon: float = 1e-2) -> tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """The functions to time: this package's and POT's ``sinkhorn_log``, on one float64 problem between points of the square."""
    rng = np.random.default_rng(0)
    x, y = rng.random((size, 2)), rng.random((size, 2))
    cost = ((x[:, None] - y[None]) ** 2).sum(-1)
    cost = cost / cost.max()
    mass = np.full(size, 1 / size)
    arguments = torch.from_numpy(cost), torch.from_numpy(mass), torch.from_numpy(mass)

    def own() -> Tensor:
        return sinkhorn(*arguments, epsilon).plan

    def peer() -> Tensor:
        return torch.from_numpy(ot.bregman.sinkhorn_log(mass, mass, cost, epsilon, stopThr=1e-9))

    return own, peer


def test_the_plan_is_that_of_pot() -> None:
    own, peer = race()
    # POT stops at an error of 1e-9 in ℓ2, for masses of 1/128 each.
    plan = own()
    allowed = tolerances.plan_from_residual(1e-9 * math.sqrt(len(plan)), connection(plan))
    assert float((plan - peer()).abs().sum()) <= allowed
    assert float((race(epsilon=1.01e-2)[0]() - plan).abs().sum()) > allowed

"""Sinkhorn's plans compared with those of POT, wherever POT converges."""

import math
from collections.abc import Iterator

import numpy as np
import ot
import pytest
import torch

from evidence.instances.transport import TransportProblem
from numerics import tolerances
from numerics.transport import sinkhorn
from tests.numerics.common import close
from tests.numerics.transport.problems import apart, errors, exponent, random_problem


def peer_problems() -> Iterator[tuple[int, float]]:
    """200 random problems: fifty for each ε."""
    yield from ((seed, epsilon) for epsilon in (1.0, 0.1, 0.01, 0.001) for seed in range(50))


@pytest.mark.filterwarnings("ignore:Sinkhorn did not converge", "ignore:overflow encountered in exp")
def test_pot_agrees_on_200_problems_wherever_it_converges() -> None:
    reached, refused = {1.0: 0, 0.1: 0, 0.01: 0, 0.001: 0}, 0
    for seed, epsilon in peer_problems():
        sizes = np.random.default_rng(seed).integers(1, 13, size=2)
        cost, a, b = random_problem(seed, *map(int, sizes))
        cost = cost / cost.max()
        result = sinkhorn(cost, a, b, epsilon)
        own = float(errors(TransportProblem(cost, a, b, epsilon, math.inf, ""), result))
        data = a.numpy(), b.numpy(), cost.numpy()
        peer, log = ot.bregman.sinkhorn_log(*data, epsilon, numItermax=1000, stopThr=1e-11, log=True)
        peer_error = float(np.abs(peer.sum(1) - a.numpy()).sum() + np.abs(peer.sum(0) - b.numpy()).sum())
        assert own <= 1e-9
        if peer_error > 1e-9:
            continue
        reached[epsilon] += 1
        rows = result.row_potential / epsilon + a.log() - torch.from_numpy(log["log_u"])
        columns = result.column_potential / epsilon + b.log() - torch.from_numpy(log["log_v"])
        shift = (rows.max() + rows.min()) / 2
        potential = float((rows - shift).abs().max() + (columns + shift).abs().max())
        allowed = tolerances.plan_from_marginals(own + peer_error, potential) + tolerances.plan("float64", 24, 4 / epsilon)
        assert float((result.plan - torch.from_numpy(peer)).abs().sum()) <= allowed
        wrong = sinkhorn(cost, a, b, epsilon * 1.01).plan
        refused += float((wrong - torch.from_numpy(peer)).abs().sum()) > allowed
    assert reached[1.0] == reached[0.1] == 50
    assert reached[0.01] >= 40
    assert reached[0.001] >= 20
    assert refused >= 120  # with one row or column, or at ε → 0, ε does not matter


@pytest.mark.parametrize("relaxation", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_pot_agrees_on_the_relaxed_problem(seed: int, relaxation: float) -> None:
    cost, a, b = random_problem(seed)
    epsilon = 0.5
    result = sinkhorn(cost, a, b, epsilon, relaxation=relaxation)
    peer = ot.unbalanced.sinkhorn_unbalanced(
        a.numpy(),
        b.numpy(),
        cost.numpy(),
        epsilon,
        (math.inf, relaxation),
        method="sinkhorn",
        reg_type="kl",
        numItermax=20000,
        stopThr=1e-15,
    )
    # The peer's scalings stop where nothing changes in float64; the relaxed problem is the better conditioned one.
    largest = exponent(TransportProblem(cost, a, b, epsilon, relaxation, ""))
    close(result.plan, torch.from_numpy(peer), apart(result.plan, largest))

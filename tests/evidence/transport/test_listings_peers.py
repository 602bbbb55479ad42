"""The model of `sinkhorn` compared with POT: problems where both converge to one plan, and the error after ten rounds."""

import math

import numpy as np
import ot
import pytest
import torch
from torch import Tensor

from evidence.transport import listings as models
from numerics import transport


def problem(n: int, m: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random marginals and costs between 0 and 1."""
    rng = np.random.default_rng(seed)
    return (
        torch.from_numpy(rng.dirichlet(np.ones(n) * 3)),
        torch.from_numpy(rng.dirichlet(np.ones(m) * 3)),
        torch.from_numpy(rng.random((n, m))),
    )


def peer(source: Tensor, target: Tensor, cost: Tensor, epsilon: float) -> Tensor:
    """POT's plan, in the log domain, to a marginal error of 1e-12."""
    plan = ot.bregman.sinkhorn_log(source.numpy(), target.numpy(), cost.numpy(), epsilon, numItermax=100_000, stopThr=1e-12)
    return torch.from_numpy(plan)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (4, 1), (3, 3), (4, 6)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_many_rounds_without_a_guard_reach_the_plan_of_pot(n: int, m: int, seed: int, epsilon: float) -> None:
    source, target, cost = problem(n, m, seed)
    plan = models.sinkhorn(source, target, cost, epsilon, rounds=2000, guard=0.0)
    torch.testing.assert_close(plan, peer(source, target, cost, epsilon), atol=1e-10, rtol=0)
    torch.testing.assert_close(plan, transport.sinkhorn(cost, source, target, epsilon).plan, atol=1e-10, rtol=0)


def distances(epsilon: float, shift: float = 0.0, rounds: int = 10) -> list[float]:
    """The distances in ℓ1 of the listing's plan from POT's, for a few problems."""
    values = []
    for seed in range(6):
        source, target, cost = problem(4, 5, seed)
        plan = models.sinkhorn(source, target, cost + shift, epsilon, rounds)
        values.append(float((plan - peer(source, target, cost, epsilon)).abs().sum()))
    return values


def test_ten_rounds_do_at_a_high_temperature_and_not_at_a_low_one() -> None:
    """1e-8 compared with sums above 1/e changes each scaling by at most 1e-7."""
    assert max(distances(1.0)) < 1e-6
    assert min(distances(0.02)) > 1e-3


def test_the_guard_takes_over_when_all_costs_grow() -> None:
    assert max(distances(0.1, rounds=2000)) < 1e-2
    assert min(distances(0.1, shift=4.0, rounds=2000)) > 0.5


def test_linear_weights_are_a_plan_for_their_own_cost() -> None:
    """The listing's weights solve POT's one-sided problem for the cost −log κ at ε = 1."""
    generator = torch.Generator().manual_seed(0)
    query, key = torch.rand(2, 3, 4, generator=generator, dtype=torch.float64) + 0.1
    weights = models.linear_attention(query[None], key[None], torch.eye(3, dtype=torch.float64)[None], guard=0.0)[0]
    cost = -(query @ key.mT).log()
    plan = ot.unbalanced.sinkhorn_unbalanced(
        np.ones(3), np.ones(3), cost.numpy(), 1.0, (np.inf, 0.0), reg_type="kl", numItermax=10_000, stopThr=1e-14
    )
    torch.testing.assert_close(weights, torch.from_numpy(plan), atol=1e-10, rtol=0)


def test_attention_is_multi_head_attention() -> None:
    """The module with nn.MultiheadAttention's weights gives its output."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ours, theirs = models.AttentionAsOT(12, 3).double(), torch.nn.MultiheadAttention(12, 3, batch_first=True).double()
        x = torch.randn(2, 5, 12, dtype=torch.float64)
    with torch.no_grad():
        parts = (ours.query, ours.key, ours.value)
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        theirs.out_proj.load_state_dict(ours.output.state_dict())
        torch.testing.assert_close(ours(x), theirs(x, x, x)[0])


def test_shared_projections_make_both_modules_one() -> None:
    """At ε = 1 and without iterations the module is nn.MultiheadAttention; with its own projections it is not."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        experiment, x = models.OTAttentionExperiment(12, 3).double(), torch.randn(2, 5, 12, dtype=torch.float64)
    experiment.transport.iterations = 0
    with torch.no_grad():
        experiment.transport.log_epsilon.fill_(math.log(math.e - 1))
        standard, independent, _, _ = experiment.compare(x)
        models.share_projections(experiment.standard, experiment.transport)
        _, shared, averaged, per_head = experiment.compare(x)
        heads = experiment.standard(x, x, x, average_attn_weights=False)[1]
    assert float((standard - independent).abs().max()) > 0.1
    torch.testing.assert_close(standard, shared, atol=1e-12, rtol=0)
    assert models.row_entropies(heads).mean().item() == pytest.approx(per_head, abs=1e-12)
    assert averaged > per_head + 1e-3

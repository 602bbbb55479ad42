"""Attention by optimal transport: positive weights, limits in α and γ, groups, symmetries, special costs."""

import math

import torch
from hypothesis import given
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from evidence.instances.ot import MILD, OtProblem, ot_batches
from numerics import ot_attention as ot
from numerics import tolerances
from tests.numerics.common import PATIENT, close, double

F64 = torch.float64

# --- which weights are positive, and limits ----------------------------------------------------------------------


@PATIENT
@given(ot_batches(**MILD))
def test_weights_sum_to_the_prior_and_vanish_exactly_where_it_cannot_go(x: OtProblem) -> None:
    p = ot.weights(*x.arguments)
    close(p.sum(-1), x.prior.sum(-1), tolerances.rounding("float64", x.N + x.n))
    reached = ((x.cost < torch.inf) & (x.prior > 0).unsqueeze(-2)).any(-1)
    assert ((p > 0) == reached).all()
    if (x.cost < torch.inf).all():
        assert (p > 0).all()


def test_prior_mass_without_destination_is_left_out() -> None:
    stuck = double([0.0, torch.inf], [0.0, torch.inf])
    close(ot.true_preference(double(0.25, 0.75), stuck), double(0.125, 0.125), 1e-16)
    assert ot.conjugate(double(0.0, 0.0), double(0.25, 0.75), stuck) == -torch.inf
    close(ot.conjugate(double(0.0, 0.0), double(1.0, 0.0), stuck), torch.tensor(math.log(2), dtype=F64), 1e-15)


def shared_evenly(u: Tensor, chosen: Tensor) -> Tensor:
    """The result of sharing a prior evenly among the chosen entries of each column."""
    part = chosen.to(F64)
    return (part / part.sum(-2, keepdim=True) * u.unsqueeze(-2)).sum(-1)


@PATIENT
@given(ot_batches())
def test_without_entropy_the_prior_is_shared_among_the_cheapest(x: OtProblem) -> None:
    gap = x.cost - x.cost.amin(-2, keepdim=True)
    least = float(gap[(gap > 0) & (gap < torch.inf)].amin()) if ((gap > 0) & (gap < torch.inf)).any() else 1.0
    limit = shared_evenly(x.prior, gap == 0)
    gamma = least / 60.0
    close(ot.true_preference(x.prior, x.cost, gamma), limit, tolerances.plan("float64", x.N + x.n) + x.N * math.exp(-60))
    # With evidence, the lowest cost is min_i M_ij − α⟨t_i, z⟩.
    tilt = x.cost - x.alpha * (x.templates @ x.evidence.unsqueeze(-1))
    distance = tilt - tilt.amin(-2, keepdim=True)
    if (distance == 0).sum(-2).max() == 1 and (distance[distance > 0] > 1e-9).all():
        p = ot.weights(*x.tensors, x.alpha, 1e-12)
        close(p, shared_evenly(x.prior, distance == 0), tolerances.plan("float64", x.N + x.n) + x.N * math.exp(-900))


@PATIENT
@given(ot_batches(costs=("distances", "any", "zero", "inner")))
def test_the_prior_is_recovered_exactly_if_the_diagonal_is_the_strict_minimum(x: OtProblem) -> None:
    if x.n != x.N:
        return
    others = x.cost + torch.where(torch.eye(x.N, dtype=torch.bool), torch.inf, 0.0)
    strict = (x.cost.diagonal(dim1=-2, dim2=-1) < others.amin(-2)) | (x.prior == 0)
    limit = shared_evenly(x.prior, x.cost == x.cost.amin(-2, keepdim=True))
    recovered = (limit - x.prior).abs().amax(-1) == 0
    assert (recovered | ~strict.all(-1)).all()
    # Without it some prior moves: that which sits on the column where the diagonal is not the strict minimum.
    for j in range(x.N):
        vertex = torch.zeros_like(x.prior)
        vertex[..., j] = 1.0
        differs = (shared_evenly(vertex, x.cost == x.cost.amin(-2, keepdim=True)) - vertex).abs().amax(-1) > 0
        assert (differs == ~(x.cost[..., j, j] < others[..., j].amin(-1))).all()


def test_the_cost_of_the_experiment_moves_the_prior() -> None:
    """t = (1, 2): ⟨t_1, t_2⟩ = 2 > 1 = ‖t_1‖², so M_11 = C − 1 > M_21 = C − 2, and all of u = (1, 0) goes to t_2."""
    t, u = double([1.0], [2.0]), double(1.0, 0.0)
    cost = ot.negative_inner_product(t)
    assert cost.tolist() == [[3.0, 2.0], [2.0, 0.0]]
    close(ot.true_preference(u, cost, 1e-3), double(0.0, 1.0), 1e-15)
    close(ot.true_preference(u, torch.zeros(2, 2, dtype=F64), 1e-3), double(0.5, 0.5), 1e-16)


def test_normalizing_over_the_wrong_index_is_detected() -> None:
    """K = exp(−M) = (1 1/2; 1/4 1), u = (1, 0): ũ = (4/5, 1/5); by rows it would be (2/3, 1/6)."""
    cost = -double([1.0, 0.5], [0.25, 1.0]).log()
    close(ot.true_preference(double(1.0, 0.0), cost), double(0.8, 0.2), 1e-15)


@PATIENT
@given(ot_batches())
def test_with_nothing_but_entropy_prior_is_spread_evenly(x: OtProblem) -> None:
    size = x.alpha * x.reach * float(x.evidence.norm(dim=-1).max()) + float(x.cost[x.cost < torch.inf].abs().max())
    gamma = 1e6 * (1 + size)
    limit = shared_evenly(x.prior, x.cost < torch.inf)
    # A logit that spreads over s moves the total variation by tanh(s/4) ≤ s/4 at most.
    close(ot.weights(*x.tensors, x.alpha, gamma), limit, 2 * size / gamma + tolerances.plan("float64", x.N + x.n))


@PATIENT
@given(ot_batches(gammas=(1.0, 0.3), costs=("distances", "inner", "any", "forbidding")))
def test_limits_in_alpha(x: OtProblem) -> None:
    t, z, u, M = x.tensors
    small = 1e-9
    slack = small * x.reach * float(z.norm(dim=-1).max()) / x.gamma + tolerances.plan("float64", x.N + x.n, x.logit)
    close(ot.weights(t, z, u, M, small, x.gamma), ot.true_preference(u, M, x.gamma), slack)
    # α → ∞: each column keeps its kernel on the templates that are farthest along z.
    score = torch.where(x.cost < torch.inf, t @ z.unsqueeze(-1), -torch.inf)
    lead = score.amax(-2, keepdim=True) - score
    if ((lead == 0) | (lead > 1e-6)).all() and (lead == 0).sum(-2).max() == 1:
        best = torch.where(lead == 0, M, torch.inf)
        limit = ot.true_preference(u, best, x.gamma)
        close(ot.weights(t, z, u, M, 1e10, x.gamma), limit, tolerances.plan("float64", x.N + x.n, x.logit))


def test_a_tie_along_the_evidence_keeps_the_kernel_among_the_tied() -> None:
    """⟨t, z⟩ = 1, 1, 0 and q(·|1) ∝ (1, 1/3, 9): as α → ∞, p → (3/4, 1/4, 0)."""
    t, z, u = double([1.0, 0.0], [1.0, 5.0], [0.0, 0.0]), double(1.0, 0.0), double(1.0)
    cost = -double([1.0], [1 / 3], [9.0]).log()
    close(ot.weights(t, z, u, cost, 1e3), double(0.75, 0.25, 0.0), tolerances.plan("float64", 3, 1e3))


@PATIENT
@given(ot_batches(costs=("groups",), **MILD))
def test_a_group_shares_its_prior_by_inner_products_only(x: OtProblem) -> None:
    """p(t) = u_G softmax over G of α⟨t, z⟩/γ; equal shares exactly if the inner products in G are equal."""
    p, score = ot.weights(*x.arguments), (x.templates @ x.evidence.unsqueeze(-1)).squeeze(-1)
    same = (x.cost == 0).to(F64)
    group_mass = (same @ x.prior.unsqueeze(-1)).squeeze(-1)
    rise = torch.exp(x.alpha * score / x.gamma)
    close(p, group_mass * rise / (same @ rise.unsqueeze(-1)).squeeze(-1), x.rounding)
    even = group_mass / same.sum(-1)
    spread = torch.where(same > 0, score.unsqueeze(-2) - score.unsqueeze(-1), 0.0).abs().amax(-1)
    tilt = x.alpha * spread / x.gamma
    assert (p <= even * tilt.exp() + x.rounding).all()
    assert (p >= even * (-tilt).exp() - x.rounding).all()
    apart = ((spread > 1e-3) & (group_mass > 0)).any(-1)
    assert ((p - even).abs().amax(-1)[apart] > 1e-6 * group_mass.amax(-1)[apart]).all()


# --- symmetries --------------------------------------------------------------------------------------------------


@PATIENT
@given(ot_batches(**MILD))
def test_invariances(x: OtProblem) -> None:
    t, z, u, M = x.tensors
    a, c = x.alpha, x.gamma
    p, slack = ot.weights(t, z, u, M, a, c), 4 * x.rounding + 4 * tolerances.plan("float64", x.N + x.n, 40 * a / c)
    close(ot.weights(t, z, u, 8 * M, 8 * a, 8 * c), p, slack)
    close(ot.weights(3 * t, 3 * z, u, M, a / 9, c), p, slack)
    close(ot.weights(3 * t, z, u, M, a / 3, c), p, slack)
    close(ot.weights(t + 2.0, z, u, M, a, c), p, slack)
    close(ot.weights(t, z, u, M + torch.arange(x.n), a, c), p, slack)
    exact_solution, scaled = ot.solve(t, z, u, M, a, c), ot.solve(t, z, u, 8 * M, 8 * a, 8 * c)
    far = float((8 * exact_solution.distance + scaled.distance).max())
    close(scaled.dual, 8 * exact_solution.dual, far + 8 * a * x.N * x.reach * slack)
    close(scaled.weights, exact_solution.weights, slack)
    close(ot.solve(3 * t, 3 * z, u, M, a / 9, c).weights, exact_solution.weights, slack)
    close(ot.solve(t + 2.0, z, u, M, a, c).weights, exact_solution.weights, slack)


def test_a_number_added_to_a_row_of_the_cost_changes_the_weights() -> None:
    u, M = double(0.5, 0.5), torch.zeros(2, 2, dtype=F64)
    changed = ot.true_preference(u, M + double([0.0], [math.log(3)]))
    close(changed, double(0.75, 0.25), 1e-15)


@PATIENT
@given(ot_batches(costs=("zero",), **MILD))
def test_a_cost_of_the_destination_only_is_ordinary_attention(x: OtProblem) -> None:
    """M_ij = −γ log v_i turns (25) into attention with prior v and scores α⟨t, z⟩/γ, whatever u is."""
    v = torch.rand(x.prior.shape, generator=torch.Generator().manual_seed(3), dtype=F64)
    cost = (-x.gamma * v.log()).unsqueeze(-1).expand(x.cost.shape)
    scores = x.alpha / x.gamma * (x.templates @ x.evidence.unsqueeze(-1)).squeeze(-1)
    rise = v * scores.exp()
    close(
        ot.weights(x.templates, x.evidence, x.prior, cost, x.alpha, x.gamma),
        rise / rise.sum(-1, keepdim=True),
        x.rounding + tolerances.plan("float64", x.N, 40),
    )


@PATIENT
@given(ot_batches(costs=("inner",)))
def test_inner_products_as_costs_are_attention_with_shifted_queries(x: OtProblem) -> None:
    t, z, u, _ = x.tensors
    queries = x.alpha * z.unsqueeze(-2) + t
    each = scaled_dot_product_attention(queries, t, t, scale=1 / x.gamma)
    expected = (u.unsqueeze(-1) * each).sum(-2)
    slack = 2 * x.N * (x.reach + 1) * (x.rounding + tolerances.plan("float64", x.N, 8 * x.logit + 100 / x.gamma))
    close(ot.attend(*x.arguments), expected, slack)
    close(ot.attend_by_inner_products(t, z, u, x.alpha, x.gamma), expected, slack)
    for constant in (0.0, 17.0):
        cost = ot.negative_inner_product(t, constant=constant)
        close(ot.attend(t, z, u, cost, x.alpha, x.gamma), expected, slack)

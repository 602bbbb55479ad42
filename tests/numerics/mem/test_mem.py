"""The closed forms of maximum entropy on the mean, compared with extended precision, autograd and attention."""

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from evidence.instances.mem import MemBatch, mem_batches
from numerics import mem, tolerances
from numerics.mem.arguments import weighted
from tests.numerics.common import PATIENT, close, in_dtypes, on_devices, wide

ORDINARY = {"alphas": (0.1, 1.0, 30.0), "scales": (1.0, 0.01)}


def dual_point(x: MemBatch, seed: int = 0) -> Tensor:
    return torch.randn(x.evidence.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def reference(x: MemBatch, dual: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """tilt(λ) and log M(λ) from their definitions, in extended precision."""
    scores = (wide(x.templates) * wide(dual)[..., None, :]).sum(-1)
    u = wide(x.weighted_prior)
    peak = np.where(u > 0, scores, -np.inf).max(-1, keepdims=True)
    terms = u * np.exp(np.where(u > 0, scores - peak, -np.inf))
    total = terms.sum(-1, keepdims=True)
    return terms / total, (np.log(total) + peak)[..., 0]


def size_of_logits(x: MemBatch, dual: Tensor) -> float:
    """The magnitudes of the terms of a logit ⟨t_i, λ⟩ + log u_i, in units of rounding: d products, and a bias."""
    products = (x.templates.abs() * dual.abs().unsqueeze(-2)).sum(-1).max()
    log_prior = x.weighted_prior.clamp(min=1e-30).log().abs().max()
    return float((x.d + 2) * products + 4 * log_prior)


# --- tilts and log-partitions ------------------------------------------------------------------------------------


@on_devices
@in_dtypes
def test_tilt_and_log_partition_are_exact_to_rounding(dtype: torch.dtype, device: str) -> None:
    @PATIENT
    @given(mem_batches(scales=(1.0, 0.01)))
    def check(problem: MemBatch) -> None:
        x, dual = problem.rounded_to(dtype), dual_point(problem).to(dtype)
        placed = [None if y is None else y.to(device) for y in (dual, x.templates, x.prior, x.mask)]
        p, log_m = mem.tilt(*placed), mem.log_partition(*placed)
        assert p.dtype == log_m.dtype == (dtype if x.mask is None or x.mask.dtype == torch.bool else p.dtype)
        weights, value = reference(x, dual)
        logits = size_of_logits(x, dual.double())
        close(p.cpu().double(), torch.from_numpy(weights.astype(float)), tolerances.plan(dtype, x.n, logits))
        allowed = tolerances.rounding(dtype, x.n + x.d, 2 + 2 * logits)
        close(log_m.cpu().double(), torch.from_numpy(value.astype(float)), allowed)

    check()


@PATIENT
@given(mem_batches(**ORDINARY))
def test_log_partition_generates_mean_and_covariance(x: MemBatch) -> None:
    def log_m(point: Tensor) -> Tensor:
        return mem.log_partition(point, x.templates, x.prior, x.mask).sum()

    dual = dual_point(x).requires_grad_()
    (first,) = torch.autograd.grad(log_m(dual), dual, create_graph=True)
    mean, covariance = mem.moments(x.templates, mem.tilt(dual.detach(), x.templates, x.prior, x.mask))
    scale = float(x.templates.abs().max()) + 1
    allowed = tolerances.rounding("float64", x.n * x.d, 4 * scale**2 * (1 + size_of_logits(x, dual.detach())))
    close(first.detach(), mean, allowed)
    for k in range(x.d):
        (second,) = torch.autograd.grad(first[..., k].sum(), dual, retain_graph=True)
        close(second, covariance[..., k], allowed)


def test_log_partition_vanishes_at_zero() -> None:
    templates = 30 * torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    assert float(mem.log_partition(torch.zeros(3), templates)) == pytest.approx(0.0, abs=1e-6)


# --- the two objectives ------------------------------------------------------------------------------------------


@PATIENT
@given(mem_batches(**ORDINARY))
def test_primal_less_dual_is_a_divergence_and_a_square(x: MemBatch) -> None:
    dual = dual_point(x)
    q = torch.rand(x.weighted_prior.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 0.1
    q = q.where(x.weighted_prior > 0, 0.0)
    q = q / q.sum(-1, keepdim=True)
    p = mem.tilt(dual, x.templates, x.prior, x.mask)
    alpha = torch.as_tensor(x.alpha, dtype=torch.float64).expand(x.evidence.shape[:-1])
    divergence = torch.where(q > 0, q * (q.log() - p.log()), 0.0).sum(-1)
    templates = x.templates.expand(*x.evidence.shape[:-1], x.n, x.d)
    target = torch.einsum("...n,...nd->...d", x.weighted_prior - q, templates) + x.evidence
    square = alpha / 2 * (target - dual / alpha.unsqueeze(-1)).square().sum(-1)
    left = mem.primal_objective(q, *x.arguments) - mem.dual_objective(dual, *x.arguments)
    reach = float(x.evidence.abs().max() + 20 * x.templates.abs().max() + dual.abs().max() / alpha.min())
    scale = float(alpha.max()) * x.d * reach**2 + size_of_logits(x, dual)
    close(left, divergence + square, tolerances.rounding("float64", x.n * x.d, 4 * scale))


@PATIENT
@given(mem_batches(**ORDINARY))
def test_dual_gradient_is_the_gradient_of_the_dual(x: MemBatch) -> None:
    dual = dual_point(x).requires_grad_()
    (expected,) = torch.autograd.grad(mem.dual_objective(dual, *x.arguments).sum(), dual)
    alpha = torch.as_tensor(x.alpha).min()
    scale = float(x.evidence.abs().max() + x.templates.abs().max() * (1 + size_of_logits(x, dual.detach())) + 4 / alpha)
    close(mem.dual_gradient(dual.detach(), *x.arguments), expected, tolerances.rounding("float64", x.n, 4 * scale))


def test_weights_outside_the_support_have_infinite_cost() -> None:
    templates, prior = torch.eye(2), torch.tensor([0.0, 1.0])
    assert mem.primal_objective(torch.tensor([0.5, 0.5]), templates, torch.zeros(2), prior) == torch.inf
    assert mem.primal_objective(torch.tensor([0.0, 1.0]), templates, torch.zeros(2), prior) == 0


# --- the printed approximations ----------------------------------------------------------------------------------


@on_devices
@pytest.mark.parametrize("kind", ["none", "boolean", "float"])
def test_closed_form_is_attention(kind: str, device: str) -> None:
    generator = torch.Generator().manual_seed(0)
    templates = torch.randn(2, 1, 6, 4, generator=generator, dtype=torch.float64).to(device)
    evidence = torch.randn(2, 5, 4, generator=generator, dtype=torch.float64).to(device)
    mask = {"none": None, "boolean": torch.rand(2, 5, 6, generator=generator).to(device) < 0.6}.get(kind)
    if mask is not None:
        mask[..., 0] = True
    if kind == "float":
        mask = torch.randn(2, 5, 6, generator=generator, dtype=torch.float64).to(device)
    keys = templates.squeeze(1)
    expected = scaled_dot_product_attention(evidence, keys, keys, attn_mask=mask, scale=0.7)
    close(mem.closed_form(templates, evidence, None, 0.7, mask), expected, tolerances.rounding("float64", 64, 10.0))


@PATIENT
@given(mem_batches(alphas=(0.1, 1.0, 1e-4), scales=(1.0, 0.01)))
def test_resolvent_solves_its_equation(x: MemBatch) -> None:
    dual = mem.resolvent(*x.arguments)
    _, covariance = mem.moments(x.templates, x.weighted_prior)
    alpha = torch.as_tensor(x.alpha, dtype=torch.float64).expand(x.evidence.shape[:-1]).unsqueeze(-1)
    left = dual / alpha + torch.einsum("...de,...e->...d", covariance, dual)
    scale = float((1 + alpha.max() * covariance.norm()) ** 2 * (1 + x.evidence.norm()) * (1 + x.templates.norm()))
    close(left, x.evidence, tolerances.rounding("float64", x.n * x.d, 4 * scale))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_resolvent_of_collinear_templates_is_accurate_or_nan(dtype: torch.dtype) -> None:
    """Across the line λ = αz comes from I alone, which rounding eventually absorbs beside αΣ."""
    line, across = torch.tensor([[1.0, 1.0, 3.0], [1.0, 2.0, -1.0]], dtype=dtype)
    for n in (2, 3, 5):  # fewer than there are dimensions, as many, more
        templates = torch.arange(n, dtype=dtype).square().unsqueeze(-1) * line
        size = tolerances.eps(dtype) * float(templates.var(0, correction=0).sum())
        for alpha in (10.0**decade for decade in range(36)):
            solution = mem.resolvent(templates, across, None, alpha) / alpha
            if bool(solution.isnan().all()):
                assert alpha * size > 1 / 16
            else:
                close(solution, across, min(16 * alpha * size + 4 * tolerances.eps(dtype), 1.0))
        assert bool(solution.isnan().all())


def test_resolvent_of_sizes_far_apart_keeps_its_digits() -> None:
    templates = torch.tensor([[1e8, 0.0], [-1e8, 0.0], [0.0, 1e-3], [0.0, -1e-3]])
    solution = mem.resolvent(templates, torch.ones(2), None, 1e4)
    assert_close(solution, torch.tensor([1e4 / (1 + 1e4 * 5e15), 1e4 / (1 + 1e4 * 5e-7)]))


def test_wrong_versions_are_refuted() -> None:
    """The tolerances above are far below the error of a lost α, a second moment for Σ, or an unnormalized prior."""
    templates, evidence = torch.tensor([[1.0, 0.5], [2.0, -1.0]], dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    x = MemBatch.of(templates, evidence, None, 0.5)
    dual, allowed = mem.resolvent(*x.arguments), tolerances.rounding("float64", 4, 1e3)
    _, covariance = mem.moments(x.templates, x.weighted_prior)
    second = covariance + torch.outer(*2 * [x.templates.mean(0)])
    for wrong in (0.5 * dual + covariance @ dual, dual / 0.5 + second @ dual):
        assert float((wrong - x.evidence).abs().max()) > 1e6 * allowed
    mask = torch.tensor([True, False])
    assert float(mem.log_partition(0 * dual, x.templates, None, mask)) == 0.0
    left = mem.log_partition(dual, x.templates, torch.tensor([0.3, 0.7], dtype=torch.float64), mask)
    close(left, x.templates[0] @ dual, allowed)


# --- masks, shapes, dtypes, derivatives --------------------------------------------------------------------------


@PATIENT
@given(mem_batches(masks=("boolean", "float"), priors=("none", "generic"), **ORDINARY))
def test_masking_is_removal(x: MemBatch) -> None:
    assert x.mask is not None
    allowed = (x.mask if x.mask.dtype == torch.bool else x.mask > -torch.inf).reshape(-1, x.n)
    means = mem.closed_form(*x.arguments).reshape(-1, x.d)
    for row, keep, mean in zip(x.rows(), allowed, means, strict=True):
        assert row.prior is not None
        unmasked = mem.closed_form(row.templates[keep], row.evidence, row.prior[keep], row.alpha)
        scale = float(x.templates.abs().max()) * (1 + size_of_logits(x, 30 * x.evidence))
        close(mean, unmasked, tolerances.rounding("float64", x.n, 4 * scale))


def test_a_dead_row_gives_zeros_and_no_nan() -> None:
    templates = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    evidence = torch.ones(2, 3, requires_grad=True)
    mask = torch.tensor([[True, False, True, True], [False] * 4])
    weights = mem.tilt(evidence, templates, None, mask)
    results = [
        weights,
        mem.closed_form(templates, evidence, None, 1.0, mask),
        mem.resolvent(templates, evidence, None, 1.0, mask),
        mem.dual_gradient(evidence, templates, evidence, None, 1.0, mask),
        mem.primal_objective(weights, templates, evidence, None, 1.0, mask),
        mem.dual_objective(evidence, templates, evidence, None, 1.0, mask),
    ]
    for result in results:
        assert bool((result[1] == 0).all()), result
        gradients = torch.autograd.grad(result.sum(), (templates, evidence), retain_graph=True, allow_unused=True)
        assert all(bool(x.isfinite().all()) for x in gradients if x is not None)
    assert mem.log_partition(evidence, templates, None, mask)[1] == -torch.inf


def test_templates_may_have_rows_that_the_evidence_lacks() -> None:
    t, z = torch.eye(3)[None], torch.tensor([1.0, 2.0, -1.0])
    for function in (mem.closed_form, mem.resolvent):
        assert function(t, z).shape == (1, 3)
        assert_close(function(t, z)[0], function(t[0], z))


def test_a_dead_row_and_an_absent_template_have_derivatives_that_are_zero() -> None:
    templates, evidence = torch.eye(3, dtype=torch.float64)[:, :2], torch.tensor([[0.3, 1.0]] * 2, dtype=torch.float64)
    prior = torch.tensor([0.4, 0.6, 0.0], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[0.5, 0.0, 0.0], [-torch.inf] * 3], dtype=torch.float64, requires_grad=True)
    for function in (mem.closed_form, mem.resolvent, mem.dual_objective, mem.dual_gradient):
        points = (evidence,) if function in (mem.dual_objective, mem.dual_gradient) else ()
        with torch.autograd.set_detect_anomaly(True):
            outputs = function(*points, templates, 3 * evidence, prior, 1.0, mask)
            of_prior, of_mask = torch.autograd.grad(outputs.square().sum(), (prior, mask))
        assert bool((outputs[1] == 0).all())
        assert float(of_prior[2]) == 0
        assert of_mask[1].tolist() == [0.0] * 3
        assert bool((of_prior[:2] != 0).all())


def test_excluded_entries_have_no_influence() -> None:
    """A prior that is NaN at masked entries, and a huge mask where the prior is zero."""
    templates, dual = torch.eye(3), torch.zeros(3)
    expected = torch.tensor([0.0, 0.3, 0.0]).softmax(-1)
    for prior, mask in (([0.0, 0.5, 0.5], [1e30, 0.3, 0.0]), ([torch.nan, 0.5, 0.5], [-torch.inf, 0.3, 0.0])):
        weights = mem.tilt(dual, templates, torch.tensor(prior), torch.tensor(mask))
        assert_close(weights, torch.cat((torch.zeros(1), expected[1:] / expected[1:].sum())))


def test_a_product_that_underflows_is_not_treated_as_masked() -> None:
    dual, templates = torch.tensor([3e38]), torch.tensor([[-3e38], [1e-38]])
    assert bool(mem.tilt(dual, templates).isnan().all())
    assert bool(mem.log_partition(dual, templates).isnan())


def test_a_boolean_mask_that_allows_everything_changes_nothing() -> None:
    templates, prior = torch.eye(4), torch.tensor([0.1, 0.2, 0.3, 0.4])
    plain, masked = (weighted(templates, prior, mask, torch.float32) for mask in (None, torch.ones(4, dtype=torch.bool)))
    assert torch.equal(plain.log_prior, masked.log_prior)
    assert torch.equal(plain.total, masked.total)


def test_templates_of_a_group_are_shared() -> None:
    generator = torch.Generator().manual_seed(0)
    t = torch.randn(2, 1, 4, 3, generator=generator, dtype=torch.float64)
    z = torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)
    for function in (mem.closed_form, mem.resolvent):
        batched = function(t, z, None, 0.5)
        for i in range(2):
            for j in range(5):
                close(batched[i, j], function(t[i, 0], z[i, j], None, 0.5), 1e-14 * 8)

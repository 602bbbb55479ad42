"""Small α: eigenvalues and radii computed by other routes, and heads of which one is not small."""

from dataclasses import replace

import pytest
import torch

from evidence import Outcome, Run
from evidence.models import small_alpha
from evidence.models.small_alpha import Head, judge, largest_variance, root_alpha, squared_radius, transport_ratio, unit_alpha
from numerics import ot_attention

TEMPLATES = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
HEAD = Head("m", "trained", "a", 16, True, variance=0.5, reach=2.0, ratio=0.01, bound=0.5, transport=0.1)


def test_the_largest_variance_is_that_of_the_covariance() -> None:
    prior = torch.softmax(torch.arange(5, dtype=torch.float64), 0)
    expected = torch.linalg.eigvalsh(torch.cov(TEMPLATES.T, correction=0, aweights=prior))[-1]
    torch.testing.assert_close(largest_variance(TEMPLATES, prior[None])[0], expected)


def test_the_radius_ignores_templates_without_prior_weight() -> None:
    templates = torch.tensor([[0.0], [2.0], [100.0]], dtype=torch.float64)
    prior = torch.tensor([[0.5, 0.5, 0.0]], dtype=torch.float64)
    assert squared_radius(templates, prior).tolist() == [1.0]


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (1, 3)])
def test_the_ratio_of_transport_is_that_of_the_mean_covariance(shape: tuple[int, int]) -> None:
    templates = 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    prior, gamma = torch.softmax(torch.arange(shape[0], dtype=torch.float64), 0), shape[1] ** 0.5
    sigma = ot_attention.mean_covariance(templates, prior, -templates @ templates.T, gamma)
    expected = torch.linalg.eigvalsh(sigma)[-1] / gamma
    assert transport_ratio(templates, prior)[1] == pytest.approx(float(expected), rel=1e-12, abs=1e-14)


def test_one_template_has_no_spread() -> None:
    assert transport_ratio(TEMPLATES[:1], torch.ones(1, dtype=torch.float64)) == pytest.approx((3**-0.5, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("distance", [0.5, 6.0])
def test_the_bound_of_two_templates_is_that_of_half_their_distance(distance: float) -> None:
    templates = torch.zeros(2, 4, dtype=torch.float64)
    templates[1, 2] = distance
    assert transport_ratio(templates, torch.tensor([0.5, 0.5]).double())[2] == pytest.approx((distance / 2) ** 2 / 2)


def test_the_documents_read_one_head_in_two_ways() -> None:
    assert (unit_alpha(HEAD).alpha, unit_alpha(HEAD).scale) == (1.0, 0.25)
    assert (root_alpha(HEAD).alpha, root_alpha(HEAD).scale) == (0.25, 1.0)
    assert unit_alpha(replace(HEAD, divides=False)).scale == 1.0


@pytest.mark.parametrize(("variance", "outcome"), [(0.05, Outcome.HOLDS), (0.2, Outcome.REFUTED)])
def test_one_head_that_is_not_small_is_enough(variance: float, outcome: Outcome) -> None:
    heads = [replace(HEAD, variance=0.05), replace(HEAD, variance=variance)]
    finding = judge(heads, lambda head: head.variance, lambda head: head.reach)
    assert finding.outcome is outcome
    assert "κ < 1 in 0" in finding.detail


def test_random_heads_decide_nothing() -> None:
    heads = [replace(HEAD, variance=0.05), replace(HEAD, weights="random", variance=50.0)]
    assert judge(heads, lambda head: head.variance, lambda head: head.reach).outcome is Outcome.HOLDS


def test_alpha_is_not_small_in_the_encoder() -> None:
    finding = small_alpha.of_attention(unit_alpha)("deciphering.s6.small-alpha-in-practice", Run(quick=True))
    assert finding.outcome is Outcome.REFUTED
    assert "below 0.1 in 0 of 108 trained heads" in finding.detail

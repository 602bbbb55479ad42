"""The statistics of `deviation`, compared with their definitions in the space of the templates."""

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from evidence.instances import fifty_digits
from numerics import mem, tolerances
from numerics.experiments.deviation.statistics import STATISTICS, Measured, Span, divergence, measure, spans

N, D, R = 6, 9, 12
ALPHA = 0.7
# What the statistics compare with λ*, and with ĥ, is at least a thousandth of these.
CLOSE = {"rtol": tolerances.of_difference(tolerances.DUAL_ASKED, 1e-3), "atol": tolerances.DUAL_ASKED}


def problems(seed: int = 0, width: int = D, causal: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Templates (N, width), evidence (R, width), prior (R, N), float64."""
    generator = torch.Generator().manual_seed(seed)
    templates = torch.randn(N, width, generator=generator, dtype=torch.float64)
    evidence = 2 * torch.randn(R, width, generator=generator, dtype=torch.float64)
    prior = torch.rand(R, N, generator=generator, dtype=torch.float64) + 0.1
    if causal:
        prior = prior * (torch.arange(N) <= (torch.arange(R) % N).unsqueeze(-1))
    return templates, evidence, prior / prior.sum(-1, keepdim=True)


def measured(templates: Tensor, evidence: Tensor, prior: Tensor, alpha: float = ALPHA, resolution: float = 1e-12) -> Measured:
    return measure(templates, evidence, prior, alpha, spans(templates, (prior > 0).unique(dim=0), resolution))


@pytest.mark.parametrize("causal", [False, True], ids=["all see all", "causal"])
@pytest.mark.parametrize("width", [3, D], ids=["n > d", "n < d"])
def test_every_statistic_is_its_definition(width: int, causal: bool) -> None:
    """Each from the solution in the full space, projections by pseudo-inverses, the gap as a difference of objectives."""
    templates, evidence, prior = problems(width=width, causal=causal)
    statistics_found = measured(templates, evidence, prior)
    assert statistics_found.undecided == (2 if causal else 0)  # the two queries that see a single template
    exact = mem.solve(templates, evidence, prior, ALPHA, tolerance=tolerances.DUAL_ASKED)
    close = mem.certificate(templates, evidence, prior, ALPHA)
    for k, row in enumerate(statistics_found.rows.tolist()):
        u, z, lam = prior[row], evidence[row], exact.dual[row]
        seen = templates[u > 0]
        differences = seen - seen.mean(0)
        project = torch.linalg.pinv(differences, rtol=1e-10) @ differences
        mu, miss = u @ templates, lam - ALPHA * z
        p, q = close.weights[row], exact.weights[row]
        distance = (exact.mean[row] - mu).norm()

        def spread(v: Tensor, u: Tensor = u) -> Tensor:
            logits = templates @ v
            return (u @ (logits - u @ logits).square()).sqrt()

        def objective(weights: Tensor, u: Tensor = u, z: Tensor = z) -> Tensor:
            return mem.primal_objective(weights, templates, z, u, ALPHA)

        inside = q > 0
        expected = {
            "deviation": miss.norm() / lam.norm(),
            "visible_deviation": miss.norm() / (project @ lam).norm(),
            "logit_deviation": spread(miss) / spread(lam),
            "output_error": (close.mean[row] - exact.mean[row]).norm() / distance,
            "total_variation": (p - q).abs().sum() / 2,
            "kl": (p * (p / q).log())[inside].sum(),
            "kl_reverse": (q * (q / p).log())[inside].sum(),
            "gap": objective(p) - objective(q),
            "relative_gap": (objective(p) - objective(q)) / (objective(u) - objective(q)),
            "output_bound": close.mean_error[row] / distance,
            "total_variation_bound": close.weights_error[row] / 2,
        }
        assert expected.keys() == set(STATISTICS)
        share = float(expected["gap"] / objective(u).abs())  # the smaller of the two differences of objectives
        by_difference = tolerances.of_difference(tolerances.rounding("float64", D + N), min(share, 1.0))
        for name, value in expected.items():
            allowed = CLOSE | {"rtol": max(CLOSE["rtol"], by_difference)} if name in ("gap", "relative_gap") else CLOSE
            assert_close(statistics_found.values[name][k], value, **allowed, msg=lambda text, name=name: f"{name}: {text}")
        assert statistics_found.templates[k] == (u > 0).sum()


def test_the_deviation_to_fifty_digits() -> None:
    templates, evidence, prior = problems(seed=3)
    statistics_found = measured(templates, evidence[:1], prior[:1])
    law = fifty_digits.Law.of(templates.tolist(), prior[0].tolist())
    exact = fifty_digits.maximize(law, evidence[0].tolist(), ALPHA).estimate
    shift = torch.tensor([float(x) for x in exact], dtype=torch.float64) - prior[0] @ templates
    assert_close(statistics_found.values["deviation"][0], shift.norm() / (evidence[0] - shift).norm(), **CLOSE)


@pytest.mark.parametrize("seed", range(5))
def test_the_certificate_holds(seed: int) -> None:
    values = measured(*problems(seed)).values
    assert bool((values["output_error"] <= values["output_bound"] + 1e-8).all())
    assert bool((values["total_variation"] <= values["total_variation_bound"] + 1e-8).all())


def test_evidence_that_no_template_sees_makes_the_document_s_statistic_small() -> None:
    """Attention and the solution's weights do not change."""
    templates, evidence, prior = problems()
    templates[:, -1] = 1.0  # no difference has a part along the last axis
    before = measured(templates, evidence, prior).values
    evidence[:, -1] += 1000.0
    after = measured(templates, evidence, prior).values
    assert bool((after["deviation"] < before["deviation"] / 100).all())
    for name in set(STATISTICS) - {"deviation"}:
        assert_close(after[name], before[name], rtol=1e-6, atol=1e-9)


def test_splitting_alpha_makes_every_statistic_small() -> None:
    """αz, hence attention, is the same for all α; the deviation is α‖μ − ĥ‖ over something that tends to ‖αz‖."""
    templates, evidence, prior = problems()
    one, split = measured(templates, evidence, prior, 1.0), measured(templates, 1e4 * evidence, prior, 1e-4)
    assert bool((split.values["deviation"] < 1e-3 * one.values["deviation"]).all())
    assert bool((split.values["total_variation"] < 1e-3).all())


def test_coordinates_that_attention_does_not_see_change_the_statistic() -> None:
    """t ↦ At with evidence A⁻ᵀz changes the problem but not attention."""
    templates, evidence, prior = problems(width=4)
    stretch = torch.diag(torch.tensor([10.0, 3.0, 1.0, 0.1], dtype=torch.float64))
    before = measured(templates, evidence, prior).values["deviation"]
    after = measured(templates @ stretch, evidence @ stretch.inverse(), prior).values["deviation"]
    assert bool((after < before / 2).all())


def test_rows_that_have_nothing_to_estimate_are_counted() -> None:
    templates, evidence, prior = problems()
    prior[0] = 0.0  # fully masked
    prior[1] = torch.eye(N, dtype=torch.float64)[2]  # a single template
    evidence[2] = 0.0
    statistics_found = measured(templates, evidence, prior)
    assert (statistics_found.masked, statistics_found.undecided, statistics_found.uncertified) == (1, 2, 0)
    assert sorted(statistics_found.rows.tolist()) == list(range(3, R))
    assert all(bool(value.isfinite().all()) for value in statistics_found.values.values())


def test_rows_that_the_solver_gives_up_are_counted() -> None:
    templates, evidence, prior = problems()
    evidence[4] = math.nan
    statistics_found = measured(templates, evidence, prior)
    assert 4 not in statistics_found.rows.tolist()
    assert statistics_found.undecided + statistics_found.uncertified == 1


def test_all_masked_is_no_error() -> None:
    templates, evidence, prior = problems()
    statistics_found = measured(templates, evidence, torch.zeros_like(prior))
    assert (statistics_found.masked, len(statistics_found.rows)) == (R, 0)


def test_alike_templates_are_one() -> None:
    """A repeated template equals one template with both weights."""
    templates, evidence, prior = problems()
    doubled = torch.cat([templates, templates[:1]])
    halves = torch.cat([prior, prior[:, :1] / 2], 1)
    halves[:, 0] /= 2
    statistics_found, expected = measured(doubled, evidence, halves), measured(templates, evidence, prior)
    for name in STATISTICS:
        assert_close(statistics_found.values[name], expected.values[name], **CLOSE)


def covers(span: Span, templates: Tensor) -> None:
    for support, rank in zip(span.supports, span.ranks.tolist(), strict=True):
        seen = templates[support]
        differences = seen - seen[0]
        basis = span.basis[:, :rank]
        assert rank == int(torch.linalg.matrix_rank(differences, rtol=1e-10))
        assert_close(differences @ basis @ basis.T, differences)
        assert_close(basis.T @ basis, torch.eye(rank, dtype=torch.float64))


def test_nested_supports_share_a_basis() -> None:
    templates, _, _ = problems()
    templates[3] = templates[1]
    (span,) = spans(templates, torch.ones(N, N).tril().bool().flip(0), 1e-12)
    covers(span, templates)
    assert span.ranks.tolist() == [0, 1, 2, 2, 3, 4]


def test_other_supports_have_their_own() -> None:
    templates, _, _ = problems()
    window = torch.ones(N, N).tril().triu(-2).bool()
    actual = spans(templates, window, 1e-12)
    assert len(actual) == N
    for span in actual:
        covers(span, templates)


def test_sliding_windows_are_measured_row_by_row() -> None:
    templates, evidence, prior = problems()
    window = torch.ones(N, N).tril().triu(-2).repeat(R // N, 1)
    prior = prior * window
    prior = prior / prior.sum(-1, keepdim=True)
    together = measured(templates, evidence, prior)
    assert together.undecided == 2
    for k, row in enumerate(together.rows.tolist()):
        single = measured(templates, evidence[row : row + 1], prior[row : row + 1])
        for name in STATISTICS:
            assert_close(together.values[name][k], single.values[name][0], **CLOSE)


def test_a_difference_below_the_resolution_is_no_dimension() -> None:
    templates, _, _ = problems()
    templates[1] = templates[0] + 1e-6
    everything = torch.ones(1, N, dtype=torch.bool)
    assert spans(templates, everything, 1e-9)[0].ranks.tolist() == [N - 1]
    assert spans(templates, everything, 1e-4)[0].ranks.tolist() == [N - 2]


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        ([0.5, 0.5], [0.5, 0.5], 0.0),
        ([1.0, 0.0], [0.5, 0.5], math.log(2)),
        ([0.5, 0.5], [1.0, 0.0], math.inf),
        ([0.0, 1.0], [0.0, 1.0], 0.0),
    ],
)
def test_divergence_with_zeros(p: list[float], q: list[float], expected: float) -> None:
    assert float(divergence(torch.tensor(p).double().log(), torch.tensor(q).double().log())) == pytest.approx(expected)


def test_divergence_of_close_weights_has_no_cancellation() -> None:
    p, step = torch.tensor([0.3, 0.7], dtype=torch.float64), 1e-9
    q = p + torch.tensor([step, -step], dtype=torch.float64)
    expected = step**2 / 2 * (1 / p).sum()
    assert_close(divergence(p.log(), q.log()), expected, rtol=1e-6, atol=0)

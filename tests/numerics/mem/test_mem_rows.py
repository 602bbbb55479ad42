"""Rows of dual problems: sums with exact high parts, and the Hessian compared with its definition."""

import math
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from numerics.mem import rows as module
from numerics.mem.rows import Hessian, Rows
from numerics.tolerances import eps
from tests.numerics.common import close, double

F64 = torch.float64
UNIT = eps("float64") / 2


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def problems(n: int, d: int, *, shared: bool, r: int = 3) -> Rows:
    return Rows(
        normal(0, n, d) if shared else normal(0, r, n, d),
        normal(1, r, n).log_softmax(-1),
        normal(2, r, d),
        torch.tensor([[0.5], [2.0], [30.0]], dtype=F64),
    )


def exactly(row: Tensor, matrix: Tensor) -> list[Fraction]:
    """row @ matrix in rational numbers."""
    numbers = list(map(Fraction, row.tolist()))
    return [sum((a * Fraction(b) for a, b in zip(numbers, column, strict=True)), Fraction(0)) for column in matrix.mT.tolist()]


@pytest.mark.parametrize("terms", [1, 2, 3, 4, 7, 8, 1000, 1024])
def test_products_of_high_parts_just_fit_into_a_significand(terms: int) -> None:
    bits = module.high_bits(terms)
    assert terms * 4**bits < 2**52 <= terms * 4 ** (bits + 1)
    assert module.mean_rounding(terms, 9) == terms * (terms + 3) / 2**bits


def test_a_high_part_is_the_nearest_multiple_of_its_unit() -> None:
    x = torch.tensor([0.3, -0.7, 1.0, 2.0**-40], dtype=F64)
    assert torch.equal(module._high_part(x, double(1.0), 10), (x * 512).round() / 512)
    assert torch.equal(module._high_part(x, double(3.9), 10), (x * 256).round() / 256)
    assert torch.equal(module._high_part(torch.zeros(2, dtype=F64), double(0.0), 10), torch.zeros(2, dtype=F64))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("n", "d"), [(40, 7), (1000, 1), (2, 300)])
def test_means_totals_and_scores_are_rounded_once(n: int, d: int, shared: bool) -> None:
    """Templates with sums that cancel: float64 products would lose the result."""
    x = problems(n, d, shared=shared)
    half, templates = n // 2, x.templates.clone()
    templates[..., half:, :] = -templates[..., :half, :] * (1 + 2.0**-30 * normal(3, half, d))
    x = Rows(templates, x.log_prior, x.target, x.alpha)
    weights = torch.full((3, n), 1 / n, dtype=F64) * (1 + 2.0**-32 * normal(4, 3, n))
    mean, total, dual = x.mean(weights), x.total(weights), normal(5, 3, d)
    scores, tilted = x.precise_scores(dual), x.weights(dual)
    lengths = templates.norm(dim=-1).amax(-1).expand(3)
    for i in range(3):
        t = templates if shared else templates[i]
        allowed = module.mean_rounding(n, d) * UNIT * float(lengths[i])
        for actual, expected in zip(mean[i].tolist(), exactly(weights[i], t), strict=True):
            assert abs(Fraction(actual) - expected) <= UNIT * abs(expected) + Fraction(allowed)
        assert float(total[i]) == float(sum(map(Fraction, weights[i].tolist())))
        error = 2 * UNIT * float(lengths[i]) * float(dual[i].norm()) * (1 + d**1.5 * 2.0 ** (2 - module.high_bits(d)))
        for actual, expected in zip(scores[i].tolist(), exactly(dual[i], t.mT), strict=True):
            assert abs(Fraction(actual) - expected) <= Fraction(error)
        close(tilted[i], (t @ dual[i] + x.log_prior[i]).softmax(-1), 1e-13)
        close(x.scores(dual)[i], t @ dual[i], 1e-12)
    close(x.radius.expand(3, 1)[:, 0], lengths, 0.0)


def test_scores_of_a_small_row_keep_their_digits_beside_a_large_one() -> None:
    """Scores that cancel, of rows of signs with exact high parts: only products with low parts of the templates are rounded."""
    half, signs = normal(0, 4, 150), normal(5, 3, 150).sign()
    templates = torch.cat([half, -half * (1 + 2.0**-30 * normal(3, 4, 150))], -1)
    dual = torch.cat([signs, signs], -1) * torch.tensor([[1.0], [2.0**60], [2.0**-60]], dtype=F64)
    scores = Rows(templates, normal(1, 3, 4), dual, torch.ones(3, 1, dtype=F64)).precise_scores(dual)
    for i in range(3):
        length = float(templates.norm(dim=-1).amax() * dual[i].norm())
        error = UNIT * length * 300**1.5 * 2.0 ** (2 - module.high_bits(300))
        for actual, expected in zip(scores[i].tolist(), exactly(dual[i], templates.mT), strict=True):
            assert abs(Fraction(actual) - expected) <= 4 * Fraction(UNIT) * abs(expected) + Fraction(error)


def test_high_parts_are_as_long_as_their_sums_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means have n terms, and scores d."""
    x, terms = problems(9, 4, shared=True), []
    bits = module.high_bits
    monkeypatch.setattr(module, "high_bits", lambda count: (terms.append(count), bits(count))[1])
    x.mean(torch.full((3, 9), 1 / 9, dtype=F64))
    x.precise_scores(x.target)
    assert terms == [9, 4]


@pytest.mark.parametrize("shared", [True, False])
def test_selected_rows_take_all_their_data(shared: bool) -> None:
    x = problems(4, 3, shared=shared)
    for errors in ((double(0.1, 0.2, 0.3), double(0.5)), (double(0.5), double(0.1, 0.2, 0.3))):
        x = Rows(x.templates, x.log_prior, x.target, x.alpha, None, *errors)
        for index in (torch.tensor([2, 0]), torch.tensor([True, False, True])):
            selected = x.take(index)
            assert torch.equal(selected.templates, x.templates if shared else x.templates[index])
            for name in ("log_prior", "target", "alpha"):
                assert torch.equal(getattr(selected, name), getattr(x, name)[index])
            for before, after in zip(errors, (selected.target_error, selected.log_prior_error), strict=True):
                assert torch.equal(after, before if len(before) == 1 else before[index])
    common = Rows(x.templates, x.log_prior[0], x.target, x.alpha).take(torch.tensor([1]))
    assert torch.equal(common.log_prior, x.log_prior[0])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("n", "d"), [(9, 4), (4, 9), (5, 5), (9, 1)])
def test_the_hessian_is_that_of_the_dual(n: int, d: int, shared: bool) -> None:
    """I/α + Σ_i p_i (t_i − ĥ)(t_i − ĥ)ᵀ, its inverse, and a bound on the norm of that: its trace, or α."""
    x = problems(n, d, shared=shared)
    grams = [None, x.templates @ x.templates.mT] if shared else [None]
    weights = (4 * normal(6, 3, n)).softmax(-1)
    mean, vectors = x.mean(weights), normal(7, 3, d)
    for gram in grams:
        hessian = Hessian(Rows(x.templates, x.log_prior, x.target, x.alpha, gram), weights, mean, x.alpha)
        times, solved, bound = hessian.times(vectors), hessian.solve(vectors), hessian.bound()
        for i in range(3):
            t = (x.templates if shared else x.templates[i]) - mean[i]
            dense = torch.eye(d, dtype=F64) / x.alpha[i] + t.mT @ (weights[i].unsqueeze(-1) * t)
            inverse = torch.linalg.inv(dense)
            close(times[i], dense @ vectors[i], 1e-12)
            close(solved[i], inverse @ vectors[i], 1e-11)
            expected = float(x.alpha[i]) if n < d else min(float(x.alpha[i]), float(inverse.trace()))
            assert float(bound[i]) == pytest.approx(expected, rel=1e-9)
            assert float(bound[i]) >= float(torch.linalg.matrix_norm(inverse, 2)) * (1 - 1e-12)


def test_without_a_factorization_the_bound_is_alpha() -> None:
    x = Rows(normal(0, 6, 2), normal(1, 2, 6).log_softmax(-1), normal(2, 2, 2), torch.ones(2, 1, dtype=F64))
    weights = torch.full((2, 6), 1 / 6, dtype=F64)
    mean = x.mean(weights)
    mean[1] = math.inf
    bound = Hessian(x, weights, mean, 10 * x.alpha).bound().squeeze(-1)
    assert bound[0] < 10
    assert bound[1] == 10


def test_the_bound_is_reduced_by_the_rounding_of_the_hessian() -> None:
    """4(n + d² + 16) roundings of its trace and four of √(tr H) r are subtracted from the least eigenvalue."""
    t = torch.tensor([[1e5, 0.03], [-1e5, 0.03], [1e5, -0.03], [-1e5, -0.03]], dtype=F64)
    alpha = torch.tensor([[1e6]], dtype=F64)
    weights, radius = torch.full((1, 4), 0.25, dtype=F64), math.hypot(1e5, 0.03)
    x = Rows(t, weights.log(), torch.zeros(1, 2, dtype=F64), alpha)
    bound = float(Hessian(x, weights, torch.zeros(1, 2, dtype=F64), alpha).bound())
    eigenvalues = 1e-6 + 1e10, 1e-6 + 9e-4
    reduction = eps("float64") * (4 * (4 + 4 + 16) * sum(eigenvalues) + 4 * math.sqrt(sum(eigenvalues)) * radius)
    assert 0.1 < reduction * sum(1 / y for y in eigenvalues) < 0.5
    assert 1 / bound == pytest.approx(1 / sum(1 / y for y in eigenvalues) - reduction, rel=1e-6)

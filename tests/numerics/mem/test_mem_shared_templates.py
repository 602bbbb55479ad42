"""Rows with shared templates take a fast path, partly in float32: its claims, compared with float64 and 50 digits."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor

from evidence.instances.fifty_digits import distance
from evidence.instances.mem import MemBatch
from numerics import mem, tolerances
from numerics.benchmarks import mem as bench_mem
from numerics.mem import Solution, shared_templates
from numerics.mem.prepared import SharedTemplates
from numerics.mem.rows import Rows, high_bits, mean_rounding

TIGHT = 1e-12
"""The tolerance at which Newton's method takes over, whose bounds are checked in ``test_mem_solver``."""


def small_batch(seed: int, rows: int = 64) -> MemBatch:
    """A few templates in a few dimensions: the Krylov spaces are exhausted after a step or two."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    n = int(rng.integers(2, 4 * d + 1))
    scale, alpha = np.exp(rng.uniform(np.log(0.1), np.log(8.0))), np.exp(rng.uniform(np.log(0.1), np.log(100.0)))
    evidence = rng.choice((0.1, 1.0, 3.0)) * rng.standard_normal((rows, d))
    prior = torch.tensor(rng.dirichlet(np.ones(n)))
    return MemBatch.of(torch.tensor(scale * rng.standard_normal((n, d))), torch.tensor(evidence), prior, float(alpha))


def excess(x: MemBatch, solution: Solution) -> Tensor:
    """A lower bound of ‖λ − λ*‖/error of each row: the error of the reference λ* is subtracted."""
    reference = mem.solve(*x.arguments, tolerance=TIGHT)
    return ((solution.dual - reference.dual).norm(dim=-1) - reference.error) / solution.error


def gradient_excess(x: MemBatch, solution: Solution) -> Tensor:
    """The excess of ‖∇D(λ)‖ over its bound, in units of the float64 rounding of the check."""
    gradient = mem.dual_gradient(solution.dual, *x.arguments).norm(dim=-1)
    radius = float(x.templates.norm(dim=-1).max())
    logits = radius * (1 + solution.dual.norm(dim=-1))
    scale = float(x.evidence.norm(dim=-1).max()) + radius * (2 + float(logits.max()))
    return (gradient - solution.gradient_norm) / tolerances.rounding("float64", x.n + x.d, scale)


def violated_bounds(x: MemBatch, solution: Solution, row: int) -> list[str]:
    """The bounds of a row that its solution in 50 digits violates."""
    dual, weights, mean = (values[row].tolist() for values in (solution.dual, solution.weights, solution.mean))
    truth = x.rows()[row].maximizer(start=dual, digits=30)
    errors = {
        "error": distance(truth.dual, dual),
        "weights_error": distance(truth.weights, weights, 1),
        "mean_error": distance(truth.estimate, mean),
    }
    return [name for name, size in errors.items() if size > float(vars(solution)[name][row])]


def test_two_templates_on_a_line() -> None:
    """One step suffices here; a second one, along the rounding noise of the direction, must not do harm."""
    templates = torch.tensor([[-0.16613023453557194], [-1.5227684840130555]], dtype=torch.float64)
    prior = torch.tensor([0.5973482117720031, 0.40265178822799685], dtype=torch.float64)
    dual = torch.tensor([[-1.0276085758313882]], dtype=torch.float64)
    evidence = dual / 4 + mem.tilt(dual, templates, prior) @ templates - prior @ templates
    x = MemBatch.of(templates, evidence, prior, 4.0)
    solution = mem.solve(*x.arguments)
    assert not violated_bounds(x, solution, 0)
    assert float(gradient_excess(x, solution)) <= 1


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_no_row_has_an_error_above_its_bound(first: int) -> None:
    """Every row in float64; of each batch the row closest to its bound, in 50 digits."""
    for seed in range(first, first + 50):
        x = small_batch(seed)
        solution = mem.solve(*x.arguments)
        assert bool(solution.converged.all()), f"small_batch({seed})"
        near = excess(x, solution)
        i = int(near.argmax())
        assert float(near[i]) <= 1, f"row {i} of small_batch({seed}) is off by {float(near[i])} of its bound"
        assert float(gradient_excess(x, solution).max()) <= 1, f"small_batch({seed})"
        assert not violated_bounds(x, solution, i), f"row {i} of small_batch({seed})"


def test_the_checks_refuse_a_bound_that_is_too_small() -> None:
    x = small_batch(0)
    solution = mem.solve(*x.arguments)
    shifted = Solution(**{**vars(solution), "dual": solution.dual + 2 * solution.error.unsqueeze(-1)})
    assert bool((excess(x, shifted) > 1).all())
    assert float(gradient_excess(x, Solution(**{**vars(shifted), "gradient_norm": 0 * solution.gradient_norm})).max()) > 1


def test_the_sampler_reaches_both_ends() -> None:
    drawn = [small_batch(seed, rows=1) for seed in range(400)]
    assert {x.d for x in drawn} == {1, 2, 3, 4}
    assert all(2 <= x.n <= 4 * x.d for x in drawn)
    assert any(x.n == 4 * x.d == 16 for x in drawn)
    alphas = [float(x.alpha) for x in drawn]
    assert min(alphas) < 0.12 < 80 < max(alphas)


@pytest.mark.parametrize(("n", "rows"), [(128, 1536), (64, 512), (128, 512), (256, 512), (512, 512), (1024, 512)])
def test_memory_without_the_results_is_a_few_arrays_of_rows_times_n(n: int, rows: int) -> None:
    """Counted, not timed. It includes a part that does not grow with the rows; without blocks, it would be over a dozen."""
    templates, evidence = bench_mem.normal_problems(n, 384, rows)
    _, arrays, solution = bench_mem.peak(templates, evidence)
    assert bool(solution.converged.all())
    assert 0 < arrays <= 6
    _, more, _ = bench_mem.peak(templates, evidence.repeat(2, 1))
    assert more < arrays


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-100, 1e-36, 1e-30, 1.0, 1e30, 1e35, 1e100])
def test_a_gram_matrix_without_its_leading_part_is_positive(scale: float) -> None:
    """Little of a matrix that nearly has rank one; nothing if squares overflow or underflow."""
    draw = torch.Generator().manual_seed(0)
    for n, noise in ((1, 0.1), (20, 0.1), (20, 10.0)):
        t = torch.randn(n, 1, generator=draw, dtype=torch.float64) * torch.randn(1, 5, generator=draw, dtype=torch.float64)
        t = t + noise * torch.randn(n, 5, generator=draw, dtype=torch.float64)
        gram = scale * (t @ t.mT)
        *_, lead = shared_templates.spectrum(gram)
        left = torch.linalg.eigvalsh((gram - lead.outer(lead)) / (scale or 1.0))
        assert float(left[0]) >= -tolerances.rounding("float64", n * n) * float(torch.linalg.matrix_norm(t, 2)) ** 2
        if noise < 1 and scale == 1.0:
            assert float(left[-1]) < 0.1 * float(torch.linalg.matrix_norm(t, 2)) ** 2
        assert bool((lead == 0).all()) == (scale not in (1e-36, 1e-30, 1.0, 1e30, 1e35))


def test_norms_of_the_templates_are_rounded_up() -> None:
    """On a line ‖T‖² is the sum of the squares, and the radius one of them; in fractions."""
    for seed in range(20):
        t = torch.randn(1 + seed, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        shared = SharedTemplates(t, torch.full((1 + seed,), 1 / (1 + seed), dtype=torch.float64))
        constants = shared_templates._constants(shared, torch.float32)
        exact = [Fraction(x) for x in shared.templates.flatten().tolist()]
        assert Fraction(constants["radius"]) >= max(map(abs, exact))
        square = Fraction(constants["sqrt_gram_norm"]) ** 2
        assert sum(x * x for x in exact) <= square <= sum(x * x for x in exact) * (1 + Fraction(1, 10**11))


def test_only_a_norm_that_underflows_is_unknown() -> None:
    """One template has a Gram matrix of zeros, whose norm is known; that of tiny ones is not."""
    templates = torch.tensor([[1.0, 2.0], [3.0, -1.0]], dtype=torch.float64)
    half = torch.full((2,), 0.5, dtype=torch.float64)
    for scale, count, known in ((1.0, 2, True), (1e-60, 2, False), (1.0, 1, True)):
        shared = SharedTemplates(scale * templates[:count], half[:count] * 2 / count)
        constants = shared_templates._constants(shared, torch.float32)
        assert math.isfinite(constants["sqrt_gram_norm"]) == known
        assert (constants["sqrt_gram_norm"] == 0) == (count == 1)


def test_on_other_devices_numbers_are_tensors() -> None:
    number = shared_templates._as_tensor(0.1, torch.device("cpu"))
    torch.testing.assert_close(number, torch.tensor([0.1], dtype=torch.float64), rtol=0, atol=0)
    assert shared_templates._as_tensor(number, torch.device("cpu")) is number


def test_blocks_change_no_row_by_more_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow rows of a block are finished together with those of others; the last block is shorter than the rest."""
    templates, evidence = bench_mem.normal_problems(40, 16, 150)
    scales = torch.linspace(0.1, 3, 150, dtype=torch.float64).unsqueeze(-1)
    unsplit = mem.solve(templates, scales * evidence)
    for name in ("_TILE_NUMBERS", "_TILE_NUMBERS_UNPACKED"):
        monkeypatch.setattr(f"numerics.mem.pcg_threads.{name}", 1)
    parts = mem.solve(templates, scales * evidence)
    assert bool(unsplit.converged.all() & parts.converged.all())
    assert bool(((unsplit.dual - parts.dual).norm(dim=-1) <= unsplit.error + parts.error).all())


@pytest.mark.parametrize(("alpha", "prior"), [(1.0, False), (0.5, True), (30.0, False), (torch.linspace(0.1, 40.0, 90), True)])
def test_alpha_in_common_or_not_and_priors_of_rows(alpha: float | Tensor, prior: bool) -> None:
    templates, evidence = bench_mem.normal_problems(24, 10, 90)
    u = torch.rand(90, 24, generator=torch.Generator().manual_seed(1), dtype=torch.float64) if prior else None
    together = mem.solve(templates, evidence, u, alpha)
    assert bool(together.converged.all())
    for i in range(0, 90, 9):
        own, a = None if u is None else u[i], alpha if isinstance(alpha, float) else alpha[i]
        single = mem.solve(templates, evidence[i], own, a, tolerance=TIGHT)
        # The means of one prior and of many are rounded apart, which moves b, and with it λ by at most α times as much.
        allowance = float(a) * tolerances.rounding("float64", templates.shape[0], 2 * float(templates.norm(dim=-1).max()))
        assert float((single.dual - together.dual[i]).norm()) <= float(single.error + together.error[i]) + allowance


@pytest.mark.parametrize(("n", "d"), [(3, 1), (70, 50), (5, 700)])
def test_newtons_bound_includes_rounding(n: int, d: int) -> None:
    """Scores and sums by high and low parts, compared with exact fractions; plain products have larger errors."""
    generator = torch.Generator().manual_seed(n)
    templates, dual = (torch.randn(k, d, generator=generator, dtype=torch.float64) for k in (n, 2))
    rows = Rows(templates, torch.zeros(n, dtype=torch.float64), dual, torch.ones(2, 1, dtype=torch.float64))
    unit = tolerances.eps("float64") / 2
    allowed = unit * (2 + d**1.5 * 2.0 ** (2 - high_bits(d))) * float(rows.radius) * dual.norm(dim=-1)

    def score_error(scores: Tensor, row: int) -> float:
        exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(t, dual[row].tolist(), strict=True)) for t in templates.tolist()]
        return max(abs(float(Fraction(x) - y)) for x, y in zip(scores[row].tolist(), exact, strict=True))

    narrow = (dual.float() @ templates.float().mT).double()
    for row in range(2):
        assert score_error(rows.precise_scores(dual), row) <= float(allowed[row])
        assert score_error(narrow, row) > float(allowed[row])
    weights = torch.rand(2, n, generator=generator, dtype=torch.float64)
    for mean, p in zip(rows.mean(weights).tolist(), weights.tolist(), strict=True):
        exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(p, t, strict=True)) for t in templates.mT.tolist()]
        apart = math.hypot(*(float(Fraction(x) - y) for x, y in zip(mean, exact, strict=True)))
        assert apart <= unit * (math.hypot(*mean) + mean_rounding(n, d) * float(rows.radius))
    for total, p in zip(rows.total(weights), weights, strict=True):
        exact = math.fsum(p.tolist())
        assert abs(float(total) - exact) <= 2 * unit * exact


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_templates_far_from_the_origin_are_for_the_quick_way_too(offset: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean's error from their distance is in b if it exceeds a few roundings."""
    templates, evidence = bench_mem.normal_problems(40, 16, 50)
    monkeypatch.setattr("numerics.mem.solver.maximize", lambda rows, tolerance: torch.full_like(rows.target, math.nan))
    shifted = mem.solve(templates + offset, evidence)
    assert bool(shifted.converged.all())
    plain = mem.solve(templates + offset - offset, evidence)
    assert bool(((shifted.dual - plain.dual).norm(dim=-1) <= shifted.error + plain.error).all())

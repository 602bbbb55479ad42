"""The steps of the quick way, by PyTorch and compiled: what they are for, that both make the same, and their exponentials."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from torch import Tensor

from numerics import bench_mem, mem, tolerances
from numerics.mem import kernels
from numerics.mem.compiled import CompiledSearch
from numerics.mem.search import Search, staggered

SEARCHES = (Search, CompiledSearch)
STEPS = 16


class Problem:
    """A few rows on the same templates; the first template has no prior in every other problem."""

    def __init__(self, seed: int, n: int = 12, rows: int = 5, *, own_alpha: bool = False, own_prior: bool = False) -> None:
        draw = torch.Generator().manual_seed(seed)
        templates = torch.randn(n, 6, generator=draw, dtype=torch.float64)
        templates -= templates.mean(0)
        prior = torch.rand((rows, n) if own_prior else (n,), generator=draw, dtype=torch.float64) + 0.1
        if n > 1:
            prior[..., 0] *= seed % 2
        self.alpha = torch.ones(rows, 1, dtype=torch.float64)
        if own_alpha:
            self.alpha = torch.rand(rows, 1, generator=draw, dtype=torch.float64) + 0.2
        self.gram = templates @ templates.mT
        self.log_prior = (prior / prior.sum(-1, keepdim=True)).log()
        evidence = 2 * torch.randn(rows, 6, generator=draw, dtype=torch.float64)
        self.reach = evidence.norm(dim=-1, keepdim=True)
        self.fixed = self.alpha * (evidence @ templates.mT)
        self.templates, self.evidence, self.rows, self.own_alpha = templates, evidence, rows, own_alpha

    def search(self, kind: type[Search], careful: bool = False, dtype: torch.dtype = torch.float32) -> Search:
        found = kind(-self.gram.to(dtype), self.rows + 2, careful)
        found.begin(self.rows, self.alpha.to(dtype) if self.own_alpha else None)
        return found

    def residual(self, w: Tensor) -> Tensor:
        """softmax(log u + αTb − αGw) − w."""
        return (self.log_prior + self.fixed - self.alpha * (w @ self.gram)).softmax(-1) - w


PROBLEMS = [
    pytest.param(Problem(0), id="plain"),
    pytest.param(Problem(1, own_alpha=True), id="own alpha"),
    pytest.param(Problem(2, own_prior=True), id="own prior"),
    pytest.param(Problem(3, n=1), id="one template"),
    pytest.param(Problem(4, n=37, rows=3, own_alpha=True, own_prior=True), id="no multiple of a vector's length"),
]


@pytest.mark.parametrize("x", PROBLEMS)
@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("careful", [False, True])
def test_a_search_ends_where_the_weights_are_a_softmax_of_themselves(x: Problem, kind: type[Search], careful: bool) -> None:
    search = x.search(kind, careful)
    search.start(x.fixed, x.log_prior)
    before = float(search.distance.max())
    for _ in range(STEPS):
        search.advance()
    w = torch.empty_like(x.fixed)
    search.normalize(w)
    # It sees its own residual only: what is left is what float32 has lost of the logits on the way.
    logit = float((x.fixed - x.alpha * (w @ x.gram)).abs().max())
    allowed = tolerances.plan("float32", x.gram.shape[0] * STEPS, logit)
    assert float(x.residual(w).norm(dim=-1).max()) <= allowed
    assert torch.allclose(w.sum(-1), torch.ones(x.rows).double(), rtol=0, atol=tolerances.rounding("float64", w.shape[-1]))
    assert allowed < before or x.gram.shape[0] == 1, "nothing had to be found"


@pytest.mark.parametrize("x", PROBLEMS)
@pytest.mark.parametrize("kind", SEARCHES)
def test_a_correction_solves_its_linear_equation(x: Problem, kind: type[Search]) -> None:
    """(I + αΠG)e = v at a point that is off by little, and −αGe is put where it belongs."""
    search = x.search(kind)
    w = x.log_prior.exp().expand_as(x.fixed).clone()
    logits, weights, distance = w @ x.gram * x.alpha, torch.empty_like(w), torch.empty_like(x.alpha)
    length = search.assemble(logits, x.fixed, x.log_prior, w, x.reach, x.alpha)
    exact = x.alpha * (x.evidence - w @ x.templates).norm(dim=-1, keepdim=True)
    assert torch.allclose(length, exact, rtol=tolerances.rounding("float64", 100, 10.0), atol=0)
    search.settle(logits, w, weights, distance)
    residual = x.residual(w)
    slip = distance - residual.norm(dim=-1, keepdim=True)
    assert float(slip.abs().max()) <= tolerances.rounding("float64", w.shape[-1])
    search.resume()
    for _ in range(STEPS):
        search.correct()
    e = search.place.double()
    bent = weights * (x.alpha * (e @ x.gram))
    left = e + bent - weights * bent.sum(-1, keepdim=True) - residual
    allowed = tolerances.rounding("float32", w.shape[-1] * STEPS, float(e.abs().max() + bent.abs().max()))
    assert float(left.abs().max()) <= allowed
    assert allowed < float(residual.abs().max()) or w.shape[-1] == 1
    before, start = logits.clone(), w.clone()
    search.move(logits, w)
    moved = x.alpha * (e @ x.gram)
    live = x.log_prior.expand_as(logits) > -torch.inf
    slip = ((logits - before) + moved)[live]
    assert float(slip.abs().max()) <= tolerances.rounding("float32", w.shape[-1], float(moved.abs().max()))
    assert torch.equal(w, start + e)


def each(exponential: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """One number at a time, as the compiled functions take them."""
    return np.array([exponential(v) for v in x], dtype=x.dtype)


def both(x: Problem) -> tuple[Search, Search]:
    first, second = (x.search(kind) for kind in SEARCHES)
    for search in (first, second):
        search.start(x.fixed, x.log_prior)
    return first, second


@pytest.mark.parametrize("x", PROBLEMS)
def test_both_make_the_same_steps(x: Problem) -> None:
    """Entry by entry, while what is left is far above rounding: later, both step through noise, each through its own."""
    first, second = both(x)
    for _ in range(2):
        for name in ("place", "weights", "residual", "ahead", "distance"):
            ours, other = getattr(first, name), getattr(second, name)
            assert float((ours - other).abs().max()) <= tolerances.rounding("float32", 64 * x.gram.shape[0]), name
        first.advance()
        second.advance()


def test_the_comparison_refuses_another_preconditioner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerics.mem.search._SHARE", 0.25)
    other = Problem(0).search(Search)
    monkeypatch.undo()
    first, _ = both(Problem(0))
    other.start(Problem(0).fixed, Problem(0).log_prior)
    assert float((first.ahead - other.ahead).abs().max()) > tolerances.rounding("float32", 64 * 12)


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_careful_search_does_not_leap(kind: type[Search]) -> None:
    x = Problem(0)
    x.fixed *= 40
    for careful in (False, True):
        search = x.search(kind, careful)
        search.start(x.fixed, x.log_prior)
        search.advance()
        change = search.image.amax(-1) - search.image.amin(-1)
        assert bool((change <= kernels.FAR * (1 + tolerances.rounding("float32", 8))).all()) == careful


@pytest.mark.parametrize("kind", SEARCHES)
def test_nan_stays_in_its_row_and_is_never_far(kind: type[Search]) -> None:
    x = Problem(0)
    x.fixed[1] = torch.nan
    search = x.search(kind)
    search.start(x.fixed, x.log_prior)
    for _ in range(3):
        search.advance()
    assert bool(search.distance[1].isnan())
    assert bool(torch.cat([search.distance[:1], search.distance[2:]]).isfinite().all())
    assert search.far(torch.zeros(x.rows, 1)) == x.rows - 1


@pytest.mark.parametrize(
    ("curvatures", "factors"),
    [
        ((2.0, 0.0, 1.0, 2.0, 1.0), (1.0, 1.0)),                          # two directions that do not know each other
        ((2.0, 1.0, 1.0, 2.0, 1.2), (0.8, 0.4)),                          # two that do
        ((2.0, 1.0, 0.5, 2.0, 1.0), (1.0, 0.0)),                          # parallel: as if there were but one
        ((0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0)),                          # nothing to do
        ((1e-9, 0.0, 1.0, 1.0, 0.0), (0.0, 0.0)),                         # farther than is believed
        ((1.0, 0.0, 1.0, -1.0, 0.0), (0.0, 0.0)),                         # uphill
    ],
)
def test_the_best_point_of_a_plane(curvatures: tuple[float, ...], factors: tuple[float, float]) -> None:
    a, b = Search.plane(*(torch.tensor([[x]], dtype=torch.float64) for x in curvatures))
    assert (float(a), float(b)) == pytest.approx(factors)
    assert kernels.plane(*curvatures) == pytest.approx(factors)


@pytest.mark.parametrize("low", [-707.0, -40.0, -1.0, -0.35, -1e-6])
def test_exponentials_are_off_by_less_than_the_bounds_allow(low: float) -> None:
    """3 eps/2 is what ``shared`` counts on; NumPy's own is held to the same, and one that is a little off is refused."""
    x = np.linspace(low, 0.0, 3001)
    with mpmath.workdps(40):
        exact = [mpmath.exp(mpmath.mpf(float(v))) for v in x]

        def off(found: np.ndarray) -> float:
            return max(float(abs(mpmath.mpf(float(f)) / e - 1)) for f, e in zip(found, exact, strict=True))

        allowed = 3 * tolerances.eps("float64") / 2
        assert off(each(kernels.exp64, x)) <= allowed
        assert off(np.exp(x)) <= allowed
        assert off(np.exp(x * (1 + 1e-12)) if low < -1e-3 else np.exp(x) * (1 + 1e-12)) > allowed
        narrow = np.linspace(max(low, -87.0), 0.0, 3001).astype(np.float32)
        wide = np.exp(narrow.astype(np.float64))
        assert bool((np.abs(each(kernels.exp32, narrow) / wide - 1) <= 2 * tolerances.eps("float32") * (1 - narrow)).all())


def test_exponentials_at_the_ends() -> None:
    x = np.array([0.0, -0.0, -709.0, -math.inf, math.nan])
    np.testing.assert_array_equal(each(kernels.exp64, x), [1.0, 1.0, 0.0, 0.0, math.nan])
    least = 2.0**-126
    np.testing.assert_array_equal(each(kernels.exp32, x.astype(np.float32)), [1.0, 1.0, least, least, math.nan])


def test_arrays_that_are_worked_on_together_do_not_start_alike() -> None:
    for dtype in (torch.float32, torch.float64):
        arrays = staggered(torch.empty(1, 128, dtype=dtype), 8, 512)
        assert all(x.shape == (512, 128) and x.is_contiguous() for x in arrays)
        assert len({x.data_ptr() % 4096 // 64 for x in arrays}) == 8


@pytest.mark.parametrize("alpha", [1.0, 300.0])
def test_pytorch_s_way_certifies_what_the_compiled_one_does(alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU, and where float32 products are rounded, there is no other."""
    templates, evidence = bench_mem.normal_problems(40, 16, 100)
    compiled = mem.solve(templates, evidence, None, alpha)
    monkeypatch.setattr("numerics.mem.shared.CompiledSearch", Search)
    plain = mem.solve(templates, evidence, None, alpha)
    torch.set_float32_matmul_precision("high")
    try:
        wide = mem.solve(templates, evidence, None, alpha)
    finally:
        torch.set_float32_matmul_precision("highest")
    for other in (plain, wide):
        assert bool(other.converged.all())
        assert bool(((other.dual - compiled.dual).norm(dim=-1) <= other.error + compiled.error).all())

"""The steps of the quick way, by PyTorch and compiled: what they are for, that both make the same, and their exponentials."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from numerics import mem, tolerances
from numerics.benchmarks import mem as bench_mem
from numerics.mem import compiled, kernels, search, shared
from numerics.mem.search import Search
from numerics.mem.task import Found, Task

STEPS = 16
ROWS = 5


class Problem:
    """A few rows on the same templates; the first template has no prior in every other problem."""

    def __init__(self, seed: int, n: int = 12, *, own_alpha: bool = False, own_prior: bool = False, size: float = 1.0) -> None:
        draw = torch.Generator().manual_seed(seed)
        t = torch.randn(n, 6, generator=draw, dtype=torch.float64)
        t = size * (t - t.mean(0))
        prior = torch.rand((ROWS, n) if own_prior else (1, n), generator=draw, dtype=torch.float64) + 0.1
        if n > 1:
            prior[..., 0] *= seed % 2
        alpha = torch.rand(ROWS, generator=draw, dtype=torch.float64) + 0.2 if own_alpha else torch.ones(ROWS).double()
        target = torch.randn(6, generator=draw, dtype=torch.float64)
        target = target + 2 * torch.randn(ROWS, 6, generator=draw, dtype=torch.float64)
        gram, none = t @ t.mT, torch.zeros(1, dtype=torch.float64)
        row, _, lead = shared.spectrum(gram)
        self.task = Task(
            target, alpha, (prior / prior.sum(-1, keepdim=True)).log(), none, none, torch.zeros(6).double(), t, t.mT, gram,
            -gram.float(), lead.float(), (shared.SHARE * (gram.diagonal() - lead.square())).float(),
            radius=float(t.norm(dim=-1).amax()) or 1.0,
            root=float(torch.linalg.matrix_norm(gram, 2)) ** 0.5 or 1.0,
            loss=tolerances.eps("float32") / 2 * row, least=0.0, tolerance=1e-30,
        )

    @property
    def logits(self) -> Tensor:
        """log u + αTb."""
        x = self.task
        fixed: Tensor = x.log_prior + x.alpha.unsqueeze(-1) * (x.target @ x.templates.mT)
        return fixed

    def pulled(self, w: Tensor) -> Tensor:
        """αGw."""
        found: Tensor = self.task.alpha.unsqueeze(-1) * (w @ self.task.gram)
        return found

    def residual(self, w: Tensor) -> Tensor:
        """softmax(log u + αTb − αGw) − w."""
        return (self.logits - self.pulled(w)).softmax(-1) - w

    def found(self) -> Found:
        n, d = self.task.templates.shape
        return Found(*(torch.full((ROWS, k), math.nan).double() for k in (d, d, n)), *torch.full((5, ROWS), math.nan).double())


class Compiled:
    """The kernels, to be called as ``Search`` is, with room for more rows than there are."""

    def __init__(self, task: Task, found: Found) -> None:
        self.task, self.found = (type(x)(*(y.numpy() if isinstance(y, Tensor) else y for y in x)) for x in (task, found))
        self.space = compiled._space(self.task, ROWS + 2)
        kernels.pull(self.task, self.space)

    def __getattr__(self, name: str) -> Tensor:
        return torch.from_numpy(getattr(self.space, name)[:ROWS]).clone().reshape(ROWS, -1)

    def search(self) -> None:
        kernels.search(self.task, self.found, self.space, self.task.target)

    def improve(self) -> None:
        kernels.improve(self.task, self.found, self.space)

    def write(self) -> None:
        np.dot(self.space.w[:ROWS], self.task.templates, self.found.mean)
        kernels.write(self.task, self.found)
        kernels.bound(self.task, self.found, self.space)

    def start(self) -> int:
        np.dot(self.task.target, self.task.columns, self.space.fixed[:ROWS])
        self.left = int(kernels.start(self.task, self.space))
        return self.left

    def advance(self) -> int:
        self._multiply()
        self.left = int(kernels.advance(self.left, self.task, self.space, self.task.target))
        return self.left

    def assemble(self, rows: Tensor) -> None:
        self.space.chosen[:ROWS] = np.arange(ROWS)
        np.dot(self.space.w[:ROWS], self.task.gram, self.space.product[:ROWS])
        kernels.assemble(ROWS, self.task, self.space)
        kernels.settle(ROWS, self.found, self.space)

    def resume(self, rows: Tensor) -> None:
        self.left = int(kernels.resume(self.task, self.space))

    def correct(self) -> int:
        self._multiply()
        self.left = int(kernels.correct(self.left, self.task, self.space))
        return self.left

    def move(self, steps: int) -> None:
        kernels.move(ROWS, steps, self.task, self.space)

    def _multiply(self) -> None:
        np.dot(self.space.ahead[: self.left], self.task.narrow, self.space.moved[: self.left])


ONE_TEMPLATE = pytest.param(Problem(3, n=1), id="one template")
WAYS: tuple[Callable[[Task, Found], Any], ...] = (Search, Compiled)
PROBLEMS = [
    pytest.param(Problem(0), id="plain"),
    pytest.param(Problem(1, own_alpha=True), id="own alpha"),
    pytest.param(Problem(2, own_prior=True), id="own prior"),
    pytest.param(Problem(4, n=37, own_alpha=True, own_prior=True), id="no multiple of a vector's length"),
    pytest.param(Problem(6, size=1.2), id="takes care"),
]


@pytest.mark.parametrize("x", [*PROBLEMS, ONE_TEMPLATE])
@pytest.mark.parametrize("way", WAYS)
def test_a_search_ends_where_the_weights_are_a_softmax_of_themselves(x: Problem, way: Callable[..., Any]) -> None:
    found = way(x.task, x.found())
    found.search()
    w = found.w
    # It sees its own residual only: what is left is what float32 has lost of the logits on the way.
    largest = float((x.logits - x.pulled(w)).nan_to_num(neginf=0).abs().max())
    allowed = tolerances.plan("float32", x.task.gram.shape[0] * STEPS, largest)
    assert float(x.residual(w).norm(dim=-1).max()) <= allowed
    assert torch.allclose(w.sum(-1), torch.ones(ROWS).double(), rtol=0, atol=tolerances.rounding("float64", w.shape[-1]))
    before = float(x.residual(x.task.log_prior.exp()).norm(dim=-1).max())
    assert allowed < before or x.task.gram.shape[0] == 1, "nothing had to be found"


@pytest.mark.parametrize("x", [*PROBLEMS, ONE_TEMPLATE])
@pytest.mark.parametrize("way", WAYS)
def test_it_is_improved_as_far_as_asked_and_certified(x: Problem, way: Callable[..., Any]) -> None:
    results = x.found()
    task = x.task._replace(tolerance=1e-9)
    found = way(task, results)
    found.search()
    found.improve()
    found.write()
    residual = x.residual(found.w).norm(dim=-1)
    assert bool((residual * task.root * task.alpha <= 1e-9 * (1 + results.length)).all())
    assert bool((results.error <= 1e-9 * (1 + results.length)).all())
    dual = task.alpha.unsqueeze(-1) * (task.target - found.w @ task.templates)
    assert torch.allclose(results.dual, dual, rtol=tolerances.rounding("float64", 64), atol=0)
    gradient = task.target - results.dual / task.alpha.unsqueeze(-1) - results.weights @ task.templates
    assert bool((gradient.norm(dim=-1) <= results.gradient_norm).all())


@pytest.mark.parametrize("x", PROBLEMS)
@pytest.mark.parametrize("way", WAYS)
def test_a_correction_solves_its_linear_equation(x: Problem, way: Callable[..., Any]) -> None:
    """(I + αΠG)e = v at a point that is off by little; −αGe is put where it belongs, and what was lost of it is bounded."""
    results = x.found()
    found = way(x.task._replace(tolerance=1e-12), results)
    found.search()
    found.improve()
    w = found.w.clone()
    w += 1e-3 * (x.task.log_prior.exp() - w)
    if isinstance(found, Compiled):
        found.space.w[:ROWS] = w.numpy()
    else:
        found.w = w.clone()
    found.assemble(torch.ones(ROWS, 1, dtype=torch.bool))
    before, residual, weights = found.logits.clone(), x.residual(w), results.weights.clone()
    slip = found.settled - residual.norm(dim=-1, keepdim=True)
    assert float(slip.abs().max()) <= tolerances.rounding("float64", w.shape[-1])
    found.resume(torch.ones(ROWS, 1, dtype=torch.bool))
    slack = 1 + tolerances.rounding("float32", w.shape[-1])
    for _ in range(STEPS):
        found.correct()
        assert bool((found.reached * slack >= found.direction.norm(dim=-1, keepdim=True)).all())
    e = found.place.double()
    bent = weights * x.pulled(e)
    left = e + bent - weights * bent.sum(-1, keepdim=True) - residual
    allowed = tolerances.rounding("float32", w.shape[-1] * STEPS, float(e.abs().max() + bent.abs().max()))
    assert bool((left.norm(dim=-1, keepdim=True) <= found.goal + allowed).all())
    assert bool((found.goal + allowed < residual.norm(dim=-1, keepdim=True)).all())
    found.move(STEPS)
    live = x.logits > -torch.inf
    slip = ((found.logits - before) + x.pulled(e)).masked_fill(~live, 0.0).abs().amax(-1, keepdim=True)
    assert bool((slip <= found.lost + tolerances.eps("float64") * before[live].abs().max()).all())
    assert torch.equal(found.w, w + e)


def by_pytorch(task: Task, found: Found, threads: int) -> None:
    search.solve(task, found, 64)


def both(x: Problem) -> tuple[Any, Any]:
    first, second = (way(x.task, x.found()) for way in WAYS)
    left = first.start()
    assert left == second.start() in (0, ROWS)
    return first, second


@pytest.mark.parametrize("x", PROBLEMS)
@pytest.mark.parametrize("way", WAYS)
def test_a_search_is_aimed_where_the_preconditioner_says(way: Callable[..., Any], x: Problem) -> None:
    """y + ΠCy = v, with C in place of αG; and not for another C."""
    found = way(x.task, x.found())
    assert found.start() == ROWS
    y, v, p = (getattr(found, name).double() for name in ("ahead", "residual", "weights"))

    def off(lead: Tensor) -> float:
        c = x.task.alpha.unsqueeze(-1) * (y * x.task.diagonal + (y @ lead).unsqueeze(-1) * lead)
        return float((y + p * (c - (p * c).sum(-1, keepdim=True)) - v).abs().max())

    lead = x.task.lead.double()
    size = float(x.task.alpha.amax() * (x.task.diagonal.abs().amax() + lead.square().sum()))
    assert off(lead) <= tolerances.rounding("float32", int(8 * (1 + size)) * len(lead)) < off(0 * lead)


@pytest.mark.parametrize("x", [*PROBLEMS, ONE_TEMPLATE])
def test_both_make_the_same_steps(x: Problem) -> None:
    """Entry by entry, while what is left is far above rounding: later, both step through noise, each through its own."""
    first, second = both(x)
    for _ in range(2):
        for name in ("place", "weights", "residual", "distance", "goal") + (("ahead",) if second.left else ()):
            ours, other = getattr(first, name), getattr(second, name)
            assert float((ours - other).abs().max()) <= tolerances.rounding("float32", 64 * x.task.gram.shape[0]), name
        assert first.advance() == second.advance()


@pytest.mark.parametrize("name", ["diagonal", "lead"])
def test_the_comparison_refuses_another_preconditioner(name: str) -> None:
    x = Problem(0)
    second = both(x)[1]
    x.task = x.task._replace(**{name: 0.5 * getattr(x.task, name)})
    first = both(x)[0]
    assert float((first.ahead - second.ahead).abs().max()) > tolerances.rounding("float32", 64 * 12)


@pytest.mark.parametrize("way", WAYS)
def test_a_careful_search_does_not_leap(way: Callable[..., Any]) -> None:
    x = Problem(0).task
    x = x._replace(target=40 * x.target, root=1.0)
    for radius, careful in ((0.1, False), (5.0, True)):
        assert (radius**2 > kernels.STIFF) == careful
        found = way(x._replace(radius=radius), Problem(0).found())
        found.start()
        found.advance()
        change = found.image.amax(-1) - found.image.amin(-1)
        assert bool((change <= kernels.FAR * (1 + tolerances.rounding("float32", 8))).all()) == careful


@pytest.mark.parametrize("way", WAYS)
def test_nan_stays_in_its_row_and_is_never_left(way: Callable[..., Any]) -> None:
    x = Problem(0)
    target = x.task.target.clone()
    target[1] = math.nan
    results = x.found()
    found = way(x.task._replace(target=target, tolerance=1e-9), results)
    assert found.start() == ROWS - 1
    found.search()
    found.improve()
    found.write()
    assert bool(results.error[1].isnan())
    others = torch.cat([results.error[:1], results.error[2:]])
    assert bool((others <= 1e-9 * (1 + torch.cat([results.length[:1], results.length[2:]]))).all())


@pytest.mark.parametrize("way", WAYS)
def test_a_row_whose_logits_are_blurred_is_worked_out_again(way: Callable[..., Any]) -> None:
    """If float32 is said to lose everything, all that is corrected is worked out from w, and then nothing has been lost."""
    x = Problem(0)
    results = x.found()
    found = way(x.task._replace(loss=1.0, tolerance=1e-9), results)
    found.search()
    found.improve()
    found.write()
    assert bool((found.lost == 0).all())
    assert bool((results.error <= 1e-9 * (1 + results.length)).all())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "worth"), [("drift", 1.0), ("blur", Problem(0).task.radius)])
def test_what_a_prior_has_lost_is_in_the_bounds(way: Callable[..., Any], name: str, worth: float) -> None:
    norms = []
    for lost in (0.0, 0.5):
        x = Problem(0)
        results = x.found()
        found = way(x.task._replace(tolerance=1e-9, **{name: torch.tensor([lost], dtype=torch.float64)}), results)
        found.search()
        found.improve()
        found.write()
        norms.append(results.gradient_norm)
    assert (norms[1] - norms[0]).numpy() == pytest.approx(0.5 * worth, rel=tolerances.rounding("float64", 64))


@pytest.mark.parametrize("alpha", [1.0, 300.0])
def test_pytorch_s_way_certifies_what_the_compiled_one_does(alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU there is no other, and where float32 products are rounded it takes float64."""
    templates, evidence = bench_mem.normal_problems(40, 16, 100)
    ours = mem.solve(templates, evidence, None, alpha)
    monkeypatch.setattr(compiled, "solve", by_pytorch)
    plain = mem.solve(templates, evidence, None, alpha)
    monkeypatch.setattr(shared, "_narrow", lambda device: torch.float64)
    wide = mem.solve(templates, evidence, None, alpha)
    if alpha == 1.0:                                         # else Newton's method may have had the last word
        assert not torch.equal(ours.dual, plain.dual)
        assert not torch.equal(plain.dual, wide.dual)
    for other in (plain, wide):
        assert bool(other.converged.all())
        assert bool(((other.dual - ours.dual).norm(dim=-1) <= other.error + ours.error).all())


@pytest.mark.parametrize("way", ["compiled", "PyTorch"])
def test_a_residual_that_the_gram_matrix_does_not_see_stops_nobody(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each template is there twice, and not with the same prior: what one has too much and the other too little changes no
    mean. The preconditioner mixes that with the rest; Newton's method is not there to help."""
    draw = torch.Generator().manual_seed(0)
    templates = torch.randn(32, 32, generator=draw, dtype=torch.float64).repeat(2, 1)
    evidence = torch.randn(200, 32, generator=draw, dtype=torch.float64)
    prior = torch.rand(64, generator=draw, dtype=torch.float64) + 0.01
    if way == "PyTorch":
        monkeypatch.setattr(compiled, "solve", by_pytorch)
    monkeypatch.setattr("numerics.mem.solver.maximize", lambda rows, tolerance: torch.full_like(rows.target, math.nan))
    assert bool(mem.solve(templates, evidence, prior / prior.sum(), 0.7).converged.all())


@pytest.mark.parametrize("own_alpha", [False, True])
def test_threads_share_the_rows_as_if_each_were_alone(own_alpha: bool) -> None:
    templates, evidence = bench_mem.normal_problems(40, 16, 700)
    alpha = torch.linspace(0.5, 4, 700).double() if own_alpha else 2.0
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = [mem.solve(templates, evidence[some], None, alpha[some] if isinstance(alpha, Tensor) else alpha)
                 for some in (slice(0, 350), slice(350, 700))]
        torch.set_num_threads(2)
        two = mem.solve(templates, evidence, None, alpha)
    finally:
        torch.set_num_threads(before)
    assert bool(two.converged.all())
    for name in ("dual", "weights", "mean", "error"):
        assert torch.equal(getattr(two, name), torch.cat([getattr(x, name) for x in alone])), name


def test_a_row_of_its_own_starts_from_its_own_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread, or the last tile, may have but one row of those that differ in their priors."""
    monkeypatch.setattr("numerics.mem.solver.maximize", lambda rows, tolerance: torch.full_like(rows.target, math.nan))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for rows in (2, 130):
            templates, evidence = bench_mem.normal_problems(10, 8, rows)
            prior = torch.rand(rows, 10, generator=torch.Generator().manual_seed(rows), dtype=torch.float64)
            assert bool(mem.solve(templates, evidence, prior).converged.all())
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("way", WAYS)
def test_what_cannot_be_certified_is_not_corrected(way: Callable[..., Any]) -> None:
    """Rounding alone is more than this tolerance."""
    x = Problem(0)
    results = x.found()
    found = way(x.task._replace(tolerance=1e-20), results)
    found.search()
    found.improve()
    assert bool((found.enough < 0).all())
    assert bool((found.lost == 0).all())
    assert bool((found.settled > 0).all())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_default_dtype_changes_nothing(dtype: torch.dtype) -> None:
    templates, evidence = bench_mem.normal_problems(8, 6, 10)
    expected = mem.solve(templates, evidence)
    torch.set_default_dtype(dtype)
    try:
        found = mem.solve(templates, evidence)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found.dual, expected.dual)

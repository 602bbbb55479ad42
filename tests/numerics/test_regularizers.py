"""Sparsemax and α-entmax, compared with extended precision and with the ``entmax`` package where it is right."""

import math
from collections.abc import Callable

import entmax
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from evidence.instances.one_sided import OneSided
from numerics import one_sided, regularizers, tolerances
from numerics.regularizers import EntmaxBisect, entmax15, entmax_bisect, sparsemax
from tests.numerics.common import close, in_dtypes, on_devices
from tests.numerics.sparse_rows import FEW, FUNCTIONS, drawn, every_function, normal, scores_of

ALPHAS = (0.5, 1.0, 1.0 + 2**-20, 1.1, 1.5, 2.0, 3.0)


def reference(scores: Tensor, alpha: float) -> np.ndarray:
    """The plan in extended precision: p^β = P^β + β(x − max x) where that is positive, with log P from 200 bisections."""
    x = scores.cpu().double().numpy().astype(np.longdouble)
    dead = np.isneginf(x).all(-1, keepdims=True)
    x = np.where(dead, 0, x)
    x = x - x.max(-1, keepdims=True)
    beta = np.longdouble(alpha) - 1

    def plan(log_peak: np.ndarray) -> np.ndarray:
        if beta == 0:
            return np.exp(log_peak + x)
        excess = np.expm1(beta * log_peak) + beta * x  # p^β − 1
        positive = excess > -1
        return np.where(positive, np.exp(np.log1p(np.where(positive, excess, 0)) / beta), 0)

    low = np.full_like(x[..., :1], -np.log(np.longdouble(x.shape[-1])))
    high = np.zeros_like(low)
    for _ in range(200):
        middle = (low + high) / 2
        enough = plan(middle).sum(-1, keepdims=True) >= 1
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    p = plan(high)
    return np.where(dead, 0, p / p.sum(-1, keepdims=True))


def hold(plan: Tensor, scores: Tensor, alpha: float) -> None:
    """Compare with the reference: p_j for α ≤ 2, otherwise p_j^β, since p_j varies arbitrarily fast with its score."""
    m, dtype = scores.shape[-1], plan.dtype
    exact = reference(scores, alpha)
    beta = max(1.0, alpha - 1)
    # p^β is P^β + βx, and P is known to the rounding of log P; the sum has the rounding of a sum of m numbers.
    allowed = beta * tolerances.rounding(dtype, m, 1 + math.log(m))
    close(plan.cpu().double() ** beta, torch.from_numpy((exact**beta).astype(np.float64)), allowed)
    alive = torch.from_numpy(np.asarray(exact.sum(-1) > 0)).double()
    close(plan.cpu().double().sum(-1), alive, tolerances.rounding(dtype, m, 1.0))
    assert (plan >= 0).all()
    assert (plan[scores == -torch.inf] == 0).all()


# ── forward ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@on_devices
@in_dtypes
def test_plans_are_exact_to_rounding(dtype: torch.dtype, device: str) -> None:
    @FEW
    @given(drawn(dtype))
    def check(x: OneSided) -> None:
        scores = scores_of(x, device)
        cases = [(sparsemax(scores), 2.0), (entmax15(scores), 1.5)]
        cases += [(entmax_bisect(scores, alpha), alpha) for alpha in ALPHAS]
        for plan, alpha in cases:
            assert (plan.dtype, plan.device.type, plan.shape) == (dtype, device, scores.shape)
            hold(plan, scores, alpha)

    check()


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("m", [1000, 50000])
def test_long_and_even_rows_keep_their_digits(m: int, scale: float) -> None:
    x = scale * torch.randn(2, m, generator=torch.Generator().manual_seed(0))
    cases = [(sparsemax, {}), (entmax15, {}), *((entmax_bisect, {"alpha": alpha}) for alpha in (1.0, 1.001, 1.5, 2.0))]
    for function, options in cases:
        plan, wide = function(x, **options).double(), function(x.double(), **options)
        # PyTorch adds pairwise: the rounding of a sum grows with log₂ m. The weights may all be as small as 1/m.
        allowed = tolerances.rounding("float32", math.ceil(math.log2(m)), 1 + math.log(m))
        assert float((plan - wide).abs().max() / wide.max()) <= allowed
        close(plan.sum(-1), torch.ones(2, dtype=torch.float64), allowed)


@FEW
@given(drawn())
def test_the_package_agrees_where_nothing_is_dead(x: OneSided) -> None:
    if x.dead.any():
        return
    scores = scores_of(x)
    allowed = 2 * tolerances.rounding("float64", x.m, 1 + math.log(x.m))
    close(sparsemax(scores), entmax.sparsemax(scores), allowed)
    close(entmax15(scores), entmax.entmax15(scores), allowed)
    # It bisects β max x − τ: an offset costs it digits.
    centred = scores - scores.amax(-1, keepdim=True)
    for alpha in (1.1, 1.5, 2.0):
        close(entmax_bisect(centred, alpha), entmax.entmax_bisect(centred, alpha, n_iter=60), 20 * allowed)


@FEW
@given(drawn(), st.sampled_from((1, 2, 3, 100)))
def test_k_changes_nothing(x: OneSided, k: int) -> None:
    scores = scores_of(x)
    for function in (sparsemax, entmax15):
        close(function(scores, k=k), function(scores), tolerances.rounding("float64", x.m))


@every_function
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_any_dim(name: str, dim: int) -> None:
    x = normal(3, 4, 5)
    expected = FUNCTIONS[name](x.movedim(dim, -1).contiguous()).movedim(-1, dim)
    close(FUNCTIONS[name](x, dim=dim), expected, 0.0)


def test_the_package_fails_for_dim_minus_2() -> None:
    # Why this module exists. k smaller than the support makes it roll the wrong axis last.
    x = normal(3, 4, 5)
    with pytest.raises((IndexError, RuntimeError)):
        entmax.sparsemax(0.01 * x, dim=-2, k=1)
    close(sparsemax(0.01 * x, dim=-2, k=1), entmax.sparsemax(0.01 * x, dim=-2), 1e-15)


@every_function
def test_masking_is_removal_and_dead_rows_are_zero(name: str) -> None:
    x = normal(3, 5)
    x[0, 1:3], x[1] = -torch.inf, -torch.inf
    plan = FUNCTIONS[name](x)
    close(plan[0, [0, 3, 4]], FUNCTIONS[name](x[0, [0, 3, 4]]), 1e-15)
    assert plan[1].tolist() == [0.0] * 5
    assert FUNCTIONS[name](x[1]).tolist() == [0.0] * 5


@every_function
def test_extremes(name: str) -> None:
    function = FUNCTIONS[name]
    for big in (1e4, 3e38):
        assert function(torch.tensor([big, -big])).tolist() == [1.0, 0.0]
        close(function(torch.tensor([big, -big, big])), torch.tensor([0.5, 0.0, 0.5]), tolerances.eps("float32"))
    assert function(torch.tensor([-3.0])).tolist() == [1.0]
    assert function(torch.tensor([math.nan, 1.0])).isnan().all()
    assert function(torch.tensor([math.inf, 1.0])).isnan().any()


@every_function
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_float32_rounded(name: str, dtype: torch.dtype) -> None:
    x = normal(4, 7).to(dtype).requires_grad_()
    y = x.detach().float().requires_grad_()
    half, full = FUNCTIONS[name](x), FUNCTIONS[name](y)
    close(half, full.to(dtype), 0.0)
    up = normal(4, 7, seed=1).to(dtype)
    (left,), (right,) = torch.autograd.grad(half, x, up), torch.autograd.grad(full, y, up.float())
    close(left, right.to(dtype), 0.0)


# ── α ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


@FEW
@given(drawn())
def test_alpha_1_is_softmax_and_2_is_sparsemax(x: OneSided) -> None:
    scores = scores_of(x)
    allowed = tolerances.rounding("float64", x.m, 1 + math.log(x.m))
    close(entmax_bisect(scores, 1), one_sided.plan(scores), allowed)
    close(entmax_bisect(scores, 2), sparsemax(scores), allowed)
    close(entmax_bisect(scores, 1.5), entmax15(scores), allowed)


@pytest.mark.parametrize("step", [2.0**-n for n in (10, 20, 30, 40, 52)])
def test_near_alpha_1_everything_is_smooth(step: float) -> None:
    x = normal(3, 6)

    def jet(alpha: float) -> list[Tensor]:
        a = torch.full((3, 1), alpha, dtype=torch.float64, requires_grad=True)
        s = x.clone().requires_grad_()
        plan = entmax_bisect(s, a)
        first = torch.autograd.grad((plan * x.cos()).sum(), (s, a), create_graph=True)
        second = torch.autograd.grad(first[1].sum(), (s, a))
        return [y.detach() for y in (plan, *first, *second)]

    left, middle, right = jet(1 - step), jet(1.0), jet(1 + step)
    plan = middle[0]
    close(plan, x.softmax(-1), tolerances.plan("float64", 6))
    # ∂p/∂α at α = 1 is −½ p (log²p − E log²p), by the series of (1 + βy)^{1/β}.
    square = plan.log() ** 2
    slope = -plan * (square - (plan * square).sum(-1, keepdim=True)) / 2
    close(middle[2], (slope * x.cos()).sum(-1, keepdim=True), tolerances.rounding("float64", 6, 50.0))
    rounding = tolerances.rounding("float64", 6, 1e3)
    for a, b, c in zip(left, middle, right, strict=True):
        close(a, b, 1e3 * step + rounding)
        close(a + c, 2 * b, 1e4 * step**2 + rounding)  # no kink


def test_alpha_broadcasts_as_in_the_package() -> None:
    x, up = normal(2, 3, 5), normal(2, 3, 5, seed=1)
    for shape in ((), (1,), (3, 1), (2, 1, 1), (2, 3, 1)):
        alpha = (1.2 + torch.rand(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).requires_grad_()
        results = []
        for function in (entmax_bisect, lambda s, a: entmax.entmax_bisect(s, a, n_iter=60)):
            plan = function(x, alpha)
            results.append((plan.detach(), *torch.autograd.grad(plan, alpha, up)))
        close(results[0][0], results[1][0], 1e-13)
        close(results[0][1], results[1][1], 1e-11)
    alpha = torch.tensor([1.2, 1.5, 2.0, 1.0, 3.0], dtype=torch.float64)
    plan = entmax_bisect(x, alpha, dim=1)
    for j, one in enumerate(alpha.tolist()):
        close(plan[..., j], entmax_bisect(x[..., j], one, dim=-1), 1e-14)


def test_an_alpha_that_is_not_positive_is_refused() -> None:
    for wrong in (0.0, -1.0, math.nan):
        alpha = torch.tensor([[1.0], [wrong]])
        with pytest.raises(ValueError, match=r"^alpha: expected positive numbers, got (-?\d|nan)\S* at \(1, 0\)$"):
            entmax_bisect(torch.zeros(2, 2), alpha)
        # Where it cannot be read, it shows in the result and in the derivative.
        plan, vjp = torch.func.vjp(torch.func.vmap(entmax_bisect), torch.ones(2, 3).cumsum(1), alpha)
        assert plan.isnan().any(-1).tolist() == [False, True]
        assert vjp(torch.eye(3)[:2])[1].isnan().squeeze(-1).tolist() == [False, True]


def test_training_does_not_stay_where_alpha_is_out_of_its_domain() -> None:
    module = EntmaxBisect(torch.nn.Parameter(torch.tensor(0.2)))
    optimizer = torch.optim.SGD(module.parameters(), lr=10.0)

    def step() -> None:
        optimizer.zero_grad()
        module(torch.tensor([0.0, 0.5, 2.0])).amax().backward()
        optimizer.step()

    step()
    with pytest.raises(ValueError, match=r"^alpha: expected positive numbers, got -"):
        step()


def test_few_iterations_give_a_rough_plan() -> None:
    x = normal(3, 6)
    exact = entmax_bisect(x, 1.3)
    errors = [float((entmax_bisect(x, 1.3, n_iter=n) - exact).abs().max()) for n in (2, 8, 30)]
    assert errors[0] > 1e-4 > errors[1] > 1e-8 > errors[2]
    rough = entmax_bisect(x, 1.3, n_iter=2, ensure_sum_one=False)
    assert (rough.sum(-1) > 1.001).any()
    corrected = entmax_bisect(x, 1.3, n_iter=2)
    close(corrected.sum(-1), torch.ones(3, dtype=torch.float64), tolerances.rounding("float64", 6))
    assert float((corrected - exact).abs().max()) < float((rough - exact).abs().max())


def test_enough_iterations_give_the_digits_of_the_named_functions() -> None:
    x = normal(50, 7)
    close(entmax_bisect(x, 1.5, n_iter=60), entmax15(x), 0.0)
    close(entmax_bisect(x, 2.0, n_iter=60), sparsemax(x), 0.0)


# ── modules ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_modules_are_the_functions() -> None:
    x = normal(3, 4, 5)
    close(regularizers.Sparsemax(dim=1, k=2)(x), sparsemax(x, 1), 1e-15)
    close(regularizers.Entmax15(1)(x), entmax15(x, 1), 0.0)
    close(regularizers.EntmaxBisect(1.3, 1, 30)(x), entmax_bisect(x, 1.3, 1, 30), 0.0)
    for ours, theirs in ((regularizers.Sparsemax, entmax.Sparsemax), (regularizers.EntmaxBisect, entmax.EntmaxBisect)):
        assert {k: v for k, v in vars(ours()).items() if not k.startswith("_")}.items() >= {
            k: v for k, v in vars(theirs()).items() if not k.startswith("_") and k != "training"
        }.items()


def test_alpha_is_learned_or_travels_with_the_module() -> None:
    learned = regularizers.EntmaxBisect(nn.Parameter(torch.tensor(1.3)))
    learned(torch.randn(2, 3, generator=torch.Generator().manual_seed(0)))[:, 0].sum().backward()
    assert [p.grad is not None for p in learned.parameters()] == [True]
    fixed = regularizers.EntmaxBisect(torch.tensor([[1.3], [2.0]])).double()
    assert isinstance(fixed.alpha, Tensor)
    assert fixed.alpha.dtype == torch.float64
    assert not fixed.state_dict()
    assert not list(fixed.parameters())


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────────

ROWS = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: entmax_bisect(torch.zeros(0, 2), dim=0), "X"),
        (lambda: sparsemax(ROWS, k=0), "k"),
        (lambda: entmax15(ROWS, k=1.5), "k"),
        (lambda: entmax_bisect(ROWS, 0.0), "alpha"),
        (lambda: entmax_bisect(ROWS, math.inf), "alpha"),
        (lambda: entmax_bisect(ROWS, "1.5"), "alpha"),
        (lambda: entmax_bisect(ROWS, torch.ones(3)), "alpha"),
        (lambda: entmax_bisect(ROWS, torch.ones(2, 3)), "alpha"),
        (lambda: entmax_bisect(ROWS, torch.ones(2, 1, dtype=torch.long)), "alpha"),
        (lambda: entmax_bisect(ROWS, n_iter=0), "n_iter"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], Tensor], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()


@every_function
def test_a_missing_dim_is_an_index_error(name: str) -> None:
    with pytest.raises(IndexError):
        FUNCTIONS[name](ROWS, dim=2)
    with pytest.raises(IndexError):
        entmax_bisect(ROWS, torch.ones(()), dim=2)


@pytest.mark.parametrize("alpha", [1.0625, 1.3, 1.5, 2.0])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_newton_sorting_and_bisection_find_the_same(alpha: float, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU and under `vmap`, where data cannot be read, another algorithm gives the plans: ties, masks, far scores too."""
    sizes = torch.logspace(-4, 4, 40, dtype=dtype)[:, None]
    scores = sizes * torch.randn(40, 33, generator=torch.Generator().manual_seed(3), dtype=dtype)
    scores[:, 5:9] = scores[:, 4:5]
    scores[:, 20] = -torch.inf
    named = {1.5: regularizers.entmax15, 2.0: regularizers.sparsemax}.get(alpha)
    functions = [lambda x: regularizers.entmax_bisect(x, alpha)] + ([] if named is None else [named])
    tau = regularizers._by_newton((alpha - 1) * (scores - scores.amax(-1, keepdim=True)), alpha - 1)
    assert tau is not None
    results = [function(scores) for function in functions]
    monkeypatch.setattr(regularizers, "on_cpu", lambda x: False)
    assert regularizers._by_newton(scores, alpha - 1) is None
    for plan, function in zip(results, functions, strict=True):
        torch.testing.assert_close(plan, function(scores), rtol=0.0, atol=64 * torch.finfo(dtype).eps)

"""Sparsemax, α-entmax and ALiBi, held to extended precision, to the ``entmax`` package where it is right, and to models."""

import math
from collections.abc import Callable

import entmax
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck
from torch.func import hessian, jacfwd, jacrev, vmap
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from evidence.instances.one_sided import OneSided, one_sided_problems
from numerics import one_sided, regularizers, tolerances
from numerics.regularizers import alibi_bias, alibi_slopes, entmax15, entmax_bisect, sparsemax

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
ALPHAS = (0.5, 1.0, 1.0 + 2**-20, 1.1, 1.5, 2.0, 3.0)
# Forward-mode differentiation compiles its decompositions with what the same release of PyTorch deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

FEW = settings(deadline=None, max_examples=40)
SCALES = (1.0, 0.0, 0.1, 30.0, 1e4)

on_devices = pytest.mark.parametrize("device", DEVICES)
in_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)

FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "sparsemax": sparsemax,
    "sparsemax, k = 2": lambda X, dim=-1: sparsemax(X, dim, k=2),
    "entmax15": entmax15,
    "entmax15, k = 2": lambda X, dim=-1: entmax15(X, dim, k=2),
    "softmax": lambda X, dim=-1: entmax_bisect(X, 1.0, dim),
    "entmax 1.3": lambda X, dim=-1: entmax_bisect(X, 1.3, dim),
    "entmax 2.5": lambda X, dim=-1: entmax_bisect(X, 2.5, dim),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def drawn(dtype: torch.dtype = torch.float64, **options: object) -> st.SearchStrategy[OneSided]:
    return one_sided_problems(dtype, scales=SCALES, temperatures=(1.0,), masks=("none", "boolean", "dead row"), **options)


def scores_of(x: OneSided, device: str = "cpu") -> Tensor:
    return x.scores.masked_fill(~x.allowed, -torch.inf).to(device)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, atol: float) -> None:
    assert_close(actual, expected, atol=atol, rtol=0.0)


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
        excess = np.expm1(beta * log_peak) + beta * x        # p^β − 1
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
    """Compare with the reference: p_j for α ≤ 2, and p_j^β beyond, where p_j follows its score arbitrarily fast."""
    m, dtype = scores.shape[-1], plan.dtype
    exact = reference(scores, alpha)
    beta = max(1.0, alpha - 1)
    # p^β is P^β + βx, and P is known to the rounding of log P; the sum costs what a sum of m numbers costs.
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
        # PyTorch adds pairwise: what a sum costs grows with log₂ m. The weights may all be as small as 1/m.
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


def test_float32_never_becomes_float64() -> None:
    x = normal(4, 7).float()
    alpha = torch.tensor([[1.0], [1.3], [1.5], [2.0]], dtype=torch.float64)
    torch.set_default_dtype(torch.float64)
    try:
        plans = [function(x) for function in FUNCTIONS.values()] + [entmax_bisect(x, alpha), entmax_bisect(x, alpha[0])]
    finally:
        torch.set_default_dtype(torch.float32)
    assert {plan.dtype for plan in plans} == {torch.float32}


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
        close(a + c, 2 * b, 1e4 * step**2 + rounding)       # no kink


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


def test_an_alpha_that_is_not_positive_gives_nan() -> None:
    plan = entmax_bisect(torch.zeros(4, 2), torch.tensor([[1.0], [0.0], [-1.0], [math.nan]]))
    assert plan.isnan().any(-1).tolist() == [False, True, True, True]


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


# ── derivatives ─────────────────────────────────────────────────────────────────────────────────────────────────────


def masked(x: Tensor) -> Tensor:
    """With a key and a row taken out, in a way that numeric differentiation does not see."""
    allowed = torch.ones_like(x, dtype=torch.bool)
    allowed[..., 1], allowed[-1] = False, False
    return torch.where(allowed, x, -torch.inf)


@every_function
@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("mask", [False, True])
def test_differentiable_twice(name: str, dim: int, mask: bool) -> None:
    x = (0.5 * normal(4, 4)).requires_grad_()

    def call(s: Tensor) -> Tensor:
        return FUNCTIONS[name](masked(s) if mask else s, dim=dim)

    assert gradcheck(call, (x,), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(call, (x,), check_fwd_over_rev=True)


@pytest.mark.parametrize("alpha", [0.6, 1.0, 1.0 + 1e-9, 1.4, 2.0, 2.6])
def test_differentiable_twice_in_alpha(alpha: float) -> None:
    x = (0.3 * normal(3, 3)).requires_grad_()
    shared = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    rows = torch.full((3, 1), alpha, dtype=torch.float64, requires_grad=True)
    for a in (shared, rows):
        assert gradcheck(lambda s, b: entmax_bisect(masked(s), b), (x, a), check_forward_ad=True)
        assert gradgradcheck(entmax_bisect, (x, a), check_fwd_over_rev=True, fast_mode=True)


@on_devices
@in_dtypes
def test_derivatives_are_finite_and_zero_where_masked(dtype: torch.dtype, device: str) -> None:
    @FEW
    @given(drawn(dtype), st.sampled_from(sorted(FUNCTIONS)))
    def check(x: OneSided, name: str) -> None:
        scores = scores_of(x, device).requires_grad_()
        plan = FUNCTIONS[name](scores)
        up = x.utility.to(device)
        (first,) = torch.autograd.grad((plan * up).sum(), scores, create_graph=True)
        (second,) = torch.autograd.grad((first * up).sum(), scores)
        for derivative in (first, second):
            assert not derivative.isnan().any()
            assert (derivative[scores == -torch.inf] == 0).all()
            assert (derivative[x.dead] == 0).all()

    check()


@every_function
def test_the_jacobian_is_that_of_the_weights(name: str) -> None:
    alpha = {"sparsemax": 2.0, "entmax15": 1.5, "softmax": 1.0}.get(name.partition(",")[0]) or float(name.split()[-1])
    x = 0.5 * normal(6)
    plan = FUNCTIONS[name](x)
    w = torch.where(plan > 0, plan ** (2 - alpha), 0.0)
    expected = w.diag() - w[:, None] * w / w.sum()
    close(jacrev(FUNCTIONS[name])(x), expected, 1e-12)
    close(jacfwd(FUNCTIONS[name])(x), expected, 1e-12)


@every_function
def test_every_order_of_modes_gives_the_same_derivatives(name: str) -> None:
    x, v = 0.5 * normal(3, 5), normal(5, seed=1)

    def value(s: Tensor) -> Tensor:
        return (FUNCTIONS[name](s) * v).sum()

    seconds = [vmap(f)(x) for f in (hessian(value), *(a(b(value)) for a in (jacrev, jacfwd) for b in (jacrev, jacfwd)))]
    thirds = [vmap(a(b(c(value))))(x) for a in (jacrev, jacfwd) for b in (jacrev, jacfwd) for c in (jacrev, jacfwd)]
    for family in (seconds, thirds):
        scale = 1 + float(family[0].abs().max())
        for other in family[1:]:
            close(other, family[0], tolerances.rounding("float64", 25, 10 * scale**2))
    if "sparsemax" in name:
        assert (seconds[0] == 0).all()
    else:
        # An independent third derivative: central differences of the Hessian.
        step = 1e-5
        for j in range(5):
            e = step * torch.eye(5, dtype=torch.float64)[j]
            slope = (vmap(hessian(value))(x + e) - vmap(hessian(value))(x - e)) / (2 * step)
            close(thirds[0][..., j], slope, 1e-5 * (1 + float(slope.abs().max())))


def test_nested_forward_mode_in_alpha() -> None:
    z = torch.cat([0.3 * normal(3, 4), torch.tensor([[1.0], [1.2], [1.5]], dtype=torch.float64)], 1)

    def value(row: Tensor) -> Tensor:
        return (entmax_bisect(row[:-1], row[-1:] ** 2) * torch.arange(4)).sum()

    family = [vmap(f)(z) for f in (hessian(value), *(a(b(value)) for a in (jacrev, jacfwd) for b in (jacrev, jacfwd)))]
    for other in family[1:]:
        close(other, family[0], tolerances.rounding("float64", 16, 1e3))


@every_function
def test_vmap_over_any_axis(name: str) -> None:
    x = normal(3, 4, 5)
    for axis in range(3):
        expected = torch.stack([FUNCTIONS[name](part) for part in x.unbind(axis)])
        close(vmap(FUNCTIONS[name], in_dims=axis)(x), expected, 1e-15)
    alphas = torch.tensor([1.0, 1.5, 2.0], dtype=torch.float64)
    expected = torch.stack([entmax_bisect(x, alpha) for alpha in alphas])
    close(vmap(entmax_bisect, in_dims=(None, 0))(x, alphas), expected, 1e-15)


def test_what_the_package_gets_wrong() -> None:
    x = normal(5).requires_grad_()
    assert not gradgradcheck(entmax.entmax15, (x,), raise_exception=False)
    assert entmax.entmax_bisect(x.detach(), 1.0).isnan().any() or not torch.allclose(
        entmax.entmax_bisect(x.detach(), 1.0), x.detach().softmax(-1)
    )


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


# ── ALiBi ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 8, 12, 16, 20, 71])
def test_alibi_is_that_of_published_models(heads: int) -> None:
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    length = 7
    ours = alibi_bias(heads, length, causal=True)
    allowed = ours > -torch.inf
    bloom = build_alibi_tensor(torch.ones(1, length), heads, torch.float32).expand(heads, length, length)
    mpt = build_mpt_alibi_tensor(heads, length).expand(heads, length, length)
    for theirs in (bloom, mpt):
        # Equal up to a constant per row, where the mask lets a key take part: softmax does not see the difference.
        difference = ours - theirs
        difference = (difference - difference[..., :1])[allowed]
        close(difference, torch.zeros_like(difference), tolerances.rounding("float32", 1, float(length)))
        logits = normal(heads, length, length).float()
        close(
            (logits + ours).softmax(-1),
            (logits + theirs).masked_fill(~allowed, -torch.inf).softmax(-1),
            tolerances.plan("float32", length, 2.0 * length),
        )


def test_alibi_slopes_are_the_published_ones() -> None:
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(16, torch.float64).tolist() == [2.0 ** (-h / 2) for h in range(1, 17)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    assert alibi_slopes(3, torch.float64).tolist() == [2.0**-4, 2.0**-8, 2.0**-2]


@on_devices
@in_dtypes
def test_alibi_is_a_distance_and_a_mask(dtype: torch.dtype, device: str) -> None:
    bias = alibi_bias(3, 5, dtype=dtype, device=device)
    assert (bias.shape, bias.dtype, bias.device.type) == ((3, 5, 5), dtype, device)
    close(bias, bias.mT, 0.0)
    assert (bias.diagonal(dim1=-2, dim2=-1) == 0).all()
    causal = alibi_bias(3, 5, causal=True, dtype=dtype, device=device)
    keep = torch.ones(5, 5, dtype=torch.bool, device=device).tril()
    close(causal, bias.masked_fill(~keep, -torch.inf), 0.0)
    long = alibi_bias(1, 1025, dtype=dtype, device=device)[0, 0]
    close(long, (-(2.0**-8) * torch.arange(1025, device=device)).to(dtype), 0.0)


def test_alibi_goes_into_attention_and_is_eot_36() -> None:
    query, key, value = (normal(2, 3, 6, 4, seed=seed) for seed in range(3))
    bias = alibi_bias(3, 6, causal=True, dtype=torch.float64)
    plan = one_sided.plan(one_sided.scores_from(query, key), 2.0, bias)
    close(
        one_sided.context(plan, value),
        scaled_dot_product_attention(query, key, value, attn_mask=bias),
        tolerances.rounding("float64", 64, 10.0),
    )
    gamma = 2.0 * alibi_slopes(3, torch.float64)             # added to s/τ, the slope is γ/τ
    distance = (torch.arange(6) - torch.arange(6)[:, None]).abs()
    scores = one_sided.scores_from(query, key) - gamma[:, None, None] * distance
    close(plan, one_sided.plan(scores, 2.0, bias > -torch.inf), tolerances.plan("float64", 6, 10.0))


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────────

ROWS = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sparsemax([0.0, 1.0]), "X"),
        (lambda: sparsemax(torch.zeros(3, dtype=torch.long)), "X"),
        (lambda: entmax15(torch.tensor(1.0)), "X"),
        (lambda: entmax15(torch.zeros(2, 0)), "X"),
        (lambda: entmax_bisect(torch.zeros(0, 2), dim=0), "X"),
        (lambda: entmax_bisect([0.0], torch.ones(1)), "X"),
        (lambda: sparsemax(ROWS, k=0), "k"),
        (lambda: entmax15(ROWS, k=1.5), "k"),
        (lambda: entmax_bisect(ROWS, 0.0), "alpha"),
        (lambda: entmax_bisect(ROWS, math.inf), "alpha"),
        (lambda: entmax_bisect(ROWS, "1.5"), "alpha"),
        (lambda: entmax_bisect(ROWS, torch.ones(3)), "alpha"),
        (lambda: entmax_bisect(ROWS, torch.ones(2, 3)), "alpha"),
        (lambda: entmax_bisect(ROWS, torch.ones(2, 1, dtype=torch.long)), "alpha"),
        (lambda: entmax_bisect(ROWS, n_iter=0), "n_iter"),
        (lambda: alibi_slopes(0), "num_heads"),
        (lambda: alibi_bias(2.0, 3), "num_heads"),
        (lambda: alibi_bias(2, 0), "length"),
        (lambda: alibi_bias(2, 3, dtype=torch.long), "dtype"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], Tensor], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()


@every_function
def test_a_dim_that_is_not_there_is_an_index_error(name: str) -> None:
    with pytest.raises(IndexError):
        FUNCTIONS[name](ROWS, dim=2)
    with pytest.raises(IndexError):
        entmax_bisect(ROWS, torch.ones(()), dim=2)

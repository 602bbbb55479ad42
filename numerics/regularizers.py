"""Sparsemax, α-entmax and ALiBi: the maps of scores by other regularizers (eot, Section 4).

A row of weights solves  min over the simplex of  −⟨p, s⟩ + Σ_j (p_j^α − p_j) / (α(α−1)).  α = 2 is sparsemax, the
projection on the simplex; α → 1 is softmax. Names and signatures are those of the ``entmax`` package, and these functions
can replace it.

Claims      eot.20, eot.26, eot.33, eot.36, eot.prop4.2, eot.prop4.3, eot.prop4.4
Notation    X = scores (s in print); α = alpha; β = α − 1; p = plan; h = head; i, j = positions of a query and a key
Solution    p_j = exp_β(x_j − c) with exp_β(y) = (1 + βy)_+^{1/β}, which is e^y at β = 0, and the c for which Σ_j p_j = 1;
            that is (βx_j − τ)_+^{1/β} with τ = βc − 1. For β ≤ 1 the norm of (βx − τ)_+ in ℓ_{1/β} is convex in τ, and
            Newton's method rises from τ = −1 to where it is 1. It looks at its data: where it cannot, sorting finds τ for
            α = 2 and α = 3/2. Otherwise bisection finds P = max_j p_j, and p_j = P exp_β((x_j − max x) P^{−β}): no α near
            1 and no very even plan costs digits.
Derivatives They follow from p. With w_j = p_j^{1−β} where p_j > 0 and w_j = 0 elsewhere, a_j = −p_j log²p_j φ(−β log p_j),
            φ(t) = (e^t − 1 − t)/t² and φ(0) = ½,
            dp = w (dx − Σ_l w_l dx_l / Σ_l w_l) + (a − w Σ_l a_l / Σ_l w_l) dα. Nothing here is singular at α = 1. What
            is differentiated again is this formula, p included: derivatives of every order are exact. Where a p_j just
            reaches zero, and one does not exist, it is that of one of the two sides.
Shapes      Rows live on ``dim``. ``alpha`` is a number or a tensor that expands to the shape of X with ``dim`` of size 1.
            Dtypes and masked scores: ``numerics.arguments``
References  Martins & Astudillo 2016; Peters, Niculae & Martins 2019; Correia, Niculae & Martins 2019 (derivative in α);
            Press, Smith & Lewis 2022 (ALiBi).
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from numerics.arguments import (
    Positive,
    check_count,
    check_positive,
    compute_dtype,
    describe,
    is_dense,
    known_true,
    on_cpu,
    one_per_row,
    readable,
    within,
    without_autocast,
)

_LEAST_BETA, _NEWTON_STEPS = 2.0**-4, 24
"""For which β Newton's method is used, which costs log 1/β digits of the peak, and after how many steps it gives up."""


def sparsemax(X: Tensor, dim: int = -1, k: int | None = None) -> Tensor:
    """Return the point of the simplex nearest to the scores, p_j = max(x_j − τ, 0) (``eot.prop4.2``).

    Args:
        X: scores, floating, with at least one entry along ``dim``.
        dim: where the rows live.
        k: how many of the largest scores to look at first, ≥ 1; more, if a row turns out to need them. The result does
            not depend on it.

    Returns:
        The shape and dtype of X.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        IndexError: if X has no dimension ``dim``.
    """
    _check_k(k)
    return _choose(X, dim, 1.0, lambda x, _: _by_sorting(x, k, 1.0))


def entmax15(X: Tensor, dim: int = -1, k: int | None = None) -> Tensor:
    """Return the 3/2-entmax of the scores, p_j = max(x_j/2 − τ, 0)² (``eot.prop4.3`` with α = 3/2).

    Arguments, result and errors as for ``sparsemax``.
    """
    _check_k(k)
    return _choose(X, dim, 0.5, lambda x, _: _by_sorting(x, k, 0.5))


def entmax_bisect(X: Tensor, alpha: Positive = 1.5, dim: int = -1, n_iter: int = 50, ensure_sum_one: bool = True) -> Tensor:
    """Return the α-entmax of the scores, differentiable in the scores and in α (``eot.prop4.3``).

    Args:
        X: scores, floating, with at least one entry along ``dim``.
        alpha: positive; 1 is softmax and 2 sparsemax. A number, or a floating tensor that expands to the shape of X with
            ``dim`` of size 1. What is not positive in a tensor is refused as ``arguments.within`` says.
        dim: where the rows live.
        n_iter: how many times to halve the interval that holds the solution, ≥ 1; fewer, once the dtype can no longer
            tell its ends apart.
        ensure_sum_one: whether to correct the sum of the result, which is 1 up to the width of the last interval.

    Returns:
        The shape and dtype of X.

    Raises:
        ValueError: for a shape, dtype or number other than these, also of a learned α on the CPU.
        IndexError: if X has no dimension ``dim``.
    """
    check_count("n_iter", n_iter)
    return _choose(X, dim, _beta(alpha, X, dim), lambda x, beta: _by_bisection(x, beta, n_iter, ensure_sum_one))


class Sparsemax(nn.Module):
    """``sparsemax`` as a module."""

    def __init__(self, dim: int = -1, k: int | None = None) -> None:
        super().__init__()
        self.dim, self.k = dim, k

    def forward(self, X: Tensor) -> Tensor:
        """Return ``sparsemax(X)``."""
        return sparsemax(X, self.dim, self.k)


class Entmax15(nn.Module):
    """``entmax15`` as a module."""

    def __init__(self, dim: int = -1, k: int | None = None) -> None:
        super().__init__()
        self.dim, self.k = dim, k

    def forward(self, X: Tensor) -> Tensor:
        """Return ``entmax15(X)``."""
        return entmax15(X, self.dim, self.k)


class EntmaxBisect(nn.Module):
    """``entmax_bisect`` as a module.

    An ``alpha`` that is an ``nn.Parameter`` is learned with the module; any other tensor moves between devices with it.
    """

    alpha: Positive

    def __init__(self, alpha: Positive = 1.5, dim: int = -1, n_iter: int = 50) -> None:
        super().__init__()
        hold(self, "alpha", alpha)
        self.dim, self.n_iter = dim, n_iter

    def forward(self, X: Tensor) -> Tensor:
        """Return ``entmax_bisect(X)``."""
        return entmax_bisect(X, self.alpha, self.dim, self.n_iter)


def hold(module: nn.Module, name: str, value: Positive) -> None:
    """Keep a number or tensor in a module: a parameter is learned with it, any other tensor moves between devices with it."""
    if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
        module.register_buffer(name, value, persistent=False)
    else:
        setattr(module, name, value)


def alibi_slopes(num_heads: int, dtype: torch.dtype | None = None, device: torch.device | str | None = None) -> Tensor:
    """Return the published slopes of the heads, (num_heads,).

    For n heads, n a power of two, they are 2^(−8h/n) for h = 1, …, n. For other numbers the published code takes those of
    the next smaller power of two, and then every other one of the next larger power, from the first on.

    Args:
        num_heads: ≥ 1.
        dtype: floating; by default, torch's.
        device: by default, torch's.

    Raises:
        ValueError: for another number or dtype.
    """
    check_count("num_heads", num_heads)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise ValueError(f"dtype: expected a floating dtype, got {dtype!r}")
    power_of_two = 2 ** (num_heads.bit_length() - 1)
    exponents = [8 * h / power_of_two for h in range(1, power_of_two + 1)]
    exponents += [8 * h / (2 * power_of_two) for h in range(1, 2 * power_of_two, 2)][: num_heads - power_of_two]
    return torch.tensor([2.0**-x for x in exponents], dtype=dtype, device=device)


def alibi_bias(
    num_heads: int,
    length: int,
    *,
    causal: bool = False,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return ALiBi's bias of the scores, −slope_h |i − j|: the penalty of ``eot.34`` with γ_h = slope_h.

    Args:
        num_heads: ≥ 1; see ``alibi_slopes``.
        length: of the sequence, ≥ 1.
        causal: whether the keys after the query, j > i, are masked with −inf.
        dtype: floating; by default, torch's.
        device: by default, torch's.

    Returns:
        (num_heads, length, length), with the query i on the last axis but one. It can be the ``attn_mask`` of
        ``torch.nn.functional.scaled_dot_product_attention``.

    Raises:
        ValueError: for other numbers or another dtype.
    """
    check_count("length", length)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    slopes = alibi_slopes(num_heads, compute_dtype(dtype), device)
    position = torch.arange(length, device=device)
    distance = position - position[:, None]
    bias = -slopes[:, None, None] * distance.abs()
    return (bias.masked_fill(distance > 0, -torch.inf) if causal else bias).to(dtype)


# ── one row at a time: from scores to a plan that knows its derivatives ─────────────────────────────────────────────

Solver = Callable[[Tensor, Positive], Tensor]


def _choose(X: Tensor, dim: int, beta: Positive, solve: Solver) -> Tensor:
    """Return the plan, with its derivatives, from a solver for rows that live last, peak at 0 and are not all masked."""
    if not is_dense(X) or not X.is_floating_point() or X.ndim == 0 or X.shape[dim] == 0:
        raise ValueError(f"X: expected a dense floating tensor with at least one entry along dim {dim}, got {describe(X)}")
    x = X.to(compute_dtype(X.dtype)).movedim(dim, -1)
    # The plan does not depend on a common offset, so the peak may be held constant.
    peak = x.amax(-1, keepdim=True).detach()
    if on_cpu(x) and known_true(peak > -torch.inf):
        return _plan(x - peak, beta, solve).movedim(-1, dim).to(X.dtype)
    live = peak != -torch.inf
    plan = _plan(torch.where(live, x, 0.0) - torch.where(live, peak, 0.0), beta, solve)
    return torch.where(live, plan, 0.0).movedim(-1, dim).to(X.dtype)


def _plan(x: Tensor, beta: Positive, solve: Solver) -> Tensor:
    # torch.compile takes no function that has a jvp.
    apply: Callable[..., Tensor] = _ReversePlan.apply if torch.compiler.is_compiling() else _Plan.apply
    return apply(x, beta, solve)


class _ReversePlan(torch.autograd.Function):
    """The plan of a solver, with the derivatives of the module's note in place of the solver's own."""

    @staticmethod
    def forward(x: Tensor, beta: Positive, solve: Solver) -> Tensor:
        return solve(x, beta)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Positive, Solver], output: Tensor) -> None:
        x, beta, ctx.solve = inputs
        # Nothing that comes from above is no zero, which an infinite weight would make NaN.
        ctx.set_materialize_grads(False)
        ctx.beta = None if isinstance(beta, Tensor) else beta
        betas = (beta,) if isinstance(beta, Tensor) else ()
        ctx.save_for_backward(output, *betas)
        ctx.save_for_forward(x, *betas)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor | None) -> tuple[Tensor | None, Tensor | None, None]:
        if gradient is None:
            return None, None, None
        plan, beta = _saved(ctx)
        weight = _weight(plan, beta)
        # Where the weight is 0, whatever comes from above must not be NaN or infinite either.
        gradient = torch.where(weight > 0, gradient, 0.0)
        centred = gradient - (_shares(plan, beta, weight) * gradient).sum(-1, keepdim=True)
        slope = None
        if isinstance(beta, Tensor) and ctx.needs_input_grad[1]:
            slope = (centred * _beta_slope(plan, beta, weight)).sum(-1, keepdim=True)
        return weight * centred, slope, None


class _Plan(_ReversePlan):
    """The same, for forward differentiation and ``torch.func`` too."""

    generate_vmap_rule = True

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor | None, beta_tangent: Tensor | None, _: None) -> Tensor:
        # Forward differentiation of this very function (nested jvp) is off by default, and the saved plan would count as
        # constant: second derivatives would be zero, silently. So it is switched on, and the plan is made from x again.
        with forward_ad._set_fwd_grad_enabled(True):
            unpack: Callable[[Tensor], Any] = forward_ad.unpack_dual
            x, beta = _saved(ctx)
            beta = unpack(beta).primal if isinstance(beta, Tensor) else beta
            plan = _plan(unpack(x).primal, beta, ctx.solve)
            weight = _weight(plan, beta)
            image = torch.zeros_like(plan)
            if tangent is not None:
                image = image + weight * torch.where(weight > 0, tangent, 0.0)
            if beta_tangent is not None and isinstance(beta, Tensor):
                image = image + _beta_slope(plan, beta, weight) * beta_tangent
            return image - _shares(plan, beta, weight) * image.sum(-1, keepdim=True)


def _saved(ctx: Any) -> tuple[Tensor, Positive]:
    return (ctx.saved_tensors[0], ctx.beta) if ctx.beta is not None else ctx.saved_tensors


def _weight(plan: Tensor, beta: Positive) -> Tensor:
    """w = p^{1−β} where p > 0, and 0 elsewhere: how fast each p_j follows its score while c is held."""
    support = plan > 0
    if isinstance(beta, float) and beta == 1.0:
        return torch.where(support, 1 + 0 * plan, 0.0)  # a second derivative of zero, and not an error
    inside = torch.where(support, plan, 1.0)
    return torch.where(support, inside.sqrt() if isinstance(beta, float) and beta == 0.5 else inside ** (1 - beta), 0.0)


def _shares(plan: Tensor, beta: Positive, weight: Tensor) -> Tensor:
    """w/Σ_l w_l, from quotients of the p_j: p^{1−β} itself may be beyond the range of the dtype where β > 1."""
    if not isinstance(beta, Tensor) and beta <= 1.0:
        return weight / weight.sum(-1, keepdim=True)
    support = plan > 0
    least = torch.where(support, plan.detach(), 1.0).amin(-1, keepdim=True)
    base = torch.where(beta > 1, least, 1.0) if isinstance(beta, Tensor) else least
    relative = torch.where(support, torch.where(support, plan / base, 1.0) ** (1 - beta), 0.0)
    return relative / relative.sum(-1, keepdim=True)


def _beta_slope(plan: Tensor, beta: Tensor, weight: Tensor) -> Tensor:
    """a = −p log²p φ(t) with t = −β log p: how fast each p_j follows β while c is held. For large t, w = p e^t is used.

    A multiple of w may be added, which c takes off again. For β > 1 that is w/β², which may be beyond the range of the dtype.
    """
    logarithm = torch.where(plan > 0, plan, 1.0).log()
    t = -beta * logarithm
    near = t.abs() < 0.5
    series = torch.full_like(t, 1 / math.factorial(17))
    for n in range(16, 1, -1):
        series = series * t + 1 / math.factorial(n)
    far = (weight - plan * (1 + t)) / torch.where(near, 1.0, beta) ** 2
    slope = torch.where(near, plan * logarithm**2 * series, far)
    return torch.where(beta > 1, plan * (1 + t) / torch.where(beta > 1, beta, 1.0) ** 2, -slope)


# ── solvers: no derivatives below ───────────────────────────────────────────────────────────────────────────────────


def _by_bisection(x: Tensor, beta: Positive, n_iter: int, ensure_sum_one: bool) -> Tensor:
    """Σ_j p_j grows with P = max_j p_j, which is at most 1 and at least 1/m; log P is bisected."""
    largest = torch.finfo(x.dtype).max

    def plan(log_peak: Tensor) -> Tensor:
        y = x * (-beta * log_peak).exp().clamp(max=largest)
        if isinstance(beta, Tensor) or beta != 0.0:
            # log1p is −inf where nothing is left. A β that is 0 divides 0 by 0, and is replaced.
            logarithm = (beta * y).clamp(min=-1).log1p_().div_(beta)
            y = torch.where(beta == 0, y, logarithm) if isinstance(beta, Tensor) else logarithm
        return y.add_(log_peak).exp_()

    log_m = math.log(x.shape[-1])
    digits = 2 - math.floor(math.log2(torch.finfo(x.dtype).eps) - math.log2(1 + log_m))
    tau = _by_newton(beta * x, beta) if n_iter >= digits and not isinstance(beta, Tensor) else None
    if tau is not None and beta in (0.5, 1.0):
        return _truncated_power(beta * x, tau, float(beta))
    if tau is not None:
        p = plan((-tau).log() / beta)
    else:
        low = torch.full_like(x[..., :1], -log_m) + 0 * beta
        high = torch.zeros_like(low)
        for _ in range(min(n_iter, digits)):
            middle = (low + high) / 2
            reached = plan(middle).sum(-1, keepdim=True) >= 1
            low, high = torch.where(reached, low, middle), torch.where(reached, middle, high)
        p = plan(high)
    if not ensure_sum_one:
        return p
    # What is left of Σ_j p_j − 1 goes where a change of P would take it, to first order: a quotient would spread it evenly.
    p = (p - _shares(p, beta, _weight(p, beta)) * (p.sum(-1, keepdim=True) - 1)).clamp(min=0)
    return p / p.sum(-1, keepdim=True)


def _by_sorting(x: Tensor, k: int | None, beta: float) -> Tensor:
    """p = (βx − τ)_+^{1/β} for β = 1 or ½, with τ from the k largest scores; k doubles until every row leaves one out."""
    y, m = beta * x, x.shape[-1]
    tau = _by_newton(y, beta)
    if tau is not None:
        return _truncated_power(y, tau, beta)
    threshold = _sparsemax_threshold if beta == 1.0 else _entmax15_threshold
    k = m if k is None else min(k, m)
    while True:
        tau, size = threshold(y.sort(-1, descending=True).values if k == m else y.topk(k, -1).values)
        leaves_one_out = size < k
        if k == m or (readable(leaves_one_out) and bool(leaves_one_out.all())):
            break
        k = min(2 * k, m)
    for _ in range(2):  # Newton's method: its sums are those of the support alone
        plan = _truncated_power(y, tau, beta)
        tau = tau + beta * (plan.sum(-1, keepdim=True) - 1) / _weight(plan, beta).sum(-1, keepdim=True)
    return _truncated_power(y, tau, beta)


def _truncated_power(y: Tensor, tau: Tensor, beta: float) -> Tensor:
    """Return (y − τ)_+^{1/β} for β = 1 or ½."""
    base = (y - tau).relu_()
    return base if beta == 1.0 else base.square()


@without_autocast
def _by_newton(y: Tensor, beta: float) -> Tensor | None:
    """Return the τ with Σ (y_j − τ)_+^{1/β} = 1 for rows with the peak 0, or None where this method is not for it.

    The norm G = (Σ (y_j − τ)_+^{1/β})^β is convex in τ, at least 1 at τ = −1, and nearly straight where it is large.
    """
    if not on_cpu(y) or not _LEAST_BETA <= beta <= 1.0:
        return None
    tau, tolerance = -torch.ones_like(y[..., :1]), 8 * torch.finfo(y.dtype).eps
    for _ in range(_NEWTON_STEPS):
        base = (y - tau).relu_()
        if beta == 1.0:
            total, weight = base.sum(-1, keepdim=True), (base != 0).sum(-1, keepdim=True)
        elif beta == 0.5:
            total, weight = torch.linalg.vecdot(base, base).unsqueeze(-1), base.sum(-1, keepdim=True)
        else:
            power = base ** (1 / beta - 1)
            total, weight = torch.linalg.vecdot(power, base).unsqueeze(-1), power.sum(-1, keepdim=True)
        step = (total - total ** (1 - beta)) / weight
        tau = tau + step
        if not readable(step):
            return None
        if known_true(step.abs() <= tolerance):
            return tau
    return None


def _sparsemax_threshold(top: Tensor) -> tuple[Tensor, Tensor]:
    """Return τ and the size n of the support, from numbers that fall: Σ_{j ≤ n} (y_j − τ) = 1."""
    count = torch.arange(1, top.shape[-1] + 1, dtype=top.dtype, device=top.device)
    total = top.cumsum(-1) - 1
    size = (count * top > total).sum(-1, keepdim=True).clamp(min=1)
    return total.gather(-1, size - 1) / size, size


def _entmax15_threshold(top: Tensor) -> tuple[Tensor, Tensor]:
    """Return τ and the size n of the support, from numbers that fall: Σ_{j ≤ n} (y_j − τ)² = 1."""
    count = torch.arange(1, top.shape[-1] + 1, dtype=top.dtype, device=top.device)
    mean = top.cumsum(-1) / count
    spread = (top**2).cumsum(-1) - count * mean**2
    tau = mean - ((1 - spread) / count).clamp(min=0).sqrt()
    size = (tau <= top).sum(-1, keepdim=True).clamp(min=1)
    return tau.gather(-1, size - 1), size


# ── arguments ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _beta(alpha: Positive, X: Tensor, dim: int) -> Positive:
    """Return α − 1, with the rows' dimension moved last if it is a tensor."""
    if not isinstance(alpha, Tensor):
        return check_positive("alpha", alpha) - 1.0
    if not is_dense(X) or not X.is_floating_point() or X.ndim == 0:
        return 0.0  # X will be refused
    a = one_per_row("alpha", alpha, X, dim)
    return within("alpha", a, a > 0, "positive numbers") - 1


def _check_k(k: int | None) -> None:
    if k is not None:
        check_count("k", k)

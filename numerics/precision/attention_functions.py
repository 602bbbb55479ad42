"""Functions in the table of errors: attention by tiles and by features, and the closed forms of the mean problem."""

from collections.abc import Callable

import torch
from torch import Tensor

from numerics import flash, linear, mem
from numerics.precision import attention
from numerics.precision.cells import Trial
from numerics.precision.exact import Exact, Peak, joined
from numerics.precision.functions import DECADES, LARGE, SMALL, WIDE, Data, Function, exact, gradient, matrix

D = 2
"""The width of vectors."""

FEATURES = 3

_SCALES = {"normal": 1.0, "wide": 1e2}
"""Of queries and keys: scores up to ±10⁴."""


def _vectors(data: Data, count: int, width: int = D) -> Tensor:
    return data.normal(count, width, scale=_SCALES[data.setting.scores])


def _number(data: Data, peak: Peak) -> Exact:
    return Exact.of([data.number], peak)


def _tiled(data: Data) -> Trial:
    q, k, v = _vectors(data, 1), _vectors(data, data.setting.size), data.normal(data.setting.size, D)

    def computed() -> Tensor:
        result = flash.tiled_attention(q, k, v, temperature=data.number, tile=5)
        return torch.cat([result.output[0].double(), result.log_sum_exp.double()])

    return Trial(
        computed, lambda peak: attention.attention(exact(q, peak), matrix(k, peak), matrix(v, peak), _number(data, peak))
    )


def _tiled_backward(data: Data) -> Trial:
    q, k, v = _vectors(data, 1), _vectors(data, data.setting.size), data.normal(data.setting.size, D)
    upward = data.normal(1, D)

    def computed() -> Tensor:
        result = flash.tiled_attention(q, k, v, temperature=data.number, tile=5)
        parts = flash.tiled_gradients(q, k, v, result, upward, temperature=data.number, tile=5)
        return torch.cat([part.double().flatten() for part in parts])

    return Trial(
        computed,
        lambda peak: attention.attention_backward(
            exact(q, peak), matrix(k, peak), matrix(v, peak), _number(data, peak), exact(upward, peak)
        ),
    )


def _automatic(data: Data) -> Trial:
    q, k, v = _vectors(data, 1), _vectors(data, data.setting.size), data.normal(data.setting.size, D)
    upward = data.normal(1, D)

    def value(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (upward * flash.tiled_attention(q, k, v, temperature=data.number, tile=5).output).sum()

    return Trial(
        lambda: gradient(value, q, k, v),
        lambda peak: attention.attention_backward(
            exact(q, peak), matrix(k, peak), matrix(v, peak), _number(data, peak), exact(upward, peak)
        ),
    )


def _features(data: Data, *, values: bool) -> Trial:
    q, k, v = data.shares(1, FEATURES), data.shares(data.setting.size, FEATURES), data.normal(data.setting.size, D)

    def expected(peak: Peak) -> Exact:
        if values:
            return attention.linear_attention(exact(q, peak), matrix(k, peak), matrix(v, peak))
        return attention.kernel_weights(exact(q, peak), matrix(k, peak))

    return Trial(lambda: linear.linear_attention(q, k, v) if values else linear.kernel_weights(q, k), expected)


def _random_features(data: Data) -> Trial:
    x, omega = _vectors(data, 1), data.normal(FEATURES, D)
    return Trial(
        lambda: linear.positive_random_features(x, omega),
        lambda peak: attention.random_features(exact(x, peak), matrix(omega, peak)),
    )


def _random_attention(data: Data) -> Trial:
    q, k, v = _vectors(data, 1), _vectors(data, data.setting.size), data.normal(data.setting.size, D)
    omega = data.normal(FEATURES, D)
    return Trial(
        lambda: linear.random_feature_attention(q, k, v, omega, data.number),
        lambda peak: attention.random_feature_attention(
            exact(q, peak), matrix(k, peak), matrix(v, peak), matrix(omega, peak), _number(data, peak)
        ),
    )


def _variance(data: Data) -> Trial:
    q, k = _vectors(data, 1), _vectors(data, data.setting.size)
    return Trial(
        lambda: linear.kernel_variance(q, k, FEATURES),
        lambda peak: joined(attention.kernel_variance(exact(q, peak), key, FEATURES) for key in matrix(k, peak)),
    )


# ── maximum entropy on the mean ─────────────────────────────────────────────────────────────────────────────────────

Reference = Callable[[list[Exact], Exact, Exact, Exact], Exact]


def _mean_problem(call: Callable[[Tensor, Tensor, Tensor, float], Tensor], reference: Reference) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        t, z, u = _vectors(data, data.setting.size), data.normal(D), data.shares(data.setting.size)
        return Trial(
            lambda: call(t, z, u, data.number),
            lambda peak: reference(matrix(t, peak), exact(z, peak), exact(u, peak), _number(data, peak)),
        )

    return trial


def _objective(data: Data) -> Trial:
    t, z, u = _vectors(data, data.setting.size), data.normal(D), data.shares(data.setting.size)
    p = data.rounded(u.double().square().numpy() / float(u.double().square().sum()))
    return Trial(
        lambda: mem.primal_objective(p, t, z, u, data.number),
        lambda peak: attention.primal_objective(
            exact(p, peak), matrix(t, peak), exact(z, peak), exact(u, peak), _number(data, peak)
        ),
    )


def _dual(call: Callable[..., Tensor], reference: Callable[..., Exact]) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        t, z, u = _vectors(data, data.setting.size), data.normal(D), data.shares(data.setting.size)
        lam = data.normal(D)
        return Trial(
            lambda: call(lam, t, z, u, data.number),
            lambda peak: reference(exact(lam, peak), matrix(t, peak), exact(z, peak), exact(u, peak), _number(data, peak)),
        )

    return trial


KINDS = ("normal", "wide")

ATTENTION = (
    Function("flash.tiled_attention", _tiled, (*SMALL, LARGE), KINDS),
    Function("flash.tiled_gradients", _tiled_backward, SMALL, KINDS, dtypes=WIDE),
    Function("flash.tiled_attention, derivatives in query, key and value", _automatic, SMALL, KINDS),
    Function("linear.linear_attention", lambda data: _features(data, values=True), (*SMALL, LARGE), KINDS[:1], (0,)),
    Function("linear.kernel_weights", lambda data: _features(data, values=False), (*SMALL, LARGE), KINDS[:1], (0,)),
    Function("linear.positive_random_features", _random_features, (1,), KINDS, (0,)),
    Function("linear.random_feature_attention", _random_attention, SMALL, KINDS),
    Function("linear.kernel_variance", _variance, SMALL, KINDS, (0,)),
    Function(
        "mem.tilt",
        _dual(lambda lam, t, z, u, a: mem.tilt(lam, t, u), lambda lam, t, z, u, a: attention.tilt(lam, t, u)),
        (*SMALL, LARGE),
        KINDS,
        (0,),
    ),
    Function(
        "mem.log_partition",
        _dual(
            lambda lam, t, z, u, a: mem.log_partition(lam, t, u), lambda lam, t, z, u, a: attention.mem_log_partition(lam, t, u)
        ),
        (*SMALL, LARGE),
        KINDS,
        (0,),
    ),
    Function("mem.dual_objective", _dual(mem.dual_objective, attention.dual_objective), SMALL, KINDS),
    Function("mem.dual_gradient", _dual(mem.dual_gradient, attention.dual_gradient), SMALL, KINDS),
    Function("mem.primal_objective", _objective, SMALL, KINDS),
    Function("mem.closed_form", _mean_problem(mem.closed_form, attention.closed_form), (*SMALL, LARGE), KINDS, DECADES),
    Function("mem.resolvent", _mean_problem(mem.resolvent, attention.resolvent), SMALL, KINDS),
)

"""Functions in the table of errors: sparse maps, their thresholds' derivatives, and Fenchel–Young losses."""

from collections.abc import Callable

import torch
from torch import Tensor

from numerics import fenchel_young, regularizers, sparse_maps
from numerics.precision import rows, sparse
from numerics.precision.cells import Trial, computed, torch_dtype
from numerics.precision.exact import Exact, Peak
from numerics.precision.functions import DECADES, LARGE, SMALL, Data, Function, exact, gradient

BELOW = tuple(range(-6, 0))


def _alpha(data: Data, base: float) -> float:
    """base + 10^decade in the dtype that is computed in, exactly."""
    return float(torch.tensor(base + 10.0**data.setting.decade, dtype=torch_dtype(computed(data.setting.dtype))))


def _map(
    call: Callable[[Tensor, float], Tensor], reference: Callable[[Exact, Exact], Exact], number: Callable[[Data], float]
) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        s, value = data.scores(), number(data)
        return Trial(lambda: call(s, value), lambda peak: reference(exact(s, peak), Exact.of([value], peak)))

    return trial


def _backward(call: Callable[..., Tensor], number: Callable[[Data], float], *, learned: bool) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        s, w, value = data.scores(), data.normal(data.setting.size), number(data)
        leaf = torch.tensor(value, dtype=torch_dtype(computed(data.setting.dtype)))

        def derivatives() -> Tensor:
            if learned:
                return gradient(lambda s, a: (w * call(s, a)).sum(), s, leaf)
            return gradient(lambda s: (w * call(s, value)).sum(), s)

        def expected(peak: Peak) -> Exact:
            both = sparse.entmax_backward(exact(s, peak), Exact.of([value], peak), exact(w, peak))
            return both if learned else both[:-1]

        return Trial(derivatives, expected)

    return trial


def _loss(
    call: Callable[[Tensor, Tensor, float], Tensor],
    plan: Callable[[Exact, Exact], Exact],
    omega: Callable[[Exact, Exact], Exact],
    number: Callable[[Data], float],
    *,
    backward: bool = False,
) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        s, value = data.scores(), number(data)
        label = data.setting.size // 2

        def computed() -> Tensor:
            target = torch.tensor(label)
            return gradient(lambda s: call(s, target, value), s) if backward else call(s, target, value)

        def expected(peak: Peak) -> Exact:
            x, alpha = exact(s, peak), Exact.of([value], peak)
            p = plan(x, alpha)
            return sparse.less_label(p, label) if backward else sparse.loss_of(p, omega(p, alpha), x, label)

        return Trial(computed, expected)

    return trial


def _fixed(value: float) -> Callable[[Data], float]:
    return lambda data: value


def _losses(
    name: str,
    call: Callable[[Tensor, Tensor, float], Tensor],
    plan: Callable[[Exact, Exact], Exact],
    omega: Callable[[Exact, Exact], Exact],
    number: Callable[[Data], float],
    decades: tuple[int, ...] = (0,),
) -> tuple[Function, Function]:
    sizes = (*SMALL, LARGE)
    return (
        Function(f"fenchel_young.{name}", _loss(call, plan, omega, number), sizes, decades=decades),
        Function(
            f"fenchel_young.{name}, derivative in X", _loss(call, plan, omega, number, backward=True), sizes, decades=decades
        ),
    )


def _ova(data: Data) -> Trial:
    s, label = data.scores(), data.setting.size // 2

    def expected(peak: Peak) -> Exact:
        x = exact(s, peak)
        # softplus(x) = max(x, 0) + log(1 + e^{−|x|}), and for the label softplus(−x).
        signed = Exact([-y if i == label else y for i, y in enumerate(x.value)], x.error, x.peak)
        return (signed.clamped() + ((-signed.abs()).exp() + 1.0).log()).sum()

    return Trial(lambda: fenchel_young.logistic_ova_loss(s, torch.tensor(label)), expected)


def _softmax(s: Exact, _: Exact) -> Exact:
    return rows.softmax(s)


def _plain(data: Data) -> float:
    return _alpha(data, 0.0)


def _above_one(data: Data) -> float:
    return _alpha(data, 1.0)


SPARSE = (
    Function("regularizers.sparsemax", _map(lambda s, _: regularizers.sparsemax(s), sparse.entmax, _fixed(2.0)), decades=(0,)),
    Function(
        "regularizers.sparsemax, derivative in X",
        _backward(lambda s, _: regularizers.sparsemax(s), _fixed(2.0), learned=False),
        decades=(0,),
    ),
    Function("regularizers.entmax15", _map(lambda s, _: regularizers.entmax15(s), sparse.entmax, _fixed(1.5)), decades=(0,)),
    Function(
        "regularizers.entmax15, derivative in X",
        _backward(lambda s, _: regularizers.entmax15(s), _fixed(1.5), learned=False),
        decades=(0,),
    ),
    Function("regularizers.entmax_bisect", _map(regularizers.entmax_bisect, sparse.entmax, _plain), (*SMALL, LARGE)),
    Function(
        "regularizers.entmax_bisect near α = 1",
        _map(regularizers.entmax_bisect, sparse.entmax, _above_one),
        SMALL,
        decades=BELOW,
    ),
    Function(
        "regularizers.entmax_bisect, derivatives in X and α", _backward(regularizers.entmax_bisect, _plain, learned=True), SMALL
    ),
    Function(
        "regularizers.entmax_bisect near α = 1, derivatives in X and α",
        _backward(regularizers.entmax_bisect, _above_one, learned=True),
        SMALL,
        decades=BELOW,
    ),
    Function("sparse_maps.normmax_bisect", _map(sparse_maps.normmax_bisect, sparse.normmax, _above_one), SMALL),
    Function(
        "sparse_maps.budget_bisect",
        lambda data: _map(sparse_maps.budget_bisect, sparse.budget, _fixed(min(data.setting.size, 5) * 0.7))(data),
        (*SMALL, LARGE),
        decades=(0,),
    ),
    *_losses("sparsemax_loss", lambda s, y, _: fenchel_young.sparsemax_loss(s, y), sparse.entmax, sparse.tsallis, _fixed(2.0)),
    *_losses("entmax15_loss", lambda s, y, _: fenchel_young.entmax15_loss(s, y), sparse.entmax, sparse.tsallis, _fixed(1.5)),
    *_losses("entmax_bisect_loss", fenchel_young.entmax_bisect_loss, sparse.entmax, sparse.tsallis, _plain, DECADES),
    *_losses(
        "entmax_bisect_loss near α = 1", fenchel_young.entmax_bisect_loss, sparse.entmax, sparse.tsallis, _above_one, BELOW
    ),
    *_losses("logistic_loss", lambda s, y, _: fenchel_young.logistic_loss(s, y), _softmax, sparse.tsallis, _fixed(1.0)),
    Function(
        "fenchel_young.normmax_bisect_loss",
        _loss(fenchel_young.normmax_bisect_loss, sparse.normmax, sparse.norm, _above_one),
        SMALL,
    ),
    Function("fenchel_young.logistic_ova_loss", _ova, (*SMALL, LARGE), decades=(0,)),
)

"""Functions in the table of errors: closed forms of rows, their derivatives, and the tested points of their ranges."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerics import fisher, one_sided
from numerics.precision import rows
from numerics.precision.cells import Setting, Trial, computed, torch_dtype
from numerics.precision.exact import Exact, Peak

DTYPES = ("float64", "float32", "float16", "bfloat16")
DECADES = tuple(range(-6, 7))
SCORES = ("normal", "wide", "far", "tied")
"""Standard normal; uniform to ±10⁴; standard normal about 10⁴; two values, each many times."""

SMALL = (1, 2, 17)
LARGE, LARGEST = 1000, 100_000


class Data:
    """Random data for a setting, rounded to its dtype."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.dtype = setting, torch_dtype(setting.dtype)
        key = (setting.decade, setting.scores, setting.size, setting.seed)  # the same numbers in every dtype, before rounding
        self._random = np.random.default_rng(zlib.crc32(repr(key).encode()))
        self.number = float(torch.tensor(10.0**setting.decade, dtype=torch_dtype(computed(setting.dtype))))

    def rounded(self, x: np.ndarray) -> Tensor:
        """Numbers in the dtype."""
        return torch.from_numpy(np.asarray(x, dtype=np.float64)).to(self.dtype)

    def normal(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Standard normal numbers, times a scale."""
        return self.rounded(scale * self._random.standard_normal(shape))

    def shares(self, *shape: int) -> Tensor:
        """Numbers between ½ and 1½."""
        return self.rounded(self._random.uniform(0.5, 1.5, shape))

    def scores(self) -> Tensor:
        """Scores of the setting's kind, (size,)."""
        m, random = self.setting.size, self._random
        kinds: dict[str, Callable[[], np.ndarray]] = {
            "normal": lambda: random.standard_normal(m),
            "wide": lambda: random.uniform(-1e4, 1e4, m),
            "far": lambda: 1e4 + random.standard_normal(m),
            "tied": lambda: random.integers(0, 2, m) * 1.0,
        }
        return self.rounded(kinds[self.setting.scores]())

    def plan(self) -> Tensor:
        """A softmax of scores."""
        s = self.scores().double()
        logits: Tensor = (s - s.max()) / max(1.0, float(s.abs().max()) / 300)
        return self.rounded(logits.softmax(-1).numpy())


def exact(x: Tensor, peak: Peak) -> Exact:
    """The entries of a tensor."""
    return Exact.of(x.detach().double().flatten().tolist(), peak)


def matrix(x: Tensor, peak: Peak) -> list[Exact]:
    """The rows of a tensor."""
    return [exact(row, peak) for row in x]


def gradient(f: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """The derivatives of a number in all inputs, one after the other."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    slopes: tuple[Tensor, ...] = torch.autograd.grad(f(*leaves), leaves)
    return torch.cat([x.double().flatten() for x in slopes])


@dataclass(frozen=True)
class Function:
    """A function of the table.

    Attributes:
        name: of the module, the function, and the derivative if it is one.
        trial: what is compared at a setting.
        sizes: of the rows.
        scores: which of ``SCORES``.
        decades: of its number; (0,) where it has none.
        dtypes: of the data.
    """

    name: str
    trial: Callable[[Data], Trial]
    sizes: tuple[int, ...] = (*SMALL, LARGE, LARGEST)
    scores: tuple[str, ...] = SCORES
    decades: tuple[int, ...] = DECADES
    dtypes: tuple[str, ...] = DTYPES

    def settings(self, dtype: str) -> Iterator[Setting]:
        """The settings at which it is tried; fewer of them for long rows."""
        for size in self.sizes:
            scores, decades = self.scores, self.decades
            if size >= LARGE:
                scores, decades = scores[: 3 if size == LARGE else 1], decades[::3] if size == LARGE else (0,)
            for kind in scores:
                for decade in decades:
                    yield Setting(decade, kind, size, dtype)


def _tau(data: Data, peak: Peak) -> Exact:
    return Exact.of([data.number], peak)


def _leaf(data: Data) -> Tensor:
    return torch.tensor(data.number, dtype=torch_dtype(computed(data.setting.dtype)))


def _of_scores(call: Callable[[Tensor, float], Tensor], reference: Callable[[Exact, Exact], Exact]) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        s = data.scores()
        return Trial(lambda: call(s, data.number), lambda peak: reference(exact(s, peak), _tau(data, peak)))

    return trial


def _of_plan(
    call: Callable[[Tensor, Tensor, float], Tensor], reference: Callable[[Exact, Exact, Exact], Exact]
) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        p, u = data.plan(), data.normal(data.setting.size)
        return Trial(lambda: call(p, u, data.number), lambda peak: reference(exact(p, peak), exact(u, peak), _tau(data, peak)))

    return trial


def _objective(data: Data) -> Trial:
    p, s = data.plan(), data.scores()
    return Trial(
        lambda: one_sided.objective(p, s, data.number),
        lambda peak: rows.objective(exact(p, peak), exact(s, peak), _tau(data, peak)),
    )


def _plan_backward(data: Data) -> Trial:
    s, w = data.scores(), data.normal(data.setting.size)
    return Trial(
        lambda: gradient(lambda s, tau: (w * one_sided.plan(s, tau)).sum(), s, _leaf(data)),
        lambda peak: rows.plan_backward(exact(s, peak), _tau(data, peak), exact(w, peak)),
    )


def _hessian(data: Data) -> Trial:
    s, w = data.scores(), data.normal(data.setting.size)

    def computed() -> Tensor:
        leaf = s.clone().requires_grad_()
        (slope,) = torch.autograd.grad(one_sided.log_partition(leaf, data.number), leaf, create_graph=True)
        second: Tensor = torch.autograd.grad((slope * w).sum(), leaf)[0]
        return second

    return Trial(computed, lambda peak: rows.log_partition_hessian(exact(s, peak), _tau(data, peak), exact(w, peak)))


def _derivative(call: Callable[..., Tensor], reference: Callable[[Exact, Exact], Exact]) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        s = data.scores()
        return Trial(lambda: gradient(call, s, _leaf(data)), lambda peak: reference(exact(s, peak), _tau(data, peak)))

    return trial


WIDE = ("float64", "float32")
"""Where a composition stores nothing in a shorter dtype on its way."""

ROWS = (
    Function("one_sided.plan", _of_scores(one_sided.plan, rows.plan)),
    Function("one_sided.plan, derivatives in scores and temperature", _plan_backward),
    Function("one_sided.log_partition", _of_scores(one_sided.log_partition, rows.log_partition)),
    Function(
        "one_sided.log_partition, derivatives in scores and temperature",
        _derivative(one_sided.log_partition, rows.log_partition_backward),
    ),
    Function("one_sided.log_partition, second derivative", _hessian),
    Function(
        "one_sided.entropy", _of_plan(lambda p, u, tau: one_sided.entropy(p), lambda p, u, tau: rows.entropy(p)), decades=(0,)
    ),
    Function(
        "one_sided.entropy of the plan, derivatives in scores and temperature",
        _derivative(lambda s, tau: one_sided.entropy(one_sided.plan(s, tau)), rows.entropy_backward),
        dtypes=WIDE,
    ),
    Function("one_sided.objective", _objective),
    Function("one_sided.score_gradient", _of_plan(one_sided.score_gradient, rows.score_gradient)),
    Function(
        "one_sided.plan_jacobian",
        _of_plan(lambda p, u, tau: one_sided.plan_jacobian(p, tau), lambda p, u, tau: rows.covariance(p) / tau),
        SMALL,
    ),
    Function("fisher.potential", _of_scores(fisher.potential, rows.potential)),
    Function("fisher.potential, derivative in scores", lambda data: _potential_backward(data)),
    Function(
        "fisher.fisher",
        _of_plan(lambda p, u, tau: fisher.fisher(p, tau), lambda p, u, tau: rows.covariance(p) / tau.square()),
        SMALL,
    ),
    Function("fisher.fisher_product", _of_plan(fisher.fisher_product, rows.fisher_product)),
    Function("fisher.jacobian_product", _of_plan(fisher.jacobian_product, lambda p, u, tau: rows.centred(p, u) / tau)),
    Function("fisher.pseudo_inverse_product", _of_plan(fisher.pseudo_inverse_product, rows.pseudo_inverse_product)),
    Function("fisher.natural_direction", _of_plan(fisher.natural_direction, rows.natural_direction)),
)


def _potential_backward(data: Data) -> Trial:
    s = data.scores()
    return Trial(
        lambda: gradient(lambda s: fisher.potential(s, data.number), s),
        lambda peak: rows.plan(exact(s, peak), _tau(data, peak)),
    )

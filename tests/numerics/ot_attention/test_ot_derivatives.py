"""Attention by optimal transport: derivatives of every promised order, transforms, and refusals."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from numerics import ot_attention as ot
from numerics.ot_attention import exact
from numerics.ot_attention import transport as closed_forms
from tests.numerics.common import close, many_problems
from tests.numerics.derivatives import check_once

# Forward-mode differentiation compiles decompositions that use features deprecated in the same release of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

F64 = torch.float64


def parts(seed: int = 0) -> tuple[Tensor, ...]:
    """Templates, evidence, logits of a prior, a cost that contains +inf, α and γ, all of them leaves."""
    x = many_problems(seed, 2, N=3, d=2, symmetric=False)
    cost = x.cost.clone()
    cost[..., 2, 1] = torch.inf
    leaves = (x.templates, x.evidence, x.prior.log(), cost, torch.tensor([0.7, 1.3], dtype=F64), torch.tensor(0.9, dtype=F64))
    return tuple(leaf.clone().requires_grad_() for leaf in leaves)


def with_finite_costs(function: Callable[..., Tensor]) -> tuple[Callable[..., Tensor], tuple[Tensor, ...]]:
    """The function of the finite entries of the cost, since numerical differences cannot treat infinite ones."""
    t, z, logits, cost, alpha, gamma = parts()
    fixed = (cost == torch.inf).detach()
    finite = torch.where(fixed, 0.0, cost.detach()).requires_grad_()

    def masked(t: Tensor, z: Tensor, logits: Tensor, cost: Tensor, alpha: Tensor, gamma: Tensor) -> Tensor:
        return function(t, z, logits.softmax(-1), cost.masked_fill(fixed, torch.inf), alpha, gamma.unsqueeze(-1))

    return masked, (t, z, logits, finite, alpha, gamma)


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "weights": ot.weights,
    "attend": ot.attend,
    "resolvent": ot.resolvent,
    "true_preference": lambda t, z, u, M, a, c: ot.true_preference(u, M, c),
    "kernel": lambda t, z, u, M, a, c: ot.kernel(M, c),
    "conjugate": lambda t, z, u, M, a, c: ot.conjugate(t[..., 0], u, M, c),
    "coupling": lambda t, z, u, M, a, c: ot.coupling(t[..., 0], u, M, c),
    "transported": lambda t, z, u, M, a, c: ot.transported(t[..., 0], u, M, c),
    "mean_covariance": lambda t, z, u, M, a, c: ot.mean_covariance(t, u, M, c),
    "attend_by_inner_products": lambda t, z, u, M, a, c: ot.attend_by_inner_products(t, z, u, a, c),
    "squared_distance": lambda t, z, u, M, a, c: ot.squared_distance(t),
    "negative_inner_product": lambda t, z, u, M, a, c: ot.negative_inner_product(t, constant=3.0),
    "solve: dual": lambda *x: ot.solve(*x).dual,
    "solve: weights": lambda *x: ot.solve(*x).weights,
    "solve: mean": lambda *x: ot.solve(*x).mean,
}


def test_a_wrong_derivative_is_detected() -> None:
    function, inputs = with_finite_costs(lambda t, z, u, M, a, c: ot.solve(t, z, u.detach(), M, a, c).weights)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check_once(function, inputs, batched=True)


def test_the_dual_moves_with_the_evidence_by_the_resolvent() -> None:
    """∂λ*/∂z = (I/α + Σ̄(λ*)/γ)⁻¹ with the covariance under the solution's own coupling."""
    x = many_problems(5, 1, symmetric=False)
    t, z, u, M = (part[0] for part in x.tensors)
    alpha, gamma = 2.0, 0.7
    jacobian = torch.func.jacrev(lambda z: ot.solve(t, z, u, M, alpha, gamma).dual)(z)
    X = ot.coupling(t @ ot.solve(t, z, u, M, alpha, gamma).dual, u, M, gamma)
    centred = t[:, None] - (X.mT @ t / u[:, None])[None]
    sigma = torch.einsum("ij,ijd,ije->de", X, centred, centred)
    expected = torch.linalg.inv(torch.eye(3, dtype=F64) / alpha + sigma / gamma)
    close(jacobian, expected, 1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forbidden_moves_have_finite_derivatives(name: str) -> None:
    t, z, logits, cost, alpha, gamma = parts()
    result = FUNCTIONS[name](t, z, logits.softmax(-1), cost, alpha, gamma)
    total = torch.where(result.isfinite(), result, 0.0).square().sum()
    leaves = [t, z, logits, cost, alpha, gamma]
    first = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True, materialize_grads=True)
    assert all(g.isfinite().all() for g in first)
    assert (first[3][cost == torch.inf] == 0).all()
    squared_norm = sum(g.square().sum() for g in first)
    assert isinstance(squared_norm, Tensor)
    if squared_norm.requires_grad:
        second = torch.autograd.grad(squared_norm, leaves, allow_unused=True, materialize_grads=True)
        assert all(g.isfinite().all() for g in second)


def test_prior_that_may_go_nowhere_has_finite_derivatives() -> None:
    t, z, logits, cost, alpha, gamma = parts()
    stuck = cost.detach().clone()
    stuck[..., 0] = torch.inf
    stuck.requires_grad_()
    total = ot.attend(t, z, logits.softmax(-1), stuck, alpha, gamma).sum()
    for gradient in torch.autograd.grad(total, [t, z, logits, stuck, alpha, gamma]):
        assert gradient.isfinite().all()


def test_leading_dimensions_broadcast_and_scalars_may_be_tensors() -> None:
    x = many_problems(7, 3, symmetric=False)
    t, z, u, M = x.tensors
    alpha, gamma = torch.tensor([0.5, 1.0, 2.0], dtype=F64), torch.tensor([[1.0], [3.0]], dtype=F64)
    together = ot.weights(t, z, u, M, alpha, gamma)
    solution = ot.solve(t, z, u, M, alpha, gamma)
    bound = ot.approximation_bound(t, z, u, M, alpha, gamma)
    assert together.shape == (2, 3, 5)
    assert solution.dual.shape == (2, 3, 3)
    for i, c in enumerate((1.0, 3.0)):
        for k, a in enumerate((0.5, 1.0, 2.0)):
            one = (t[k], z[k], u[k], M[k], a, c)
            close(together[i, k], ot.weights(*one), 1e-15)
            close(solution.weights[i, k], ot.solve(*one).weights, 1e-13)
            close(bound.weights[i, k], ot.approximation_bound(*one).weights, 1e-14)
    many = ot.weights(t[:, None], z, u[0], M[:, None])
    assert many.shape == (3, 3, 5)
    close(many[2, 1], ot.weights(t[2], z[1], u[0], M[2]), 1e-15)


def test_every_function_of_a_batch_is_that_of_its_problems() -> None:
    """More templates than sources, and separate leading axes for each tensor; all axes have different lengths."""
    g = torch.Generator().manual_seed(9)
    t, z, M, potential, dual, s = (
        torch.randn(*shape, generator=g, dtype=F64)
        for shape in ((2, 1, 6, 3), (3, 3), (4, 1, 1, 6, 5), (2, 1, 6), (3, 3), (2, 1, 5, 3))
    )
    u = torch.rand(3, 5, generator=g, dtype=F64)
    M[0, 0, 0, 2, 1] = torch.inf
    alpha, gamma = torch.tensor([0.5, 1.0, 2.0], dtype=F64), torch.tensor([[0.7], [1.5]], dtype=F64)
    everything, functions = (
        (t, z, u, M, alpha, gamma),
        {
            "weights": ot.weights,
            "attend": ot.attend,
            "resolvent": ot.resolvent,
            "solve": ot.solve,
            "approximation_bound": ot.approximation_bound,
            "bound at": lambda *x: ot.approximation_bound(*x, dual=dual),
        },
    )
    at_potential = {
        "kernel": (lambda: ot.kernel(M, gamma), lambda i, k, j: ot.kernel(M[j, 0, 0], float(gamma[i, 0]))),
        "true_preference": (
            lambda: ot.true_preference(u, M, gamma),
            lambda i, k, j: ot.true_preference(u[k], M[j, 0, 0], float(gamma[i, 0])),
        ),
        "mean_covariance": (
            lambda: ot.mean_covariance(t, u, M, gamma),
            lambda i, k, j: ot.mean_covariance(t[i, 0], u[k], M[j, 0, 0], float(gamma[i, 0])),
        ),
        "inner products": (
            lambda: ot.attend_by_inner_products(t, z, u, alpha, gamma, s),
            lambda i, k, j: ot.attend_by_inner_products(t[i, 0], z[k], u[k], float(alpha[k]), float(gamma[i, 0]), s[i, 0]),
        ),
    }
    at_potential |= {
        name: (
            lambda f=f: f(potential, u, M, gamma),
            lambda i, k, j, f=f: f(potential[i, 0], u[k], M[j, 0, 0], float(gamma[i, 0])),
        )
        for name, f in (("conjugate", ot.conjugate), ("coupling", ot.coupling), ("transported", ot.transported))
    }

    def values(x: object) -> dict[str, Tensor]:
        return {"": x} if isinstance(x, Tensor) else {k: v for k, v in vars(x).items() if v.dtype == F64 and k != "residual"}

    together = {name: values(f(*everything)) for name, f in functions.items()}
    together |= {name: values(f()) for name, (f, _) in at_potential.items()}
    for i in range(2):
        for k in range(3):
            for j in range(4):
                one = (t[i, 0], z[k], u[k], M[j, 0, 0], float(alpha[k]), float(gamma[i, 0]))
                single = {name: values(f(*one)) for name, f in functions.items() if name != "bound at"}
                single["bound at"] = values(ot.approximation_bound(*one, dual=dual[k]))
                single |= {name: values(f(i, k, j)) for name, (_, f) in at_potential.items()}
                for name, pieces in single.items():
                    for part, expected in pieces.items():
                        actual = together[name][part]
                        close(actual.expand(4, 2, 3, *expected.shape)[j, i, k], expected, 1e-11)


@pytest.mark.parametrize("power", [-6, 7])
def test_units_of_lengths_and_of_costs_change_nothing(power: int) -> None:
    """Exact for powers of two: with t, z and 1/α² of costs unchanged, λ scales as 1/t; with M, α and γ it scales like them."""
    x, unit = many_problems(7, 3, symmetric=False), 2.0**power
    t, z, u, M = x.tensors
    solution, bound = ot.solve(t, z, u, M, 3.0, 0.5), ot.approximation_bound(t, z, u, M, 3.0, 0.5)
    longer = (unit * t, unit * z, u, M, 3.0 / unit**2, 0.5)
    dearer = (t, z, u, unit * M, 3.0 * unit, 0.5 * unit)
    for data, length, price in ((longer, unit, 1.0), (dearer, 1.0, unit)):
        other, others = ot.solve(*data), ot.approximation_bound(*data)
        scales = {
            "dual": price / length,
            "weights": 1.0,
            "mean": length,
            "residual": length,
            "gap": price,
            "distance": price / length,
        }
        for name, scale in scales.items():
            close(getattr(other, name), scale * getattr(solution, name), 0.0)
        for name in ("dual", "mean", "weights"):
            close(getattr(others, name), scales[name] * getattr(bound, name), 0.0)
        assert other.certified.all()


def test_newtons_method_takes_few_steps_with_little_entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    damped = exact._damped
    monkeypatch.setattr(exact, "_damped", lambda *x: (calls.append(1), damped(*x))[1])
    x, counts = many_problems(0, 20, symmetric=False), []
    for alpha, gamma in ((1.0, 1.0), (1e3, 1.0), (1.0, 1e-3), (1e3, 1e-3), (1e-6, 1e6)):
        assert ot.solve(*x.tensors, alpha, gamma).certified.all()
        counts.append(len(calls))
        calls.clear()
    assert sum(counts) <= 87, counts


def test_a_covariance_may_be_summed_in_blocks_of_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    x = many_problems(5, 3, symmetric=False)
    unsplit = ot.mean_covariance(x.templates, x.prior, x.cost)
    for numbers in (1, 2 * x.cost.shape[:-1].numel() * x.templates.shape[-1]):
        monkeypatch.setattr(closed_forms, "_TILE_NUMBERS", numbers)
        close(ot.mean_covariance(x.templates, x.prior, x.cost), unsplit, 1e-13)


def test_a_covariance_keeps_its_digits_far_from_the_origin() -> None:
    x = many_problems(5, 3, symmetric=False)
    near = (x.templates * 2.0**20).round() / 2.0**20  # so that the offset loses nothing
    far = ot.mean_covariance(near + 2.0**30, x.prior, x.cost)
    close(far, ot.mean_covariance(near, x.prior, x.cost), 1e-13)


T, Z, U, M = torch.zeros(3, 2), torch.zeros(2), torch.full((3,), 1 / 3), torch.zeros(3, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: ot.weights(T, Z, U, M, 0.0), "alpha"),
        (lambda: ot.weights(T, Z, U, M, True), "alpha"),
        (lambda: ot.attend(T, Z, U, M, torch.ones(1, dtype=torch.long)), "alpha"),
        (lambda: ot.attend_by_inner_products(T, Z, U, sources=T[0]), "sources"),
        (lambda: ot.attend_by_inner_products(T, Z, U, sources=torch.zeros(3, 3)), "sources"),
        (lambda: ot.attend_by_inner_products(T, Z, U, sources=T.expand(2, 3, 2), alpha=torch.ones(3)), "alpha"),
        (lambda: ot.approximation_bound(T, Z, U, M, dual=torch.tensor(1.0)), "dual"),
        (lambda: ot.solve(T, Z, U, M, max_steps=0), "max_steps"),
        (lambda: ot.solve(T, Z, U, M, "1"), "alpha"),
        (lambda: ot.approximation_bound(T, Z, U, M, dual=torch.zeros(3)), "dual"),
        (lambda: ot.group_cost(torch.zeros(3)), "groups"),
        (lambda: ot.group_cost(torch.zeros(3, dtype=torch.long), torch.zeros(2)), "source_groups"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], Tensor], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()


def test_the_shape_of_a_cost_is_named_as_far_as_it_is_known() -> None:
    with pytest.raises(ValueError, match=r"^cost: expected \(\.\.\., N, 2\), from each of 2 priors, got \(3, 3\)$"):
        ot.true_preference(U[:2], M)
    with pytest.raises(ValueError, match=r"^cost: expected \(\.\.\., 2, 3\), from each of 3 priors, got \(3, 3\)$"):
        ot.conjugate(U[:2], U, M)


def test_a_tensor_scalar_that_is_not_positive_gives_nan() -> None:
    alpha = torch.tensor([1.0, 0.0, -1.0, math.nan])
    assert ot.weights(T, Z, U, M, alpha).isnan().any(-1).tolist() == [False, True, True, True]
    with pytest.raises(RuntimeError, match="3 of 4 problems"):
        ot.solve(T, Z, U, M, alpha)


def test_costs() -> None:
    t = torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]], dtype=F64)
    assert ot.squared_distance(t).tolist() == [[0, 25, 25], [25, 0, 0], [25, 0, 0]]
    assert ot.squared_distance(t, t[1:2]).tolist() == [[25], [0], [0]]
    assert ot.negative_inner_product(t).tolist() == [[25, 25, 25], [25, 0, 0], [25, 0, 0]]
    assert ot.negative_inner_product(t, constant=torch.tensor(30.0)).amin() == 5
    inf = math.inf
    assert ot.group_cost(torch.tensor([0, 1, 0])).tolist() == [[0, inf, 0], [inf, 0, inf], [0, inf, 0]]
    assert ot.group_cost(torch.tensor([0, 1]), torch.tensor([1])).tolist() == [[inf], [0]]

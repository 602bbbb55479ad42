"""normmax, sparsemax with a budget, thresholds and bisections: ``entmax``'s public tests, and more."""

import inspect
from functools import partial
from typing import Any

import entmax
import pytest
import torch
from torch import Tensor, nn
from torch.func import jacfwd, jacrev, vmap
from torch.testing import assert_close

from numerics import regularizers, sparse_maps, tolerances
from numerics.regularizers import Entmax15, EntmaxBisect, Sparsemax, entmax15, entmax_bisect, sparsemax
from numerics.sparse_maps import (
    BudgetBisect,
    NormmaxBisect,
    SparsemaxBisect,
    budget_bisect,
    entmax15_threshold,
    normmax_bisect,
    sparsemax_bisect,
    sparsemax_threshold,
)
from tests.numerics.derivatives import check_once, check_twice

GENERATOR = torch.Generator().manual_seed(0)
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR, dtype=torch.float64)


def uniform(*shape: int) -> Tensor:
    return torch.rand(shape, generator=GENERATOR, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, atol: float) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


OFFERED = (
    "sparsemax",
    "entmax15",
    "sparsemax_bisect",
    "entmax_bisect",
    "normmax_bisect",
    "budget_bisect",
    "SparsemaxBisect",
    "NormmaxBisect",
    "BudgetBisect",
)
PEERS = {name: getattr(entmax, name) for name in OFFERED}


@pytest.mark.parametrize("name", PEERS)
def test_names_and_defaults_agree_with_the_package(name: str) -> None:
    ours, theirs = (
        inspect.signature(f).parameters for f in (getattr(regularizers, name, None) or getattr(sparse_maps, name), PEERS[name])
    )
    expected = {parameter.name: parameter.default for parameter in theirs.values()}
    if name == "SparsemaxBisect":
        expected["n_iter"] = 50  # None there, which is passed on to a function that wants a number
    assert {parameter.name: parameter.default for parameter in ours.values() if parameter.name in expected} == expected


# ── tests of the package ────────────────────────────────────────────────────────────────────────────────────────────


def test_bisections_agree_with_sorting() -> None:
    x = 0.5 * normal(4, 6).float()
    allowed = tolerances.rounding("float32", 6, 4.0)
    close(sparsemax_bisect(x), sparsemax(x, 1), allowed)
    close(entmax_bisect(x, alpha=1.5), entmax15(x, 1), allowed)
    close(SparsemaxBisect(0)(x), sparsemax(x, 0), allowed)


def test_normmax_of_printed_numbers() -> None:
    x = torch.tensor([0, 0.25, 0.5, 0.75, 1])
    printed = torch.tensor([0.0000, 0.0239, 0.1746, 0.3254, 0.4761])
    close(normmax_bisect(x, alpha=2, dim=0), printed, 6e-5)  # four digits are printed
    close(normmax_bisect(x, alpha=1000, dim=0), torch.tensor([0.0, 0.0, 0.3330, 0.3334, 0.3336]), 6e-5)
    assert_close(NormmaxBisect(2, 0)(x), normmax_bisect(x, 2, 0))


def test_budgets_of_printed_numbers() -> None:
    x = torch.tensor([0, 0.25, 0.5, 0.75, 1])
    close(budget_bisect(x, budget=2, dim=0), torch.tensor([0.0, 0.125, 0.375, 0.625, 0.875]), 1e-6)
    close(budget_bisect(2 * x, budget=3, dim=0), torch.tensor([0.0, 0.25, 0.75, 1.0, 1.0]), 1e-6)
    for c in (1, 2, 3, 4, 5):
        close(budget_bisect(c * x, budget=1, dim=0), sparsemax(c * x, dim=0), 1e-6)
    assert_close(BudgetBisect(2, 0)(x), budget_bisect(x, 2, 0))


@pytest.mark.parametrize("alpha", [1.2, 1.5, 2, 5, 10])
def test_normmax_derivatives(alpha: float) -> None:
    x = normal(4, 6).requires_grad_()
    check_twice(partial(normmax_bisect, alpha=alpha), (x,))
    a = (1 + 2.5 * uniform(4, 1) + 0.05).requires_grad_()
    check_twice(normmax_bisect, (x, a))  # the package has none in α


def test_derivatives_of_normmax_up_to_the_third_by_hand() -> None:
    """For α = 2 and x = (δ, 0): r₁ − r₂ = δ and r₁² + r₂² = 1, so that p₁ = ½ + δ/(2√(2 − δ²))."""
    d = torch.tensor([-0.9, -0.3, 0.0, 0.2, 0.95], dtype=torch.float64, requires_grad=True)
    s = 2 - d.detach() ** 2
    at = d.detach()
    expected = [0.5 + at / (2 * s.sqrt()), s**-1.5, 3 * at * s**-2.5, 3 * s**-2.5 + 15 * at**2 * s**-3.5]
    # Two steps of Newton's method raise bisection's error of τ to its fourth power, one power less in each derivative.
    for n_iter, allowed in ((8, (1e-10, 1e-7, 1e-4, 2e-2)), (50, (1e-12,) * 4)):
        derivatives = [normmax_bisect(torch.stack([d, torch.zeros_like(d)], -1), n_iter=n_iter)[:, 0]]
        for _ in range(3):
            derivatives += torch.autograd.grad(derivatives[-1].sum(), d, create_graph=True)
        for derivative, exact, atol in zip(derivatives, expected, allowed, strict=True):
            close(derivative.detach(), exact, atol)


@pytest.mark.parametrize("k", range(7))
def test_budget_derivatives(k: int) -> None:
    x = normal(4, 6).requires_grad_()
    check_once(partial(budget_bisect, budget=k), (x,))
    check_once(budget_bisect, (x, (0.1 + 5 * uniform(4, 1)).requires_grad_()))


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_arbitrary_dimensions(dim: int) -> None:
    shape = [3, 4, 2, 5]
    x = normal(*shape).requires_grad_()
    shape[dim] = 1
    for function, numbers in ((normmax_bisect, 1.05 + uniform(*shape)), (budget_bisect, 0.2 + uniform(*shape))):
        actual = function(x, numbers, dim).movedim(dim, -1).flatten(0, -2)
        rows = zip(x.movedim(dim, -1).flatten(0, -2), numbers.flatten(), strict=True)
        close(actual, torch.stack([function(row, float(number)) for row, number in rows]), 1e-12)
        check_once(lambda x, f=function, a=numbers: f(x, a, dim), (x,))


FUNCTIONS: dict[str, Any] = {
    "Sparsemax": Sparsemax(dim=1),
    "Entmax15": Entmax15(dim=1),
    "Sparsemax, k = 512": Sparsemax(dim=1, k=512),
    "Entmax15, k = 512": Entmax15(dim=1, k=512),
    "sparsemax_bisect": sparsemax_bisect,
    "entmax_bisect": entmax_bisect,
    "normmax_bisect": normmax_bisect,
    "budget_bisect": budget_bisect,
} | {f"entmax_bisect, {a}": partial(entmax_bisect, alpha=a) for a in (1.25, 1.75, 2.25)}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_masked_entries_take_no_part(name: str, dtype: torch.dtype) -> None:
    for visible in (torch.arange(3), torch.arange(3, 6), torch.tensor([1, 4])):
        x, drawn = torch.full((2, 6), -torch.inf, dtype=dtype), normal(2, len(visible)).to(dtype)
        x[:, visible] = drawn
        y, unmasked = FUNCTIONS[name](x), FUNCTIONS[name](drawn)
        close(y[:, visible], unmasked, tolerances.rounding(dtype, 6, 8.0))
        assert bool((y[:, x[0] == -torch.inf] == 0).all())


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("coefficient", [1e-5, 0.5, 1e4])
def test_thresholds_do_not_depend_on_k(dim: int, coefficient: float) -> None:
    x = coefficient * normal(3, 4, 5).float()
    for threshold in (sparsemax_threshold, entmax15_threshold):
        tau, size = threshold(x, dim)
        for k in (2, 5, 30):
            again = threshold(x, dim, k)
            assert torch.equal(again[1], size)
            close(again[0], tau, tolerances.rounding("float32", 5, 4 * coefficient + 4))


# ── further tests ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_thresholds_agree_with_the_solution_and_have_derivatives() -> None:
    x = normal(4, 6).requires_grad_()
    for threshold, plan, power, scale in ((sparsemax_threshold, sparsemax, 1, 1.0), (entmax15_threshold, entmax15, 2, 0.5)):
        tau, size = threshold(x)
        assert (tau.shape, size.shape, size.dtype) == ((4, 1), (4, 1), torch.int64)
        close((scale * x - tau).clamp(min=0) ** power, plan(x), 1e-12)
        assert torch.equal(size, (plan(x) > 0).sum(-1, keepdim=True))
        check_once(lambda x, f=threshold: f(x)[0], (x,))
    tau, size = sparsemax_threshold(torch.full((1, 3), -torch.inf))
    assert (float(tau), int(size)) == (-torch.inf, 0)


def test_the_package_agrees() -> None:
    x = normal(50, 7) * 2
    for alpha in (1.1, 1.5, 2.0, 4.0):
        close(normmax_bisect(x, alpha), entmax.normmax_bisect(x, alpha, n_iter=100), 1e-9)
    for budget in (0.5, 1, 2.5, 5):
        # Its interval misses the solution where B is near the number of entries: [0, 0.25], B = 1.9, for one.
        close(budget_bisect(x, budget), entmax.budget_bisect(x, budget, n_iter=100), 1e-9)


def test_solutions_satisfy_their_conditions() -> None:
    """p_j > 0 exactly where x_j exceeds τ, with the gradient of the norm; the sum is the budget."""
    x = normal(100, 8) * 3
    for alpha in (1.3, 2.0, 7.0):
        p = normmax_bisect(x, alpha)
        close(p.sum(-1), torch.ones(100, dtype=torch.float64), 1e-12)
        slope = (p / p.pow(alpha).sum(-1, keepdim=True) ** (1 / alpha)) ** (alpha - 1)
        tau = torch.where(p > 0, x - slope, -torch.inf)
        top, least = tau.amax(-1), torch.where(p > 0, tau, torch.inf).amin(-1)
        close(top, least, 1e-9)
        assert bool((torch.where(p == 0, x, -torch.inf).amax(-1) <= top + 1e-9).all())
    for budget in (0.0, 0.7, 3.2, 7.9, 8.0):
        p = budget_bisect(x, budget)
        close(p.sum(-1), torch.full((100,), budget, dtype=torch.float64), 1e-12)
        assert bool(((p >= 0) & (p <= 1)).all())
        inner = (p > 0) & (p < 1)
        tau = torch.where(inner, x - p, -torch.inf).amax(-1), torch.where(inner, x - p, torch.inf).amin(-1)
        has_interior = inner.any(-1)
        close(tau[0][has_interior], tau[1][has_interior], 1e-12)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("function", [normmax_bisect, budget_bisect])
def test_dtypes_offsets_and_dead_rows(function: Any, dtype: torch.dtype) -> None:
    x = (normal(3, 6) * 4).round().to(dtype) / 4
    p = function(x)
    assert (p.dtype, p.shape) == (dtype, x.shape)
    close(function(x + 16), p, tolerances.rounding(dtype, 6, 2.0))
    dead = torch.cat([x, torch.full_like(x[:1], -torch.inf)]).requires_grad_()
    output = function(dead)
    assert bool((output[-1] == 0).all())
    output.sum().backward()
    assert bool(dead.grad.isfinite().all())


def test_functional_transforms_and_compilation() -> None:
    x = normal(3, 5)
    for function in (normmax_bisect, budget_bisect):
        close(vmap(jacfwd(function))(x), vmap(jacrev(function))(x), 1e-12)
        torch.compiler.reset()
        close(torch.compile(function, fullgraph=True, backend="aot_eager")(x), function(x), 1e-12)


@pytest.mark.parametrize(
    "function",
    [
        normmax_bisect,
        partial(normmax_bisect, alpha=1.2),
        budget_bisect,
        lambda x: sparsemax_threshold(x)[0],
        lambda x: entmax15_threshold(x)[0],
    ],
)
def test_a_common_offset_costs_no_digits(function: Any) -> None:
    x = (normal(20, 6) * 2**16).round() / 2**16
    change = function(x + 2.0**30) - function(x)
    close(change - change.round(), torch.zeros_like(change), 1e-12 if change.shape[-1] == 6 else 1e-6)  # τ itself is large


def test_a_derivative_passes_no_nan_on_its_way() -> None:
    x = normal(3, 6)
    x[0] = -torch.inf
    x[1, :5] = -torch.inf
    x[2] = torch.tensor([9.0, -torch.inf, 0.0, 4.0, 0.0, 0.0])  # of a budget of 2, nothing is left to share
    for function in (normmax_bisect, budget_bisect, lambda x: sparsemax_threshold(x)[0], lambda x: entmax15_threshold(x)[0]):
        y = x.clone().requires_grad_()
        with torch.autograd.set_detect_anomaly(True):
            output = function(y)
            torch.where(output.isfinite(), output, 0.0).square().sum().backward()
        assert bool(y.grad.isfinite().all())


def test_a_fully_masked_row_has_a_constant_threshold() -> None:
    for threshold in (sparsemax_threshold, entmax15_threshold):
        x = torch.full((1, 3), -torch.inf, dtype=torch.float64, requires_grad=True)
        tau, _ = threshold(x)
        assert float(tau.detach()) == -torch.inf
        assert torch.autograd.grad(tau.sum(), x)[0].tolist() == [[0.0] * 3]


@pytest.mark.parametrize("alpha", [1.3, 2.0, 3.0])
def test_entries_exactly_at_the_threshold_take_no_part(alpha: float) -> None:
    x = torch.tensor([1.0, 0.0, -0.7], dtype=torch.float64, requires_grad=True)  # τ = 0
    p = normmax_bisect(x, alpha)
    assert p.tolist() == [1.0, 0.0, 0.0]
    assert bool(torch.autograd.grad(p[0], x)[0].isfinite().all())
    assert budget_bisect(x, 1).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(("dtype", "digits"), [(torch.float32, 24), (torch.float64, 53)])
def test_bisection_ends_when_the_ends_are_adjacent_in_the_dtype(dtype: torch.dtype, digits: int) -> None:
    seen = []

    def enough(tau: Tensor) -> Tensor:
        seen.append(tau)
        return tau <= 0.7

    low = torch.tensor([[0.5]], dtype=dtype)
    threshold = sparse_maps._bisected(low, low + 0.5, enough, 200)
    assert float(threshold) == pytest.approx(0.7, rel=tolerances.eps(dtype))
    assert len(seen) <= digits


def test_rounding_makes_no_weight_larger_than_one() -> None:
    assert bool((budget_bisect(0.4 * normal(500, 2).float(), 2) <= 1).all())


def test_fewer_entries_than_the_budget() -> None:
    x = torch.tensor([[1.0, -torch.inf, 2.0], [0.0, -torch.inf, -torch.inf]])
    assert_close(budget_bisect(x, 2), torch.tensor([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))


def test_refusals() -> None:
    x = normal(2, 3)
    for call, message in (
        (lambda: normmax_bisect(x, 1.0), "alpha: expected a number above 1, or a tensor, got 1.0"),
        (lambda: normmax_bisect(x, torch.ones(3, 1)), "alpha: expected a number above 1, or a floating tensor"),
        (lambda: budget_bisect(x, 3.5), "budget: expected a number from 0 to 3, or a tensor, got 3.5"),
        (lambda: budget_bisect(x, -1), "budget: expected a number from 0 to 3"),
        (lambda: budget_bisect(x, n_iter=0), "n_iter: expected an integer"),
        (lambda: normmax_bisect(x.long()), "X: expected a floating tensor with at least one entry"),
        (lambda: normmax_bisect(x[:, :0]), "X: expected a floating tensor with at least one entry"),
        (lambda: sparsemax_threshold(x, k=0), "k: expected an integer"),
        (lambda: normmax_bisect(x, n_iter=0), "n_iter: expected an integer"),
        (lambda: normmax_bisect(x, torch.inf), "alpha: expected a number above 1, or a tensor, got inf"),
        (lambda: normmax_bisect(x, True), "alpha: expected a number above 1, or a tensor, got True"),
        (lambda: normmax_bisect(x, "2"), "alpha: expected a number above 1, or a tensor, got '2'"),
        (lambda: budget_bisect(x, True), "budget: expected a number from 0 to 3, or a tensor, got True"),
        (lambda: budget_bisect([0.0]), "X: expected a floating tensor"),
        (lambda: budget_bisect(x[0, 0]), "X: expected a floating tensor"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert bool(((p := budget_bisect(9 * normal(20, 6), n_iter=1)) >= 0).all() and (p <= 1).all())
    close(budget_bisect(x, 0), torch.zeros_like(x), 0.0)
    close(budget_bisect(x, 3), torch.ones_like(x), 1e-15)
    close(budget_bisect(x[:, :1], 0.5), torch.full_like(x[:, :1], 0.5), 1e-15)
    close(normmax_bisect(x[:, :1]), torch.ones_like(x[:, :1]), 0.0)


def test_a_parameter_out_of_its_domain_is_refused() -> None:
    """Where it cannot be read, it shows in the result and in the derivative."""
    for function, edge, message in (
        (normmax_bisect, 1.0, "alpha: expected numbers above 1, got 1 at"),
        (budget_bisect, -0.5, "budget: expected numbers from 0 on, got -0.5 at"),
    ):
        wrong = torch.tensor([[edge], [2.5]], dtype=torch.float64)
        for module in (function, NormmaxBisect(wrong) if function is normmax_bisect else BudgetBisect(wrong)):
            with pytest.raises(ValueError, match=f"^{message}"):
                module(normal(2, 3), *([wrong] if module is function else []))
        result, vjp = torch.func.vjp(torch.func.vmap(function), normal(2, 4), wrong)
        assert result.isnan().all(-1).tolist() == [True, False]
        assert vjp(normal(2, 4))[1].isnan().squeeze(-1).tolist() == [True, False]


def test_modules_keep_tensors_alike() -> None:
    """A tensor moves with the module, a parameter is learned with it, a number is a number."""
    for module, name in ((EntmaxBisect, "alpha"), (NormmaxBisect, "alpha"), (BudgetBisect, "budget")):
        moved = module(torch.tensor(2.0)).double()
        assert getattr(moved, name).dtype == torch.float64
        assert [*dict(moved.named_buffers())] == [name]
        assert not moved.state_dict()
        assert [*dict(module(nn.Parameter(torch.tensor(1.5))).named_parameters())] == [name]
        assert getattr(module(1.5), name) == 1.5

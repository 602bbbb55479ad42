"""Transport at ε = 0: POT's public tests of ``emd``, and more."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck
from torch.testing import assert_close

from numerics import network, tolerances, transport
from numerics.linear_program import ExactTransport, exact_plan
from numerics.primal.coupling import solve_transport

GENERATOR = torch.Generator().manual_seed(0)


@pytest.fixture(autouse=True)
def _reseed() -> None:
    """Reseed, so that the draws of a test do not depend on earlier tests."""
    GENERATOR.manual_seed(0)


def uniform(*shape: int) -> Tensor:
    return torch.rand(shape, generator=GENERATOR, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, atol: float = 1e-12) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


def least(cost: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """The optimal value by another solver."""
    return torch.tensor(solve_transport(cost.numpy(), source.numpy(), target.numpy()).objective, dtype=torch.float64)


def distribution(*shape: int) -> Tensor:
    x = uniform(*shape)
    return x / x.sum(-1, keepdim=True)


# ── tests of POT ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_plan_between_equal_point_sets_is_the_identity() -> None:
    x = torch.from_numpy(np.random.RandomState(0).randn(60, 2))
    cost = torch.cdist(x, x).square()
    u = torch.full((60,), 1 / 60, dtype=torch.float64)
    for marginals in ((u, u), (None, None)):
        solution = exact_plan(cost, *marginals)
        close(solution.plan, torch.eye(60, dtype=torch.float64) / 60)
        close(solution.value, torch.tensor(0.0, dtype=torch.float64), 1e-9)


def test_gaussians_on_a_line_and_the_duality_gap() -> None:
    def gauss(n: int, mean: float, width: float) -> Tensor:
        h = torch.exp(-((torch.arange(n, dtype=torch.float64) - mean) ** 2) / (2 * width**2))
        return h / h.sum()

    a, b = gauss(100, 40, 5), gauss(120, 70, 10)
    cost = (torch.arange(100.0)[:, None] - torch.arange(120.0)).abs().double()
    solution, turned = exact_plan(cost, a, b), exact_plan(cost.T, b, a)
    close(solution.value, torch.tensor(30.0, dtype=torch.float64), 1e-3)  # the tails beyond the grid are cut off
    close(solution.value, turned.value, 1e-10)
    assert float((solution.row_potential[:, None] + solution.column_potential - cost).max()) <= 1e-12
    assert abs(float(solution.gap)) <= 1e-10


def test_gradients_are_the_plan_and_the_potentials() -> None:
    cost, a, b = uniform(5, 7).requires_grad_(), distribution(5).requires_grad_(), distribution(7).requires_grad_()
    solution = exact_plan(cost, a, b)
    of_cost, of_a, of_b = torch.autograd.grad(10 * solution.value, (cost, a, b))
    close(of_cost, 10 * solution.plan)
    close(of_a, 10 * solution.row_potential)
    close(of_b, 10 * solution.column_potential)
    assert gradcheck(lambda cost: exact_plan(cost, a.detach(), b.detach()).value, cost)
    assert gradcheck(lambda x: exact_plan(cost.detach(), x.softmax(-1), b.detach()).value, uniform(5).requires_grad_())


def test_mismatches_are_refused() -> None:
    cost, a = uniform(4, 4), distribution(4)
    for arguments, message in (
        ((cost, distribution(5), a), r"source: expected \(..., 4\)"),
        ((cost, a, 2 * a), "target: expected the mass of the source"),
        ((cost, -a, -a), "source: expected nonnegative finite masses"),
        ((cost * torch.nan, a, a), "cost: expected numbers, or \\+inf"),
        ((cost, a, a, torch.zeros(4, 4)), "mask: expected a boolean tensor"),
    ):
        with pytest.raises(ValueError, match=message):
            exact_plan(*arguments)


# ── further tests ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_batches_masks_and_weights_of_zero() -> None:
    cost, a, b = uniform(2, 3, 5, 6), distribution(2, 3, 5), distribution(6)
    mask = torch.ones(5, 6, dtype=torch.bool)
    mask[2, 3] = mask[4, 1] = mask[0, 5] = False
    a = torch.cat([torch.zeros(2, 3, 1).double(), distribution(2, 3, 4)], -1)
    solution = exact_plan(cost, a, b, mask)
    assert bool((solution.plan[..., ~mask] == 0).all())
    assert bool((solution.plan[..., 0, :] == 0).all())
    assert float(solution.gap.abs().max()) <= 1e-12
    assert float(solution.row_error.max() + solution.column_error.max()) <= 1e-12
    again = exact_plan(cost.masked_fill(~mask, torch.inf), a, b)
    close(again.value, solution.value)
    for i in range(2):
        for j in range(3):
            close(solution.value[i, j], least(torch.where(mask, cost[i, j], 1e3), a[i, j], b), 1e-10)
    assert exact_plan(cost[:0], a[:0], b).plan.shape == (0, 3, 5, 6)
    assert (solution.plan > 0).sum((-2, -1)).max() <= 10


def test_it_is_the_limit_of_entropic_plans() -> None:
    cost, a, b = uniform(4, 5), distribution(4), distribution(5)
    solution = exact_plan(cost, a, b)
    near = transport.sinkhorn(cost, a, b, 1e-4)
    close((cost * near.plan).sum(), solution.value, 1e-4 * float(torch.log(torch.tensor(20.0))))
    close(near.plan, solution.plan, 1e-2)


def test_no_plan_and_dtypes() -> None:
    cost, a, b = uniform(3, 3), distribution(3), distribution(3)
    only = torch.eye(3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"^mask: expected rows with as much mass as the columns in their reach have"):
        exact_plan(cost, a, b, only)
    with pytest.raises(ValueError, match=r"^source: expected no mass in a row whose mask forbids every column with mass"):
        exact_plan(cost, a, b, ~only & (torch.arange(3) > 5))
    # So many pairs that no flow is computed beforehand.
    large = torch.zeros(300, 300, dtype=torch.float64)
    large[:151, 150:] = torch.inf
    with pytest.raises(ValueError, match=r"^cost: expected marginals that some plan has"):
        exact_plan(large)
    large[150] = 1.0
    assert float(exact_plan(large).value) == pytest.approx(1 / 300)
    assert bool((exact_plan(cost, 0 * a, 0 * b).plan == 0).all())
    for dtype in (torch.float32, torch.bfloat16):
        solution = exact_plan(cost.to(dtype), torch.full((3,), 0.25, dtype=dtype), torch.full((3,), 0.25, dtype=dtype))
        assert {x.dtype for x in (solution.plan, solution.value, solution.gap)} == {dtype}


def test_even_masses_are_an_assignment() -> None:
    """With ties, and with forbidden pairs; and close to it are problems with slightly shifted masses."""
    cost = uniform(3, 7, 7)
    cost[1] = (3 * cost[1]).round()
    cost[2, 0, :5] = torch.inf
    solution = exact_plan(cost)
    share = torch.full((7,), 1 / 7, dtype=torch.float64)
    nearly = share.clone()
    nearly[0] += 1e-12
    assert bool(((solution.plan == 0) | (solution.plan == 1 / 7)).all())
    close(solution.value, exact_plan(cost, nearly, nearly).value, 1e-10)
    assert float(solution.gap.abs().max()) <= 1e-14
    slack = cost - solution.row_potential.unsqueeze(-1) - solution.column_potential.unsqueeze(-2)
    assert float(slack.min()) >= -1e-14
    assert float((solution.plan * slack.nan_to_num(posinf=0.0)).abs().max()) <= 1e-14
    close(solution.column_potential.sum(-1), torch.zeros(3, dtype=torch.float64), 1e-13)
    blocked = torch.zeros(3, 3, dtype=torch.float64)
    blocked[:2, 1:] = torch.inf
    with pytest.raises(ValueError, match=r"^cost: expected rows with as much mass as"):
        exact_plan(blocked)


@pytest.mark.parametrize(("costs", "masses"), [(1e-12, 1.0), (1e12, 1.0), (1.0, 1e-12), (1.0, 1e12), (1e-9, 1e-9)])
def test_units_of_costs_and_masses_do_not_matter(costs: float, masses: float) -> None:
    cost, a, b = uniform(2, 4, 5) - 0.5, distribution(2, 4), distribution(2, 5)
    cost[:, 0, 0], cost[:, 1, 2] = 0.0, torch.inf
    plain, scaled = exact_plan(cost, a, b), exact_plan(costs * cost, masses * a, masses * b)
    for name, unit in (("plan", masses), ("value", costs * masses), ("row_potential", costs), ("column_potential", costs)):
        close(getattr(scaled, name) / unit, getattr(plain, name), 1e-9)
    # Problems of a batch have their own units.
    mixed = exact_plan(
        torch.stack([cost[0], costs * cost[1]]), torch.stack([a[0], masses * a[1]]), torch.stack([b[0], masses * b[1]])
    )
    close(mixed.plan[0], plain.plan[0], 1e-9)
    close(mixed.plan[1] / masses, plain.plan[1], 1e-9)
    close(mixed.column_potential[1] / costs, plain.column_potential[1], 1e-9)


def test_the_certificate_matches_its_definition() -> None:
    cost, a, b = uniform(3, 4, 5), distribution(3, 4), distribution(3, 5)
    solution = exact_plan(cost, a, b)
    close(solution.value, (cost * solution.plan).sum((-2, -1)))
    close(solution.gap, solution.value - (a * solution.row_potential).sum(-1) - (b * solution.column_potential).sum(-1))
    close((b * solution.column_potential).sum(-1), torch.zeros(3, dtype=torch.float64))
    close(solution.row_error, (solution.plan.sum(-1) - a).abs(), 1e-16)
    close(solution.column_error, (solution.plan.sum(-2) - b).abs(), 1e-16)
    reduced = cost - solution.row_potential.unsqueeze(-1) - solution.column_potential.unsqueeze(-2)
    close(reduced.amin(-1), torch.zeros(3, 4, dtype=torch.float64))  # each f_i is as large as it may be
    assert bool((solution.plan >= 0).all())


def test_a_row_that_may_go_nowhere_and_has_no_mass() -> None:
    cost, a, b = uniform(3, 3).requires_grad_(), torch.tensor([0.0, 0.5, 0.5]).double().requires_grad_(), distribution(3)
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[0] = False
    solution = exact_plan(cost, a, b, mask)
    assert float(solution.row_potential[0]) == 0
    reduced = exact_plan(cost[1:], a[1:], b)
    close(solution.value, reduced.value)
    of_cost, of_a = torch.autograd.grad(solution.value, (cost, a))
    close(of_cost, solution.plan)
    close(of_a, solution.row_potential)


def test_masses_may_differ_by_rounding_and_no_more() -> None:
    cost = uniform(3, 4)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        slack = 2 * tolerances.rounding(dtype, 4)
        source, target = torch.full((3,), 2.0, dtype=dtype), torch.full((4,), 1.5, dtype=torch.float64)
        for factor in (1 - 0.4 * slack, 1 + 0.4 * slack):
            solution = exact_plan(cost, source, factor * target)
            assert float(solution.row_error.max()) <= 1e-15
        with pytest.raises(ValueError, match=r"^target: expected the mass of the source, 6(\.0*\d*)?, got [56]\."):
            exact_plan(cost, source, (1 + 1.1 * slack) * target)
    nothing = exact_plan(cost, torch.zeros(3, dtype=torch.float64), torch.zeros(4, dtype=torch.float64))
    assert bool(nothing.row_potential.isfinite().all() and nothing.column_potential.isfinite().all())


def test_one_cost_for_a_batch_of_marginals() -> None:
    cost, a, b = uniform(3, 4), distribution(2, 5, 3), distribution(5, 4)
    solution = exact_plan(cost, a, b)
    assert solution.plan.shape == (2, 5, 3, 4)
    for i, j in ((0, 0), (1, 4)):
        close(solution.value[i, j], exact_plan(cost, a[i, j], b[j]).value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask": torch.zeros(2, 2)}, "mask: expected a boolean tensor, for there is no ε to add to, got torch.float32"),
        ({"cost": torch.tensor([[0.0, -torch.inf], [0.0, 0.0]])}, "cost: expected numbers, or"),
        ({"cost": torch.tensor([[0.0, torch.nan], [0.0, 0.0]])}, "cost: expected numbers, or"),
        ({"source": torch.tensor([torch.inf, 1.0])}, "source: expected nonnegative finite masses"),
        ({"source": torch.tensor([torch.nan, 1.0])}, "source: expected nonnegative finite masses"),
        ({"target": torch.tensor([-0.5, 1.5])}, "target: expected nonnegative finite masses"),
    ],
)
def test_refusals(change: dict[str, Tensor], message: str) -> None:
    arguments = {"cost": torch.zeros(2, 2), "source": torch.full((2,), 0.5), "target": torch.full((2,), 0.5)} | change
    with pytest.raises(ValueError, match=f"^{message}"):
        exact_plan(**arguments)


@pytest.mark.parametrize("even", ["neither", "source", "target", "both"])
def test_square_problems_with_even_masses_or_others(even: str) -> None:
    cost, one = uniform(4, 4), torch.full((4,), 0.25, dtype=torch.float64)
    a, b = (one if even in (name, "both") else distribution(4) for name in ("source", "target"))
    solution = exact_plan(cost, a, b)
    close(solution.plan.sum(-1), a)
    close(solution.plan.sum(-2), b)
    close(solution.value, least(cost, a, b), 1e-10)
    assert abs(float(solution.gap)) <= 1e-12


# ── any size ────────────────────────────────────────────────────────────────────────────────────────────────────────


def meets(solution: ExactTransport, source: Tensor, target: Tensor) -> None:
    """Assert that a plan in float64 has marginals of the mass one, and as many entries as a vertex may have."""
    n, m = solution.plan.shape[-2:]
    unit = tolerances.rounding("float64", n + m)
    assert float(solution.row_error.sum(-1).max()) <= unit
    assert float(solution.column_error.sum(-1).max()) <= unit
    close(solution.plan.sum(-1), source.expand(solution.plan.shape[:-1]), unit)
    close(solution.plan.sum(-2), target.expand_as(solution.column_potential), unit)
    assert int((solution.plan > 0).sum((-2, -1)).max()) <= n + m - 1
    assert float(solution.gap.min()) >= 0
    assert float(solution.gap.max()) <= unit


def test_even_masses_of_any_number() -> None:
    for n in range(1, 5):
        for m in range(1, 421, 1 if n < 3 else 29):
            cost = uniform(n, m)
            solution, turned = exact_plan(cost), exact_plan(cost.T)
            meets(solution, torch.full((n,), 1 / n, dtype=torch.float64), torch.full((m,), 1 / m, dtype=torch.float64))
            close(solution.value, turned.value, tolerances.rounding("float64", n + m))
            if n == 1:
                close(solution.value, cost.mean())


@given(
    st.integers(1, 5),
    st.integers(1, 300),
    st.booleans(),
    st.sampled_from([torch.float32, torch.float64]),
    st.sampled_from([0.0, 1.0, 20.0]),
    st.integers(0, 2**32),
)
def test_masses_of_any_shape(n: int, m: int, turned: bool, dtype: torch.dtype, spread: float, seed: int) -> None:
    """Also as unlike as e^20, in batches, and in both dtypes."""
    generator = torch.Generator().manual_seed(seed)
    cost = torch.rand(2, n, m, generator=generator, dtype=dtype)
    a, b = ((spread * torch.randn(2, size, generator=generator, dtype=dtype)).softmax(-1) for size in (n, m))
    solution = exact_plan(cost.mT, b, a) if turned else exact_plan(cost, a, b)
    if dtype == torch.float64:
        meets(solution, *((b, a) if turned else (a, b)))
    rows = solution.plan.double().sum(-1) - (b if turned else a).double()
    assert float(rows.abs().max()) <= 4 * tolerances.rounding(dtype, n + m)
    slack = cost if not turned else cost.mT
    slack = slack - solution.row_potential.unsqueeze(-1) - solution.column_potential.unsqueeze(-2)
    assert float(slack.min()) >= -tolerances.rounding(dtype, 8, 8.0)


@pytest.mark.parametrize("shape", [(1, 2000), (2, 2000), (3, 2000), (1500, 2), (400, 401)])
def test_large_problems(shape: tuple[int, int]) -> None:
    cost, a, b = uniform(*shape), distribution(shape[0]), distribution(shape[1])
    meets(exact_plan(cost, a, b), a, b)
    meets(exact_plan(cost), *(torch.full((size,), 1 / size, dtype=torch.float64) for size in shape))


def test_a_small_mass_keeps_its_digits() -> None:
    """A plan of whole numbers alone would be off by 2^-53 of the whole mass."""
    source = torch.tensor([1e-30, 1.0, 1e-9], dtype=torch.float64)
    solution = exact_plan(uniform(3, 4), source, source.sum() * distribution(4))
    assert_close(solution.plan[0].sum(), source[0], rtol=1e-15, atol=0.0)
    assert_close(solution.plan[2].sum(), source[2], rtol=1e-15, atol=0.0)


# ── any cost ────────────────────────────────────────────────────────────────────────────────────────────────────────


Pairs = dict[tuple[int, int], Fraction]


def excess(cost: Tensor, plan: Tensor) -> tuple[Fraction, Fraction]:
    """Return what a plan costs beyond the least that its marginals allow, exactly, and the sum of P|C|: negative cycles are
    cancelled, in rational numbers, until there is none."""
    n, m = cost.shape
    price = {(i, j): Fraction(float(cost[i, j])) for i in range(n) for j in range(m) if cost[i, j] < torch.inf}
    mass = {pair: Fraction(float(plan[pair])) for pair in price}
    value = sum((mass[pair] * price[pair] for pair in price), Fraction(0))
    size = sum((mass[pair] * abs(price[pair]) for pair in price), Fraction(0))
    while cycle := _negative_cycle(price, mass, n + m, n):
        steps = list(pairwise([*cycle, cycle[0]]))
        moved = min(mass[y, x - n] for x, y in steps if x >= n)
        for x, y in steps:
            mass[(x, y - n) if x < n else (y, x - n)] += moved if x < n else -moved
    return value - sum((mass[pair] * price[pair] for pair in price), Fraction(0)), size


def _negative_cycle(price: Pairs, mass: Pairs, count: int, n: int) -> list[int]:
    """Bellman and Ford's: an arc forward for every pair, one backward where a pair has mass."""
    distance, before, last = [Fraction(0)] * count, [-1] * count, -1
    arcs = [arc for (i, j), c in price.items() for arc in [(i, n + j, c)] + [(n + j, i, -c)] * (mass[i, j] > 0)]
    for _ in range(count + 1):
        last = -1
        for x, y, c in arcs:
            if distance[x] + c < distance[y]:
                distance[y], before[y], last = distance[x] + c, x, y
    if last < 0:
        return []
    for _ in range(count):
        last = before[last]
    cycle = [last]
    while before[cycle[-1]] != last:
        cycle.append(before[cycle[-1]])
    return cycle[::-1]


def test_the_rational_check_finds_what_is_wrong() -> None:
    assert excess(torch.tensor([[0.0, 1.0], [1.0, 0.5]]), torch.eye(2).flip(0)) == (Fraction(3, 2), 2)
    assert excess(torch.tensor([[0.0, 1.0], [1.0, 0.5]]), torch.eye(2))[0] == 0


COSTS = {
    "dear": lambda n, m: torch.where(uniform(n, m) < 0.3, 1e14, uniform(n, m)),
    "beyond": lambda n, m: torch.where(uniform(n, m) < 0.3, 1e32, uniform(n, m)),
    "rewards": lambda n, m: uniform(n, m) - torch.where(uniform(n, m) < 0.5, 1e14, 0.0),
    "mixed": lambda n, m: torch.where(uniform(n, m) < 0.5, 1e14 * uniform(n, m), 1e-8 * uniform(n, m)),
    "scattered": lambda n, m: 10 ** (22 * uniform(n, m) - 8) * (uniform(n, m) - 0.5).sign(),
    "far": lambda n, m: 10 ** (200 * uniform(n, m) - 100),
    "offsets": lambda n, m: uniform(n, m) + 1e14 * uniform(n, 1) - 1e13 * uniform(m),
    "ties": lambda n, m: (3 * uniform(n, m)).round(),
    "largest": lambda n, m: 1e307 * uniform(n, m),
    "smallest": lambda n, m: 1e-307 * uniform(n, m),
}


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("even", [True, False])
def test_costs_of_any_size(kind: str, even: bool) -> None:
    for n, m in ((1, 1), (1, 4), (2, 2), (3, 7), (7, 3), (5, 5), (6, 6), (4, 6)):
        cost = COSTS[kind](n, m)
        a, b = (torch.full((k,), 1 / k, dtype=torch.float64) if even else distribution(k) for k in (n, m))
        solution = exact_plan(cost, a, b)
        beyond, size = excess(cost, solution.plan)
        assert beyond <= tolerances.rounding("float64", n + m, 1.0) * size
        assert beyond <= Fraction(float(solution.gap)) * Fraction(1 + 2.0**-20)


def test_a_large_cost_forbids_as_an_infinite_one_does() -> None:
    for n, m in ((6, 5), (40, 40), (60, 90)):
        cost, a, b, forbidden = uniform(n, m), distribution(n), distribution(m), uniform(n, m) < 0.3
        forbidden[:, 0] = forbidden[0] = False
        expected = exact_plan(cost.masked_fill(forbidden, torch.inf), a, b)
        for big in (1e9, 1e12, 1e14, 1e32, 1e300):
            solution = exact_plan(cost.masked_fill(forbidden, big), a, b)
            close(solution.plan, expected.plan, 0.0)
            close(solution.value, expected.value, 1e-15)
            assert float(solution.gap) <= 1e-15


def test_offsets_do_not_change_the_plan() -> None:
    cost, a, b = (2.0**20 * uniform(30, 20)).round(), distribution(30), distribution(20)
    rows, columns = ((2.0**45 * uniform(k)).round() for k in (30, 20))
    close(exact_plan(cost + rows[:, None] - columns, a, b).plan, exact_plan(cost, a, b).plan, 0.0)


def test_a_gap_that_stays_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    basis = network._basis

    def wrong(cost: network.Array, a: network.Array, b: network.Array, largest: float) -> object:
        return basis(cost[::-1].copy(), a, b, largest)

    monkeypatch.setattr(network, "_basis", wrong)
    with pytest.raises(RuntimeError, match="exact_plan: expected a gap down to rounding, got"):
        exact_plan(uniform(5, 5))


def test_sums_are_exact() -> None:
    terms = [np.array([x]) for x in (1e16, 1.0, 1e-16, -1e16, -1.0)]
    assert network._exact_sum(terms)[0] == 1e-16
    left = sum(Fraction(float(x[0])) for x in network._distilled(terms))
    assert left == sum(Fraction(float(x[0])) for x in terms)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0)])
def test_problems_without_rows_or_columns_are_refused(n: int, m: int) -> None:
    with pytest.raises(ValueError, match=r"^cost: expected a dense floating tensor"):
        exact_plan(torch.zeros(n, m))

"""Problems of entropic transport have the declared properties, reach every corner, and refuse bad arguments."""

from functools import cache
from random import Random

import mpmath as mp
import pytest
import torch
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from evidence.instances import fifty_digits
from evidence.instances.ot import BATCHES, COSTS, PRIORS, SYMMETRIC, OtProblem, ot_batches, ot_problem, ot_problems
from numerics import tolerances

EXPLORE = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def drawn(strategy: st.SearchStrategy[OtProblem]) -> list[OtProblem]:
    problems: list[OtProblem] = []

    @EXPLORE
    @given(strategy)
    def collect(x: OtProblem) -> None:
        problems.append(x)

    collect()
    return problems


@cache
def examples() -> list[OtProblem]:
    return drawn(ot_problems())


def test_every_corner_is_reached() -> None:
    assert {x.costs for x in examples()} == set(COSTS)
    assert {x.prior_kind for x in examples()} == set(PRIORS)
    assert {x.N for x in examples()} == {1, 2, 3, 4}
    assert any(x.d > x.N for x in examples())
    assert any(x.d < x.N for x in examples())
    assert any(bool((x["u"] == 0).any()) for x in examples())


def test_the_preference_and_the_kernel_are_distributions() -> None:
    for x in examples():
        torch.testing.assert_close(x["u"].sum(), torch.ones((), dtype=torch.float64))
        torch.testing.assert_close(x["Q"].sum(-1), torch.ones(x.N, dtype=torch.float64))
        torch.testing.assert_close(x["R"].sum(-1), torch.ones(x.N, dtype=torch.float64))
        raw = torch.exp(-x["M"] / x.gamma)  # Q[j, i] = q(i|j): normalized over the first argument of M
        torch.testing.assert_close(x["Q"], (raw / raw.sum(0)).T)


def test_symmetric_costs_are_symmetric_and_the_others_are_not() -> None:
    for x in examples():
        if x.costs in SYMMETRIC:
            assert torch.equal(x["M"], x["M"].T)
            assert bool((x["S"] >= 0).all())
            assert torch.equal(x["S"] + x["S"].T, x["M"])
        else:
            assert "S" not in x.drawn
    assert any(x.N > 1 and not torch.allclose(x["M"], x["M"].T) for x in examples() if x.costs == "any")
    assert any(len(x["M"].unique()) < x.N**2 for x in examples() if x.costs == "ties" and x.N > 1)


def test_strict_diagonals_and_ties() -> None:
    """Footnote 11 requires M(t, t) < M(t', t): distances satisfy it, ties do not."""
    margins = {
        kind: [
            float((x["M"] - x["M"].diagonal() + 9 * torch.eye(x.N)).min()) for x in examples() if x.costs == kind and x.N > 1
        ]
        for kind in SYMMETRIC
    }
    assert min(margins["distances"]) > 0
    assert min(margins["ties"]) <= 0


def test_the_same_seed_draws_the_same_problem() -> None:
    x = examples()[-1]
    again = ot_problem(x.N, x.d, x.alpha, x.gamma, x.seed, costs=x.costs, prior_kind=x.prior_kind).to("cpu")
    assert all(torch.equal(x[name], again[name]) for name in x.drawn)


def test_the_tolerance_grows_with_its_inputs() -> None:
    x = examples()[0]
    assert x.tolerance(100.0) > x.tolerance(1.0) > 0
    assert x.tolerance(1.0) < 1e-9


def test_other_costs_leave_the_rest_as_it_is() -> None:
    x = next(x for x in examples() if x.N > 2 and x.costs == "any")
    y = x.with_costs("symmetric")
    assert torch.equal(y["M"], y["M"].T)
    assert all(torch.equal(x[name], y[name]) for name in x.drawn if name not in ("M", "Q"))


def test_the_maximizer_in_fifty_digits_is_stationary_and_the_resolvent_is_not() -> None:
    x = next(x for x in examples() if x.N > 2 and x.costs == "any")
    with mp.workdps(fifty_digits.DIGITS + fifty_digits.GUARD):
        alpha, start, evidence = x.small, x.law.mean(), x["z"].tolist()

        def residual(dual: list[object]) -> object:
            return fifty_digits.norm(
                [s + z - y / alpha - m for s, z, y, m in zip(start, evidence, dual, x.law.mean(dual), strict=True)]
            )

        maximum = x.maximizer(alpha)
        assert residual(maximum.dual) * alpha <= maximum.error <= mp.mpf(10) ** -fifty_digits.DIGITS
        assert residual(x.resolvent(alpha)) * alpha > mp.mpf(10) ** -30
        assert abs(mp.fsum(maximum.weights) - 1) < mp.mpf(10) ** -fifty_digits.DIGITS


def test_no_other_dual_point_is_better() -> None:
    for x in examples()[:20]:
        with mp.workdps(fifty_digits.DIGITS + fifty_digits.GUARD):
            target = [m + z for m, z in zip(x.law.mean(), x["z"].tolist(), strict=True)]
            maximum, step = x.maximizer(), x["lam"].tolist()
            rival = [value + mp.mpf(s) for value, s in zip(maximum.dual, step, strict=True)]
            lead = fifty_digits.value(x.law, maximum.dual, target, x.alpha) - fifty_digits.value(x.law, rival, target, x.alpha)
            assert lead >= fifty_digits.norm(step) ** 2 / (2 * mp.mpf(x.alpha)) * (1 - mp.mpf(10) ** -40)


@pytest.mark.parametrize(
    "wrong",
    [{"smallest": 0}, {"smallest": 5}, {"max_d": 0}, {"costs": ()}, {"costs": ("odd",)}, {"priors": ("odd",)}, {"priors": ()}],
)
def test_bad_arguments_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="ot_problems"):
        drawn(ot_problems(**wrong))  # type: ignore[arg-type]


# ── batches ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# Hypothesis repeats earlier choices, so that 300 draws miss one pair of (alpha, gamma) out of 25 now and then.
SEARCH = settings(max_examples=1000, phases=[Phase.generate], derandomize=True, database=None, deadline=None)


def ties(x: OtProblem) -> bool:
    """Whether the least cost is not unique in some column with prior mass."""
    least = (x.cost == x.cost.amin(-2, keepdim=True)).sum(-2)
    return bool(((least > 1) & (x.prior > 0)).any())


IN_BATCHES = {
    "one template": lambda x: x.N == 1,
    "the most templates": lambda x: x.N == 6,
    "fewer sources than templates": lambda x: x.n < x.N,
    "a single problem": lambda x: x.templates.ndim == 2,
    "two leading dimensions": lambda x: x.templates.ndim == 4,
    "zeros in the prior": lambda x: bool((x.prior == 0).any()) and x.prior.count_nonzero() > 1,
    "a prior on one template": lambda x: x.n > 2 and bool(((x.prior > 0).sum(-1) == 1).all()),
    "two templates that coincide": lambda x: x.N == 2 and bool((x.templates[..., 0, :] == x.templates[..., 1, :]).any()),
    "a cost that is not symmetric": lambda x: x.n == x.N and bool((x.cost != x.cost.mT).any()),
    "a negative cost": lambda x: bool((x.cost < 0).any()),
    "a tie of the least cost": lambda x: x.costs != "zero" and ties(x),
    "a diagonal that is not the least": lambda x: (
        x.costs == "inner" and bool((x.cost.diagonal(dim1=-2, dim2=-1) > x.cost.amin(-2)).any())
    ),
    "a template out of reach": lambda x: bool((x.cost == torch.inf).all(-1).any()),
    "no evidence": lambda x: bool((x.evidence == 0).all(-1).any()),
    "cold": lambda x: x.alpha / x.gamma > 1e4,
    "hot": lambda x: x.alpha / x.gamma < 1e-5,
    **{f"cost {kind}": lambda x, kind=kind: x.costs == kind for kind in BATCHES["costs"]},
    **{f"alpha {a}": lambda x, a=a: x.alpha == a for a in BATCHES["alphas"]},
    **{f"gamma {c}": lambda x, c=c: x.gamma == c for c in BATCHES["gammas"]},
}


@pytest.mark.parametrize("corner", IN_BATCHES)
def test_every_corner_of_batches_is_reached(corner: str) -> None:
    find(ot_batches(), IN_BATCHES[corner], settings=SEARCH, random=Random(0))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_batches_keep_their_promises(dtype: torch.dtype) -> None:
    @settings(SEARCH, max_examples=150)
    @given(ot_batches(dtype))
    def check(x: OtProblem) -> None:
        batch = x.templates.shape[:-2]
        assert x.evidence.shape == (*batch, x.d)
        assert x.prior.shape == (*batch, x.n)
        assert x.cost.shape == (*batch, x.N, x.n)
        assert {part.dtype for part in x.tensors} == {dtype}
        assert (x.prior >= 0).all()
        assert (x.prior.double().sum(-1) - 1).abs().max() <= 8 * torch.finfo(dtype).eps
        assert (x.cost < torch.inf).any(-2).all()
        assert not any(part.isnan().any() for part in x.tensors)

    check()


@pytest.mark.parametrize(
    ("alpha", "gamma", "factor"), [(1.0, 1.0, 1 + 14.0), (4.0, 0.5, (1 + 42.0) * 4 * 2), (0.5, 4.0, (1 + 3.5) * 2 * 4)]
)
def test_the_tolerance_of_a_problem(alpha: float, gamma: float, factor: float) -> None:
    """Exponents are ⟨t, dual⟩ with α z among the duals, costs, and potentials."""
    duals = {"lam": [1.0, 0.0], "nu": [0.0, -1.0], "v": [0.5, 0.5], "z": [-0.5, 1.0]}
    drawn = {
        "T": [[1.0, -2.0], [0.0, 1.0], [0.0, 0.0]],
        "M": [[0.0, 6.0], [1.0, 0.0], [0.0, 0.0]],
        "g": [-5.0, 0.0, 0.0],
        "u": [0.5, 0.5],
    } | duals
    problem = OtProblem({name: torch.tensor(x, dtype=torch.float64) for name, x in drawn.items()}, alpha, gamma)
    assert problem.tolerance() == problem.tolerance(0.25) == tolerances.rounding("float64", 9 * 2, factor)
    assert problem.tolerance(torch.tensor([2.0, -3.0])) == tolerances.rounding("float64", 9 * 2, 3 * factor)


def test_where_rounding_starts() -> None:
    drawn = {"T": [[3.0, -4.0], [0.0, 1.0]], "z": [1.0, 1.0], "u": [0.5, 0.5], "M": [[0.0, torch.inf], [-7.0, 0.0]]}
    problem = OtProblem({name: torch.tensor(x, dtype=torch.float64) for name, x in drawn.items()}, 2.0, 0.5)
    assert problem.reach == 5.0
    assert problem.logit == (2.0 + 7.0) / 0.5
    assert problem.rounding == tolerances.plan(torch.float64, 4, 5 * 18.0)


def test_which_preferences_have_zeros() -> None:
    priors = {
        kind: torch.stack([ot_problem(4, 2, 1.0, 1.0, seed, prior_kind=kind)["u"] for seed in range(30)]) for kind in PRIORS
    }
    assert bool((priors["generic"] > 0).all())
    assert bool((priors["zeros"][:, 0] > 0).all())
    assert 30 < int((priors["zeros"][:, 1:] == 0).sum()) < 60
    assert bool((priors["one template"] == torch.eye(4, dtype=torch.float64)[0]).all())


def test_kernels_in_fifty_digits_are_those_of_the_temperature() -> None:
    cost = [[0.0, 2.0], [1.0, 0.5]]
    for gamma in (0.5, 4.0):
        law = fifty_digits.Mixture.of([[1.0], [-1.0]], [0.25, 0.75], cost, gamma)
        kernel = torch.softmax(-torch.tensor(cost).double() / gamma, 0)
        expected = kernel @ torch.tensor([0.25, 0.75]).double()
        assert [float(x) for x in law.tilted([mp.mpf(0)])] == pytest.approx(expected.tolist(), abs=1e-14)

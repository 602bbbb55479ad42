"""The MEM problems reach every declared corner; the 50-digit solver is right in known cases, and refuses others."""

from random import Random

import mpmath as mp
import pytest
import torch
from hypothesis import Phase, find, given, settings

from evidence.instances import fifty_digits
from evidence.instances.fifty_digits import Law, leading, maximize
from evidence.instances.mem import (
    ALPHAS,
    BATCHES,
    EVIDENCE,
    LAYOUTS,
    PRIORS,
    MemBatch,
    MemProblem,
    mem_batch,
    mem_batches,
    mem_problem,
    mem_problems,
    rounded,
)

SEARCH = settings(max_examples=300, phases=[Phase.generate], derandomize=True, database=None, deadline=None)

CORNERS = {
    "n = 1": lambda x: x.n == 1,
    "n = 2": lambda x: x.n == 2,
    "d = 1": lambda x: x.d == 1,
    "more templates than coordinates": lambda x: x.n > x.d + 1,
    "more coordinates than templates": lambda x: x.d > x.n,
    "two equal templates among others": lambda x: (
        x.n > 2 and bool((x.templates[-1] == x.templates[-2]).all()) and bool((x.templates[0] != x.templates[1]).any())
    ),
    "all templates equal": lambda x: x.n > 1 and bool((x.templates == x.templates[0]).all()),
    "singular, not zero": lambda x: (
        x.d > 1 and x.n > 2 and int(torch.linalg.matrix_rank(x.templates - x.templates[0], atol=1e-9, rtol=0)) == 1
    ),
    "a tiny weight": lambda x: bool((x.prior < 0.002).any()),
    "equal weights": lambda x: x.n > 1 and bool((x.prior == x.prior[0]).all()),
    "no evidence": lambda x: bool((x.evidence == 0).all()),
    "templates far from 0": lambda x: bool(x.templates.mean(0).norm() > 2 * (x.templates - x.templates.mean(0)).norm()),
    **{f"alpha {alpha}": lambda x, alpha=alpha: x.alpha == alpha for alpha in ALPHAS},
    **{f"layout {name}": lambda x, name=name: x.layout == name for name in LAYOUTS},
    **{f"prior {name}": lambda x, name=name: x.weighting == name for name in PRIORS},
    **{f"evidence {name}": lambda x, name=name: x.evident == name for name in EVIDENCE},
}


@pytest.mark.parametrize("corner", CORNERS)
def test_every_corner_is_reached(corner: str) -> None:
    find(mem_problems(), CORNERS[corner], settings=SEARCH, random=Random(0))


@settings(SEARCH, max_examples=150)
@given(mem_problems())
def test_drawn_instances_have_the_promised_properties(x: MemProblem) -> None:
    assert x.templates.shape == (x.n, x.d)
    assert x.prior.shape == x["q"].shape == (x.n,)
    assert x.evidence.shape == x.dual.shape == x["c"].shape == (x.d,)
    assert (x.prior > 0).all()
    assert (x["q"] >= 0).all()
    assert bool((x["q"] == 0).any()) == (x.n > 1)
    torch.testing.assert_close(x.prior.sum(), torch.tensor(1.0, dtype=torch.float64))
    assert (x.templates @ x.dual).abs().max() < 60  # exp of it is an ordinary number
    assert x.point().keys() == {"n", "d", "alpha", "T", "u", "z", "lam", "q", "c", "s"}
    again = mem_problem(x.n, x.d, x.alpha, x.seed, layout=x.layout, weighting=x.weighting, evident=x.evident)
    assert all(torch.equal(x[name], again.to("cpu")[name]) for name in x.drawn)
    assert all(tensor.dtype == torch.float64 for tensor in x.drawn.values())


def test_a_choice_that_does_not_exist_is_refused() -> None:
    for wrong in ({"layouts": ("nowhere",)}, {"priors": ()}, {"smallest_n": 5}, {"max_d": 0}):
        with pytest.raises(ValueError, match="mem_problems"):
            find(mem_problems(**wrong), lambda x: True, settings=SEARCH)  # type: ignore[arg-type]


def test_the_tolerance_grows_with_its_inputs_and_stays_tiny() -> None:
    x = mem_problem(3, 2, 1.0, 1)
    assert 0 < x.tolerance() < 1e-11
    assert x.tolerance(1e3) > 100 * x.tolerance()
    assert x.tolerance() < mem_problem(3, 2, 4.0, 1).tolerance()


# ── batches ─────────────────────────────────────────────────────────────────────────────────────────────────────────

IN_BATCHES = {
    "one template": lambda x: x.n == 1,
    "the most templates": lambda x: x.n == 6,
    "two templates that coincide": lambda x: x.n > 1 and bool((x.templates[..., -1, :] == x.templates[..., -2, :]).all()),
    "zeros in the prior": lambda x: x.prior is not None and bool((x.prior == 0).any()),
    "no prior": lambda x: x.prior is None,
    "templates that rows share": lambda x: x.templates.ndim == 2 and x.evidence.ndim > 1,
    "templates of every row": lambda x: x.templates.ndim > 2,
    "a far origin": lambda x: bool((x.templates > 7).all()),
    "saturating logits": lambda x: bool(((x.templates @ x.evidence.unsqueeze(-1)).abs() * 1e4 > 1e5).any()),
    "an alpha of every row": lambda x: isinstance(x.alpha, torch.Tensor) and x.alpha.ndim > 0,
    "a masked template": lambda x: x.mask is not None and x.layout == "generic" and not bool((x.weighted_prior > 0).all()),
    "no evidence": lambda x: bool((x.evidence == 0).all()),
    "two leading dimensions": lambda x: x.evidence.ndim == 3,
    **{
        f"mask {kind}": lambda x, kind=kind: (
            kind
            == (
                "none"
                if x.mask is None
                else "boolean"
                if x.mask.dtype == torch.bool
                else "bias"
                if bool(((x.mask != 0) & (x.mask > -torch.inf)).any())
                else "float"
            )
        )
        for kind in BATCHES["masks"]
    },
}


@pytest.mark.parametrize("corner", IN_BATCHES)
def test_every_corner_of_batches_is_reached(corner: str) -> None:
    find(mem_batches(), IN_BATCHES[corner], settings=SEARCH, random=Random(0))


@settings(SEARCH, max_examples=150)
@given(mem_batches())
def test_batches_keep_their_promises(x: MemBatch) -> None:
    assert (x.weighted_prior.sum(-1) - 1).abs().max() < 1e-14
    assert x.weighted_prior.shape == (*x.evidence.shape[:-1], x.n)
    assert x.mask is None or x.mask.shape == x.weighted_prior.shape
    assert len(x.rows()) == x.evidence[..., 0].numel()
    assert all(row.evidence.shape == (x.d,) and row.mask is None for row in x.rows())
    assert x.rounded_to(torch.float32).templates.dtype == torch.float32


# ── the solver ──────────────────────────────────────────────────────────────────────────────────────────────────────

COIN = Law.of([[-1], [1]], [1, 1])  # ±1: λ* solves λ/α + tanh λ = z


@pytest.mark.parametrize(("alpha", "z"), [("1", 2), ("0.01", -3), ("50", 0.5)])
def test_the_maximizer_of_a_coin_by_another_method(alpha: str, z: float) -> None:
    with mp.workdps(60):
        strength = mp.mpf(alpha)
        reach = abs(strength * z) + 1
        known = mp.findroot(lambda x: x / strength + mp.tanh(x) - z, (-reach, reach), "anderson")
        maximum = maximize(COIN, [z], strength)
        assert abs(maximum.dual[0] - known) < mp.mpf(10) ** -48
        assert abs(maximum.estimate[0] - mp.tanh(known)) < mp.mpf(10) ** -48


def test_one_atom_gives_alpha_z_and_equal_atoms_too() -> None:
    for law in (Law.of([[3, 1]], [1]), Law.of([[3, 1], [3, 1]], [1, 4])):
        maximum = maximize(law, [0.5, -2], 8)
        assert max(abs(maximum.dual[0] - 4), abs(maximum.dual[1] + 16), abs(maximum.estimate[0] - 3)) < 1e-48


@settings(SEARCH, max_examples=40)
@given(mem_problems())
def test_no_other_dual_point_is_better_and_the_error_bound_holds(x: MemProblem) -> None:
    maximum = x.maximizer()
    assert maximum.error <= mp.mpf(10) ** -fifty_digits.DIGITS * max(1, fifty_digits.norm(maximum.dual))
    with mp.workdps(60):
        target = [m + z for m, z in zip(x.law.mean(), x.drawn["z"].tolist(), strict=True)]
        best = fifty_digits.value(x.law, maximum.dual, target, x.alpha)
        rival = [value + mp.mpf(step) for value, step in zip(maximum.dual, x.drawn["lam"].tolist(), strict=True)]
        lead = best - fifty_digits.value(x.law, rival, target, x.alpha)
        assert lead >= fifty_digits.norm(x.drawn["lam"].tolist()) ** 2 / (2 * mp.mpf(x.alpha)) * (1 - mp.mpf(10) ** -40)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: maximize(COIN, [1], 0), "alpha"),
        (lambda: maximize(COIN, [1, 2], 1), "evidence"),
        (lambda: maximize(COIN, [float("nan")], 1), "number"),
        (lambda: Law.of([[1], [2]], [1]), "atoms"),
        (lambda: Law.of([[1], [2, 3]], [1, 1]), "atoms"),
        (lambda: Law.of([[1], [2]], [1, -1]), "weights"),
        (lambda: Law.of([[1]], [0]), "weights"),
        (lambda: leading(lambda x: [x], 1, 0), "start"),
        (lambda: leading(lambda x: [x], 1, 1, halvings=2), "start"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call()


def test_the_error_of_a_large_maximizer_is_relative() -> None:
    """At α = 10³⁰ there are not 50 digits behind the point."""
    maximum = maximize(COIN, [2], mp.mpf(10) ** 30)
    assert maximum.error <= mp.mpf(10) ** -fifty_digits.DIGITS * maximum.dual[0]
    assert abs(maximum.dual[0] / mp.mpf(10) ** 30 - 1) < mp.mpf(10) ** -48  # λ* = α(2 − tanh λ*)


def test_too_few_steps_are_an_error() -> None:
    with pytest.raises(ArithmeticError, match="no maximizer"):
        maximize(Law.of([[-1], [0], [2]], [1, 1, 1]), [0.5], 7, steps=2)


# ── leading coefficients ────────────────────────────────────────────────────────────────────────────────────────────


def test_leading_coefficients_of_known_functions() -> None:
    coefficients = leading(lambda x: [mp.sin(x) - x, mp.exp(x) - 1 - x - x**2 / 2, 5 * x**3], 3, 0.25)
    with mp.workdps(60):
        for value, known in zip(coefficients.values, (-mp.mpf(1) / 6, mp.mpf(1) / 6, 5), strict=True):
            assert abs(value - known) <= coefficients.error < 1e-15


def test_points_are_halved_as_often_as_asked_for() -> None:
    points = []

    def cube(x: mp.mpf) -> list[mp.mpf]:
        points.append(x)
        return [x**3]

    leading(cube, 3, 1, halvings=4)
    assert points == [1, 0.5, 0.25, 0.125, 0.0625]
    points.clear()
    leading(cube, 3, 1)
    assert min(points) == 1 / 512  # what the errors of claims rest on


def test_a_lower_order_and_a_kink_are_refused() -> None:
    for f in (lambda x: [x**2 + x**3], lambda x: [x ** mp.mpf("3.5")], lambda x: [x**3 * mp.log(x)]):
        with pytest.raises(ArithmeticError, match="settle"):
            leading(f, 3, 0.25)


def test_a_higher_order_gives_zero() -> None:
    coefficients = leading(lambda x: [mp.sin(x) - x], 2, 0.25)
    assert abs(coefficients.values[0]) <= coefficients.error < 1e-15


@settings(SEARCH, max_examples=12)
@given(mem_problems())
def test_the_start_is_small_enough(x: MemProblem) -> None:
    """λ*(α)/α → z: the limit is known without any expansion."""
    coefficients = leading(lambda alpha: x.maximizer(alpha).dual, 1, x.small)
    assert coefficients.error < 1e-12
    assert (rounded(coefficients.values) - x.drawn["z"]).abs().max() <= float(coefficients.error) + 1e-15


def test_a_small_alpha_is_one_of_the_scale_of_the_law() -> None:
    """1/16 of 1/max(R², R‖z‖); 1 for one atom, and for all that are as good as one."""
    for scale, z, known in ((8, 1, 1 / 1024), (8, 16, 1 / 2048), (0.5, 0, 1 / 4), (0.125, 1, 1 / 2), (0.125, 0, 1), (0, 3, 1)):
        assert fifty_digits.small(Law.of([[-scale], [scale]], [1, 1]), [z]) == known
    assert fifty_digits.small(Law.of([[5, 2]], [1]), [3, 4], margin=4) == 4


def test_each_row_has_an_alpha_between_half_of_it_and_all_of_it() -> None:
    alphas = torch.stack([mem_batch(2, 1, 4.0, seed, batch=(5,), own_alpha=True).alpha for seed in range(30)])  # type: ignore[arg-type]
    assert alphas.shape == (30, 5)
    assert 2.0 <= float(alphas.min()) < 2.2
    assert 3.8 < float(alphas.max()) <= 4.0

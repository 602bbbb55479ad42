"""A tolerance must cover rounding, and refuse errors that are slightly larger."""

import inspect
import math
import sys

import numpy as np
import pytest
import torch

from numerics import mem, tolerances

DTYPES = {"float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
SIZES = (1, 2, 7, 64, 1000)


@pytest.mark.parametrize("name", DTYPES)
def test_eps_is_that_of_the_dtype(name: str) -> None:
    assert tolerances.eps(name) == torch.finfo(DTYPES[name]).eps
    assert tolerances.eps(DTYPES[name]) == tolerances.eps(name)


def test_numpy_dtypes_are_understood() -> None:
    assert tolerances.eps(np.dtype("float32")) == np.finfo(np.float32).eps


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("name", DTYPES)
def test_rounding_covers_a_sum_and_refuses_three_times_as_much(name: str, m: int, scale: float) -> None:
    x, y = (torch.randn(m, generator=torch.Generator().manual_seed(seed)).to(DTYPES[name]) for seed in (0, 1))
    exact = math.fsum((x.double() * scale).to(DTYPES[name]).double() * y.double())
    terms = (x.double() * scale).to(DTYPES[name]), y
    computed = terms[0].float() @ terms[1].float() if name.endswith("16") else terms[0] @ terms[1]
    magnitude = float((terms[0].double() * y.double()).abs().sum())
    allowed = tolerances.rounding(name, m, magnitude)
    assert abs(float(computed.to(DTYPES[name])) - exact) <= allowed

    wrong = exact + 3 * (m + 16) * tolerances.eps(name) * magnitude
    assert abs(wrong - exact) > allowed


def test_rounding_follows_the_scale() -> None:
    assert tolerances.rounding("float32", 10, 1e4) == pytest.approx(1e4 * tolerances.rounding("float32", 10))
    error = 1e-4
    assert tolerances.rounding("float32", 10, 1e4) > error > tolerances.rounding("float32", 10, 1.0)


@pytest.mark.parametrize("spread", [1.0, 100.0, 1e6])
@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("name", ["float64", "float32"])
def test_plan_does_not_depend_on_the_spread(name: str, m: int, spread: float) -> None:
    s = (spread * torch.randn(m, generator=torch.Generator().manual_seed(m))).to(DTYPES[name])
    peeled = (s - s.max()) / 3.0
    exact = np.asarray(s.tolist(), dtype=np.longdouble)
    exact = np.exp((exact - exact.max()) / 3)
    exact /= exact.sum()
    allowed = tolerances.plan(name, m)
    assert np.abs(peeled.softmax(-1).tolist() - exact).max() <= allowed
    if name == "float32":
        divided = (s / 3.0).softmax(-1).tolist()
        assert np.abs(divided - exact).max() <= tolerances.plan(name, m, float((s / 3.0).abs().max()))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("m", [2, 7, 64])
def test_plan_refuses_a_temperature_that_is_slightly_wrong(name: str, m: int) -> None:
    s = torch.linspace(0.0, 3.0, m, dtype=torch.float64)
    factor = 1.0 + 40 * (m + 8) * tolerances.eps(name)
    assert ((s / factor).softmax(-1) - s.softmax(-1)).abs().max() > tolerances.plan(name, m)


@pytest.mark.parametrize("temperature", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("utility", [1e-3, 1.0, 1e3])
def test_score_gradient_refuses_a_baseline_that_is_slightly_wrong(utility: float, temperature: float) -> None:
    m = 6
    p = torch.full((m,), 1 / m, dtype=torch.float64)
    u = utility * torch.linspace(-1.0, 1.0, m, dtype=torch.float64)
    right = -p / temperature * (u - p @ u)
    wrong = -p / temperature * (u - p @ u - 1e-4 * utility)
    allowed = tolerances.score_gradient("float32", m, utility, temperature)
    assert (right.float().double() - right).abs().max() <= allowed < (wrong - right).abs().max()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_stored_score_gradient_is_distinguished_from_one_without_the_mean(dtype: torch.dtype) -> None:
    logits, u = torch.linspace(-3.0, 0.0, 6, dtype=torch.float64), torch.linspace(-0.2, 1.0, 6, dtype=torch.float64)
    p = logits.softmax(-1)
    right, wrong = -p * (u - p @ u), -p * u
    q = p.to(dtype).double()
    stored = (-q * (u - q @ u)).to(dtype).double()
    sensitivity = float((p * (2 * (u - p @ u).abs() + p @ u.abs())).max())
    computed = tolerances.plan("float32", 6, 3.0)
    allowed = tolerances.stored_score_gradient(dtype, 6, 1.0, 1.0, sensitivity, computed)
    assert 0 < (stored - right).abs().max() <= allowed < 0.1 * (wrong - right).abs().max()
    assert allowed < tolerances.score_gradient(dtype, 6, 1.0, 1.0, tolerances.plan(dtype, 6, 3.0))


def test_score_gradient_grows_with_the_error_of_the_plan() -> None:
    p = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    error = 1e-5
    q = p + error * torch.tensor([1.0, -1.0, 0.0])
    u = torch.tensor([4.0, -4.0, 1.0], dtype=torch.float64)
    distance = (p * (u - p @ u) - q * (u - q @ u)).abs().max() / 0.1
    exact, inherited = (tolerances.score_gradient("float64", 3, 4.0, 0.1, e) for e in (0.0, error))
    assert exact < distance <= inherited


@pytest.mark.parametrize("temperature", [1e-6, 0.1, 1e6])
@pytest.mark.parametrize("step", [1e-2, 1e-5])
def test_plan_from_gap_is_pinsker_with_the_temperature(temperature: float, step: float) -> None:
    s = temperature * np.array([1.0, 0.5, -2.0])
    best = np.exp(s / temperature) / np.exp(s / temperature).sum()
    q = best + step * np.array([-1.0, 0.5, 0.5])
    divergence = float(q @ np.log(q / best))
    gap = float(-s @ q + temperature * q @ np.log(q)) + temperature * math.log(np.exp(s / temperature).sum())
    assert gap == pytest.approx(temperature * divergence, rel=1e-3)
    distance = np.abs(q - best).sum()
    assert distance <= tolerances.plan_from_gap(gap, temperature) <= 3 * distance
    assert distance > tolerances.plan_from_gap(gap / 100, temperature)


def test_a_difference_is_as_much_worse_as_it_is_smaller() -> None:
    relative_error = 1e-6
    error = abs((1 + relative_error) * 1.01 - (1 - relative_error) - 0.01) / 0.01
    assert error <= tolerances.of_difference(relative_error, 0.01 / 1.01) < 1.02 * error
    assert error > tolerances.of_difference(relative_error, 0.02)


def coupled(potential: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """A plan of Sinkhorn's form with mass one, this column potential and uniform rows."""
    weights = np.exp(potential - cost)
    return weights / weights.sum(axis=1, keepdims=True) / len(cost)


COST = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5]])


@pytest.mark.parametrize("name", ["float64", "float32"])
@pytest.mark.parametrize("exponent", [1.0, 100.0])
def test_marginals_cover_the_rounding_of_exponents_and_refuse_thirty_times_as_much(name: str, exponent: float) -> None:
    phi, psi = (exponent * torch.linspace(0.3, 1.0, 5, dtype=torch.float64) for _ in range(2))
    kernel = -(phi[:, None] + psi) + torch.randn(5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    parts = [x.to(DTYPES[name]) for x in (phi[:, None].expand(5, 5), psi.expand(5, 5), kernel)]
    rounded, exact = (sum(x.double() for x in bounds).exp() for bounds in (parts, (phi[:, None], psi, kernel)))
    rows, wanted = rounded.sum(1), exact.sum(1)
    allowed = tolerances.marginals(name, 10, exponent)
    assert float((rows / wanted - 1).abs().max()) <= allowed
    wrong = (exact * (1 + 30 * (exponent + 10) * tolerances.eps(name))).sum(1)
    assert float((wrong / wanted - 1).abs().max()) > allowed


@pytest.mark.parametrize("step", [1e-1, 1e-3])
def test_plan_from_marginals_is_pinsker(step: float) -> None:
    change = step * np.array([1.0, -1.0, 0.5])
    p, q = coupled(np.zeros(3), COST), coupled(change, COST)
    ratio = np.log(q / p)
    rows = ratio.mean(axis=1) - np.median(change)
    columns = ratio[0] - rows[0]
    error = float(np.abs(p.sum(0) - q.sum(0)).sum() + np.abs(p.sum(1) - q.sum(1)).sum())
    distance = float(np.abs(p - q).sum())
    potential = float(np.abs(rows).max() + np.abs(columns).max())
    assert distance <= tolerances.plan_from_marginals(error, potential) <= 5 * distance
    assert distance > tolerances.plan_from_marginals(error / 100, potential)


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 5.0])
def test_plan_from_residual_uses_the_condition(sharpness: float) -> None:
    cost = sharpness * COST
    p = coupled(np.zeros(3), cost)
    a, b = p.sum(1), p.sum(0)
    _, values, vectors = np.linalg.svd(p / np.sqrt(np.outer(a, b)))
    gap = 1 - float(values[1]) ** 2
    q = coupled(1e-6 * vectors[1] / np.sqrt(b), cost)  # the direction that the marginals see least
    error, distance = math.sqrt(float(((q.sum(0) - b) ** 2 / b).sum())), float(np.abs(p - q).sum())
    assert distance <= tolerances.plan_from_residual(error, gap) <= 10 * distance
    assert distance > tolerances.plan_from_residual(error / 100, gap)


@pytest.mark.parametrize("ratio", [1e-1, 1e-4])
def test_relaxed_plan_follows_the_relaxation(ratio: float) -> None:
    loads = np.array([1.5, 0.7, 0.8])
    psi = -ratio * np.log(loads)
    p, q = 2 * coupled(np.zeros(3), COST), 2 * coupled(psi, COST)
    distance, reach = float(np.abs(p - q).sum(axis=1).max()), float(np.abs(np.log(loads)).max())
    assert distance <= tolerances.relaxed_plan(ratio, reach) <= 10 * distance
    assert distance > tolerances.relaxed_plan(ratio / 20, reach)


# ── the stated reasons, part by part: a tolerance twice as wide would pass most of the tests above ───────────────────────


@pytest.mark.parametrize("name", ["float64", "float32", "tf32", "float16", "bfloat16"])
def test_the_parts_of_rounding(name: str) -> None:
    computed = tolerances.eps("float64" if name == "float64" else "float32")
    stored = 0.0 if name in ("float64", "float32") else tolerances.eps(name)
    smallest = {"float64": np.finfo(np.float64).tiny, "float16": np.finfo(np.float16).smallest_subnormal}.get(
        name, np.finfo(np.float32).tiny
    )
    assert tolerances.rounding(name, 1, 0.0) == smallest
    for size in (1, 5):
        more = tolerances.rounding(name, size + 1, 3.0) - tolerances.rounding(name, size, 3.0)
        assert more == pytest.approx(3 * computed, rel=1e-6, abs=0)  # an addition
    assert tolerances.rounding(name, 1) - smallest == pytest.approx(stored + 9 * computed, abs=0)
    for size in (1, 7):
        least = tolerances.plan(name, size) - tolerances.rounding(name, size)
        assert least == pytest.approx(computed * (1 + math.log(size)), rel=1e-6, abs=0)
        more = tolerances.plan(name, size, 50.0) - tolerances.plan(name, size)
        assert more == pytest.approx(50 * computed, rel=1e-6, abs=0)


def test_tf32_keeps_as_many_digits_as_float16_and_the_range_of_float32() -> None:
    assert tolerances.eps("tf32") == torch.finfo(torch.float16).eps


def test_the_parts_of_a_score_gradient() -> None:
    total = tolerances.score_gradient("float64", 6, 3.0, 0.5)
    assert total == pytest.approx(tolerances.rounding("float64", 6, 12.0), abs=0)  # twice u/τ
    more = tolerances.score_gradient("float64", 6, 3.0, 0.5, 1e-3) - total
    assert more == pytest.approx((2 + 6) * 1e-3 * 3.0 / 0.5)
    stored = tolerances.stored_score_gradient("bfloat16", 6, 3.0, 0.5, 0.25, 0.0)
    computed = tolerances.score_gradient("float32", 6, 3.0, 0.5)
    assert stored - computed == pytest.approx(tolerances.rounding("bfloat16", 6, 0.5), abs=0)


def test_pinsker_is_sharp_for_two_equal_weights() -> None:
    for temperature in (0.25, 1.0, 8.0):
        q = np.array([0.5 + 1e-4, 0.5 - 1e-4])
        gap = temperature * float(q @ np.log(2 * q))
        assert tolerances.plan_from_gap(gap, temperature) == pytest.approx(2e-4, rel=1e-6)


def test_strong_convexity_is_sharp_for_a_parabola() -> None:
    for modulus, step in ((0.25, 1e-2), (8.0, 3.0)):
        assert tolerances.plan_from_strong_convexity(modulus * step**2 / 2, modulus) == pytest.approx(step)


def test_the_parts_of_bounds_for_transport() -> None:
    assert tolerances.marginals("float64", 10, 7.0) == 2 * tolerances.plan("float64", 10, 21.0)  # three exponents, twice
    assert tolerances.relaxed_plan(0.5, 0.25) == 2 * 0.5 * 0.25
    assert tolerances.plan_from_residual(0.5, 1.0) == 2 * 0.5  # nothing is lost if the marginals see all
    assert tolerances.plan_from_residual(0.5, 0.25) == 3 * 0.5
    assert tolerances.plan_from_marginals(0.5, 2.0) == pytest.approx(math.sqrt(2.0 * 0.5 * 1.5))
    assert tolerances.of_difference(0.25, 0.5) == 1.0
    assert tolerances.of_difference(0.25, 1.0) == 0.5


@pytest.mark.parametrize("name", DTYPES)
def test_storage_moves_a_number_by_half_of_the_distance_to_the_next(name: str) -> None:
    relative, absolute = tolerances.storage(name)
    dtype, drawn = DTYPES[name], torch.rand(4096, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    relative_error = (drawn.to(dtype).double() / drawn - 1).abs().max()
    assert relative_error <= relative <= 2 * relative_error or name == "float64"
    assert (absolute == 0) == (relative == 0) == (name == "float64")
    if name == "float16":
        denormal = drawn * torch.finfo(dtype).tiny
        absolute_error = (denormal.to(dtype).double() - denormal).abs().max()
        assert absolute_error <= absolute <= 1.01 * absolute_error


def test_zero_is_allowed_as_a_magnitude() -> None:
    assert tolerances.rounding("float64", 1, 0.0) > 0
    assert tolerances.score_gradient("float64", 3, 0.0, 1.0) > 0
    assert tolerances.plan_from_gap(0.0, 1.0) == tolerances.plan_from_strong_convexity(0.0, 1.0) == 0
    assert tolerances.of_difference(0.0, 1.0) == tolerances.relaxed_plan(0.0, 0.0) == 0
    assert tolerances.plan_from_marginals(0.0, 0.0) == 0
    assert tolerances.plan_from_residual(0.0, 1.0) == 0
    assert tolerances.marginals("float64", 3, 0.0) > 0
    assert tolerances.stored_score_gradient("bfloat16", 3, 1.0, 1.0, 0.0, 0.0) > 0


def test_the_solver_gets_a_smaller_tolerance_than_the_certificate() -> None:
    """The stated constants: a hundred times the solver's tolerance; its tightest; the default of `mem.solve`."""
    assert tolerances.SOLVER_GAP == 100 * tolerances.SOLVER
    assert tolerances.DUAL_ASKED == tolerances.SOLVER
    assert inspect.signature(mem.solve).parameters["tolerance"].default == tolerances.DUAL_CERTIFIED


def test_rounding_after_overflow_allows_anything() -> None:
    assert tolerances.rounding("float64", 3, math.inf) == math.inf


def test_a_certified_solution_is_accurate_enough_to_refute_twins() -> None:
    assert tolerances.plan_from_gap(tolerances.SOLVER_GAP, 1.0) < 2e-5
    assert tolerances.SOLVER < tolerances.SOLVER_GAP


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: tolerances.eps("int32"), "dtype"),
        (lambda: tolerances.rounding("float64", 0), "size"),
        (lambda: tolerances.rounding("float64", 3, -1.0), "scale"),
        (lambda: tolerances.rounding("float64", 3, math.nan), "scale"),
        (lambda: tolerances.plan("float64", 3, math.inf), "logit"),
        (lambda: tolerances.score_gradient("float64", 3, -1.0, 1.0), "utility"),
        (lambda: tolerances.score_gradient("float64", 3, 1.0, 0.0), "temperature"),
        (lambda: tolerances.score_gradient("float64", 3, 1.0, 1.0, -1.0), "plan_error"),
        (lambda: tolerances.stored_score_gradient("bfloat16", 3, 1.0, 1.0, -1.0, 0.0), "sensitivity"),
        (lambda: tolerances.stored_score_gradient("bfloat16", 3, 1.0, 0.0, 1.0, 0.0), "temperature"),
        (lambda: tolerances.plan_from_gap(-1e-20, 1.0), "gap"),
        (lambda: tolerances.plan_from_gap(math.nan, 1.0), "gap"),
        (lambda: tolerances.plan_from_gap(1.0, -1.0), "temperature"),
        (lambda: tolerances.plan_from_gap(1.0, 0.0), "temperature"),
        (lambda: tolerances.marginals("float64", 3, -1.0), "exponent"),
        (lambda: tolerances.plan_from_marginals(-1.0, 1.0), "error"),
        (lambda: tolerances.plan_from_marginals(1.0, math.inf), "potential"),
        (lambda: tolerances.plan_from_residual(math.nan, 1.0), "error"),
        (lambda: tolerances.plan_from_residual(1.0, 0.0), "gap"),
        (lambda: tolerances.relaxed_plan(-1.0, 1.0), "ratio"),
        (lambda: tolerances.relaxed_plan(1.0, -1.0), "reach"),
        (lambda: tolerances.plan_from_strong_convexity(-1.0, 1.0), "gap"),
        (lambda: tolerances.plan_from_strong_convexity(math.nan, 1.0), "gap"),
        (lambda: tolerances.plan_from_strong_convexity(1.0, 0.0), "modulus"),
        (lambda: tolerances.plan_from_strong_convexity(1.0, math.inf), "modulus"),
        (lambda: tolerances.plan_from_residual(1.0, 1.5), "gap"),
        (lambda: tolerances.storage("int8"), "dtype"),
        (lambda: tolerances.of_difference(-1.0, 1.0), "relative"),
        (lambda: tolerances.of_difference(1.0, 0.0), "share"),
        (lambda: tolerances.of_difference(1.0, 2.0), "share"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()  # type: ignore[operator]


def test_torch_is_not_needed() -> None:
    assert "torch" not in vars(sys.modules["numerics.tolerances"])

"""The closed forms of the one-sided problem, compared with extended precision, autograd and PyTorch's attention."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from evidence.instances.one_sided import OneSided, one_sided_problems
from numerics import one_sided, tolerances
from tests.numerics.common import PATIENT, bias, close, error, in_dtypes, on_devices, reference

# --- forward -----------------------------------------------------------------------------------------------------


@on_devices
@in_dtypes
def test_plan_is_exact_to_rounding(dtype: torch.dtype, device: str) -> None:
    @PATIENT
    @given(one_sided_problems(dtype))
    def check(x: OneSided) -> None:
        x = x.to(device=device)
        plan = one_sided.plan(x.scores, x.temperature, x.mask)
        assert (plan.dtype, plan.device.type) == (dtype, device)
        close(plan.cpu().double(), reference(x)[0], error(x))
        assert (plan[~x.allowed] == 0).all()
        total = (~x.dead).double()
        close(plan.double().sum(-1), total, tolerances.rounding(dtype, x.m))

    check()


@on_devices
@in_dtypes
def test_log_partition_is_exact_to_rounding(dtype: torch.dtype, device: str) -> None:
    @PATIENT
    @given(one_sided_problems(dtype, temperatures=(1.0, 8.0, 1e6) if dtype == torch.float16 else (1.0, 1e6, 1e-6)))
    def check(x: OneSided) -> None:
        x = x.to(device=device)
        actual = one_sided.log_partition(x.scores, x.temperature, x.mask).cpu()
        expected = reference(x)[1]
        assert actual.dtype == dtype
        close(actual == -torch.inf, x.dead.cpu(), 0.0)
        live = actual > -torch.inf
        if live.any():
            scale = float(expected[live].abs().max()) + math.log(x.m) + 1 + bias(x)
            expected = expected.clamp(max=torch.finfo(dtype).max)
            close(actual[live].double(), expected[live], tolerances.rounding(dtype, x.m, scale))

    check()


@PATIENT
@given(one_sided_problems(masks=("boolean", "dead row")))
def test_three_ways_to_mask_are_one(x: OneSided) -> None:
    assert x.mask is not None
    expected = one_sided.plan(x.scores, x.temperature, x.mask)
    additive = torch.zeros_like(x.scores).masked_fill(~x.mask, -torch.inf)
    removed = x.scores.masked_fill(~x.mask, -torch.inf)
    poisoned = x.scores.masked_fill(~x.mask, torch.nan)
    assert_close(one_sided.plan(x.scores, x.temperature, additive), expected, rtol=0.0, atol=0.0)
    assert_close(one_sided.plan(removed, x.temperature), expected, rtol=0.0, atol=0.0)
    assert_close(one_sided.plan(poisoned, x.temperature, x.mask), expected, rtol=0.0, atol=0.0)


@PATIENT
@given(one_sided_problems(masks=("boolean",)))
def test_masking_is_removal(x: OneSided) -> None:
    rows = zip(x.scores.reshape(-1, x.m), x.allowed.reshape(-1, x.m), strict=True)
    plans = one_sided.plan(x.scores, x.temperature, x.mask).reshape(-1, x.m)
    for (scores, allowed), plan in zip(rows, plans, strict=True):
        close(plan[allowed], one_sided.plan(scores[allowed], x.temperature), tolerances.plan("float64", x.m))


@PATIENT
@given(one_sided_problems(scales=(1.0, 30.0)))
def test_a_common_offset_changes_nothing_but_log_z(x: OneSided) -> None:
    offset = 2.0**20
    shifted = offset * torch.ones_like(x.scores) + x.scores
    back = shifted - offset  # the scores as rounded by the offset, exactly
    tau = x.temperature
    close(one_sided.plan(shifted, tau, x.mask), one_sided.plan(back, tau, x.mask), 0.0)
    live = ~x.dead
    if live.any():
        left, right = (one_sided.log_partition(s, tau, x.mask)[live] for s in (shifted, back))
        close(left, right + offset / tau, tolerances.rounding("float64", x.m, (offset + 200) / tau))


@on_devices
@pytest.mark.parametrize("kind", ["none", "boolean", "float", "dead row"])
def test_scaled_dot_product_attention_agrees(kind: str, device: str) -> None:
    generator = torch.Generator().manual_seed(0)
    query, keys, values = (
        torch.randn(2, 3, length, 4, generator=generator, dtype=torch.float64).to(device) for length in (5, 6, 6)
    )
    mask = None
    if kind != "none":
        mask = torch.rand(2, 1, 5, 6, generator=generator).to(device) < 0.6
        mask[..., 0] = True
        if kind == "dead row":
            mask[1, :, 2] = False
        if kind == "float":
            mask = torch.randn(2, 1, 5, 6, generator=generator, dtype=torch.float64).to(device).where(mask, -torch.inf)
    plan = one_sided.plan(one_sided.scores_from(query, keys), 2.0, mask)
    expected = scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=0.5)
    close(one_sided.context(plan, values), expected, tolerances.rounding("float64", 64, 10.0))


def test_temperature_per_row_is_row_by_row() -> None:
    scores = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    temperature = torch.tensor([0.1, 1.0, 1e4])
    plan = one_sided.plan(scores, temperature)
    for row, tau in enumerate(temperature.tolist()):
        close(plan[:, row], one_sided.plan(scores[:, row], tau), tolerances.plan("float32", 5))
    annealed = one_sided.plan(scores[0, 0], temperature)
    assert annealed.shape == (3, 5)
    close(annealed[1], one_sided.plan(scores[0, 0]), 0.0)


def test_a_tensor_temperature_that_is_not_positive_gives_nan() -> None:
    plan = one_sided.plan(torch.zeros(4, 2), torch.tensor([1.0, 0.0, -1.0, math.nan]))
    assert plan.isnan().any(-1).tolist() == [False, True, True, True]


def test_extreme_scores_give_finite_results() -> None:
    plan = one_sided.plan(torch.tensor([1e30, -1e30, 1e30]), 1e-30)
    assert plan.tolist() == [0.5, 0.0, 0.5]
    assert one_sided.plan(torch.tensor([3e38, -3e38]), 1.0).tolist() == [1.0, 0.0]
    nearly = torch.tensor([1e4, 1e4 - 2.0**-20], dtype=torch.float64)
    expected = 1 / (1 + math.exp(-(2.0**-20) / 1e-6))
    assert float(one_sided.plan(nearly, 1e-6)[0]) == pytest.approx(expected, rel=1e-15)


def test_nan_and_inf_are_not_hidden() -> None:
    assert one_sided.plan(torch.tensor([math.nan, 1.0])).isnan().all()
    assert one_sided.plan(torch.tensor([math.inf, 1.0])).isnan().any()
    assert one_sided.entropy(torch.tensor([-0.5, 1.5])) == -torch.inf


# --- the objective -----------------------------------------------------------------------------------------------


@PATIENT
@given(one_sided_problems(masks=("none", "boolean")))
def test_objective_at_the_plan_is_minus_tau_log_z(x: OneSided) -> None:
    tau = x.temperature
    scores = x.scores.where(x.allowed, -torch.inf)
    value = one_sided.objective(one_sided.plan(scores, tau), scores, tau)
    scale = float(x.scores.abs().max()) + tau * (1 + math.log(x.m))
    close(value, -tau * one_sided.log_partition(scores, tau), tolerances.rounding("float64", x.m, 4 * scale))


def test_entropy_of_vertices_and_of_the_uniform_plan() -> None:
    plan = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.25] * 4, [0.5, 0.5, 0.0, 0.0], [0.0] * 4], dtype=torch.float64)
    expected = torch.tensor([0.0, math.log(4), math.log(2), 0.0], dtype=torch.float64)
    close(one_sided.entropy(plan), expected, 1e-15)


def test_entropy_has_finite_derivatives_at_zero() -> None:
    plan = torch.tensor([0.0, 0.25, 0.75], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(one_sided.entropy(plan), plan, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), plan)
    expected = torch.tensor([0.0, -math.log(0.25) - 1, -math.log(0.75) - 1], dtype=torch.float64)
    close(first.detach(), expected, 1e-15)
    close(second, torch.tensor([0.0, -4.0, -4 / 3], dtype=torch.float64), 1e-14)


def test_mass_on_a_forbidden_key_costs_everything() -> None:
    scores = torch.tensor([0.0, -torch.inf])
    assert one_sided.objective(torch.tensor([1.0, 0.0]), scores) == 0
    assert one_sided.objective(torch.tensor([0.5, 0.5]), scores) == torch.inf


# --- at the borders ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [one_sided.plan, one_sided.log_partition])
def test_a_dead_row_passes_no_nan_backwards(function: Callable[..., Tensor]) -> None:
    rows = [[1.0, 2.0, -torch.inf], [-torch.inf] * 3, [torch.nan, 0.5, 1.0]]
    scores = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, True, True], [False, True, True]])
    with torch.autograd.set_detect_anomaly(True):
        output = function(scores, 0.5, mask)
        torch.where(output.isfinite(), output, 0.0).square().sum().backward()
    assert bool(scores.grad.isfinite().all())  # type: ignore[union-attr]
    assert bool((scores.grad[1] == 0).all())  # type: ignore[index]


@pytest.mark.parametrize(
    ("left", "right", "fits"),
    [
        ((4,), (4, 3), True),
        ((2, 4), (4, 3), True),
        ((5, 2, 4), (4, 3), True),
        ((5, 2, 4), (5, 4, 3), True),
        ((4,), (5, 4, 3), True),
        ((2, 4), (5, 4, 3), False),
        ((5, 2, 4), (6, 4, 3), False),
        ((4,), (3, 4), False),
        ((4,), (4,), False),
        ((3,), (4, 3), False),
    ],
)
def test_products_agree_with_torch(left: tuple[int, ...], right: tuple[int, ...], fits: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in (left, right))
    for function, turned, sign in (
        (one_sided.context, y, 1),
        (one_sided.scores_from, y.mT if y.ndim > 1 else y, 1),
        (one_sided.utility, y.mT if y.ndim > 1 else y, -1),
    ):
        if fits:
            assert_close(function(x, turned), sign * (x @ y), rtol=0.0, atol=1e-14)
        else:
            with pytest.raises(ValueError, match=r"^(values|keys): expected .*that goes with"):
                function(x, turned)


@pytest.mark.parametrize("temperature", [0.3, 0.5, 1.0, 2.0, 3.0, 1.5])
def test_a_common_offset_costs_no_digits_without_a_mask(temperature: float) -> None:
    scores = torch.tensor([[3.0, -1.0, 0.0, 7.0]], dtype=torch.float64)
    expected = torch.tensor([math.exp((s - 7) / temperature) for s in scores[0].tolist()], dtype=torch.float64)
    expected = expected / expected.sum()
    for offset in (2.0**51, -(2.0**51)):
        plan = one_sided.plan(scores + offset, temperature)[0]
        assert_close(plan, expected, rtol=0.0, atol=tolerances.plan("float64", 4))


@pytest.mark.parametrize("temperature", [1.0, 3.0, 2.0**-3])
def test_a_key_far_below_costs_no_digits(temperature: float) -> None:
    scores = torch.tensor([0.1, 0.7, -(2.0**50)], dtype=torch.float64)
    plan = one_sided.plan(scores, temperature)
    assert float(plan[2]) == 0
    assert_close(plan[:2], one_sided.plan(scores[:2], temperature), rtol=0.0, atol=tolerances.rounding("float64", 2))


def read(*_: Tensor) -> bool:
    raise AssertionError("entries were read")


def test_finite_rows_on_the_cpu_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_sided, "_logits", read)
    assert float(one_sided.plan(torch.zeros(4))[0]) == 0.25
    with pytest.raises(AssertionError, match="entries were read"):
        one_sided.plan(torch.full((4,), -torch.inf))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("how", ["on another device", "torch.func", "forward"])
def test_expensive_entries_are_not_read(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = torch.zeros(4)
    monkeypatch.setattr(one_sided, "known_true", read)
    if how == "on another device":
        monkeypatch.setattr(one_sided, "on_cpu", lambda _: False)
        plan = one_sided.plan(scores)
    elif how == "torch.func":
        plan = torch.func.vmap(one_sided.plan)(scores[None])[0]
    else:
        with forward_ad.dual_level():
            plan = forward_ad.unpack_dual(one_sided.plan(forward_ad.make_dual(scores, scores))).primal
    assert plan.tolist() == [0.25] * 4

"""Derivatives of the one-sided closed forms: first and second, under masks, in every dtype, and under torch.func."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from torch import Tensor
from torch.testing import assert_close

from evidence.instances.one_sided import SCALES, OneSided, one_sided_problems
from numerics import one_sided, tolerances
from tests.numerics.common import PATIENT, close, error, in_dtypes, on_devices

# Forward-mode differentiation compiles decompositions that use features deprecated in the same release of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


# --- derivatives -------------------------------------------------------------------------------------------------


def rows(kind: str) -> tuple[Tensor, Tensor, Tensor | None]:
    """Scores, temperatures and a mask."""
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    boolean = torch.tensor([[True] * 4, [False] * 4, [True, False, True, False]])
    floating = torch.zeros(3, 4, dtype=torch.float64).masked_fill(~boolean, -torch.inf)
    mask = {"none": None, "boolean": boolean, "float": floating}[kind]
    return scores, torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64), mask


@on_devices
@in_dtypes
def test_derivatives_are_finite_and_zero_where_masked(dtype: torch.dtype, device: str) -> None:
    # A derivative with respect to a float16 plan is a float16 number itself: the scores, τ log p and 1/τ have to fit.
    tame = dtype == torch.float16
    scales, temperatures = ((1.0, 0.0, 30.0), (1.0, 0.1, 8.0)) if tame else (SCALES, (1.0, 1e-6, 1e6))

    @PATIENT
    @given(one_sided_problems(dtype, scales=scales, temperatures=temperatures))
    def check(x: OneSided) -> None:
        x = x.to(device=device)
        scores = x.scores.clone().requires_grad_()
        tau = torch.tensor(x.temperature, device=device, requires_grad=True)
        plan = one_sided.plan(scores, tau, x.mask)
        log_z = one_sided.log_partition(scores, tau, x.mask)
        # NaN is contagious: one sum tells for all of them.
        total = (
            (plan * x.utility).sum()
            + log_z[~x.dead].sum()
            + log_z.clamp(min=0.0).sum()
            + one_sided.entropy(plan).sum()
            + one_sided.objective(plan, scores, tau).sum()
            + one_sided.score_gradient(plan, x.utility, tau).pow(2).sum()
            + one_sided.plan_jacobian(plan, tau).pow(2).sum()
        )
        first, slope = torch.autograd.grad(total, (scores, tau), create_graph=True)
        (second,) = torch.autograd.grad(first.sum() + slope, scores)
        for derivative in (first, slope, second):
            assert not derivative.isnan().any()
        assert (first[~x.allowed] == 0).all()
        assert (second[~x.allowed] == 0).all()

    check()


@on_devices
@in_dtypes
def test_score_gradient_is_the_result_of_backpropagation(dtype: torch.dtype, device: str) -> None:
    @PATIENT
    @given(one_sided_problems(dtype))
    def check(x: OneSided) -> None:
        x = x.to(device=device)
        y = x.to(torch.float64)
        scores = y.scores.clone().requires_grad_()
        plan = one_sided.plan(scores, x.temperature, y.mask)
        context = one_sided.context(plan.unsqueeze(-2), y.values).squeeze(-2)
        (context * y.context_gradient).sum().backward()
        utility = one_sided.utility(x.context_gradient.unsqueeze(-2), x.values).squeeze(-2)
        largest = float((x.context_gradient.double().abs().unsqueeze(-2) * x.values.double().abs()).sum(-1).max())
        actual = one_sided.score_gradient(one_sided.plan(x.scores, x.temperature, x.mask), utility, x.temperature)
        assert actual.dtype == dtype
        allowed = tolerances.score_gradient(dtype, x.m, largest, x.temperature, error(x))
        # The utilities of this dtype are off as well, each by the rounding of a short sum.
        allowed += 2 * tolerances.rounding(dtype, x.values.shape[1], largest) / x.temperature
        limit = torch.finfo(dtype).max
        assert scores.grad is not None
        close(actual.double().clamp(-limit, limit), scores.grad.clamp(-limit, limit), allowed)

    check()


@PATIENT
@given(one_sided_problems())
def test_score_gradient_is_the_jacobian_applied(x: OneSided) -> None:
    plan = one_sided.plan(x.scores, x.temperature, x.mask)
    jacobian = one_sided.plan_jacobian(plan, x.temperature)
    expected = -(x.utility.unsqueeze(-1) * jacobian).sum(-2)
    largest = float(x.utility.abs().max())
    allowed = tolerances.score_gradient("float64", 2 * x.m, 2 * largest, x.temperature)
    close(one_sided.score_gradient(plan, x.utility, x.temperature), expected, allowed)
    close(jacobian.mT, jacobian, tolerances.rounding("float64", 1, 1 / x.temperature))


# --- torch.func --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [torch.func.jacrev, torch.func.jacfwd], ids=["jacrev", "jacfwd"])
@pytest.mark.parametrize("kind", ["none", "boolean", "float"])
def test_vmapped_jacobian_is_eot_59(kind: str, transform: Callable[..., Callable[..., Tensor]]) -> None:
    scores, temperature, mask = rows(kind)
    if mask is None:
        actual = torch.func.vmap(transform(one_sided.plan))(scores, temperature)
    else:
        actual = torch.func.vmap(transform(one_sided.plan))(scores, temperature, mask)
    expected = one_sided.plan_jacobian(one_sided.plan(scores, temperature, mask), temperature)
    close(actual, expected, tolerances.rounding("float64", 4, 4.0))
    assert_close(torch.func.vmap(one_sided.plan_jacobian)(one_sided.plan(scores, temperature, mask), temperature), expected)


def test_log_partition_differentiates_to_the_plan_and_its_covariance() -> None:
    scores, temperature, _ = rows("none")
    plan = one_sided.plan(scores, temperature)
    allowed = tolerances.rounding("float64", 4, 8.0)
    tau = temperature[:, None]
    first = torch.func.vmap(torch.func.grad(one_sided.log_partition))(scores, temperature)
    close(first, plan / tau, allowed)
    second = torch.func.vmap(torch.func.hessian(one_sided.log_partition))(scores, temperature)
    close(second, one_sided.plan_jacobian(plan, temperature) / tau.unsqueeze(-1), allowed)
    slope = torch.func.vmap(torch.func.grad(one_sided.log_partition, argnums=1))(scores, temperature)
    close(slope, -(plan * scores).sum(-1) / temperature**2, allowed)


def test_jvp_is_the_jacobian_applied() -> None:
    scores, temperature, mask = rows("boolean")
    direction = scores.cos()
    plan, tangent = torch.func.jvp(lambda s: one_sided.plan(s, temperature, mask), (scores,), (direction,))
    expected = (one_sided.plan_jacobian(plan, temperature) * direction.unsqueeze(-2)).sum(-1)
    close(tangent, expected, tolerances.rounding("float64", 4, 4.0))

"""Diagnostics of a plan, by hand."""

import math

import pytest
import torch
from torch.testing import assert_close

from numerics.transport import diagnose

F64 = torch.float64
PLAN = torch.tensor([[2.0, 1.0, 1.0], [0.0, 6.0, 0.0], [0.0, 0.0, 0.0]], dtype=F64)  # masses 4, 6 and none
ROWS = [(0.4, [0.5, 0.25, 0.25]), (0.6, [0.0, 1.0, 0.0])]
LOAD = [0.2, 0.7, 0.1]


def divergence(p: list[float], q: list[float]) -> float:
    return sum(x * math.log(x / y) for x, y in zip(p, q, strict=True) if x > 0)


@pytest.mark.parametrize("target", [None, [2.0, 1.0, 1.0]])
def test_a_plan_of_three_rows(target: list[float] | None) -> None:
    b = [1 / 3] * 3 if target is None else [0.5, 0.25, 0.25]
    diagnosis = diagnose(PLAN, None if target is None else torch.tensor(target, dtype=F64))
    expected = {
        "entropy": [1.5 * math.log(2), 0.0, 0.0],
        "effective_keys": [2**1.5, 1.0, 0.0],
        "peak": [0.5, 1.0, 0.0],
        "load": LOAD,
        "concentration": sum(a * divergence(w, b) for a, w in ROWS),
        "information": sum(a * divergence(w, LOAD) for a, w in ROWS),
        "imbalance": divergence(LOAD, b),
    }
    for name, value in expected.items():
        assert_close(getattr(diagnosis, name), torch.tensor(value, dtype=F64), rtol=0.0, atol=1e-15, msg=name)


def test_each_plan_of_a_batch_has_its_target() -> None:
    targets = torch.tensor([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], dtype=F64)
    both = diagnose(PLAN, targets)
    for k, target in enumerate(targets):
        assert_close(both.imbalance[k], diagnose(PLAN, target).imbalance)
        assert_close(both.concentration[k], diagnose(PLAN, target).concentration)
    for name, value in vars(diagnose(PLAN.expand(2, 3, 3), targets)).items():
        assert_close(value, getattr(both, name).expand_as(value), msg=name)
    assert diagnose(PLAN.expand(4, 3, 3), targets[0]).peak.shape == (4, 3)


def test_mass_outside_the_target_costs_everything() -> None:
    diagnosis = diagnose(PLAN, torch.tensor([0.0, 1.0, 1.0], dtype=F64))
    assert (float(diagnosis.imbalance), float(diagnosis.concentration)) == (math.inf, math.inf)
    assert math.isfinite(float(diagnosis.information))


def test_derivatives_at_a_weight_of_zero_are_finite() -> None:
    for at, target in ((PLAN, None), (PLAN * torch.tensor([1.0, 1.0, 0.0]), torch.tensor([1.0, 1.0, 0.0], dtype=F64))):
        plan = at.clone().requires_grad_()
        diagnosis = diagnose(plan, target)
        numbers = (diagnosis.concentration, diagnosis.information, diagnosis.imbalance)
        for x in (*numbers, diagnosis.entropy.sum(), diagnosis.effective_keys.sum()):
            assert bool(torch.autograd.grad(x, plan, retain_graph=True)[0].isfinite().all())


def test_nan_is_not_hidden() -> None:
    diagnosis = diagnose(PLAN.index_fill(1, torch.tensor([0]), torch.nan))
    for x in (diagnosis.concentration, diagnosis.information, diagnosis.imbalance):
        assert bool(x.isnan())

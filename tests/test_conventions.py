"""Every line of docs/conventions.md, compared with the functions that follow it."""

import math
import re
from pathlib import Path

import entmax
import numpy as np
import ot
import pytest
import torch
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from numerics import (
    fenchel_young,
    fisher,
    linear,
    linear_program,
    mem,
    modules,
    one_sided,
    regularizers,
    sparse_maps,
    transport,
)

PAGE = Path(__file__).parents[1] / "docs" / "conventions.md"
GENERATOR = torch.Generator().manual_seed(0)
SCORES = torch.randn(3, 5, generator=GENERATOR, dtype=torch.float64)
TAU = 0.7


def test_every_line_has_a_test_and_every_test_a_line() -> None:
    _, _, *lines = re.findall(r"^\| ([a-z-]+) \| \S", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    tests = [name.removeprefix("test_the_").replace("_", "-") for name in globals() if name.startswith("test_the_")]
    assert len(lines) > 10
    assert lines == tests


def test_the_axes() -> None:
    plan = one_sided.plan(SCORES, TAU)
    assert_close(plan.sum(-1), torch.ones(3, dtype=torch.float64))
    assert float((plan.sum(-2) - 1).abs().max()) > 0.1


def test_the_temperature() -> None:
    query, key = torch.randn(2, 3, 16, generator=GENERATOR, dtype=torch.float64)
    value = torch.eye(3, dtype=torch.float64)
    ours = one_sided.plan(one_sided.scores_from(query, key), math.sqrt(16))
    assert_close(ours, scaled_dot_product_attention(query[None], key[None], value[None])[0])
    assert_close(one_sided.plan(SCORES, TAU), torch.softmax(SCORES / TAU, -1))


def test_the_cost() -> None:
    plan = one_sided.plan(SCORES, TAU)
    assert_close(transport.one_sided_plan(-SCORES, temperature=TAU) * 3, plan)
    hot = one_sided.plan(SCORES, 0.01)
    assert bool((hot.argmax(-1) == (-SCORES).argmin(-1)).all())


def test_the_entropy() -> None:
    plan = one_sided.plan(SCORES, TAU)
    regularizer = one_sided.objective(plan, SCORES, TAU) + (plan * SCORES).sum(-1)
    assert_close(regularizer, -TAU * one_sided.entropy(plan))
    divergence = TAU * (plan * (plan * 5).log()).sum(-1)
    assert_close(divergence - regularizer, torch.full((3,), TAU * math.log(5), dtype=torch.float64))


def test_the_divergence() -> None:
    templates, prior = SCORES.T, torch.tensor([0.1, 0.2, 0.3, 0.4, 0.0], dtype=torch.float64)
    weights = torch.tensor([0.25, 0.25, 0.25, 0.25, 0.0], dtype=torch.float64)
    target = weights @ templates - prior @ templates  # so that the penalty is 0, and KL is left
    value = mem.primal_objective(weights, templates, target, prior)
    assert_close(value, (weights[:4] * (weights[:4] / prior[:4]).log()).sum())
    outside = torch.full((5,), 0.2, dtype=torch.float64)
    assert math.isinf(float(mem.primal_objective(outside, templates, target, prior)))


def test_the_alpha() -> None:
    templates, evidence = SCORES.T, torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)
    uniform = torch.full((5,), 0.2, dtype=torch.float64)
    value = mem.primal_objective(uniform, templates, evidence, uniform, 2.0)
    assert_close(value, evidence @ evidence)  # (α/2)‖z‖² with α = 2, where KL is 0
    assert_close(mem.closed_form(templates, evidence, uniform, 2.0), mem.tilt(2 * evidence, templates, uniform) @ templates)


def test_the_mask() -> None:
    allowed = torch.tensor([True, False, True, True, False])
    plan = one_sided.plan(SCORES, TAU, allowed)
    assert bool((plan[:, ~allowed] == 0).all())
    added = torch.randn(5, generator=GENERATOR, dtype=torch.float64)
    assert_close(one_sided.plan(SCORES, TAU, added), torch.softmax(SCORES / TAU + added, -1))


def test_the_fully_masked() -> None:
    assert bool((one_sided.plan(SCORES, TAU, torch.zeros(5, dtype=torch.bool)) == 0).all())
    assert bool((one_sided.plan(torch.full((5,), -math.inf)) == 0).all())
    templates, zeros = SCORES.T, torch.zeros(5, dtype=torch.float64)
    for function in (mem.dual_objective, mem.dual_gradient):
        assert bool((function(SCORES[:, 0], templates, SCORES[:, 1], zeros) == 0).all())
    assert bool((mem.resolvent(templates, SCORES[:, 1], zeros) == 0).all())


def test_the_potential() -> None:
    scores = SCORES.clone().requires_grad_()
    potential = fisher.potential(scores, TAU)
    assert_close(potential, TAU * torch.logsumexp(SCORES / TAU, -1))
    assert_close(torch.autograd.grad(potential.sum(), scores)[0], one_sided.plan(SCORES, TAU))


def test_the_utility() -> None:
    gradient, values = torch.randn(2, generator=GENERATOR, dtype=torch.float64), SCORES[:2].T
    plan = one_sided.plan(SCORES[0], TAU).requires_grad_()
    loss = gradient @ one_sided.context(plan, values)
    utility = one_sided.utility(gradient, values)
    assert_close(utility, -torch.autograd.grad(loss, plan)[0])
    best = int(utility.argmax())
    assert float(one_sided.score_gradient(plan.detach(), utility, TAU)[best]) < 0  # descent raises its score


def test_the_jacobian() -> None:
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s / TAU, -1), SCORES[0])
    assert_close(one_sided.plan_jacobian(one_sided.plan(SCORES[0], TAU), TAU), jacobian)
    assert_close(jacobian, jacobian.T)


def test_the_fisher() -> None:
    plan = one_sided.plan(SCORES[0], TAU)
    matrix = fisher.fisher(plan, TAU)
    assert_close(matrix, (plan.diag() - plan.outer(plan)) / TAU**2)
    assert_close(one_sided.plan_jacobian(plan, TAU), TAU * matrix)


def test_the_dtypes() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert one_sided.plan(SCORES.to(dtype), TAU).dtype is dtype
    half = SCORES.half()
    assert_close(one_sided.plan(half, TAU), torch.softmax(half.float() / TAU, -1).half(), atol=0.0, rtol=0.0)


def test_the_module_mask() -> None:
    x, left_out = torch.randn(1, 3, 4, generator=GENERATOR), torch.tensor([[False, True, False]])
    layer = modules.MultiheadAttention(4, 1, batch_first=True, attention="sparsemax")
    assert bool((layer(x, x, x, key_padding_mask=left_out)[1][..., 1] == 0).all())
    function = modules.scaled_dot_product_attention(x, x, torch.eye(3)[None], attn_mask=~left_out)
    assert bool((function[..., 1] == 0).all())


def test_the_grouped() -> None:
    query, key = torch.randn(1, 4, 3, 2, generator=GENERATOR), torch.randn(1, 2, 3, 2, generator=GENERATOR)
    output = modules.scaled_dot_product_attention(query, key, key, enable_gqa=True)
    assert_close(output, scaled_dot_product_attention(query, key, key, enable_gqa=True))
    assert_close(output[:, 1:3], modules.scaled_dot_product_attention(query[:, 1:3], key, key))


def test_the_alpha_one() -> None:
    alpha = torch.tensor([[1.0], [1.5], [2.0]], dtype=torch.float64, requires_grad=True)
    weights = regularizers.entmax_bisect(SCORES, alpha)
    assert_close(weights[0], torch.softmax(SCORES[0], -1))
    assert bool(torch.autograd.grad(weights[0, 0], alpha)[0].isfinite().all())
    assert_close(entmax.entmax_bisect(SCORES, 1.0), torch.full((3, 5), 0.2, dtype=torch.float64))


def test_the_second_derivatives() -> None:
    label = torch.tensor([1, 0, 4])
    slopes = []
    for package in (fenchel_young, entmax):
        scores = SCORES.clone().requires_grad_()
        slopes.append(torch.autograd.grad(package.entmax15_loss(scores, label).sum(), scores, create_graph=True)[0])
    assert_close(slopes[0], slopes[1])
    hessian = torch.func.vmap(torch.func.jacrev(torch.func.jacrev(lambda x: fenchel_young.entmax15_loss(x, label[0]))))(SCORES)
    plans = torch.func.vmap(torch.func.jacrev(regularizers.entmax15))(SCORES)
    assert_close(hessian, plans, rtol=0.0, atol=1e-12)
    assert slopes[0].requires_grad
    assert not slopes[1].requires_grad


def test_the_budget() -> None:
    row = torch.tensor([0.3, -torch.inf, 0.1])
    assert sparse_maps.budget_bisect(row, 2.5).tolist() == [1.0, 0.0, 1.0]


def test_the_loss() -> None:
    label = torch.tensor([1, 0, 4])
    one_hot = torch.eye(5, dtype=torch.float64)[label]
    assert_close(fenchel_young.squared_loss(SCORES, label), (SCORES - one_hot).square().sum(-1) / 2)
    assert_close(fenchel_young.sparsemax_loss(SCORES, label), fenchel_young.sparsemax_loss(SCORES, one_hot))
    assert_close(fenchel_young.sparsemax_loss(SCORES, regularizers.sparsemax(SCORES)), torch.zeros(3, dtype=torch.float64))


def test_the_unbalanced() -> None:
    source, target = torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64), torch.full((5,), 0.6, dtype=torch.float64)
    plan = transport.unbalanced(-SCORES, source, target, 0.5, 1.0, 2.0).plan
    arguments = source.numpy(), target.numpy(), -SCORES.numpy(), 0.5, (1.0, 2.0)
    assert_close(plan, torch.from_numpy(ot.unbalanced.sinkhorn_unbalanced(*arguments, reg_type="kl", stopThr=1e-14)))


def test_the_gap() -> None:
    unbalanced, exact, quadratic = (
        function(-SCORES) for function in (transport.unbalanced, linear_program.exact_plan, transport.quadratic_plan)
    )
    assert all(abs(float(solution.gap)) < 1e-12 for solution in (unbalanced, exact, quadratic))
    assert float(transport.sinkhorn(-SCORES).column_error.sum()) < 1e-12
    assert float(mem.solve(SCORES.T, SCORES[:, 0]).gap) < 1e-12
    rough = transport.unbalanced(-SCORES, temperature=0.1, start=torch.zeros(5), max_steps=1, strict=False)
    best = transport.unbalanced(-SCORES, temperature=0.1).value
    assert float(rough.value) <= float(best) <= float(rough.value + rough.gap)


def test_the_gauge() -> None:
    target = torch.tensor([0.1, 0.2, 0.3, 0.3, 0.1], dtype=torch.float64)
    for solution in (
        transport.sinkhorn(-SCORES, target=target),
        transport.quadratic_plan(-SCORES, target=target),
        linear_program.exact_plan(-SCORES, target=target),
    ):
        assert abs(float((target * solution.column_potential).sum())) < 1e-12


def test_the_mixed_dtypes() -> None:
    utility = SCORES.half()
    plan = one_sided.plan(SCORES, TAU)
    wide = one_sided.score_gradient(plan, utility.double(), TAU)
    assert_close(one_sided.score_gradient(plan, utility, TAU), wide, atol=0.0, rtol=0.0)
    assert_close(one_sided.plan(SCORES.float(), torch.tensor(TAU, dtype=torch.float64)), one_sided.plan(SCORES.float(), TAU))


def test_the_solvers() -> None:
    plan = transport.sinkhorn(-SCORES.float(), temperature=0.1).plan
    assert plan.dtype is torch.float32
    assert_close(plan, transport.sinkhorn(-SCORES.float().double(), temperature=0.1).plan.float(), atol=0.0, rtol=0.0)
    with pytest.raises(ValueError, match=r"^cost: expected numbers"):
        transport.sinkhorn(torch.full((2, 2), math.nan), max_steps=1)
    evidence = torch.stack((SCORES[:, 0], torch.full((3,), math.nan, dtype=torch.float64)))
    assert mem.solve(SCORES.T, evidence).converged.tolist() == [True, False]


def test_the_small_numbers() -> None:
    with pytest.raises(ValueError, match=r"^temperature: expected a positive number, normal in torch\.float32"):
        one_sided.plan(SCORES.float(), 1e-40)
    for entry in (1e-40, 1e-300, 0.0, -1.0):
        assert bool(one_sided.plan(SCORES.float(), torch.tensor(entry, dtype=torch.float64)).isnan().all())


def test_the_learned_alpha() -> None:
    alpha = torch.full((3, 1), -0.1)
    for function, name in (
        (regularizers.entmax_bisect, "alpha"),
        (sparse_maps.normmax_bisect, "alpha"),
        (sparse_maps.budget_bisect, "budget"),
    ):
        with pytest.raises(ValueError, match=f"^{name}: expected (positive )?numbers"):
            function(SCORES, alpha)
        weights, vjp = torch.func.vjp(torch.func.vmap(function), SCORES, alpha)
        assert bool(weights.isnan().all())
        assert bool(vjp(SCORES)[1].isnan().all())
    for entry in (0.0, -1.0):
        temperature = torch.tensor(entry, requires_grad=True)
        assert bool(torch.autograd.grad(one_sided.plan(SCORES, temperature).sum(), temperature)[0].isnan())


def test_the_masses() -> None:
    source, target = SCORES[:, 0].softmax(0).float(), SCORES[0].softmax(0)
    solvers = (
        transport.sinkhorn,
        transport.quadratic_plan,
        linear_program.exact_plan,
        lambda *x: transport.unbalanced(*x, 1.0, math.inf, math.inf),
    )
    for solve in solvers:
        plan = solve(-SCORES, source, target.half()).plan
        assert_close(plan.sum(-1), source.double(), rtol=0.0, atol=1e-12)
        assert_close(plan.sum(-2), target.half().double(), rtol=1e-3, atol=0.0)
        for change, message in (
            ({"target": 1.01 * target}, r"^target: expected the mass of the source, 1, got 1\.01"),
            ({"source": -source}, "^source: expected nonnegative finite masses"),
            ({"target": math.nan * target}, "^target: expected nonnegative finite masses"),
        ):
            with pytest.raises(ValueError, match=message):
                solve(*({"cost": -SCORES, "source": source, "target": target} | change).values())
        assert bool((solve(-SCORES, 0 * source, 0 * target).plan == 0).all())


def test_the_exact_costs() -> None:
    forbidden = SCORES.median() > SCORES
    forbidden[:, 0] = forbidden[0] = False
    expected = linear_program.exact_plan((-SCORES).masked_fill(forbidden, math.inf))
    for big in (1e9, 1e14, 1e200):
        solution = linear_program.exact_plan((-SCORES).masked_fill(forbidden, big))
        assert_close(solution.plan, expected.plan, rtol=0.0, atol=0.0)
        assert_close(solution.value, expected.value, rtol=0.0, atol=1e-15)


def test_the_negative_mass() -> None:
    prior = torch.tensor([0.5, 0.5, 0.5, -0.5, 0.0], dtype=torch.float64)
    assert bool(mem.tilt(SCORES[:, 0], SCORES.T, prior).isnan().all())


def test_the_range() -> None:
    large = torch.tensor([[1e30, -1e30], [1e30, 1e30]])
    assert bool(mem.tilt(-large[0], large).isnan().any())
    assert bool(linear.kernel_weights(large, large).isnan().all())
    assert bool(linear.kernel_variance(large, -large, 1).isnan().any())


def test_the_layouts() -> None:
    assert_close(one_sided.plan(SCORES[:, :1].expand(3, 5)), torch.full((3, 5), 0.2, dtype=torch.float64))
    for tensor in (SCORES.to_sparse(), SCORES.to("meta"), SCORES.to(torch.float8_e5m2)):
        with pytest.raises(ValueError, match=r"^scores: expected a dense floating tensor .*, got (sparse_coo|meta|) ?torch"):
            one_sided.plan(tensor)


def test_the_subclasses() -> None:
    triangle = torch.ones(3, 5, dtype=torch.bool).tril(2)
    assert_close(one_sided.plan(SCORES, TAU, causal_lower_right(3, 5)), one_sided.plan(SCORES, TAU, triangle))
    with pytest.raises(ValueError, match=r"^scores: expected a dense floating tensor .*, got a UninitializedParameter"):
        one_sided.plan(torch.nn.UninitializedParameter())


def test_the_autocast() -> None:
    x = SCORES.float()
    expected = regularizers.entmax15(x), one_sided.scores_from(x, x), modules.scaled_dot_product_attention(x, x, x)
    with torch.autocast("cpu", torch.bfloat16):
        actual = regularizers.entmax15(x), one_sided.scores_from(x, x), modules.scaled_dot_product_attention(x, x, x)
        assert actual[2].dtype == scaled_dot_product_attention(x, x, x).dtype == torch.bfloat16
    assert_close(actual[:2], expected[:2], rtol=0.0, atol=0.0)
    assert_close(actual[2].float(), expected[2], rtol=2**-8, atol=2**-8)


def test_the_behind_masks() -> None:
    key, mask = SCORES.clone(), torch.tensor([True, True, False])
    key[2] = math.nan
    query = SCORES.clone().requires_grad_()
    for name in modules.KINDS:
        output = modules.scaled_dot_product_attention(query, key, key, mask, attention=name)
        (slope,) = torch.autograd.grad(output.sum(), query)
        assert bool((output.isfinite() & slope.isfinite()).all())


def test_the_low_masks() -> None:
    mask = torch.tensor([0.0, 0.0, -1e4], dtype=torch.float64)
    for name in modules.KINDS:
        found = [modules.scaled_dot_product_attention(SCORES, SCORES, SCORES, x, attention=name) for x in (mask, mask == 0)]
        assert_close(*found, rtol=0.0, atol=1e-9)
    assert not bool(modules.scaled_dot_product_attention(SCORES, SCORES, SCORES, mask.new_full((3,), -1e4)).eq(0).any())


def test_the_scales() -> None:
    for scale in (np.float32(0.5), torch.tensor(0.5)):
        actual = modules.scaled_dot_product_attention(SCORES, SCORES, SCORES, scale=scale)
        assert_close(actual, scaled_dot_product_attention(SCORES, SCORES, SCORES, scale=0.5))
    with pytest.raises(ValueError, match=r"^scale: expected a finite number"):
        modules.scaled_dot_product_attention(SCORES, SCORES, SCORES, scale=torch.tensor(0.5, requires_grad=True))
    assert_close(one_sided.plan(SCORES, np.float64(TAU)), one_sided.plan(SCORES, TAU))


def test_the_replaced() -> None:
    shared = torch.nn.MultiheadAttention(4, 2)
    model = torch.nn.ModuleList([shared, shared])
    assert modules.replace(model, "sparsemax") == 1
    assert model[1] is shared
    assert type(shared) is modules.MultiheadAttention


def test_the_random_features() -> None:
    x, omega = torch.full((1, 2), 20.0), torch.tensor([[0.0, 0.0], [90.0, 90.0]])
    assert linear.positive_random_features(x, omega)[0].tolist() == [0.0, math.inf]
    key, value = torch.tensor([[20.0, 0.0], [0.0, 20.0]]), torch.eye(2)
    assert_close(linear.random_feature_attention(x, key, value, omega).sum(-1), torch.ones(1))

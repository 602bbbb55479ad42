"""A table of functions and hostile inputs, generated, in which no cell is silently wrong.

Each cell is judged by the machine: right by an independent reference, refused with the argument named, or one of the limits of
docs/conventions.md: NaN or infinity where the input, a product of its numbers or a temperature is not finite and normal.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics import (
    continuous,
    fenchel_young,
    flash,
    linear_program,
    mem,
    one_sided,
    ot_attention,
    regularizers,
    sparse_maps,
    transport,
)
from tests.numerics.hostile.definitions import D
from tests.numerics.hostile.functions import FUNCTIONS, PROBLEM, Function, M, N, V, base
from tests.numerics.hostile.inputs import STRANGE, cells
from tests.numerics.hostile.judge import judge

KINDS = ("right", "refused", "limit")
LOSSES = [getattr(fenchel_young, name) for name in dir(fenchel_young) if name.endswith("_loss") and name[0] != "_"]


def judged(function: Function, dtype: torch.dtype) -> dict[str, str]:
    return {cell: judge(function, changed, arguments) for cell, changed, arguments in cells(function, dtype)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("inference", [False, True], ids=["", "inference mode"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_cell_is_silently_wrong(name: str, dtype: torch.dtype, inference: bool) -> None:
    with torch.inference_mode(inference):
        verdicts = judged(FUNCTIONS[name], dtype)
    wrong = {cell: verdict for cell, verdict in verdicts.items() if verdict not in KINDS}
    assert not wrong, "\n".join(f"{cell}: {verdict}" for cell, verdict in wrong.items())
    counts = Counter(verdicts.values())
    assert counts["right"] >= 15
    assert counts["refused"] >= 8


X, ROWS, PLANE = {"X": (N, M)}, {"X": (N, M), "target": (N, M)}, {"cost": (N, M)}
ATTENTION = {"query": (N, D), "key": (M, D), "value": (M, V)}
TRANSPORT = {"templates": (M, D), "evidence": (N, D), "prior": (M,), "cost": (M, M)}


def tiled_gradients(**x: Tensor) -> Tensor:
    found = flash.tiled_attention(**x, tile=3)
    return torch.cat([y.flatten() for y in flash.tiled_gradients(**x, attention=found, output_gradient=found.output, tile=3)])


MORE: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]]]] = {
    **{f"fenchel_young.{loss.__name__}": (loss, ROWS) for loss in LOSSES},
    "sparse_maps.normmax_bisect": (sparse_maps.normmax_bisect, X),
    "sparse_maps.budget_bisect": (sparse_maps.budget_bisect, X),
    "sparse_maps.entmax15_threshold": (lambda X: sparse_maps.entmax15_threshold(X)[0], X),
    "regularizers.entmax_bisect": (lambda X: regularizers.entmax_bisect(X, 1.3), X),
    "flash.tiled_gradients": (tiled_gradients, ATTENTION),
    "transport.sinkhorn": (lambda cost: transport.sinkhorn(cost).plan, PLANE),
    "transport.sinkhorn_divergence": (
        lambda cost: transport.sinkhorn_divergence(cost, cost[:, :3] + cost[:, :3].mT, cost[0] + cost[0, :, None]),
        PLANE,
    ),
    "transport.unbalanced": (lambda cost: transport.unbalanced(cost).plan, PLANE),
    "transport.quadratic_plan": (lambda cost: transport.quadratic_plan(cost).plan, PLANE),
    "transport.relaxed_weights": (lambda scores: transport.relaxed_weights(scores, 1.0, 0.5), {"scores": (N, M)}),
    "transport.sinkhorn_attention": (lambda **x: transport.sinkhorn_attention(**x, half_steps=2), ATTENTION),
    "linear_program.exact_plan": (lambda cost: linear_program.exact_plan(cost).value, PLANE),
    "mem.solve": (lambda **x: mem.solve(**x).weights, PROBLEM),
    "ot.solve": (lambda **x: ot_attention.solve(**x).weights, TRANSPORT),
    "ot.weights": (ot_attention.weights, TRANSPORT),
    "ot.attend": (ot_attention.attend, TRANSPORT),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", [*FUNCTIONS, *MORE])
def test_autocast_changes_neither_numbers_nor_dtypes(name: str, dtype: torch.dtype) -> None:
    positive = ("plan", "prior", "target", "weights", "query_features", "key_features")
    function = FUNCTIONS.get(name) or Function(MORE[name][0], MORE[name][0], MORE[name][1], positive)
    results = []
    for enabled, inside in ((False, False), (True, False), (True, True)):
        arguments = {key: x.requires_grad_() for key, x in base(function, torch.float32).items()}
        with torch.autocast("cpu", dtype, enabled=enabled):
            result = function.call(**arguments)
        result = result[0] if isinstance(result, tuple) else result
        with torch.autocast("cpu", dtype, enabled=inside):
            gradients = torch.autograd.grad(result.square().sum(), list(arguments.values()), materialize_grads=True)
        results.append((result, *gradients))
    assert_close(results[1], results[0], rtol=0.0, atol=0.0)
    # Backwards inside of autocast, products are in its dtype, as in PyTorch, and may leave the range of float16.
    assert all(x.dtype == torch.float32 and (dtype == torch.float16 or x.isfinite().all()) for x in results[2])


REFUSING = {name: MORE[name] for name in MORE if name not in ("flash.tiled_gradients", "transport.sinkhorn_divergence")} | {
    "regularizers.entmax_bisect": (regularizers.entmax_bisect, {"X": (N, M), "alpha": (1,)}),
    "sparse_maps.normmax_bisect": (sparse_maps.normmax_bisect, {"X": (N, M), "alpha": (1,)}),
    "sparse_maps.budget_bisect": (sparse_maps.budget_bisect, {"X": (N, M), "budget": (1,)}),
    "transport.sinkhorn_divergence": (
        transport.sinkhorn_divergence,
        {"cross": (N, M), "within_source": (N, N), "within_target": (M, M)},
    ),
    "continuous.moments": (continuous.moments, {"linear": (D,), "quadratic": (D, D)}),
    "continuous.natural": (continuous.natural, {"mean": (D,), "covariance": (D, D)}),
    **{
        f"continuous.{density.__name__}": (density, {"points": (N, D), "mean": (D,), "covariance": (D, D)})
        for density in (continuous.softmax_log_density, continuous.softmax_density, continuous.sparsemax_density)
    },
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSING)
def test_what_holds_no_entries_is_refused_by_name_everywhere(name: str) -> None:
    call, shapes = REFUSING[name]
    arguments = base(Function(call, call, shapes, ("prior", "target", "alpha", "budget")), torch.float64)
    arguments |= {name: sign * torch.eye(D).double() for name, sign in (("covariance", 1), ("quadratic", -1)) if name in shapes}
    for argument in shapes:
        for change in STRANGE.values():
            with pytest.raises(ValueError, match=f"^{argument}: expected .*, got "):
                call(**arguments | {argument: change(arguments[argument])})


# ── the judge refuses ───────────────────────────────────────────────────────────────────────────────────────────────


def offset_blind(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    """A softmax that does not subtract the peak and replaces NaN by zero."""
    terms = (scores / one_sided.per_row("temperature", temperature, scores)).exp()
    return (terms / terms.sum(-1, keepdim=True)).nan_to_num()


def unnamed(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    if not isinstance(temperature, float) or temperature <= 0:
        raise ValueError("the number is bad")
    return one_sided.plan(scores, temperature, mask)


def cleaned(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores.nan_to_num(), temperature, mask)


def converted(scores: Any, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(torch.as_tensor(scores).to_dense().to(torch.float64), temperature, mask)


def off_by_little(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature, mask) * (1 + 1e-4)


def not_masked(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature)


def without_one_term(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    """A softmax that is NaN for large ordinary scores."""
    plan = one_sided.plan(scores, temperature, mask)
    return torch.where(scores.abs() > 1e7, torch.nan, plan)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (offset_blind, "silent"),
        (unnamed, "does not name"),
        (cleaned, "silent"),
        (converted, "accepted"),
        (off_by_little, "silent"),
        (not_masked, "silent"),
        (not_masked, "accepted what has no definition"),
        (without_one_term, "NaN or inf where the result can be stored"),
    ],
)
def test_the_judge_detects_wrong_functions(wrong: Callable[..., Tensor], expected: str) -> None:
    verdicts = judged(replace(FUNCTIONS["one_sided.plan"], call=wrong), torch.float64)
    assert any(expected in verdict for verdict in verdicts.values()), Counter(verdicts.values())

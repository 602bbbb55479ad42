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

from numerics import one_sided
from tests.numerics.hostile.functions import FUNCTIONS, Function
from tests.numerics.hostile.inputs import cells
from tests.numerics.hostile.judge import judge

KINDS = ("right", "refused", "limit")


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

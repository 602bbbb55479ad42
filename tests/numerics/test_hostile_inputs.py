"""A table of functions and hostile inputs, generated, in which no cell is silently wrong.

Each cell is judged by the machine: right by an independent reference, refused with the argument named, or one of the limits that
docs/conventions.md states: NaN or infinity where the input, its square or a temperature is not finite and normal.
"""

from collections import Counter

import numpy as np
import pytest
import torch

from tests.numerics.hostile import FUNCTIONS, Function, cells, judge

KINDS = ("right", "refused", "limit")


def judged(function: Function, dtype: torch.dtype) -> dict[str, str]:
    return {cell: judge(function, changed, given) for cell, changed, given in cells(function, dtype)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_cell_is_silently_wrong(name: str, dtype: torch.dtype) -> None:
    found = judged(FUNCTIONS[name], dtype)
    wrong = {cell: verdict for cell, verdict in found.items() if verdict not in KINDS}
    assert not wrong, "\n".join(f"{cell}: {verdict}" for cell, verdict in wrong.items())
    counts = Counter(found.values())
    assert counts["right"] >= 15
    assert counts["refused"] >= 8

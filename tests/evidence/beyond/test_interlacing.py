"""The eigenvalues of diag(p) − ppᵀ interlace with the weights, at thousands of random points and after ascent."""

import pytest
import torch
from torch import Tensor

from evidence.beyond.fisher_structure import covariance
from numerics import tolerances

DRAWN, STEPS = 4000, 60


def outside(logits: Tensor) -> Tensor:
    """The distance of an eigenvalue from its interval [p_(i+1), p_(i)], the last one [0, p_(m)]; (batch,)."""
    p = torch.softmax(logits, -1)
    eigenvalues = torch.linalg.eigvalsh(covariance(p)).flip(-1)
    above = p.sort(-1, descending=True).values
    below = torch.cat([above[:, 1:], torch.zeros_like(above[:, :1])], -1)
    return torch.maximum(eigenvalues - above, below - eigenvalues).amax(-1)


@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_eigenvalues_lie_between_the_weights(m: int) -> None:
    generator = torch.Generator().manual_seed(m)
    logits = 3 * torch.randn(DRAWN, m, generator=generator, dtype=torch.float64)
    if m > 2:
        logits[: DRAWN // 4, 1] = logits[: DRAWN // 4, 0]  # ties
    allowed = tolerances.rounding("float64", m * m, 1.0)
    assert float(outside(logits).max()) <= allowed
    moving = logits[outside(logits).topk(64).indices].clone().requires_grad_()
    optimizer = torch.optim.Adam([moving], lr=0.05)
    for _ in range(STEPS):
        optimizer.zero_grad()
        (-outside(moving).nan_to_num().sum()).backward()  # type: ignore[no-untyped-call]
        moving.grad = None if moving.grad is None else moving.grad.nan_to_num()
        optimizer.step()
    assert float(outside(moving.detach()).max()) <= allowed


def test_an_eigenvalue_outside_is_detected() -> None:
    """Control: for diag(p) + ppᵀ, the largest eigenvalue exceeds every weight."""
    p = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64)
    largest = torch.linalg.eigvalsh(2 * p.diag_embed() - covariance(p)).amax()
    assert float(largest) > 0.5 + 0.1

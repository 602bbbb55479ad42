"""Transport costs between templates.

Claims      deciphering.s9 (the cost of Section 9's experiment, and that of its groups)
Notation    M_ij = cost of carrying mass from the source j to the template i

The weights do not change when a number c_j is added to a column of M. They do change when one is added to a row.
"""

import torch
from torch import Tensor

from numerics import arguments
from numerics.arguments import without_autocast


def squared_distance(templates: Tensor, sources: Tensor | None = None) -> Tensor:
    """Return M_ij = ‖t_i − s_j‖². Its diagonal is the least of each column, strictly so unless templates coincide.

    Args:
        templates: floating, (..., N, d).
        sources: floating, (..., n, d); by default the templates.

    Returns:
        (..., N, n), in the wider dtype of the two. Differences are squared, so that coinciding templates cost exactly 0.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    t, s, dtype = _pair(templates, sources)
    return (t.unsqueeze(-2) - s.unsqueeze(-3)).square().sum(-1).to(dtype)


@without_autocast
def negative_inner_product(templates: Tensor, sources: Tensor | None = None, constant: float | Tensor | None = None) -> Tensor:
    """Return M_ij = C − ⟨t_i, s_j⟩, the cost of Section 9's experiment.

    The diagonal is *not* the least of its column where some ⟨t_i, t_j⟩ ≥ ‖t_j‖². C has no influence on any weight.

    Args:
        templates: floating, (..., N, d).
        sources: floating, (..., n, d); by default the templates.
        constant: C, a number, or a tensor that broadcasts over (...). By default the largest inner product, which
            makes M ≥ 0 with a zero in it.

    Returns:
        (..., N, n), in the wider dtype of the two.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    t, s, dtype = _pair(templates, sources)
    products = torch.matmul(t, s.mT)
    if constant is None:
        constant = products.amax((-2, -1))
    if isinstance(constant, Tensor):
        arguments.check_dense("constant", constant)
        constant = constant.to(products)[..., None, None]
    return (constant - products).to(dtype)


def group_cost(groups: Tensor, source_groups: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
    """Return 0 within a group and +inf across: mass is shared in its group and never leaves it.

    Args:
        groups: integer labels, (..., N).
        source_groups: integer labels, (..., n); by default ``groups``.
        dtype: floating; by default, torch's.

    Returns:
        (..., N, n).

    Raises:
        ValueError: for labels that are not integers.
    """
    source_groups = groups if source_groups is None else source_groups
    for name, labels in (("groups", groups), ("source_groups", source_groups)):
        if not arguments.is_dense(labels) or labels.is_floating_point() or labels.is_complex() or labels.ndim == 0:
            raise ValueError(f"{name}: expected integer labels (..., N), got {arguments.describe(labels)}")
    same = groups.unsqueeze(-1) == source_groups.unsqueeze(-2)
    return torch.zeros(same.shape, dtype=dtype, device=groups.device).masked_fill(~same, torch.inf)


def _pair(templates: Tensor, sources: Tensor | None) -> tuple[Tensor, Tensor, torch.dtype]:
    (t, s), dtype = arguments.tensors(templates=(templates, 2), sources=(templates if sources is None else sources, 2))
    if t.shape[-1] != s.shape[-1]:
        raise ValueError(f"sources: expected (..., n, {t.shape[-1]}) like the templates, got {tuple(s.shape)}")
    arguments.broadcast(templates=t.shape[:-2], sources=s.shape[:-2])
    return t, s, dtype

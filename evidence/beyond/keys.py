"""The variables of the claims of `beyond` besides a row of scores, drawn from its seed."""

import torch
from torch import Tensor

from evidence import Reading, Value
from evidence.instances.one_sided import Row, rows

SMALL = rows(max_m=3)  # the derived expressions are sums of sums, entry by entry


def named(row: Row) -> dict[str, Tensor]:
    """Weights q, x, y and a prior u of the simplex, directions v, w, two rows S of scores, R of weights, temperatures ρ."""
    generator = torch.Generator().manual_seed(row.seed + 3)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    q, u, x = torch.softmax(normal(3, row.m), -1)
    v, w = normal(2, row.m)
    return {
        "q": q,
        "u": u,
        "x": x,
        "v": v,
        "w": w,
        "S": normal(2, row.m),
        "R": torch.softmax(normal(2, row.m), -1),
        "rho": normal(2).exp(),
        "d": normal(row.m).abs(),
        "c": normal(1)[0],
        "t": normal(1)[0].abs(),
        "η": normal(1)[0].exp(),
    }


def variable(row: Row, name: str) -> Tensor:
    """One of these variables, on the row's device."""
    return named(row)[name].to(row.device)


def reading(row: Row, *magnitudes: Tensor | float, **routes: Tensor) -> Reading:
    """Routes at a row, with the tolerance for these magnitudes and the routes' own."""
    point: dict[str, Value] = row.point() | named(row) | {"n": 2}
    return Reading(point, routes, row.tolerance(row.s, row.tau, *magnitudes, *routes.values()))

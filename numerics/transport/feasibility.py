"""Feasibility checks that run before the solvers; errors name the row or column at fault.

Claims      transport.s1.kantorovich (a plan exists between marginals of the same mass, where nothing is forbidden)
Balanced    A plan with the marginals a, b on the allowed pairs exists if and only if every set S of rows has at least its mass
            in reach: Σ_{i∈S} a_i ≤ Σ_{j∈N(S)} b_j. Where the connected parts allow all of their pairs, equal masses in each
            part are enough; otherwise a maximal flow decides, and its least cut is a set S that has too little.
Limit       Flows are computed for problems with up to ``_LARGEST`` allowed pairs. Beyond, only parts and single rows and
            columns are looked at, and a problem without a solution ends as one that did not converge.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from numerics import tolerances
from numerics.arguments import check_entries, compute_dtype
from numerics.transport.parts import Parts
from numerics.transport.solver import Scaling

Array = NDArray[Any]

_LARGEST = 2**16
_UNIT = 2.0**-45
"""The least share of the total mass that is sent along a path."""
_START, _UNSEEN = -1, -2
_NAMED = 8


class Data(NamedTuple):
    """The arguments that a solver was given.

    Attributes:
        cost: (..., n, m).
        source: (..., n), or None for uniform masses.
        target: (..., m), or None.
        mask: or None.
        allowed: where a plan may have mass, boolean, (..., n, m).
    """

    cost: Tensor
    source: Tensor | None
    target: Tensor | None
    mask: Tensor | None
    allowed: Tensor

    @property
    def slack(self) -> float:
        """How far apart, relatively, masses may be that agree but for rounding, each in its own dtype."""
        uniform, size = compute_dtype(self.cost.dtype), max(self.cost.shape[-2:])
        dtypes = (uniform if mass is None else mass.dtype for mass in (self.source, self.target))
        return sum(tolerances.rounding(dtype, size) for dtype in dtypes)

    @property
    def forbids(self) -> str:
        """The argument that forbids pairs."""
        return "cost" if self.mask is None else "mask"


def checked(data: Data, x: Scaling, source: Tensor, temperature: Tensor, *, strict: bool) -> tuple[Scaling, Parts]:
    """Return the problems with masses that agree, and their parts.

    Args:
        data: what they were made of.
        x: the problems.
        source: a as given; in ``x`` rows that may reach nothing have none.
        temperature: ε, (...).
        strict: whether a problem that no plan solves is refused.

    Raises:
        ValueError: for data that no problem may contain; if ``strict``, for masses that differ or cannot be carried.
    """
    check_data(data, x, source, temperature)
    parts = Parts.of((x.source > 0).unsqueeze(-1) & (x.target > 0).unsqueeze(-2) & (x.log_kernel != -torch.inf))
    if strict:
        check_solvable(x, source, parts, data)
    return agreeing(x, parts, data.slack), parts


def check_data(data: Data, x: Scaling, source: Tensor, temperature: Tensor) -> None:
    """Refuse data that no problem may contain: NaN, −∞ in a cost, masses or temperatures out of range."""
    cost, mask = data.cost, data.mask
    check_entries("cost", cost, ~data.allowed | (cost > -torch.inf), "numbers, or +inf where forbidden")
    if mask is not None and mask.is_floating_point():
        check_entries("mask", mask, mask < torch.inf, "numbers, or −inf where forbidden")
    for name, mass in (("source", source), ("target", x.target)):
        check_entries(name, mass, mass.isfinite() & (mass >= 0), "nonnegative finite masses")
    check_entries("temperature", temperature, temperature > 0, "positive numbers")
    check_entries("relaxation", x.kappa, ~x.kappa.isnan(), "positive numbers")
    # A difference of costs may be infinite over a tiny ε: that forbids, but there must be something else in the row.
    check_entries("cost", cost, ~x.log_kernel.isnan(), "costs whose differences are finite over the temperature")


def check_solvable(x: Scaling, source: Tensor, parts: Parts, data: Data) -> None:
    """Refuse problems that no plan solves.

    Args:
        x: the problems.
        source: a as given; in ``x`` rows that may reach nothing have none.
        parts: the connected parts of the problems.
        data: what they were made of.

    Raises:
        ValueError: naming rows, columns and masses.
    """
    slack, forbids = data.slack, data.forbids
    check_entries(
        "source", source, (source == 0) | (x.source > 0), f"no mass in a row whose {forbids} forbids every column with mass"
    )
    balanced = (x.kappa == 0).unsqueeze(-1)
    total = source.sum(-1), x.target.sum(-1)
    apart = balanced[..., 0] & ~_agree(*total, slack)
    if bool(apart.any()):
        where = tuple(apart.nonzero()[0].tolist())
        masses = [float(mass[where]) for mass in total]
        digits = 6 if f"{masses[0]:.6g}" != f"{masses[1]:.6g}" else 17
        expected, got = (f"{mass:.{digits}g}" for mass in masses)
        raise ValueError(f"target: expected the mass of the source, {expected}, got {got}{_problem(where)}")
    check_entries(
        "target",
        x.target,
        ~balanced | (x.target == 0) | (parts.columns < parts.bound),
        f"no mass in a column whose {forbids} forbids every row with mass",
    )
    rows, columns = parts.totals(x.source, x.target)
    apart = balanced & ~_agree(rows, columns, slack)
    if bool(apart.any()):
        index = tuple(apart.nonzero()[0].tolist())
        members = (parts.rows[index[:-1]] == index[-1]).nonzero().flatten()
        raise ValueError(_too_little(forbids, members.tolist(), float(rows[index]), float(columns[index]), index[:-1]))
    _check_flows(x, parts, slack, forbids)


def check_unbalanced(x: Scaling, source: Tensor, met: tuple[Tensor, Tensor], data: Data) -> None:
    """Refuse problems with a marginal to be met that no plan has.

    Args:
        x: the problems, as for ``check_solvable``.
        source: a as given; in ``x`` rows that may reach nothing have none.
        met: whether the source is met exactly, and whether the target is, (..., 1) each.
        data: what they were made of.

    Raises:
        ValueError: naming rows, columns and masses.
    """
    alive, forbids = (x.log_kernel != -torch.inf) & (x.source > 0).unsqueeze(-1), data.forbids
    check_entries(
        "source",
        source,
        ~met[0] | (source == 0) | (x.source > 0),
        f"no mass in a row whose {forbids} forbids every column with mass",
    )
    check_entries(
        "target",
        x.target,
        ~met[1] | (x.target == 0) | alive.any(-2),
        f"no mass in a column whose {forbids} forbids every row with mass",
    )
    both = (met[0] & met[1]).squeeze(-1)
    if bool(both.any()):
        parts = Parts.of(alive & (x.target > 0).unsqueeze(-2))
        check_solvable(x._replace(kappa=(~both).to(x.source)), x.source, parts, data)


def agreeing(x: Scaling, parts: Parts, slack: float) -> Scaling:
    """Return the problems with the target of each part scaled to the mass of its source, where rounding parts the two."""
    rows, columns = parts.totals(x.source.detach(), x.target.detach())
    close = _agree(rows, columns, slack) & (columns > 0) & (x.kappa == 0).unsqueeze(-1)
    ratio = torch.where(close, rows / torch.where(columns > 0, columns, 1.0), 1.0)
    ratio = torch.nn.functional.pad(ratio, (0, 1), value=1.0)
    return x._replace(target=x.target * ratio.gather(-1, parts.columns))


def _agree(left: Tensor, right: Tensor, slack: float) -> Tensor:
    return (left - right).abs() <= slack * torch.maximum(left, right)


def _check_flows(x: Scaling, parts: Parts, slack: float, forbids: str) -> None:
    """Refuse problems some of whose rows have too little in reach although their whole part has enough."""
    alive = (x.log_kernel != -torch.inf) & (x.source > 0).unsqueeze(-1) & (x.target > 0).unsqueeze(-2)
    row_counts, column_counts = parts.totals((x.source > 0).to(x.source), (x.target > 0).to(x.source))
    partial = alive.sum((-2, -1)) < (row_counts * column_counts).sum(-1)
    partial &= (x.kappa == 0) & (alive.sum((-2, -1)) <= _LARGEST)
    for where in map(tuple, partial.nonzero().tolist()):
        source, target, pairs = (part[where].cpu().numpy() for part in (x.source, x.target, alive))
        cut = _short_of(source, target, pairs, slack)
        if cut is not None:
            rows, columns = cut
            supply, demand = float(source[rows].sum()), float(target[columns].sum())
            raise ValueError(_too_little(forbids, rows, supply, demand, where, columns))


def _short_of(source: Array, target: Array, pairs: Array, slack: float) -> tuple[list[int], list[int]] | None:
    """Return rows with more mass than the columns in their reach have, and these columns; None if there are none.

    Mass is sent greedily, those first that have the least choice, and then along shortest alternating paths.
    """
    supply, demand, flow = source.copy(), target.copy(), np.zeros(pairs.shape)
    columns = np.argsort(pairs.sum(0), kind="stable")
    for i in np.argsort(pairs.sum(1), kind="stable"):
        allowed = columns[pairs[i, columns]]
        filled = np.minimum(np.cumsum(demand[allowed]), supply[i])
        sent = np.diff(filled, prepend=0.0)
        flow[i, allowed], demand[allowed], supply[i] = sent, demand[allowed] - sent, supply[i] - sent.sum()
    least = _UNIT * source.sum()
    while supply.sum() > (slack + _UNIT * sum(pairs.shape)) * source.sum():
        to_row, to_column, end = _search(supply > least, demand > least, pairs, flow > least)
        if end is None:
            return np.flatnonzero(to_row != _UNSEEN).tolist(), np.flatnonzero(to_column != _UNSEEN).tolist()
        path = [end]
        while to_row[to_column[path[-1]]] != _START:
            path.append(to_row[to_column[path[-1]]])
        rows, back = [to_column[j] for j in path], [to_column[j] for j in path[:-1]]
        sent = min(supply[rows[-1]], demand[end], *(flow[i, j] for i, j in zip(back, path[1:], strict=True)))
        flow[rows, path] += sent
        flow[back, path[1:]] -= sent
        supply[rows[-1]] -= sent
        demand[end] -= sent
    return None


def _search(starts: Array, ends: Array, pairs: Array, sent: Array) -> tuple[Array, Array, int | None]:
    """Search, breadth first, from rows with mass left to a column with room: from a row to any column it may reach, and from a
    column to the rows that send it something. Return where each row and column was reached from, and that column."""
    to_row, to_column = np.where(starts, _START, _UNSEEN), np.full(len(ends), _UNSEEN)
    rows = np.flatnonzero(starts)
    while len(rows):
        columns = np.flatnonzero(pairs[rows].any(0) & (to_column == _UNSEEN))
        if not len(columns):
            break
        to_column[columns] = rows[pairs[np.ix_(rows, columns)].argmax(0)]
        if ends[columns].any():
            return to_row, to_column, int(columns[ends[columns].argmax()])
        rows = np.flatnonzero(sent[:, columns].any(1) & (to_row == _UNSEEN))
        to_row[rows] = columns[sent[np.ix_(rows, columns)].argmax(1)]
    return to_row, to_column, None


def _too_little(
    forbids: str, rows: list[int], supply: float, demand: float, where: tuple[int, ...], columns: list[int] | None = None
) -> str:
    reach = "the columns in their reach" if columns is None else f"columns {_named(columns)}, all they may reach,"
    return (
        f"{forbids}: expected rows with as much mass as {reach} have, "
        f"got {supply:.6g} in rows {_named(rows)} and {demand:.6g} there{_problem(where)}"
    )


def _named(indices: list[int]) -> str:
    return str(indices) if len(indices) <= _NAMED else f"[{', '.join(map(str, indices[:_NAMED]))}, …]"


def _problem(where: tuple[int, ...]) -> str:
    return f" in problem {where}" if where else ""

"""Many problems on the same templates: conjugate gradients in the space of weights, where a step costs one n × n product.

Every λ of use is λ = α(b − Tᵀw) for some w ∈ Rⁿ, with logits s = α(Tb − Gw) and G = TTᵀ, which all rows share; λ is the
solution when w = p(s) = softmax(log u + s). In the metric of G, v = p − w is minus the gradient of −D, and its Hessian is
αG + α²GΠG with Π = diag(p) − ppᵀ: next to the identity unless α‖Σ‖ is large. Where it is, a diagonal preconditioner puts most
of that right (see ``search``).

Claims      deciphering.9, deciphering.18
Notation    as in ``rows``; G = gram; v = residual; u = eps/2, and u₃₂ that of float32; γ = max_i ‖G_i‖, over the rows of G
Precision   The way is float32, the place where it ends is not: w is found in float32 to the end of what that can do; then s, p
            and v are worked out from w in float64, and (I + αΠG)e = v, a correction of a relative precision of some digits,
            again is for float32. As e is small, so is what float32 loses of Ge: s becomes s − αGe without another product in
            float64, unless e is too large for that. Nothing else that float32 has left behind goes into s, p and v.
Bounds      Of the last w, from the last float64 s, p and v alone: g = b − λ/α − Tᵀp = −Tᵀv, and ‖Tᵀv‖ ≤ √‖G‖ ‖v‖, where
            ‖G‖ ≤ ‖G²‖_F^{1/2}. To this is added the most that rounding can lose, with r = max_i ‖t_i‖ and ω = ‖w‖₁, however
            sums are made up: in n roundings, a sum of n products loses at most nu times the sum of what is added.
            b − λ/α is off from b − Tᵀw by at most ρ = u(2‖b‖ + 3‖λ‖/α + (n + 12)rω): Tᵀw by nurω, templates that were centred
            by urω there and ur in b, the shift that b may lack by 8ur; and μ by its drift (see ``Batch``).
            Logits are off from ⟨t_i, λ⟩, by λ, by two roundings of it and α⟨t_i, what Tᵀw has lost⟩; by the products with b and
            w, G, α and the centring; by one rounding as they are put together; and for up to three w + e by one of w + e and
            one of themselves: η = uα((d + n + 4)r‖b‖ + (2n + d + 8)r²ω) + 3ur‖λ‖; and by u₃₂(n + 3)αγ‖e‖ for each e whose
            product was made in float32, as |G||e| ≤ γ‖e‖ in every entry, and 4nα times the least normal number, for each of its
            n products, their sums and the entries of G may be flushed to zero. By which p changes by η in the ℓ1 norm.
            What else is lost depends on i: by log u_i 4u|log u_i| and the blur, by adding it, once and for each e,
            4u(|log p_i| + r‖λ‖), by the differences that softmax makes u|log p_i|. With |log u_i| ≤ |log p_i| + 2r‖λ‖ and the
            norm of L²(p), see ``bounds``, p changes by at most 9u(1 + log n) + 12ur‖λ‖ and the blur; by exponentials, their sum
            and quotients by (n + 8)u. In all that is η + u(n + 17 + 9 log n + 12r‖λ‖) and the blur; what is taken for it is a
            little more, and Tᵀp is off by r times as much. Rows for which the bound is not good enough are left to Newton's
            method.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.mem.batch import Batch
from numerics.mem.bounds import TINY, Bounds
from numerics.mem.compiled import CompiledSearch
from numerics.mem.rows import Rows
from numerics.mem.search import Search, staggered

_STEPS = 24
"""The largest number of steps of a search."""

_ROUNDS = 3
"""How often a row that was late may be corrected again before it is left to Newton's method."""

_LATE = 0.05
"""The share of the rows that may be late when float64 has its turn: it tells which they are, and they alone go on."""

_STIFF = 16.0
"""The α max_i ‖t_i‖² from which on a search takes care."""

_SMALL = 2.0**-250
"""The least row of a Gram matrix other than zero whose square's norm does not underflow."""

_CACHE, _LEAST, _MOST = 2**16, 64, 2048
"""How many numbers an array of a tile may have on the CPU, so that those of a search stay near its core, within a smallest
and a largest number of rows; the latter is that of other devices."""


def _block(rows: int, n: int) -> int:
    """How many rows a tile has on the CPU: of a batch at most half, and a third where such a tile is worth its overhead, for
    what is needed beside the result is of its size."""
    part = max(-(-rows // 3), min(-(-rows // 2), _CACHE // (2 * n)))
    return min(rows, max(_LEAST, min(_MOST, _CACHE * torch.get_num_threads() // n, part)))


@dataclass(frozen=True)
class _Problems:
    """Some rows in the space of weights.

    Attributes:
        fixed: αTb, (r, n).
        log_prior: (n,) or (r, n).
        alpha: (r, 1).
        reach: ‖b‖, (r, 1).
        limits: of ‖v‖, (1, 1) or (r, 1) each: what is enough, as an affine function of ‖λ‖ and ‖b‖, in three coefficients; the
            square of what a linear correction is good for, as one of ‖b‖; what float32 can see, as one of ‖b‖.
    """

    fixed: Tensor
    log_prior: Tensor
    alpha: Tensor
    reach: Tensor
    limits: tuple[Tensor, ...]

    def enough(self, length: Tensor) -> Tensor:
        """The ‖v‖ that the tolerance asks for, for ‖λ‖ = length, (r, 1)."""
        constant, slope, other = self.limits[:3]
        return torch.addcmul(constant, slope, length).addcmul_(other, self.reach)

    def near(self) -> Tensor:
        """The ‖v‖ at which a linear correction is about enough, or float32 has seen what it can see, (r, 1)."""
        square, slope, seen, other = self.limits[3:]
        return torch.maximum(torch.addcmul(square, slope, self.reach).sqrt_(), torch.addcmul(seen, other, self.reach))


@dataclass(frozen=True)
class _Point:
    """What float64 says of some w.

    Attributes:
        w: (r, n).
        logits: log u + s, (r, n).
        weights: p, (r, n).
        distance: ‖v‖, (r, 1).
        lost: what each of the logits may have lost to float32, (r, 1).
    """

    w: Tensor
    logits: Tensor
    weights: Tensor
    distance: Tensor
    lost: Tensor


class Shared:
    """What all rows of a batch have in common: templates, their Gram matrix and a bound on its norm, arrays to work in.

    If they also have α in common, it is multiplied into the Gram matrix once.
    """

    def __init__(self, batch: Batch, gram: Tensor, tolerance: float) -> None:
        templates, alpha = batch.templates, batch.alpha
        n, d = templates.shape
        self._batch, self._templates = batch, templates
        self._one = bool((alpha == alpha[0]).all())
        self._unit = self._one and float(alpha[0]) == 1.0
        self._scaled, self._gram = (x * alpha[0] if self._one and not self._unit else x for x in (templates, gram))
        eps = torch.finfo(gram.dtype).eps
        row = gram.norm(dim=-1).amax()
        root = torch.linalg.matrix_norm(gram @ gram).sqrt().mul(1 + (n + 8) * (n + d + 8) * eps).sqrt()
        self._root = torch.where((row > _SMALL) | (gram == 0).all(), root, torch.inf)
        self._radius = templates.norm(dim=-1).amax() * (1 + (d + 8) * eps)
        careful = float(alpha.amax() * self._radius.square()) > _STIFF
        self._rows = _block(len(alpha), n) if gram.device.type == "cpu" else min(_MOST, len(alpha))
        # A user who lets float32 products be rounded to TF32 or bfloat16 gets float64 instead: it needs fewer rounds.
        dtype = torch.float32 if torch.get_float32_matmul_precision() == "highest" else torch.float64
        self._limits = self._all_limits(tolerance)
        self._usual = [2, 1]
        kind = CompiledSearch if gram.device.type == "cpu" and dtype == torch.float32 else Search
        self._loss, self._least = torch.finfo(dtype).eps / 2 * (n + 3) * row, 4 * n * torch.finfo(dtype).tiny
        self._share = self._radius / self._root
        self._search = kind(-self._gram.to(dtype), self._rows, careful)
        self._wide = staggered(gram, 3, self._rows)

    def solve(self, dual: Tensor, mean: Tensor, bounds: Bounds) -> None:
        """Write λ and μ + z − λ/α into ``dual`` and ``mean``, (r, d) each, and into ``bounds`` those of λ, good or not."""
        reach, distance, lost, length = (dual.new_empty(len(dual), 1) for _ in range(4))
        left, starts = [], []
        for tile in self._batch.slices(self._rows):
            rows = self._batch.rows(tile, rough=True)
            problems = self._problems(rows, reach[tile], tile)
            point = self._point(bounds.weights[tile], distance[tile], lost[tile])
            self._start(problems, point.w)
            late = self._improve(problems, point, 1)
            left.append(late + tile.start)
            starts.append(point.w[late])
            self._write(rows, point.w, dual[tile], mean[tile], length[tile])
        numbers, w = torch.cat(left), torch.cat(starts)
        for first in range(0, len(numbers), self._rows):
            some, start = numbers[first : first + self._rows], w[first : first + self._rows]
            rows = self._batch.rows(some, rough=True)
            problems = self._problems(rows, reach[some], some)
            point = self._point(*(x[some] for x in (bounds.weights, distance, lost)))
            point.w.copy_(start)
            self._improve(problems, point, _ROUNDS)
            bounds.weights[some], distance[some], lost[some] = point.weights, point.distance, point.lost
            found = rows.target, torch.empty_like(rows.target), length[some]     # a copy, as the rows are chosen by number
            self._write(rows, point.w, *found)
            dual[some], mean[some], length[some] = found
        self._bound(reach, distance, lost, length, bounds)

    def _problems(self, rows: Rows, reach: Tensor, index: slice | Tensor) -> _Problems:
        self._search.begin(len(reach), None if self._one else rows.alpha.to(self._search.dtype))
        fixed = self._wide[2][: len(reach)]
        self._search.lengths(rows.target, reach)             # first, as it brings b near faster than a product would
        torch.mm(rows.target, self._scaled.mT, out=fixed)
        limits = self._limits if self._one else tuple(x[index] for x in self._limits)
        return _Problems(fixed if self._one else fixed.mul_(rows.alpha), rows.log_prior, rows.alpha, reach, limits)

    def _point(self, weights: Tensor, distance: Tensor, lost: Tensor) -> _Point:
        w, logits = (x[: len(weights)] for x in self._wide[:2])
        return _Point(w, logits, weights, distance, lost)

    def _write(self, rows: Rows, w: Tensor, dual: Tensor, mean: Tensor, length: Tensor) -> None:
        torch.mm(w, self._templates, out=mean)
        self._search.write(rows.target, self._batch.center, rows.alpha, mean, dual, length)

    def _start(self, problems: _Problems, out: Tensor) -> None:
        """w as float32 finds it, from u, until a linear correction is enough for most rows."""
        search = self._search
        near = problems.near().to(search.dtype)
        search.start(problems.fixed, problems.log_prior)
        for number in range(_STEPS):
            if number >= self._usual[0] and search.far(near) <= _LATE * len(out):
                break
            search.advance()
        self._usual[0] = number - 1
        search.normalize(out)

    def _all_limits(self, tolerance: float) -> tuple[Tensor, ...]:
        alpha, r = self._batch.alpha[:1] if self._one else self._batch.alpha, self._radius
        # What is lost by rounding is affine in ‖b‖ and ‖λ‖: three values tell all.
        reach, length = alpha.new_tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        sums, off = self._rounding(reach, alpha, length, 2.0)
        none, far, long = (sums + r * off).split(1, -1)
        share = 0.9 * tolerance / alpha
        enough = ((share - none) / self._root, (share + none - long) / self._root, (none - far) / self._root)
        # Logits that are off by σ make p off by p σ²/2 more than a linear correction knows, and σ² is about (αr‖v‖)²α‖Σ‖.
        square = tolerance / (alpha**3 * r**5)
        seen = 2.0**-22 * alpha * r
        return (*enough, square, square * alpha, seen * r, seen)

    def _improve(self, problems: _Problems, point: _Point, rounds: int) -> Tensor:
        """Correct w in so many rounds, or fewer, and return the numbers of the rows for which that was not enough.

        One with NaN is not among them, as nothing helps it.
        """
        length = self._exact(problems, point)
        enough = problems.enough(length)
        late: Tensor
        for number in range(rounds + 1):
            late = (point.distance + point.lost * self._share > enough).squeeze(-1).nonzero().squeeze(-1)
            if len(late) == 0 or number == rounds:
                break
            self._correct(problems, point, enough)
        return late

    def _exact(self, problems: _Problems, point: _Point) -> Tensor:
        """Work out s, p and ‖v‖ from w alone, in float64, and return ‖λ‖ for it, (r, 1)."""
        image = torch.mm(point.w, self._gram.mT, out=point.logits)
        if not self._one:
            image.mul_(problems.alpha)
        length = self._search.assemble(image, problems.fixed, problems.log_prior, point.w, problems.reach, problems.alpha)
        point.lost.zero_()
        self._search.settle(point.logits, point.w, point.weights, point.distance)
        return length

    def _correct(self, problems: _Problems, point: _Point, enough: Tensor) -> None:
        """Add e with (I + αΠG)e = v, as exactly as it takes, in float32, and settle."""
        search = self._search
        goal = (0.8 * enough).to(search.dtype)
        search.resume()
        for number in range(_STEPS):
            search.correct()
            if number >= self._usual[1] and search.far(goal) <= _LATE * len(goal):
                break
        self._usual[1] = number - 1
        length = search.lengths(search.place, torch.empty_like(point.lost))
        lost = length.mul_(self._loss).add_(self._least).mul_(problems.alpha)
        search.move(point.logits, point.w)
        if int(((point.lost + lost) * self._share > 0.2 * enough).sum()) > _LATE * len(lost):
            self._exact(problems, point)
        else:
            point.lost.add_(lost)
            search.settle(point.logits, point.w, point.weights, point.distance)

    def _rounding(self, reach: Tensor, alpha: Tensor, length: Tensor, mass: Tensor | float) -> tuple[Tensor, Tensor]:
        """ρ, and what float64 may lose of p in the ℓ1 norm, for ‖λ‖ = length and ‖w‖₁ ≤ mass, (r, 1)."""
        n, d = self._templates.shape
        unit, r = torch.finfo(torch.float64).eps / 2, self._radius
        sums = unit * (2 * reach + 3 * length / alpha + (n + 12) * r * mass)
        logits = unit * (alpha * r * ((d + n + 4) * reach + (2 * n + d + 8) * r * mass) + 20 * r * length)
        return sums, logits + unit * (n + 24 + 9 * math.log(n))

    def _bound(self, reach: Tensor, distance: Tensor, lost: Tensor, length: Tensor, bounds: Bounds) -> None:
        alpha, n = self._batch.alpha, len(self._gram)
        sums, off = self._rounding(reach, alpha, length, 1 + n**0.5 * distance)
        sums = sums + (self._batch.drift.unsqueeze(-1) + TINY)
        off = off + lost + self._batch.blur.unsqueeze(-1)
        norm = self._root * distance + sums + self._radius * off
        error = alpha * norm
        near = torch.minimum(alpha.sqrt() * norm / 2, 2 * torch.tanh(self._radius * error / 2))
        for out, x in ((bounds.length, length), (bounds.gradient_norm, norm), (bounds.error, error),
                       (bounds.weights_error, near + off), (bounds.mean_error, norm)):
            out.copy_(x.squeeze(-1))

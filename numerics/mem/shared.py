"""Many problems on the same templates: conjugate gradients in the space of weights, where a step costs one n × n product.

Every λ of use is λ = α(b − Tᵀw) for some w ∈ Rⁿ, with logits s = α(Tb − Gw) and G = TTᵀ, which all rows share; λ is the
solution when w = p(s) = softmax(log u + s). In the metric of G, v = p − w is minus the gradient of −D, and its Hessian is
αG + α²GΠG with Π = diag(p) − ppᵀ: next to the identity unless α‖Σ‖ is large. Where it is, a diagonal preconditioner,
(I + αcΠ)⁻¹ for G ≈ cI, puts most of that right.

Claims      deciphering.9, deciphering.18
Notation    as in ``rows``; G = gram; v = residual; u = eps/2
Precision   The way is float32, the place where it ends is not: w is found in float32 to the end of what that can do; then s, p
            and v are worked out from w in float64, and (I + αΠG)e = v, a correction of a relative precision of some digits,
            again is for float32. Nothing that float32 has left behind goes into the next s, p and v but w itself.
Bounds      Of the last w, from the last float64 s, p and v alone: g = b − λ/α − Tᵀp = −Tᵀv, and ‖Tᵀv‖ ≤ √‖G‖ ‖v‖, where
            ‖G‖ ≤ ‖G⁴‖_F^{1/4}. To this is added the most that float64 can lose, with r = max_i ‖t_i‖ and ω = ‖w‖₁:
            b, the t_i, and λ/α next to b − Tᵀw are off by at most ρ = u(2‖b‖ + 3‖λ‖/α + (n + 4)rω); logits by
            η = uα((d + 2)r‖b‖ + (2n + d + 2)r²ω) + 10ur‖λ‖, the rounding of log u_i included, whose weight is e^{log u_i} at
            λ = 0; p by η + (n + 16)u in the ℓ1 norm, and Tᵀp by r times as much. Rows for which the bound is not good
            enough are left to Newton's method.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.mem.bounds import Bounds
from numerics.mem.rows import Rows

_STEPS = 24
"""The largest number of steps of a search."""

_ROUNDS = 3
"""How often a row may be corrected before it is left to Newton's method."""

_LATE = 0.1
"""The share of the rows that may be late when float64 has its turn: it tells which they are, and they alone go on."""

_STIFF = 16.0
"""The α max_i ‖t_i‖² from which on a search takes care."""

_FAR = 2.0
"""The largest change of a logit next to another in one step of a search that takes care."""


class _Search:
    """Conjugate gradients with exact minimization of the quadratic model, one row each.

    Where the problem is stiff, directions are preconditioned, follow Polak and Ribière's rule, which forgets a direction
    that the curvature of the problem has spoilt, and no step changes a logit next to another by more than the quadratic
    model is good for. Else Fletcher and Reeves' rule is as good, and cheaper.
    All arrays are made once and written over: fresh memory for every product would cost more than the products.

    Attributes:
        direction: d, (r, n).
        image: αGd.
        bent: (I + αΠG)d, by which the residual shrinks along d.
    """

    def __init__(self, gram: Tensor, alpha: Tensor, rows: int) -> None:
        self._gram, self._alpha = gram, alpha
        diagonal = gram.diagonal()
        self._shrink = alpha * diagonal.mean() / 2
        self._stiff = float(alpha.amax() * diagonal.amax()) > _STIFF
        arrays = (gram.new_empty(rows, len(gram)) for _ in range(7 if self._stiff else 5))
        self._moved, self._work, self.direction, self.image, self.bent, *self._more = arrays
        self._last: Tensor | None = None

    def step(self, weights: Tensor, residual: Tensor) -> Tensor:
        """Make the next direction and return how far to go along it, (r, 1)."""
        ahead = self._preconditioned(weights, residual) if self._stiff else residual
        torch.mm(ahead, self._gram, out=self._moved).mul_(self._alpha)
        square = _dot(residual, self._moved, self._work)
        if self._last is None:
            self.direction.copy_(ahead)
            self.image.copy_(self._moved)
        else:
            news = square - _dot(self._more[1], self._moved, self._work) if self._stiff else square
            turn = news.div(self._last).clamp_(min=0).nan_to_num_(0.0, 0.0, 0.0)
            torch.addcmul(ahead, self.direction, turn, out=self.direction)
            torch.addcmul(self._moved, self.image, turn, out=self.image)
        self._last = square
        size = _dot(residual, self.image, self._work)
        torch.mul(weights, self.image, out=self.bent)
        self.bent.addcmul_(weights, self.bent.sum(-1, keepdim=True), value=-1.0).add_(self.direction)
        size.div_(_dot(self.bent, self.image, self._work))
        if self._stiff:
            self._more[1].copy_(residual)
            size = torch.minimum(size, _FAR / (self.image.amax(-1, keepdim=True) - self.image.amin(-1, keepdim=True)))
        return size.nan_to_num_(0.0, 0.0, 0.0)

    def _preconditioned(self, weights: Tensor, residual: Tensor) -> Tensor:
        less = torch.mul(weights, self._shrink, out=self._work).add_(1.0).reciprocal_()
        ahead = torch.mul(residual, less, out=self._more[0])
        less.mul_(weights)
        return ahead.addcmul_(less, ahead.sum(-1, keepdim=True).div_(less.sum(-1, keepdim=True)), value=-1.0)


@dataclass(frozen=True)
class _Point:
    """What float64 says of some w.

    Attributes:
        weights: p, (r, n).
        residual: v, (r, n).
        distance: ‖v‖, (r,).
        enough: about the ‖v‖ that the tolerance asks for, (r,).
    """

    weights: Tensor
    residual: Tensor
    distance: Tensor
    enough: Tensor

    def take(self, index: slice | Tensor) -> "_Point":
        """Some of the rows."""
        return _Point(*(x[index] for x in vars(self).values()))

    def put(self, index: slice | Tensor, other: "_Point") -> None:
        """Write rows back."""
        for name, x in vars(other).items():
            getattr(self, name)[index] = x

    def late(self) -> Tensor:
        """The numbers of the rows that are not there; one with NaN is not among them, as nothing helps it."""
        return (self.distance > self.enough).nonzero().squeeze(-1)


@dataclass(frozen=True)
class _Problems:
    """Some rows in the space of weights.

    Attributes:
        gram, norm: G, and a bound on ‖G‖.
        fixed: Tb, (r, n).
        reach: ‖b‖, (r,).
        log_prior: (n,) or (r, n).
        alpha: (r, 1).
    """

    gram: Tensor
    norm: Tensor
    fixed: Tensor
    reach: Tensor
    log_prior: Tensor
    alpha: Tensor

    def take(self, index: slice | Tensor) -> "_Problems":
        """Some of the rows."""
        log_prior = self.log_prior if self.log_prior.ndim == 1 else self.log_prior[index]
        return _Problems(self.gram, self.norm, self.fixed[index], self.reach[index], log_prior, self.alpha[index])

    def at(self, w: Tensor, tolerance: float) -> _Point:
        """Work out s, p and v from w alone, (r, n)."""
        slack = torch.addmm(self.fixed, w, self.gram, alpha=-1.0)
        # ‖b − Tᵀw‖² = ‖b‖² − ⟨w, Tb⟩ − ⟨w, Tb − Gw⟩
        across = (w * (slack + self.fixed)).sum(-1)
        length = (self.reach.square() - across).clamp(min=0).sqrt()
        weights = torch.softmax(slack.mul_(self.alpha).add_(self.log_prior), -1)
        residual = torch.sub(weights, w, out=slack)
        enough = 0.5 * tolerance * (1 / self.alpha.squeeze(-1) + length) / self.norm.sqrt()
        return _Point(weights, residual, residual.norm(dim=-1), enough)


class Shared:
    """What all rows of a batch have in common: the Gram matrix of the templates, and a bound on its norm."""

    def __init__(self, gram: Tensor, width: int) -> None:
        self.gram = gram
        # A user who lets float32 products be rounded to TF32 or bfloat16 gets float64 instead: it needs fewer rounds.
        dtype = torch.float32 if torch.get_float32_matmul_precision() == "highest" else torch.float64
        self.narrow = gram.to(dtype)
        square, n = gram @ gram, len(gram)
        rounding = 1 + n * (n + width) * torch.finfo(gram.dtype).eps
        self.norm = torch.linalg.matrix_norm(square @ square).sqrt().sqrt() * rounding

    def solve(self, rows: Rows, tolerance: float, dual: Tensor, mean: Tensor) -> Bounds:
        """Write λ and b − λ/α into ``dual`` and ``mean``, (r, d) each, and return the bounds of λ, good or not."""
        fixed, reach = rows.target @ rows.templates.mT, rows.target.norm(dim=-1)
        problems = _Problems(self.gram, self.norm, fixed, reach, rows.log_prior, rows.alpha)
        w = self._start(problems, tolerance * (1 + rows.alpha.squeeze(-1) * reach), rows.radius)
        found = problems.at(w, tolerance)
        late = found.late()
        for _ in range(_ROUNDS):
            if len(late) == 0:
                break
            index = slice(None) if len(late) == len(w) else late
            some = problems.take(index)
            w[index] += self._correction(found.take(index), some.alpha)
            found.put(index, some.at(w[index], tolerance))
            late = found.late()
        torch.mm(w, rows.templates, out=mean)
        torch.sub(rows.target, mean, out=dual).mul_(rows.alpha)
        return self._bounds(rows, dual.norm(dim=-1), reach, found)

    def _start(self, problems: _Problems, allowed: Tensor, radius: Tensor) -> Tensor:
        """w as float32 finds it, from half-way between u and p(u), until a linear correction is enough for most rows."""
        alpha, log_prior = problems.alpha.to(self.narrow), problems.log_prior.to(self.narrow)
        fixed, prior = problems.fixed.to(self.narrow), log_prior.exp()
        logits = torch.addcmul(log_prior, fixed - prior @ self.narrow, alpha)
        w = torch.softmax(logits, -1).add_(prior).mul_(0.5)
        torch.addmm(fixed, w, self.narrow, alpha=-1.0, out=logits).mul_(alpha).add_(log_prior)
        weights, residual = torch.empty_like(w), torch.empty_like(w)
        search = _Search(self.narrow, alpha, len(w))
        # A linear correction misses p σ²/2 for logits that are off by σ ≤ r·α√‖G‖ ‖v‖.
        factor = problems.alpha.squeeze(-1) * problems.norm.sqrt()
        near = ((allowed / factor).sqrt() / (factor * radius.squeeze(-1))).to(self.narrow)
        for _ in range(_STEPS):
            torch.softmax(logits, -1, out=weights)
            torch.sub(weights, w, out=residual)
            if int((residual.norm(dim=-1) > near).sum()) <= _LATE * len(w):
                break
            size = search.step(weights, residual)
            w.addcmul_(search.direction, size)
            logits.addcmul_(search.image, size, value=-1.0)
        wide = w.double()
        return wide.div_(wide.sum(-1, keepdim=True))         # as p has the sum one, and preconditioned steps have none

    def _correction(self, point: _Point, alpha: Tensor) -> Tensor:
        """e with (I + αΠG)e = v as exactly as it takes, in float32."""
        alpha, weights = alpha.to(self.narrow), point.weights.to(self.narrow)
        residual = point.residual.to(self.narrow, copy=True)
        moved, enough = torch.zeros_like(residual), (0.7 * point.enough).to(self.narrow)
        search = _Search(self.narrow, alpha, len(residual))
        for _ in range(_STEPS):
            size = search.step(weights, residual)
            moved.addcmul_(search.direction, size)
            residual.addcmul_(search.bent, size, value=-1.0)
            if int((residual.norm(dim=-1) > enough).sum()) <= _LATE * len(residual):
                break
        return moved

    def _bounds(self, rows: Rows, length: Tensor, reach: Tensor, point: _Point) -> Bounds:
        n, d = rows.templates.shape
        unit, radius, alpha = torch.finfo(torch.float64).eps / 2, rows.radius, rows.alpha.squeeze(-1)
        mass = 1 + n**0.5 * point.distance
        sums = unit * (2 * reach + 3 * length / alpha + (n + 4) * radius * mass)
        logits = unit * (alpha * radius * ((d + 2) * reach + (2 * n + d + 2) * radius * mass) + 10 * radius * length)
        off = logits + unit * (n + 16)
        norm = self.norm.sqrt() * point.distance + sums + radius * off
        error = alpha * norm
        near = torch.minimum(alpha.sqrt() * norm / 2, 2 * torch.tanh(radius * error / 2))
        return Bounds(point.weights, length, norm, error, near + off)


def _dot(x: Tensor, y: Tensor, work: Tensor) -> Tensor:
    return torch.mul(x, y, out=work).sum(-1, keepdim=True)

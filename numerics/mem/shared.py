"""Many problems on the same templates: conjugate gradients in the space of weights, where a step costs one n × n product.

Every λ of use is λ = α(b − Tᵀw) for some w ∈ Rⁿ, with logits s = α(Tb − Gw) and G = TTᵀ, which all rows share; λ is the
solution when w = p(s) = softmax(log u + s). In the metric of G, v = p − w is minus the gradient of −D, and its Hessian is
αG + α²GΠG with Π = diag(p) − ppᵀ: next to the identity unless α‖Σ‖ is large. What is left of that is put right by a
diagonal preconditioner, (I + αcΠ)⁻¹ for G ≈ cI.

Claims      deciphering.9, deciphering.18
Notation    as in ``rows``; G = gram; v = residual; e = w less its base; σ = −αGe, the change of the logits
Precision   First float32 throughout, to the end of what that can do. Then s, p and v are worked out once in float64, and
            what is left, e and σ, is so small that float32 knows it to as many digits after the point as are needed.
Bounds      ‖g‖ = ‖Tᵀv‖ ≤ √‖G‖ ‖v‖, ‖G‖ ≤ ‖G⁴‖_F^{1/4}. To this is added, with the rules of ``bounds``, the rounding of v in
            float32, of the sums, and of the logits. Rows for which the bound is not good enough are left to Newton's method.
"""

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from numerics.mem.bounds import Bounds
from numerics.mem.rows import Rows

_FIRST_STEPS = 24
_LAST_STEPS = 24
_SMALL = 1e-6
"""The residual at which float32 has done what it can."""


class _Search:
    """Conjugate gradients (Hestenes and Stiefel's rule, exact minimization of the quadratic model), one row each.

    All arrays are made once and written over: fresh memory for every product would cost more than the products.
    """

    def __init__(self, gram: Tensor, alpha: Tensor, shrink: Tensor, shape: torch.Size) -> None:
        self._gram, self._alpha, self._shrink = gram, alpha, shrink
        self._fresh = True
        self._arrays = [gram.new_empty(shape) for _ in range(6)]

    def step(self, weights: Tensor, residual: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return t, d and αGd: the size of the step, its direction, and minus what it does to the logits."""
        work, ahead, moved, direction, image, last = self._arrays
        torch.mul(weights, self._shrink, out=work).add_(1.0).reciprocal_()
        torch.mul(residual, work, out=ahead)
        work.mul_(weights)
        ahead.addcmul_(work, ahead.sum(-1, keepdim=True).div_(work.sum(-1, keepdim=True)), value=-1.0)
        torch.mm(ahead, self._gram, out=moved).mul_(self._alpha)
        if self._fresh:
            direction.copy_(ahead)
            image.copy_(moved)
            self._fresh = False
        else:
            change = last.sub_(residual)
            turn = _dot(moved, change, work).div_(_dot(image, change, work)).neg_().nan_to_num_(0.0, 0.0, 0.0)
            direction.mul_(turn).add_(ahead)
            image.mul_(turn).add_(moved)
        last.copy_(residual)
        slope, bend = _dot(residual, image, work), _dot(direction, image, work)
        torch.mul(weights, image, out=work)
        bend.sub_(work.sum(-1, keepdim=True).square_()).add_(work.mul_(image).sum(-1, keepdim=True))
        return slope.div_(bend).nan_to_num_(0.0, 0.0, 0.0), direction, image

    def restart(self) -> None:
        """Forget the last direction."""
        self._fresh = True

    def take(self, index: Tensor) -> "_Search":
        """Some of the rows."""
        some = _Search(self._gram, _some(self._alpha, index), _some(self._shrink, index), torch.Size([0]))
        some._arrays, some._fresh = [x[index] for x in self._arrays], self._fresh
        return some


@dataclass(frozen=True)
class _State:
    """Where the rows are, relatively to their base; float32, (r, n) each.

    Attributes:
        weights: p at the base.
        start: v at the base.
        moved: e.
        logits: σ.
        residual: v.
        change: p less p at the base.
    """

    weights: Tensor
    start: Tensor
    moved: Tensor
    logits: Tensor
    residual: Tensor
    change: Tensor

    def move(self, size: Tensor, direction: Tensor, image: Tensor) -> None:
        """Take a step, in place."""
        self.moved.addcmul_(direction, size)
        self.logits.addcmul_(image, size, value=-1.0)
        torch.expm1(self.logits, out=self.change).mul_(self.weights)
        total = self.change.sum(-1, keepdim=True)
        self.change.addcmul_(self.weights, total, value=-1.0).div_(total.add_(1.0))
        torch.sub(self.start, self.moved, out=self.residual).add_(self.change)

    def take(self, index: Tensor) -> "_State":
        """Some of the rows."""
        return _State(*(getattr(self, x.name)[index] for x in fields(self)))

    def put(self, index: Tensor, other: "_State") -> None:
        """Write rows back."""
        for name in ("moved", "residual", "change"):
            getattr(self, name)[index] = getattr(other, name)


class Shared:
    """What all rows of a batch have in common: the Gram matrix of the templates, and a bound on its norm."""

    def __init__(self, gram: Tensor) -> None:
        self.gram = gram
        # A user who lets float32 products be rounded to TF32 or bfloat16 gets float64 instead: the bounds count on float32.
        self.dtype = torch.float32 if torch.get_float32_matmul_precision() == "highest" else torch.float64
        self.narrow = gram.to(self.dtype)
        square = self.gram @ self.gram
        self.norm = torch.linalg.matrix_norm(square @ square).sqrt().sqrt()
        self.typical = self.gram.diagonal().mean() / 2

    def solve(self, rows: Rows, tolerance: float, dual: Tensor, mean: Tensor) -> Bounds:
        """Write λ and b − λ/α into ``dual`` and ``mean``, (r, d) each, and return the bounds of λ, good or not."""
        scores = rows.target @ rows.templates.mT
        alpha, log_prior = rows.alpha, rows.log_prior
        narrow, log_narrow = alpha.to(self.dtype), log_prior.to(self.dtype)
        search = _Search(self.narrow, narrow, narrow * self.typical.to(self.dtype), scores.shape)
        state = _State(*(torch.empty_like(scores, dtype=self.dtype) for _ in fields(_State)))
        point = self._first(scores, narrow, log_narrow, search, state)
        base = point.to(torch.float64, copy=True)
        base.div_(base.sum(-1, keepdim=True))                # steps keep the sum, and p has the sum one
        scores.addmm_(base, self.gram, alpha=-1.0).mul_(alpha).add_(log_prior)
        weights = torch.softmax(scores, -1, out=scores)
        state.start.copy_(torch.sub(weights, base))
        state.weights.copy_(weights)
        state.residual.copy_(state.start)
        for zero in (state.moved, state.logits, state.change):
            zero.zero_()
        reach = rows.target.norm(dim=-1)
        state = self._last(state, 0.3 * tolerance * (1 / alpha.squeeze(-1) + reach) / self.norm.sqrt(), search)
        # Rounding αGe disturbs σ, and Π, whose norm is at most ½, hands half of that on to p.
        spread = 1 + 0.5 * alpha.squeeze(-1) * self.norm
        lost = state.start.norm(dim=-1) + spread * state.moved.norm(dim=-1) + state.change.norm(dim=-1)
        base.add_(state.moved)
        weights.add_(state.change)
        torch.mm(base, rows.templates, out=mean)
        torch.sub(rows.target, mean, out=dual).mul_(alpha)
        lost = 4 * torch.finfo(torch.float32).eps * lost
        return self._bounds(rows, dual.norm(dim=-1), reach, weights, state.residual, lost)

    def _first(self, scores: Tensor, alpha: Tensor, log_prior: Tensor, search: "_Search", state: "_State") -> Tensor:
        """w, in float32, from w = u; the arrays of ``state`` serve as memory."""
        logits, point, weights, residual = state.logits, state.moved, state.weights, state.residual
        prior = log_prior.exp()
        point.copy_(prior.expand_as(point))
        logits.copy_(scores).mul_(alpha).add_(log_prior)
        logits.addcmul_((prior @ self.narrow).expand_as(logits), alpha, value=-1.0)
        for _ in range(_FIRST_STEPS):
            torch.softmax(logits, -1, out=weights)
            torch.sub(weights, point, out=residual)
            if int((residual.norm(dim=-1) > _SMALL).sum()) < 0.2 * len(residual):
                break
            size, direction, image = search.step(weights, residual)
            point.addcmul_(direction, size)
            logits.addcmul_(image, size, value=-1.0)
        search.restart()
        return point

    def _last(self, state: "_State", enough: Tensor, search: _Search) -> "_State":
        """The state when each row's residual is at most ``enough``, or after some steps; finished rows leave at half-time."""
        whole, left = state, None
        for count in range(_LAST_STEPS + 1):
            bad = state.residual.norm(dim=-1) > (enough if left is None else enough[left])
            many = int(bad.sum())
            if left is not None:
                whole.put(left, state)
            if many == 0 or count == _LAST_STEPS:
                break
            if left is None and many < 0.5 * len(bad):
                left = bad.nonzero().squeeze(-1)
                state, search = state.take(left), search.take(left)
            size, direction, image = search.step(state.weights, state.residual)
            state.move(size, direction, image)
        return whole

    def _bounds(
        self, rows: Rows, length: Tensor, reach: Tensor, weights: Tensor, residual: Tensor, lost: Tensor
    ) -> Bounds:
        n, d = rows.templates.shape
        unit, radius, alpha = torch.finfo(torch.float64).eps, rows.radius, rows.alpha.squeeze(-1)
        sums = unit * (2 * reach + length / alpha + 2 * n**0.5 * radius)
        inside = d**0.5 * radius * (reach + radius) + n**0.5 * radius.square()
        logits = unit * (4 + alpha * inside + d**0.5 * radius * length)
        norm = self.norm.sqrt() * (residual.norm(dim=-1) + lost) + sums + radius * logits
        error = alpha * norm
        near = torch.minimum(alpha.sqrt() * norm / 2, 2 * torch.tanh(radius * error / 2))
        return Bounds(weights, length, norm, error, near + 2 * logits + n**0.5 * lost)


def _dot(x: Tensor, y: Tensor, work: Tensor) -> Tensor:
    return torch.mul(x, y, out=work).sum(-1, keepdim=True)


def _some(x: Tensor, index: Tensor) -> Tensor:
    return x[index] if len(x) > 1 else x

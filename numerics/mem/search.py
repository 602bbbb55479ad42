"""Conjugate gradients for many small problems that share a Gram matrix, in arrays that are made once.

Claims      deciphering.9
Notation    as in ``shared``; d = direction
"""

import torch
from torch import Tensor

_NOTHING = 1e-30
"""The least that a square is taken for, so that nothing is divided by zero."""

_FAR = 2.0
"""The largest change of a logit next to another in one step of a search that takes care."""


class Search:
    """Conjugate gradients with exact minimization of the quadratic model, one row each.

    Where the problem is stiff, directions are preconditioned, follow Polak and Ribière's rule, which forgets a direction
    that the curvature of the problem has spoilt, and no step changes a logit next to another by more than the quadratic
    model is good for. Else Fletcher and Reeves' rule is as good, and cheaper, and so are the recurrences that hold for
    conjugate directions: ⟨v, Gd⟩ = ⟨v, Gv⟩ and ⟨d, Gd⟩ = ⟨v, Gv⟩ + β²⟨d', Gd'⟩ for the direction d' before.
    All arrays are made once and written over: fresh memory for every product would cost more than the products. What changes
    alike is stacked, for one operation takes two arrays as fast as it takes one.

    Attributes:
        found: what was found so far, and −αG times it, (2, r, n), to be set by who searches; its halves are ``place`` and
            ``effect``.
        weights: p, (r, n), likewise.
        residual: v, (r, n), likewise.
        along: the direction d and −αGd, (2, r, n); its halves are ``direction`` and ``image``.
        bent: −αΠGd, (r, n). Along d, the residual shrinks by d less this.
    """

    def __init__(self, narrow: Tensor, rows: int, stiff: bool) -> None:
        """Args: narrow: −G, or −αG, (n, n), in the dtype to search in."""
        n = len(narrow)
        self.dtype, self._gram, self._stiff, self._rows = narrow.dtype, narrow, stiff, 0
        self._pairs = [narrow.new_empty(2, rows, n) for _ in range(3)]
        self._singles = [narrow.new_empty(rows, n) for _ in range(5 if stiff else 3)]
        self._scale = narrow.diagonal().mean() / -2
        self._last = self._length = self._scale

    def begin(self, rows: int, alpha: Tensor | None) -> None:
        """Forget what was before; α, (r, 1), is None if it is in the Gram matrix."""
        self._alpha, self._fresh = alpha, True
        if rows != self._rows:
            self._rows = rows
            self.found, self.along, self._ahead = (x[:, :rows] for x in self._pairs)
            (self.place, self.effect), (self.direction, self.image), (self._first, self._moved) = (
                x.unbind() for x in (self.found, self.along, self._ahead)
            )
            self.weights, self.bent, self._work, *more = (x[:rows] for x in self._singles)
            self.residual, self._before = more or (self._first, self._work)

    def times(self, vectors: Tensor, out: Tensor | None = None) -> Tensor:
        """−αGx, for one x or one for each row."""
        found = torch.matmul(vectors, self._gram, out=out)
        return found if self._alpha is None else torch.mul(found, self._alpha, out=out)

    def step(self) -> Tensor:
        """Make the next direction and return how far to go along it, (r, 1)."""
        if self._stiff:
            self._precondition()
        self.times(self._first, self._moved)
        # −⟨v, αGv⟩, and so are its kin. What is left of it at the end may be zero, or noise of either sign.
        square = self._dot(self.residual, self._moved).clamp_(max=-_NOTHING)
        if self._fresh:
            self.along.copy_(self._ahead)
            length, self._fresh = square, False
        else:
            news = (square - self._dot(self._before, self._moved)).clamp_(max=0) if self._stiff else square
            turn = news / self._last
            torch.addcmul(self._ahead, self.along, turn, out=self.along)
            length = square if self._stiff else torch.addcmul(square, turn.square_(), self._length)
        self._last, self._length, rise = square, length, square
        if self._stiff:
            rise, length = (self._dot(x, self.image).clamp_(max=-_NOTHING) for x in (self.residual, self.direction))
            self._before.copy_(self.residual)
        torch.mul(self.weights, self.image, out=self.bent)
        self.bent.addcmul_(self.weights, self.bent.sum(-1, keepdim=True), value=-1.0)
        size = rise.div(length - self._dot(self.bent, self.image))
        if self._stiff:
            size = torch.minimum(size, _FAR / (self.image.amax(-1, keepdim=True) - self.image.amin(-1, keepdim=True)))
        return size

    def far(self, near: Tensor) -> int:
        """How many rows have a residual longer than this, (r, 1); one with NaN is not among them."""
        return int((self.residual.norm(dim=-1, keepdim=True) > near).sum())

    def _precondition(self) -> None:
        scale = self._scale if self._alpha is None else self._scale * self._alpha
        less = torch.mul(self.weights, scale, out=self._work).add_(1.0).reciprocal_()
        ahead = torch.mul(self.residual, less, out=self._first)
        less.mul_(self.weights)
        ahead.addcmul_(less, ahead.sum(-1, keepdim=True).div_(less.sum(-1, keepdim=True)), value=-1.0)

    def _dot(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.mul(x, y, out=self._work).sum(-1, keepdim=True)

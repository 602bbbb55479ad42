"""Conjugate gradients for many small problems that share a Gram matrix, in arrays that are made once.

A step is the best one in the plane of a preconditioned residual y and of the step d before, by the quadratic model at the
weights p: for y = v and a quadratic function that is the method of conjugate gradients, and it forgives a Hessian that changes.
With the metric of G, the model's Hessian is αG + α²GΠG, so all it takes are products of y and d with −αG, of which the step
makes that of y. The preconditioner is (I + ΠC)⁻¹, where the diagonal C stands for αG.

Claims      deciphering.9
Notation    as in ``shared``; y = ahead, d = direction, C = scale · diag(diagonal)
"""

import torch
from torch import Tensor

from numerics.mem.kernels import APART, BEYOND, FAR, LARGE, NOTHING, SMALL

_SHARE = 0.5
"""How much of the diagonal of αG stands for αG. More is no faster on the layers of BERT, less is slower there, and better only
where α‖Σ‖ is large."""

_STAGGER = 512
"""How many bytes lie between arrays that are worked on together."""


class Search:
    """Steps in one dtype, and what goes with them in float64, for one tile after the other, by PyTorch on any device.

    Attributes:
        place: w, or the change of it that was found so far, (r, n).
        effect: log u + α(Tb − Gw), or −αG times the change, (r, n).
        direction, image: d and −αGd, (r, n).
        weights: p, (r, n).
        residual: v = p − w, or what is left of it by a linear model, (r, n).
        ahead, moved: y and −αGy, (r, n).
        distance: ‖v‖, (r, 1).
    """

    def __init__(self, narrow: Tensor, rows: int, careful: bool) -> None:
        """Args: narrow: −G, or −αG, (n, n), in the dtype to search in; careful: whether logits must not leap."""
        self.dtype, self._gram, self._careful, self._rows = narrow.dtype, narrow, careful, 0
        self._diagonal = -_SHARE * narrow.diagonal()
        self._arrays = staggered(narrow, 8, rows)
        self._distance, self._ones = narrow.new_empty(rows, 1), narrow.new_ones(rows, 1)

    def begin(self, rows: int, alpha: Tensor | None) -> None:
        """Take the first so many rows of the arrays; α, (r, 1), is None if it is in the Gram matrix."""
        self._alpha = alpha
        self._scale = self._ones[:rows] if alpha is None else alpha
        if rows != self._rows:
            self._rows, self.distance = rows, self._distance[:rows]
            self.place, self.effect, self.direction, self.image, self.weights, self.residual, self.ahead, self.moved = (
                x[:rows] for x in self._arrays
            )

    def times(self, vectors: Tensor, out: Tensor | None = None) -> Tensor:
        """−αGx, for one x or one for each row."""
        found = torch.matmul(vectors, self._gram, out=out)
        return found if self._alpha is None else torch.mul(found, self._alpha, out=out)

    def start(self, fixed: Tensor, log_prior: Tensor) -> None:
        """Set out from w = u, for αTb = ``fixed``."""
        narrow = log_prior.to(self.dtype)
        prior = narrow.exp()
        self.place.copy_(prior)
        torch.add(fixed, log_prior, out=self.effect).add_(self.times(prior))
        self.direction.zero_()
        self.image.zero_()
        self._look()

    def advance(self) -> None:
        """Make a step of the search for w."""
        self._step((self.distance > BEYOND) | self._careful)
        self.place.add_(self.direction)
        self.effect.add_(self.image)
        self._look()

    def resume(self) -> None:
        """Set out for the e with (I + αΠG)e = v, from zero, with the p and the v that float64 has settled."""
        for x in (self.place, self.direction, self.image):
            x.zero_()
        self._aim()

    def correct(self) -> None:
        """Make a step of the search for e."""
        self._step(None)
        self.place.add_(self.direction)
        bent = self._bent(self.image)
        self._measure(self.residual.add_(bent).sub_(self.direction))

    def far(self, near: Tensor) -> int:
        """How many rows have a residual longer than this, (r, 1); one with NaN is not among them."""
        return int((self.distance > near).sum())

    def normalize(self, out: Tensor) -> None:
        """Write w in float64, where it is to have the sum one, as p has; steps have none but for rounding."""
        out.copy_(self.place)
        out.div_(out.sum(-1, keepdim=True))

    def assemble(
        self, image: Tensor, fixed: Tensor, log_prior: Tensor, w: Tensor, reach: Tensor, alpha: Tensor
    ) -> Tensor:
        """Turn αGw into the logits αTb − αGw + log u, in float64, and return α‖b − Tᵀw‖, (r, 1), for ‖b‖ = ``reach``."""
        across = torch.sub(image, fixed, alpha=2).mul_(w).sum(-1, keepdim=True)          # α⟨w, Gw − 2Tb⟩
        torch.sub(fixed, image, out=image).add_(log_prior)
        return alpha * (reach.square() + across / alpha).clamp_(min=0).sqrt_()

    def settle(self, logits: Tensor, w: Tensor, weights: Tensor, distance: Tensor) -> None:
        """Write p and ‖p − w‖ in float64, and keep p and p − w to ``resume`` with."""
        torch.softmax(logits, -1, out=weights)
        rest = weights - w
        torch.norm(rest, dim=-1, keepdim=True, out=distance)
        self.weights.copy_(weights)
        self.residual.copy_(rest)

    def move(self, logits: Tensor, w: Tensor) -> None:
        """Add e to w, in float64, and −αGe to the logits."""
        logits.add_(self.times(self.place, self.effect))
        w.add_(self.place)

    def write(self, target: Tensor, center: Tensor, alpha: Tensor, mean: Tensor, dual: Tensor, length: Tensor) -> None:
        """Turn Tᵀw into the mean, in float64, and write λ and ‖λ‖."""
        torch.sub(target, mean, out=dual).mul_(alpha)
        torch.norm(dual, dim=-1, keepdim=True, out=length)
        mean.add_(center)

    def lengths(self, x: Tensor, out: Tensor) -> Tensor:
        """The lengths of rows, (r, 1), in float64."""
        found: Tensor = torch.norm(x, dim=-1, keepdim=True, dtype=out.dtype, out=out)
        return found

    def _look(self) -> None:
        torch.softmax(self.effect, -1, out=self.weights)
        self._measure(torch.sub(self.weights, self.place, out=self.residual))

    def _measure(self, residual: Tensor) -> None:
        torch.norm(residual, dim=-1, keepdim=True, out=self.distance)
        self._aim()

    def _aim(self) -> None:
        """y with y + ΠCy = v."""
        c = self._scale * self._diagonal
        torch.addcmul(torch.ones_like(c[:1, :1]), c, self.weights, out=self.moved).reciprocal_()
        torch.mul(self.moved, self.residual, out=self.ahead)
        less, weighted = self.moved.mul_(self.weights), c * self.weights
        turn = _dot(weighted, self.ahead) / (1 - _dot(weighted, less))
        self.ahead.addcmul_(less, turn)

    def _bent(self, image: Tensor) -> Tensor:
        """Π times what the image is, (r, n)."""
        bent = self.weights * image
        return bent.addcmul_(self.weights, bent.sum(-1, keepdim=True), value=-1.0)

    def _step(self, careful: Tensor | None) -> None:
        """Make the next step, one that changes no logit next to another by more than ``FAR`` in rows where it is to be careful,
        (r, 1)."""
        self.times(self.ahead, self.moved)
        y, m, d, g = self.ahead, self.moved, self.direction, self.image
        rise, other = (-_dot(self.residual, x).double() for x in (m, g))
        steep, before = y - self._bent(m), d - self._bent(g)         # (I + αΠG)y and (I + αΠG)d
        yy, yd, dd = (-_dot(*x).double() for x in ((steep, m), (steep, g), (before, g)))
        a, b = self.plane(yy, yd, dd, rise, other)
        least = _dot(self.residual, steep).double() / _dot(steep, steep).double().clamp_(min=NOTHING)
        blind = (a < SMALL) & (least > LARGE * a)
        a, b = torch.where(blind, least, a), torch.where(blind, 0.0, b)
        for x, now in ((d, y), (g, m)):
            x.mul_(b.to(x)).addcmul_(now, a.to(x))
        if careful is not None:
            shrink = FAR / (g.amax(-1, keepdim=True) - g.amin(-1, keepdim=True)).clamp_(min=FAR)
            shrink = torch.where(careful, shrink, 1.0)
            d.mul_(shrink)
            g.mul_(shrink)

    @staticmethod
    def plane(yy: Tensor, yd: Tensor, dd: Tensor, ry: Tensor, rd: Tensor) -> tuple[Tensor, Tensor]:
        """As ``kernels.plane``, (r, 1) each."""
        det = yy * dd - yd * yd
        wide = (yy > 0) & (dd > 0) & (det > APART * yy * dd)
        a = torch.where(wide, (ry * dd - rd * yd) / det, ry / yy)
        b = torch.where(wide, (rd * yy - ry * yd) / det, 0.0)
        sound = (a >= 0) & (a <= LARGE) & (b.abs() <= LARGE)
        return torch.where(sound, a, 0.0), torch.where(sound, b, 0.0)


def staggered(like: Tensor, count: int, rows: int) -> list[Tensor]:
    """Empty arrays of so many rows of ``like``, in one piece of memory, but each a little off from where the one before would
    make the same entries of all compete for the same few places in a cache."""
    size = rows * like.shape[-1]
    pieces = like.new_empty(count, size + _STAGGER // like.element_size())
    return [piece[:size].view(rows, -1) for piece in pieces]


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum(-1, keepdim=True)

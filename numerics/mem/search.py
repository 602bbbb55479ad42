"""The quick way of ``shared`` by PyTorch, on any device: conjugate gradients for many small problems that share a Gram matrix.

A step is the best one in the plane of a preconditioned residual y and of the step d before, by the quadratic model at the
weights p: for y = v and a quadratic function that is the method of conjugate gradients, and it forgives a Hessian that changes.
With the metric of G, the model's Hessian is αG + α²GΠG, so all it takes are products of y and d with −αG, of which the step
makes that of y. The preconditioner is (I + ΠC)⁻¹, where C, diagonal but for one direction, stands for αG; it may hide a
residual that G does not see, and where a step leads nowhere the next one goes without it.

Claims      deciphering.9
Notation    as in ``shared``; y = ahead, d = direction, f = lead, C = α(diag(diagonal) + ffᵀ)
"""

import torch
from torch import Tensor

from numerics.mem.kernels import (
    APART,
    BEYOND,
    CLOSE,
    FAR,
    LARGE,
    NOTHING,
    ROUNDS,
    SMALL,
    STEPS,
    STIFF,
    TINY,
    enough,
    near_squared,
    rounding,
    visible,
)
from numerics.mem.task import Found, Task


def solve(task: Task, found: Found, rows: int) -> None:
    """Write the solutions, so many rows at a time."""
    count = len(task.target)
    for first in range(0, count, rows):
        some = slice(first, first + rows)
        own = {name: x[some] if len(x) == count else x for name, x in task._asdict().items() if name in _OF_ROWS}
        tile = Search(task._replace(**own), Found(*(x[some] for x in found)))
        tile.search()
        tile.improve()
        tile.write()


_OF_ROWS = ("target", "alpha", "log_prior", "drift", "blur")


class Search:
    """A tile. All rows make the same number of steps here, there is no harm in that; only those that need it are corrected.

    Attributes:
        place, effect, direction, image, weights, residual, ahead, moved, fixed, w, logits: as in ``Space``, (r, n).
        reach, distance, settled, lost, goal, enough, reached, path: as there, (r, 1).
    """

    def __init__(self, task: Task, found: Found) -> None:
        self._task, self._found, self._alpha = task, found, task.alpha.unsqueeze(-1)
        self._scale = self._alpha.to(task.narrow.dtype)
        self.reach = task.target.norm(dim=-1, keepdim=True)
        self.fixed = task.target @ task.columns * self._alpha
        self.effect, self.image, self.residual, self.ahead, self.moved = (
            torch.empty_like(self.fixed, dtype=self._scale.dtype) for _ in range(5)
        )
        self.lost, self.enough = torch.zeros_like(self.reach), torch.zeros_like(self.reach)

    def search(self) -> None:
        """w as float32 finds it, until a linear correction is enough."""
        left, steps = self.start(), 0
        while left and steps < STEPS:
            left, steps = self.advance(), steps + 1
        self.w = self.place.double()
        self.w /= self.w.sum(-1, keepdim=True)               # where it is to have the sum one, as p has

    def improve(self) -> None:
        """Correct w until that is enough, row by row; one with NaN never needs it, as nothing helps it."""
        self.logits = torch.empty_like(self.w)
        self.assemble(torch.ones_like(self.enough, dtype=torch.bool))
        for _ in range(ROUNDS):
            late = self._late()
            if not bool(late.any()):
                break
            self.resume(late)
            left, steps = True, 0
            while left and steps < STEPS:
                left, steps = bool(self.correct()), steps + 1
            self.move(steps)
            blurred = self._late() & (self._worth() > (1 - CLOSE) * self.enough)
            if bool(blurred.any()):
                self.assemble(blurred)

    def write(self) -> None:
        """λ, ‖λ‖ and the mean, and what is known of them, rounding included."""
        task, found, alpha = self._task, self._found, self._alpha
        torch.mm(self.w, task.templates, out=found.mean)
        torch.sub(task.target, found.mean, out=found.dual).mul_(alpha)
        found.mean.add_(task.center)
        length = found.dual.norm(dim=-1, keepdim=True)
        sums, off = rounding(task, self.reach, alpha, length, 1 + self.w.shape[-1] ** 0.5 * self.settled)
        off = off + self.lost + task.blur.unsqueeze(-1)
        norm = task.root * self.settled + (sums + task.drift.unsqueeze(-1) + TINY) + task.radius * off
        near = torch.fmin(alpha.sqrt() * norm / 2, 2 * torch.tanh(task.radius * alpha * norm / 2)) + off
        for out, x in ((found.length, length), (found.gradient_norm, norm), (found.error, alpha * norm + TINY),
                       (found.weights_error, near), (found.mean_error, norm)):
            out.copy_(x.squeeze(-1))

    def start(self) -> int:
        """Set out from w = u, and return how many rows are left; one with NaN is not among them."""
        task = self._task
        near = near_squared(task, self.reach, self._alpha).sqrt()
        self.goal = torch.maximum(near, visible(task, self.reach, self._alpha))
        prior = task.log_prior.to(self._scale.dtype).exp()
        torch.add(self.fixed, task.log_prior, out=self.effect).add_(prior @ task.narrow * self._scale)
        self.place = prior.expand_as(self.effect).clone()
        self.direction = torch.zeros_like(self.place)
        self.image.zero_()
        return self._look()

    def advance(self) -> int:
        """Make a step of the search for w, and return how many rows are left."""
        a, b = self._step((self.distance > BEYOND) | (self._alpha * self._task.radius**2 > STIFF))
        self.place.add_(self.direction)
        self.effect.add_(self.image)
        return self._look((a == 0) & (b == 0))

    def assemble(self, rows: Tensor) -> None:
        """The logits of these rows, (r, 1), from w alone, and the ‖v‖ that is enough; and settle."""
        task, chosen = self._task, rows.squeeze(-1)
        alpha, w, fixed, reach = (x[chosen] for x in (self._alpha, self.w, self.fixed, self.reach))
        image = w @ task.gram * alpha
        log_prior = task.log_prior if len(task.log_prior) == 1 else task.log_prior[chosen]
        self.logits[chosen] = fixed - image + log_prior
        across = ((image - 2 * fixed) * w).sum(-1, keepdim=True) / alpha                 # ⟨w, Gw − 2Tb⟩
        length = alpha * (reach.square() + across).clamp(min=0).sqrt()
        self.enough[chosen], self.lost[chosen] = enough(task, reach, alpha, length), 0.0
        self._settle()

    def resume(self, rows: Tensor) -> None:
        """Set out for the e with (I + αΠG)e = v, from zero, in these rows, (r, 1); it is zero in others."""
        for x in (self.place, self.effect, self.direction, self.image):
            x.zero_()
        self.reached, self.path = torch.zeros_like(self.enough), torch.zeros_like(self.enough)
        self.goal = CLOSE * self.enough
        self.residual.copy_(torch.where(rows, self.residual, 0.0))
        self._aim()

    def correct(self) -> int:
        """Make a step of the search for e, and return how many rows are left."""
        a, b = self._step(None)
        self.reached = a.abs() * (self.ahead.norm(dim=-1, keepdim=True) + self._task.least) + b.abs() * self.reached
        self.path += self.reached
        self.place.add_(self.direction)
        self.effect.add_(self.image)
        bent = self._bent(self.image)
        return self._measure(self.residual.add_(bent).sub_(self.direction), (a == 0) & (b == 0))

    def move(self, steps: int) -> None:
        """Add e to w, in float64, and what was found for −αGe in so many steps to the logits; and settle."""
        self.logits.add_(self.effect)
        self.w.add_(self.place)
        self.lost += self._task.loss * (self.w.shape[-1] + 4 + 8 * steps) * self._alpha * self.path
        self._settle()

    def _settle(self) -> None:
        """p and ‖p − w‖ in float64; p and p − w to resume with."""
        weights = torch.softmax(self.logits, -1, out=self._found.weights)
        rest = weights - self.w
        self.settled = rest.norm(dim=-1, keepdim=True)
        self.weights.copy_(weights)
        self.residual.copy_(rest)

    def _worth(self) -> Tensor:
        """What the logits may have lost, as a ‖v‖."""
        worth: Tensor = self.lost * self._task.radius / self._task.root
        return worth

    def _late(self) -> Tensor:
        late: Tensor = (self.settled + self._worth() > self.enough) & (self.enough > 0)
        return late

    def _look(self, stuck: Tensor | None = None) -> int:
        self.weights = torch.softmax(self.effect, -1)
        return self._measure(torch.sub(self.weights, self.place, out=self.residual), stuck)

    def _measure(self, residual: Tensor, stuck: Tensor | None) -> int:
        self.distance = residual.norm(dim=-1, keepdim=True)
        self._aim(stuck)
        return int((self.distance > self.goal).sum())

    def _aim(self, stuck: Tensor | None = None) -> None:
        """y with y + ΠCy = v, or y = v in rows that are stuck, (r, 1): as ``kernels`` have it."""
        lead, factor = self._task.lead, self._scale if stuck is None else torch.where(stuck, 0.0, self._scale)
        c = factor * self._task.diagonal * self.weights
        torch.add(c, 1.0, out=self.moved).reciprocal_()
        torch.mul(self.moved, self.residual, out=self.ahead)
        behind = self.moved.mul_(self.weights)
        top, rest = _dot(c, self.ahead), 1 - _dot(c, behind)
        along, across, within = ((x @ y).unsqueeze(-1) for x, y in ((self.ahead, lead), (behind, lead), (behind, lead * lead)))
        much = 1 + factor * within
        share = 1 / (much * rest - factor * across * across)
        drop = share * factor * (rest * along + across * top)
        self.ahead.addcmul_(behind, share * (much * top + factor * across * along) - drop * lead)

    def _bent(self, image: Tensor) -> Tensor:
        """Π times what the image is, (r, n)."""
        bent = self.weights * image
        return bent.addcmul_(self.weights, bent.sum(-1, keepdim=True), value=-1.0)

    def _step(self, careful: Tensor | None) -> tuple[Tensor, Tensor]:
        """Make the next step, one that changes no logit next to another by more than ``FAR`` in rows where it is to be careful,
        (r, 1), and return its factors, (r, 1), before such care."""
        torch.mm(self.ahead, self._task.narrow, out=self.moved).mul_(self._scale)
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
        return a, b

    @staticmethod
    def plane(yy: Tensor, yd: Tensor, dd: Tensor, ry: Tensor, rd: Tensor) -> tuple[Tensor, Tensor]:
        """As ``kernels.plane``, (r, 1) each."""
        det = yy * dd - yd * yd
        wide = (yy > 0) & (dd > 0) & (det > APART * yy * dd)
        a = torch.where(wide, (ry * dd - rd * yd) / det, ry / yy)
        b = torch.where(wide, (rd * yy - ry * yd) / det, 0.0)
        sound = (a >= 0) & (a <= LARGE) & (b.abs() <= LARGE)
        return torch.where(sound, a, 0.0), torch.where(sound, b, 0.0)


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum(-1, keepdim=True)

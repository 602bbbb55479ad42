"""``Search`` for float32 on the CPU, by ``kernels``: the same steps, in few passes over memory.

Products stay with PyTorch, and so does the number of threads that they take; all else takes one.
"""

import numpy as np
import torch
from torch import Tensor

from numerics.mem import kernels
from numerics.mem.search import Search


class CompiledSearch(Search):
    """As ``Search``."""

    def __init__(self, narrow: Tensor, rows: int, careful: bool) -> None:
        super().__init__(narrow, rows, careful)
        self._narrow_diagonal = self._diagonal.numpy()

    def begin(self, rows: int, alpha: Tensor | None) -> None:
        changed = rows != self._rows
        super().begin(rows, alpha)
        self._factor = self._scale.numpy()
        if changed:
            self._state: kernels.State = tuple(  # type: ignore[assignment]
                x.numpy()
                for x in (self.place, self.effect, self.direction, self.image, self.weights, self.residual, self.ahead,
                          self.moved, self.distance)
            )

    def start(self, fixed: Tensor, log_prior: Tensor) -> None:
        prior = log_prior.to(self.dtype).exp()
        log, pulled, mass = (_rows(x) for x in (log_prior, self.times(prior), prior))
        kernels.start(fixed.numpy(), log, pulled, mass, self._narrow_diagonal, self._factor, self._state)

    def advance(self) -> None:
        self.times(self.ahead, self.moved)
        kernels.advance(self._narrow_diagonal, self._factor, self._careful, self._state)

    def resume(self) -> None:
        kernels.resume(self._narrow_diagonal, self._factor, self._state)

    def correct(self) -> None:
        self.times(self.ahead, self.moved)
        kernels.correct(self._narrow_diagonal, self._factor, self._state)

    def far(self, near: Tensor) -> int:
        return int(np.count_nonzero(self.distance.numpy() > near.numpy()))

    def normalize(self, out: Tensor) -> None:
        kernels.normalize(self.place.numpy(), out.numpy())

    def assemble(
        self, image: Tensor, fixed: Tensor, log_prior: Tensor, w: Tensor, reach: Tensor, alpha: Tensor
    ) -> Tensor:
        length = torch.empty_like(reach)
        rest = (x.numpy() for x in (w, reach, alpha, length))
        kernels.assemble(image.numpy(), fixed.numpy(), _rows(log_prior), *rest)
        return length

    def settle(self, logits: Tensor, w: Tensor, weights: Tensor, distance: Tensor) -> None:
        written = (weights, distance, self.weights, self.residual)
        kernels.settle(logits.numpy(), w.numpy(), *(x.numpy() for x in written))

    def move(self, logits: Tensor, w: Tensor) -> None:
        self.times(self.place, self.effect)
        kernels.move(logits.numpy(), self.effect.numpy(), w.numpy(), self.place.numpy())

    def write(self, target: Tensor, center: Tensor, alpha: Tensor, mean: Tensor, dual: Tensor, length: Tensor) -> None:
        kernels.write(*(x.numpy() for x in (target, center, alpha, mean, dual, length)))

    def lengths(self, x: Tensor, out: Tensor) -> Tensor:
        kernels.lengths(x.numpy(), out.numpy())
        return out


def _rows(x: Tensor) -> kernels.Array:
    """(1, n) of what all rows share, else (r, n)."""
    return x.reshape(-1, x.shape[-1]).numpy()

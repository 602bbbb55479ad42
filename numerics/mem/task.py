"""What the quick way of ``shared`` is given and gives, and where it works: tensors for ``search``, arrays for ``kernels``."""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Task(NamedTuple):
    """Problems on the same templates; what is (1, k) or (r, k) is the same for all rows, or not.

    Attributes:
        target: b, (r, d).
        alpha: (r,).
        log_prior: (1, n) or (r, n).
        drift, blur: as in ``Rows``, (1,) or (r,).
        center: c, (d,).
        templates, columns: T, (n, d), and Tᵀ, (d, n).
        gram: G, (n, n).
        narrow: −G, (n, n), in the dtype to search in.
        lead, diagonal: f, (n,), and what stands for the diagonal of G − ffᵀ, (n,), in that dtype.
        radius, root: bounds on max_i ‖t_i‖ and on √‖G‖.
        loss: what a product with ``narrow`` loses in one rounding, for a path of one.
        least: what a path has more at each step, for what underflow loses.
        tolerance: what ‖λ − λ*‖ is to be at most, relatively to 1 + ‖λ‖.
    """

    target: Any
    alpha: Any
    log_prior: Any
    drift: Any
    blur: Any
    center: Any
    templates: Any
    columns: Any
    gram: Any
    narrow: Any
    lead: Any
    diagonal: Any
    radius: float
    root: float
    loss: float
    least: float
    tolerance: float


class Found(NamedTuple):
    """Solutions: λ and Tᵀw + c, (r, d), and what ``Bounds`` have."""

    dual: Any
    mean: Any
    weights: Any
    length: Any
    gradient_norm: Any
    error: Any
    weights_error: Any
    mean_error: Any


class Space(NamedTuple):
    """Arrays for a tile, (rows, n) if nothing else is said: ten in float32, five in float64.

    Attributes:
        piece: how many multiplications a product is best to have at most.
        place: w, or the change of it that was found so far.
        effect: log u + α(Tb − Gw), or −αG times the change.
        direction, image: d and −αGd.
        weights: p.
        residual: v = p − w, or what is left of it by a linear model.
        ahead, moved: y and −αGy.
        prior, pulled: u and −Gu; the first row is for all if they share it.
        fixed: αTb.
        w, logits: w and log u + α(Tb − Gw).
        packed, product: w and Gw.
        alpha: α, in float32, (rows,).
        distance: ‖v‖, in float32, (rows,).
        reach: ‖b‖, (rows,).
        settled: ‖p − w‖, (rows,).
        lost: what each of the logits may have lost to float32, (rows,).
        goal: the ‖v‖ that a search is to reach, (rows,).
        enough: the ‖v‖ that the tolerance asks for, (rows,).
        reached, path: x_k and Σ_k x_k over the steps of a correction, where x_k = |a|‖y‖ + |b|x_{k−1} ≥ ‖d‖, (rows,).
        active, chosen: numbers of rows, (rows,).
    """

    piece: int
    place: Array
    effect: Array
    direction: Array
    image: Array
    weights: Array
    residual: Array
    ahead: Array
    moved: Array
    prior: Array
    pulled: Array
    fixed: Array
    w: Array
    logits: Array
    packed: Array
    product: Array
    alpha: Array
    distance: Array
    reach: Array
    settled: Array
    lost: Array
    goal: Array
    enough: Array
    reached: Array
    path: Array
    active: Array
    chosen: Array

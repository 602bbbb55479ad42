"""Votes on: Section 7, Corollary 7.5 and Remark 7.6: the Hessian of the potential is τF."""

import torch
from torch import Tensor

from evidence import Layer, Observed, Reading, Sampled, confirms
from evidence.eot.backward import with_baseline
from evidence.eot.fisher import SMALL, both, named, potential_hessian, reading, score_gradient, update
from evidence.eot.potential import value
from evidence.eot.section5_remarks import variance_without_baseline
from evidence.eot.section7_fisher import matrix
from evidence.instances.derivatives import hessian
from evidence.instances.one_sided import Row
from evidence.models.captured import SCALED
from evidence.models.rows import POTENTIAL_HESSIAN, in_random_models, pretrained_rows


@confirms(Layer.TORCH, "eot.105", on=SMALL, count=10)
def matrix_times_temperature(row: Row) -> Reading:
    return reading(row, 1 / row.tau, **both(row, row.tau))


@confirms(Layer.TORCH, "eot.s6.curvature", on=SMALL, count=10)
def value_hessian(row: Row) -> Reading:
    return reading(row, row.s / row.tau, 1 / row.tau, autograd=hessian(lambda s: value(s, row), row.s))


@confirms(Layer.TORCH, "eot.s7.information-distance", on=SMALL, count=10)
def divergence_curvature(row: Row) -> Reading:
    v, own = named(row, "v"), torch.log_softmax(row.s / row.tau, -1)

    def divergence(t: Tensor) -> Tensor:
        return (own.exp() * (own - torch.log_softmax((row.s + t * v) / row.tau, -1))).sum()

    curvature = hessian(divergence, named(row, "t"))
    return reading(row, (1 + v.abs().max()) ** 3 * (1 + named(row, "t")) / row.tau**2, autograd=curvature)


VOTES = [
    Sampled("eot.104", Layer.TORCH, matrix, on=SMALL, count=10),
    Sampled("eot.s7.utility-product", Layer.TORCH, score_gradient, on=SMALL, count=10, corrected=score_gradient),
    Sampled(("eot.s7.policy-gradient", "eot.s7.shared-geometry"), Layer.TORCH, update, on=SMALL, count=10),
    Sampled("eot.s7.variance-reduced", Layer.TORCH, variance_without_baseline, on=SMALL, count=10, corrected=with_baseline),
    Sampled(
        ("eot.cor7.5", "eot.100", "eot.101", "eot.102", "eot.103", "eot.rem7.6"),
        Layer.TORCH,
        potential_hessian,
        on=SMALL,
        count=10,
    ),
    Sampled("eot.s7.fisher-scaled", Layer.TORCH, potential_hessian, on=SMALL, count=10, corrected=potential_hessian),
    Observed("eot.100", Layer.TORCH, pretrained_rows(POTENTIAL_HESSIAN), name="encoder"),
    in_random_models("eot.100", POTENTIAL_HESSIAN, SCALED),
]

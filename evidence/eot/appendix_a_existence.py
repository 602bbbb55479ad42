"""Votes on: Appendix A, existence and uniqueness: each inference of the proof of Theorem A.6."""

from evidence import Layer, Reading, Sampled, confirms
from evidence.eot.appendix import Batch, batches
from evidence.eot.appendix_a_solution import attention_matrix, whole_matrix
from evidence.eot.conic_appendix import conic_batches


@confirms(Layer.TORCH, "eot.sA.bounded", on=batches())
def frobenius_norm(x: Batch) -> Reading:
    return x.reading(float(x.n), computed="right", direct=x["P"].square().sum())


VOTES = [
    Sampled("eot.thmA.6", Layer.TORCH, attention_matrix, on=batches()),
    Sampled("eot.thmA.6", Layer.PRIMAL, whole_matrix, on=conic_batches()),
]

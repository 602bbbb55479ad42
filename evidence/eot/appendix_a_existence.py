"""Votes on: Appendix A, existence and uniqueness: each inference of the proof of Theorem A.6."""

from __future__ import annotations

from evidence import Layer, Reading, confirms
from evidence.eot.appendix import Batch, batches
from evidence.eot.appendix_a_solution import attention_matrix, whole_matrix
from evidence.eot.conic_appendix import conic_batches

confirms(Layer.TORCH, "eot.thmA.6", on=batches())(attention_matrix)


@confirms(Layer.TORCH, "eot.sA.bounded", on=batches())
def frobenius_norm(x: Batch) -> Reading:
    return x.reading(float(x.n), computed="right", direct=x["P"].square().sum())


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "eot.thmA.6", on=conic_batches())(whole_matrix)

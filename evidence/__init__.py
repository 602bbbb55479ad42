"""Numeric evidence for the claims: votes by PyTorch, conic solvers, captured models and shipped source code.

A module of votes has the name of its chapter: `evidence/eot/section5_gradient.py` votes on the claims of
`derivations/documents/eot/section5_gradient.py`.  It computes the printed left side by independent routes and returns it as a
`Reading`; the harness compares it with the proved expression, every twin and one-edit mutants.

    from evidence import Layer, Reading, confirms

    @confirms(Layer.TORCH, "eot.59", on=rows())
    def whole_jacobian(row: Row) -> Reading:
        return reading(row, 1 / row.tau, **jacobians(row))

`observes` registers evidence that does not come from random instances: captured models, source code, experiments.  Votes by
functions that are written elsewhere are rows, `Sampled` or `Observed`, of the list `VOTES` of their module.
"""

from derivations.records.claims import Layer, Outcome
from evidence.bridge import Value
from evidence.harness import choose, finding, float64, hold
from evidence.readings import REFUTING_FACTOR, Reading
from evidence.registry import Finding, Observed, Run, Sampled, confirms, observes

__all__ = [
    "REFUTING_FACTOR",
    "Finding",
    "Layer",
    "Observed",
    "Outcome",
    "Reading",
    "Run",
    "Sampled",
    "Value",
    "choose",
    "confirms",
    "finding",
    "float64",
    "hold",
    "observes",
]

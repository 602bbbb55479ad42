"""What speaks for the claims beside their derivations: votes of PyTorch, of conic solvers, of models and of source code.

A module of votes mirrors a chapter by its name: `evidence/eot/section5_gradient.py` holds what speaks for the claims of
`derivations/eot/section5_gradient.py`.  It computes the printed left side by routes of its own and hands it over as a
`Reading`; the harness holds it against the proved expression, every twin and one-edit mutants.

    from evidence import Layer, Reading, confirms

    @confirms(Layer.TORCH, "eot.59", on=rows())
    def whole_jacobian(row: Row) -> Reading:
        return reading(row, 1 / row.tau, **jacobians(row))

`observes` registers what is not drawn: captured models, shipped source code, experiments.
"""

from derivations.claims import Layer, Outcome
from evidence.bridge import Value
from evidence.harness import choose, finding, float64, hold
from evidence.readings import REFUTING_FACTOR, Reading
from evidence.registry import Finding, Run, confirms, observes

__all__ = ["REFUTING_FACTOR", "Finding", "Layer", "Outcome", "Reading", "Run", "Value", "choose", "confirms", "finding",
           "float64", "hold", "observes"]

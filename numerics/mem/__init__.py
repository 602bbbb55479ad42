"""Maximum entropy on the mean: closed forms, the exact solution, and a certificate for the printed approximation.

    min over the simplex of  α/2 ‖μ + z − Σ_i p_i t_i‖² + KL(p ‖ u)

for templates t_i, a prior u with mean μ = Σ_i u_i t_i, evidence z and α > 0 (``deciphering.4``).
"""

from numerics.mem.certificate import Certificate, certificate
from numerics.mem.closed_forms import (
    closed_form,
    dual_gradient,
    dual_objective,
    log_partition,
    moments,
    primal_objective,
    resolvent,
    tilt,
)
from numerics.mem.solver import Solution, solve

__all__ = [
    "Certificate",
    "Solution",
    "certificate",
    "closed_form",
    "dual_gradient",
    "dual_objective",
    "log_partition",
    "moments",
    "primal_objective",
    "resolvent",
    "solve",
    "tilt",
]

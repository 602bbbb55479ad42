"""How solvers approach a problem with little entropy from problems with more of it: one set of constants for all of them."""

ROUGH_TOLERANCE = 1e-2
"""The residual, as a share of the mass or length at hand, at which a problem on the way counts as solved."""
INITIAL_TILT = 10.0
"""How far the exponents of the first problem spread."""
RATE = 4.0
"""How many times as much entropy a problem has as the next one."""

"""Votes on: Section 3: the motivating example, a Gaussian prior."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.gaussian import gaussian_problems
from evidence.deciphering.perspectives import nearer_and_farther
from evidence.deciphering.problem import divergence
from evidence.deciphering.section5_gaussian import (
    density_ratio,
    dual_slope,
    generating_function,
    greatest_dual_value,
    minimizer_density,
    objective,
    tilted_density,
    tilted_mean,
)
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "inference.1", on=gaussian_problems())(objective)


confirms(Layer.TORCH, "inference.2", on=gaussian_problems())(minimizer_density)


confirms(Layer.TORCH, "inference.3", on=gaussian_problems())(greatest_dual_value)


confirms(Layer.TORCH, "inference.s3.mgf", on=gaussian_problems())(generating_function)


confirms(Layer.TORCH, "inference.s3.dual-point", on=gaussian_problems())(dual_slope)


confirms(Layer.TORCH, "inference.s3.proportional", on=gaussian_problems())(density_ratio)


confirms(Layer.TORCH, "inference.s3.minimizer", on=gaussian_problems())(tilted_density)


confirms(Layer.TORCH, "inference.s3.estimate", on=gaussian_problems())(tilted_mean)


confirms(Layer.TORCH, "inference.s3.perspectives", on=mem_problems())(nearer_and_farther)


confirms(Layer.TORCH, "inference.s3.kl", on=mem_problems(smallest_n=2))(divergence)

"""Votes on: Section 4: the unknown distribution, its prior guess and the noisy evidence."""

from __future__ import annotations

from evidence import Layer, confirms, observes
from evidence.deciphering.problem import NOISES, mean_evidence
from evidence.deciphering.section3_setup import MEANS, gaussian_mean, growing_mean, mean_shift, noise_covariance, noise_size
from evidence.instances.mem import mem_problems
from evidence.source import sequence_layers

confirms(Layer.TORCH, "inference.4", on=MEANS, count=20, corrected=gaussian_mean)(growing_mean)


confirms(Layer.TORCH, "inference.s4.mean-shift", on=mem_problems())(mean_shift)


confirms(Layer.TORCH, "inference.5", on=NOISES, count=20)(noise_covariance)


confirms(Layer.TORCH, "inference.s4.shift-of-mu", on=NOISES, count=20, corrected=mean_evidence)(mean_evidence)


confirms(Layer.TORCH, "inference.s4.estimate-of-h", on=NOISES, count=20)(noise_size)


# ── by shipped source code ────────────────────────────────────────────────────────────────────────────────────────────

observes(Layer.SOURCE, "inference.fn2")(sequence_layers.keep_the_length)

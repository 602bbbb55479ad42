"""Votes on: Section 7: T5 as a realization of (21) with τ = d."""

from __future__ import annotations

from evidence import Layer, Reading, confirms, observes
from evidence.deciphering.attention import blanks, estimates, hidden, t5
from evidence.deciphering.section7_t5 import odds_of_words, preference, prior_of_words
from evidence.instances.heads import Head, drawn_heads
from evidence.source import heads

confirms(Layer.TORCH, "inference.s7.t5-structure", "inference.s7.t5-realizes", on=drawn_heads(), count=12)(t5)


confirms(Layer.TORCH, "inference.s7.mask-function", on=drawn_heads(), count=12, corrected=hidden)(blanks)


confirms(Layer.TORCH, "inference.s7.unified", on=drawn_heads(), count=12)(odds_of_words)


confirms(Layer.TORCH, "inference.s7.t5-inputs", on=drawn_heads(smallest_n=2), count=12)(prior_of_words)


confirms(Layer.TORCH, "inference.22", on=drawn_heads(), count=12)(preference)


@confirms(Layer.TORCH, "inference.23", on=drawn_heads(), count=12)
def with_divided_scores(head: Head) -> Reading:
    return estimates(head, head.d**-0.5)


# ── by shipped source code ────────────────────────────────────────────────────────────────────────────────────────────

observes(Layer.SOURCE, "inference.s7.t5-structure", "inference.s7.t5-realizes")(heads.t5_heads_as_printed)


observes(Layer.SOURCE, "inference.s7.t5-inputs")(heads.t5_priors)


observes(Layer.SOURCE, "inference.s7.mask-function")(heads.t5_masks)

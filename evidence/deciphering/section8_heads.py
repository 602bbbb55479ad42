"""Votes on: Section 8: what a head of BERT and of T5 computes, and how it becomes (18)."""

from __future__ import annotations

from evidence import Layer, Reading, confirms, observes
from evidence.deciphering.attention import reading, t5
from evidence.instances.heads import Head, drawn_heads
from evidence.source import heads, t5_parts


def bert(head: Head) -> Reading:
    return reading(
        head,
        library=head.by_library(head["X"], None, None, biases=True),
        generalized=head.generalized(head["X"], None, biases=True),
    )


confirms(Layer.TORCH, "deciphering.21", on=drawn_heads(), count=12, corrected=bert)(bert)


@confirms(Layer.TORCH, "deciphering.s8.reparametrization", on=drawn_heads(), count=12)
def without_biases(head: Head) -> Reading:
    return reading(head, library=head.by_library(head["X"], None, None), generalized=head.generalized(head["X"], None))


confirms(Layer.TORCH, "deciphering.22", "deciphering.s8.t5-reparametrization", on=drawn_heads(), count=12, corrected=t5)(t5)


def cross(head: Head) -> Reading:
    query, mask = head["y"][None], head.log_mask[None]
    base = reading(head, library=head.by_library(query, mask, 1.0)[0], generalized=head.generalized(query, mask, 1.0)[0])
    return Reading({**base.point, "j": 1}, base.routes, base.tolerance)


confirms(Layer.TORCH, "deciphering.s8.cross-prior", on=drawn_heads(), count=12, corrected=cross)(cross)


# ── by shipped source code ────────────────────────────────────────────────────────────────────────────────────────────

observes(Layer.SOURCE, "deciphering.21")(heads.bert_heads)


observes(Layer.SOURCE, "deciphering.22", "deciphering.s8.t5-reparametrization")(heads.t5_heads)


observes(Layer.SOURCE, "deciphering.s8.cross-prior")(heads.t5_cross_heads)


observes(Layer.SOURCE, "deciphering.s8.three-types")(t5_parts.three_types)

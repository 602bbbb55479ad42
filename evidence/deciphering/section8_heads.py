"""Votes on: Section 8: what a head of BERT and of T5 computes, and how it becomes (18)."""

from evidence import Layer, Observed, Reading, Sampled, confirms
from evidence.deciphering.attention import reading, t5
from evidence.instances.heads import Head, drawn_heads
from evidence.source import heads, t5_parts


def bert(head: Head) -> Reading:
    return reading(
        head,
        library=head.by_library(head["X"], None, None, biases=True),
        generalized=head.generalized(head["X"], None, biases=True),
    )


@confirms(Layer.TORCH, "deciphering.s8.reparametrization", on=drawn_heads(), count=12)
def without_biases(head: Head) -> Reading:
    return reading(head, library=head.by_library(head["X"], None, None), generalized=head.generalized(head["X"], None))


def cross(head: Head) -> Reading:
    query, mask = head["y"][None], head.log_mask[None]
    base = reading(head, library=head.by_library(query, mask, 1.0)[0], generalized=head.generalized(query, mask, 1.0)[0])
    return Reading({**base.point, "j": 1}, base.routes, base.tolerance)


VOTES = [
    Sampled("deciphering.21", Layer.TORCH, bert, on=drawn_heads(), count=12, corrected=bert),
    Sampled(
        ("deciphering.22", "deciphering.s8.t5-reparametrization"), Layer.TORCH, t5, on=drawn_heads(), count=12, corrected=t5
    ),
    Sampled("deciphering.s8.cross-prior", Layer.TORCH, cross, on=drawn_heads(), count=12, corrected=cross),
    Observed("deciphering.21", Layer.SOURCE, heads.bert_heads),
    Observed(("deciphering.22", "deciphering.s8.t5-reparametrization"), Layer.SOURCE, heads.t5_heads),
    Observed("deciphering.s8.cross-prior", Layer.SOURCE, heads.t5_cross_heads),
    Observed("deciphering.s8.three-types", Layer.SOURCE, t5_parts.three_types),
]

"""The transport chapter's section 4 in torch: linear attention and FlashAttention."""

from evidence import Reading
from evidence.instances.attention import AttentionProblem, by_pot
from numerics import one_sided
from numerics.linear import kernel_weights


def own_plan(x: AttentionProblem) -> Reading:
    kernel = x["f"] @ x["g"].T
    routes = {
        "linear": kernel_weights(x["f"], x["g"]),
        "closed_form": one_sided.plan(x.eps * kernel.log(), x.eps),
        "pot": by_pot(x.eps * kernel.log(), x.eps),
    }
    return x.reading(kernel.log(), extra={"κ": kernel}, **routes)

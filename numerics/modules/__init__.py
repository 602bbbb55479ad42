"""Attention for use in models: drop-ins for PyTorch's and for transformers', with a choice of attention.

    layer = MultiheadAttention(64, 4, batch_first=True, attention="sparsemax")     # for torch.nn.MultiheadAttention
    replace(model, Sinkhorn(half_steps=4))                                         # for all of them in a model
    model.set_attn_implementation(register(MaximumEntropy(alpha=0.5)))             # for a Hugging Face model

``register`` needs transformers, and is imported from ``numerics.modules.hugging_face``.
"""

from numerics.modules.functional import scaled_dot_product_attention
from numerics.modules.kinds import (
    KINDS,
    Attention,
    Entmax,
    Linear,
    MaximumEntropy,
    OptimalTransport,
    SemiRelaxed,
    Sinkhorn,
    Softmax,
    Sparsemax,
    attention_of,
)
from numerics.modules.multihead import MultiheadAttention, replace

__all__ = [
    "KINDS",
    "Attention",
    "Entmax",
    "Linear",
    "MaximumEntropy",
    "MultiheadAttention",
    "OptimalTransport",
    "SemiRelaxed",
    "Sinkhorn",
    "Softmax",
    "Sparsemax",
    "attention_of",
    "replace",
    "scaled_dot_product_attention",
]

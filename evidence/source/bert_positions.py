"""The positions of the shipped BERT: rows of a table of trained numbers."""

from collections.abc import Iterator

import torch
from torch import Tensor

from evidence import Finding, Reading, Run
from evidence.source.heads import corrected
from numerics import tolerances

ROWS, WIDTH = 3, 4


def pretrained() -> Iterator[Reading]:
    """The squared norms of some rows of the pretrained table, [j, k]."""
    from numerics.models.encoder import load_encoder

    weight = load_encoder().model.embeddings.position_embeddings.weight.detach().double()
    for start in (0, 1, 100):
        table = weight[start : start + ROWS]
        squares = table.square().sum(-1)
        point = {"n": ROWS, "d": table.shape[1], "P": table}
        yield Reading(point, {"BERT": squares[:, None].expand(ROWS, ROWS)}, tolerances.rounding("float64", table.shape[1]))


def trained() -> Iterator[Reading]:
    """The derivative of the shipped module's output in each number of the table, [a, c, j, k]."""
    from transformers import BertConfig, BertModel

    for seed in range(2):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = BertModel(
                BertConfig(
                    vocab_size=8,
                    hidden_size=WIDTH,
                    num_hidden_layers=1,
                    num_attention_heads=1,
                    intermediate_size=4,
                    max_position_embeddings=ROWS,
                ),
                add_pooling_layer=False,
            ).double()
        module = model.embeddings.position_embeddings

        def rows(weight: Tensor, module: torch.nn.Module = module) -> Tensor:
            embedded: Tensor = torch.func.functional_call(module, {"weight": weight}, (torch.arange(ROWS),))
            return embedded

        derivatives = torch.func.jacrev(rows)(module.weight.detach())  # j, a, k, c
        point = {"n": ROWS, "d": WIDTH, "P": module.weight.detach()}
        yield Reading(point, {"BERT": derivatives.permute(1, 3, 0, 2)}, tolerances.rounding("float64", 1))


def learned(claim: str, run: Run) -> Finding:
    """The rows of the pretrained table have different norms; each number of a random one is moved by its own gradient."""
    return corrected(claim, "BERT", pretrained(), trained())

"""The estimation problems inside a model: templates, evidence and prior of every head and query, read off one forward pass.

The model runs with its own arithmetic.  From what enters each attention module, and from that module's projections, the
problem of ``deciphering`` (section 8) is put together in float64; it is accepted only if its scores are those that the
model itself computed, up to a constant for each query, which attention does not see.  A module that turns queries and keys
by their positions (rotary embeddings) has no such form, and is refused.

Claims      deciphering.21, deciphering.22, deciphering.fig4
Notation    t_i = ρx_i = templates; z = Kᵀ(Q y_k + b_Q)/α = evidence; u = prior; ρ = scaling; d′ = width of a head
Shapes      heads H, queries Q, templates n, width d
"""

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from numerics import tolerances
from numerics.attention import GeneralizedAttention
from numerics.models.capture import AttentionProblem, CaptureError, Role, capture
from numerics.priors import tilted

_NUMBERS = 2**24
"""How many numbers an array of one block of queries may have, unless a single query has more."""

_PAIRS = (("query", "key"), ("q", "k"), ("q_proj", "k_proj"), ("q_lin", "k_lin"))
_SOURCES = ("key_value_states", "encoder_hidden_states")


@dataclass(frozen=True, eq=False)
class Block:
    """Some queries of one layer, all heads: R problems that share their templates.  Float64.

    Attributes:
        evidence: z, (R, d).
        prior: u, (R, n); zeros where a template is masked, and throughout a row that is fully masked.
        head, query: of each row, int64, (R,).
    """

    evidence: Tensor
    prior: Tensor
    head: Tensor
    query: Tensor


@dataclass(frozen=True, eq=False)
class Layer:
    """One attention module at work on one sequence.

    Attributes:
        module: its qualified name.
        role: encoder, decoder (causal) or cross.
        number: its number among the modules of its role.
        heads, queries: H and Q.
        templates: t, (n, d), float64.
        alpha: α.
        resolution: how far a template may be from what it stands for: the rounding of the model's own dtype.
        padding: how many problems (heads × queries) belong to padding; they are in no block.
    """

    module: str
    role: Role
    number: int
    heads: int
    queries: int
    templates: Tensor
    alpha: float
    resolution: float
    padding: int
    _attention: GeneralizedAttention
    _hidden: Tensor
    _source: Tensor
    _log_prior: Tensor
    _real_queries: Tensor

    def blocks(self) -> Iterator[Block]:
        """Yield the problems without padding, in blocks of at most 128 MB."""
        for queries in self._real_queries.split(_block_size(self.heads, self.templates)):  # type: ignore[no-untyped-call]
            mask = self._log_prior[:, queries]
            problem = self._attention.problem(self._hidden[queries], self._source, mask, self.alpha)
            count = len(queries)
            yield Block(
                problem.evidence.flatten(0, 1),
                problem.prior.flatten(0, 1),
                torch.arange(self.heads, device=queries.device).repeat_interleave(count),
                queries.repeat(self.heads),
            )

    @property
    def supports(self) -> Tensor:
        """The different sets of templates that a query sees, boolean, (·, n)."""
        seen = (self._log_prior[:, self._real_queries] != -torch.inf).flatten(0, 1)
        distinct: Tensor = seen.unique(dim=0)  # type: ignore[no-untyped-call]
        return distinct


def layers(model: PreTrainedModel, inputs: Mapping[str, Tensor], alpha: float = 1.0) -> list[list[Layer]]:
    """Run a model once and return its layers, a list of them for each sequence of the batch.

    Args:
        model: a transformers model whose attention can be captured.
        inputs: keyword arguments of its forward pass; queries at zeros of an attention mask are padding.
        alpha: the evidence is divided by it, which leaves attention what it is and changes the problem.

    Raises:
        CaptureError: if a module is not softmax attention of linear queries and keys, the reason in one line.
    """
    received: dict[str, list[tuple[Tensor, Tensor]]] = {}
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if _attends(module):
                listener = _listener(received.setdefault(name, []))
                stack.callback(module.register_forward_pre_hook(listener, with_kwargs=True).remove)
        captured = capture(model, inputs)
    numbers: Counter[str] = Counter()
    sequences: list[list[Layer]] = []
    for problem in captured:
        module = model.get_submodule(problem.module)
        if not received.get(problem.module):
            raise CaptureError(_refusal(model, problem, "its input could not be recorded"))
        hidden, source = received[problem.module][-1]  # it ran twice, the second time recorded
        number = numbers[problem.role]
        numbers[problem.role] += 1
        attention, magnitude = _projections(model, module, problem, hidden, source)
        _check_scores(model, problem, attention, hidden, source, magnitude)
        while len(sequences) < len(hidden):
            sequences.append([])
        for sequence, of_sequence in enumerate(sequences):
            padding = _padding(model, inputs, problem)
            of_sequence.append(_layer(problem, number, attention, hidden, source, sequence, padding, alpha))
    return sequences


def _layer(
    problem: AttentionProblem,
    number: int,
    attention: GeneralizedAttention,
    hidden: Tensor,
    source: Tensor,
    sequence: int,
    padding: Tensor | None,
    alpha: float,
) -> Layer:
    _, heads, queries, n = problem.scores.shape
    y, x = hidden[sequence].double(), source[sequence].double()
    real = torch.arange(queries, device=y.device)
    if padding is not None:
        real = real[~padding[sequence].to(real.device)]
    templates = problem.scaling * x
    radius = float(templates.norm(dim=-1).max())
    return Layer(
        module=problem.module,
        role=problem.role,
        number=number,
        heads=heads,
        queries=queries,
        templates=templates,
        alpha=alpha,
        resolution=tolerances.rounding(hidden.dtype, max(templates.shape), radius),
        padding=heads * (queries - len(real)),
        _attention=attention,
        _hidden=y,
        _source=x,
        _log_prior=_log_prior(problem, sequence).expand(-1, queries, n),
        _real_queries=real,
    )


def _log_prior(problem: AttentionProblem, sequence: int) -> Tensor:
    """log u of one sequence, (1 or H, 1 or Q, n), float64; the library's finfo.min is −inf."""
    total = problem.scores.new_zeros(1, 1, 1, dtype=torch.float64)
    for term in (problem.bias, problem.mask):
        if term is not None:
            of_all = term.expand(problem.scores.shape[0], *term.shape[-3:]) if term.ndim == 4 else term.unsqueeze(0)
            values = of_all[sequence if len(of_all) > 1 else 0]
            total = total + torch.where(values <= torch.finfo(values.dtype).min / 2, -torch.inf, values.double())
    # A prior that underflows is computed with as zero.
    return torch.where(tilted(total, torch.zeros_like(total)) < torch.finfo(total.dtype).tiny, -torch.inf, total)


def _padding(model: PreTrainedModel, inputs: Mapping[str, Tensor], problem: AttentionProblem) -> Tensor | None:
    """Which queries are padding, boolean, (B, Q)."""
    decoding = model.config.is_encoder_decoder and problem.role != "encoder"
    mask = inputs.get("decoder_attention_mask" if decoding else "attention_mask")
    if mask is None or mask.shape[-1] != problem.scores.shape[-2]:
        return None
    return mask == 0


def _attends(module: nn.Module) -> bool:
    return any(hasattr(module, name) for pair in _PAIRS for name in pair[:1]) or any(
        hasattr(module, name) for name in ("c_attn", "query_key_value")
    )


def _listener(into: list[tuple[Tensor, Tensor]]) -> Any:
    def listen(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        parameters = inspect.signature(module.forward).parameters
        arguments = dict(zip(parameters, args, strict=False)) | kwargs
        hidden = arguments.get("hidden_states", args[0] if args else None)
        source = next((arguments[name] for name in _SOURCES if isinstance(arguments.get(name), Tensor)), hidden)
        if isinstance(hidden, Tensor) and isinstance(source, Tensor):
            into[:] = [(hidden.detach(), source.detach())]

    return listen


def _projections(
    model: PreTrainedModel, module: nn.Module, problem: AttentionProblem, hidden: Tensor, source: Tensor
) -> tuple[GeneralizedAttention, Tensor]:
    """The module as generalized attention in float64, and the magnitude of the terms of each score."""
    heads = problem.scores.shape[1]
    (wq, bq), (wk, bk) = _weights(model, module, problem)
    width = wq.shape[0] // heads
    if wq.shape[0] % heads or wk.shape[0] % width:
        raise CaptureError(_refusal(model, problem, "its projections do not split into its heads"))
    groups = wk.shape[0] // width  # fewer than heads where queries are grouped
    wk, bk = (x.reshape(groups, width, -1).repeat_interleave(heads // groups, 0).flatten(0, 1) for x in (wk, bk))
    with torch.device("meta"):  # values and output are not needed
        attention = GeneralizedAttention(
            wq.shape[1], heads, head_width=width, source_width=wk.shape[1], scale=problem.scaling, output=False
        )
    attention.query.weight, attention.query.bias, attention.key.weight = (
        nn.Parameter(x, requires_grad=False) for x in (wq, bq, wk)
    )
    query = hidden.double().abs() @ wq.abs().T + bq.abs()
    key = source.double().abs() @ wk.abs().T + bk[:, 0].abs()
    query, key = (x.reshape(*x.shape[:2], heads, width).transpose(1, 2) for x in (query, key))
    return attention, query @ key.mT


def _weights(
    model: PreTrainedModel, module: nn.Module, problem: AttentionProblem
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Weight (H·d′, d) and bias (H·d′,) of queries and of keys, float64."""
    for pair in _PAIRS:
        query, key = (getattr(module, name, None) for name in pair)
        if isinstance(query, nn.Linear) and isinstance(key, nn.Linear):
            return _linear(query), _linear(key)
    fused = getattr(module, "c_attn", None)
    if isinstance(fused, Conv1D):
        weight, bias = fused.weight.detach().double().T, fused.bias.detach().double()
        separate = getattr(module, "q_attn", None)
        if isinstance(separate, Conv1D):  # cross-attention: keys and values only are fused
            half = len(weight) // 2
            own = separate.weight.detach().double().T, separate.bias.detach().double()
            return own, (weight[:half], bias[:half])
        third = len(weight) // 3
        return (weight[:third], bias[:third]), (weight[third : 2 * third], bias[third : 2 * third])
    fused = getattr(module, "query_key_value", None)
    heads = problem.scores.shape[1]
    if isinstance(fused, nn.Linear) and fused.out_features % (3 * heads) == 0:
        weight, bias = _linear(fused)
        weight, bias = weight.reshape(heads, 3, -1, weight.shape[1]), bias.reshape(heads, 3, -1)
        return (weight[:, 0].flatten(0, 1), bias[:, 0].flatten()), (weight[:, 1].flatten(0, 1), bias[:, 1].flatten())
    raise CaptureError(_refusal(model, problem, "its query and key projections have unknown names"))


def _linear(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    weight = linear.weight.detach().double()
    return weight, weight.new_zeros(len(weight)) if linear.bias is None else linear.bias.detach().double()


def _check_scores(
    model: PreTrainedModel,
    problem: AttentionProblem,
    attention: GeneralizedAttention,
    hidden: Tensor,
    source: Tensor,
    magnitude: Tensor,
) -> None:
    """Refuse a module whose scores differ from ⟨t_i, αz⟩ by more than a constant for each query and rounding."""
    size = hidden.shape[-1] + source.shape[-1] + attention.head_width
    allowed = tolerances.rounding(problem.scores.dtype, size) * magnitude
    allowed = allowed + allowed.mean(-1, keepdim=True)
    x = source.double()
    for queries in torch.arange(hidden.shape[1], device=x.device).split(  # type: ignore[no-untyped-call]
        _block_size(attention.heads, x)
    ):
        evidence = attention.problem(hidden[:, queries].double(), x).evidence
        difference = evidence @ x.unsqueeze(1).mT - problem.scores[:, :, queries].double()
        difference = difference - difference.mean(-1, keepdim=True)
        if not bool((difference.abs() <= allowed[:, :, queries]).all()):
            raise CaptureError(_refusal(model, problem, "its scores are not products of linear queries and keys"))


def _block_size(heads: int, templates: Tensor) -> int:
    """The number of queries in one block."""
    return max(1, _NUMBERS // (heads * max(templates.shape[-2:])))


def _refusal(model: PreTrainedModel, problem: AttentionProblem, reason: str) -> str:
    return f"cannot read the attention of {type(model).__name__}: in module {problem.module}, {reason}"

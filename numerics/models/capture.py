"""Attention problems captured from Hugging Face models.

A model is run with its own eager arithmetic while a recorder watches the three operations every attention layer is
made of: the product q·k, the softmax, and the product with the values. Nothing is re-implemented, so the captured
tensors are those of the model, bit for bit; a layer that is not `softmax(scores·scaling + bias + mask) @ values` is
refused.

Notation
    s = scores = q·k, before scaling        τ = temperature = 1/scaling
    p = probabilities = softmax(s/τ + bias + mask)
    c = output = E_p[v], before the heads are merged
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask
from transformers.models.bloom.modeling_bloom import BloomAttention
from transformers.utils import ModelOutput

from numerics.models.recorder import Product, Recorder

Role = Literal["encoder", "decoder", "cross"]

_IMPLEMENTATION = "recorded_eager"
_SOURCE_ARGUMENTS = ("key_value_states", "encoder_hidden_states")


class CaptureError(RuntimeError):
    """The attention of a model cannot be captured; the message names the model class and the reason."""


@dataclass(frozen=True, eq=False)
class AttentionProblem:
    """One attention call of a model: B batch, H heads, Q queries, K keys, Dv value dimension.

    Tensors are detached and keep the model's dtype and device. `bias` and `mask` broadcast to (B, H, Q, K); either may
    be None. The float mask of the library's eager arithmetic is `finfo.min`, not −inf, at masked positions.

    module           qualified name of the attention module; a module called twice gives two problems
    role             "encoder" and "decoder" (causal) are self-attention
    scores           s = q·k before scaling, (B, H, Q, K), with the query as the attention function receives it
    scaling          the factor on the scores, 1/τ
    bias             additive position bias
    mask             additive mask
    probabilities    (B, H, Q, K)
    values           (B, H, K, Dv), repeated for grouped-query models so that every query head has its own
    output           c = probabilities @ values, (B, H, Q, Dv), before the heads are merged
    score_gradient   ∂L/∂s, (B, H, Q, K), if a loss was given
    output_gradient  ∂L/∂c, (B, H, Q, Dv), if a loss was given
    """

    module: str
    role: Role
    scores: Tensor
    scaling: float
    bias: Tensor | None
    mask: Tensor | None
    probabilities: Tensor
    values: Tensor
    output: Tensor
    score_gradient: Tensor | None = None
    output_gradient: Tensor | None = None

    @property
    def temperature(self) -> float:
        """τ = 1/scaling."""
        return 1.0 / self.scaling

    @property
    def logits(self) -> Tensor:
        """scores·scaling + bias + mask in the models' own order of operations, (B, H, Q, K)."""
        logits = self.scores * self.scaling
        for term in (self.bias, self.mask):
            if term is not None:
                logits = logits + term
        return logits


def capture(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], loss: Callable[[ModelOutput], Tensor] | None = None
) -> list[AttentionProblem]:
    """Run `model(**inputs)` in evaluation mode and return its attention problems in the order of the calls.

    `loss` maps the model's output to a scalar; with it every problem carries the gradients that autograd sends through
    the model. The model runs twice, once untouched with its eager attention, and the two outputs must agree bit for
    bit. Training flags, attention implementation and parameter gradients are left as they were.

    Raises CaptureError when the model's attention cannot be captured, and ValueError when the loss is not a
    differentiable scalar that depends on some attention layer.
    """
    if not isinstance(model, PreTrainedModel):
        raise CaptureError(f"cannot capture attention of {type(model).__name__}: not a transformers PreTrainedModel")
    fused = any(isinstance(module, BloomAttention) for module in model.modules())
    if not fused and not model._can_set_attn_implementation():
        raise CaptureError(_refusal(model, "it does not use the transformers attention interface"))

    tape = _Tape(model, differentiable=loss is not None)
    with _state_restored(model):
        model.eval()
        with torch.no_grad():
            _select(model, "eager")
            reference = model(**inputs)
        with torch.enable_grad() if tape.differentiable else torch.no_grad(), tape.recording():
            _select(model, _IMPLEMENTATION)
            output = model(**inputs)
            _require_same_outputs(model, reference, output)
            if not tape.calls:
                raise CaptureError(_refusal(model, "no call went through the transformers attention interface"))
            if loss is not None:
                return _differentiate(tape.calls, loss(output))
    return [call.problem for call in tape.calls]


@dataclass(frozen=True)
class _Call:
    """A problem together with the graph's own tensors: ∂L/∂scores = factor · ∂L/∂product."""

    problem: AttentionProblem
    product: Tensor
    factor: float
    output: Tensor


class _Tape:
    """Collects the attention calls of one forward pass."""

    def __init__(self, model: PreTrainedModel, differentiable: bool) -> None:
        self.model = model
        self.differentiable = differentiable
        self.calls: list[_Call] = []
        self._names = {module: name for name, module in model.named_modules()}
        self._attends_elsewhere: set[nn.Module] = set()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Listen to every attention module of the model."""
        with ExitStack() as stack:
            token = _active_tape.set(self)
            stack.callback(_active_tape.reset, token)
            for module in self._names:
                if isinstance(module, BloomAttention):
                    stack.enter_context(_forward_replaced(module, self._fused_forward(module)))
                elif set(_SOURCE_ARGUMENTS) & inspect.signature(module.forward).parameters.keys():
                    stack.callback(module.register_forward_pre_hook(self._note_source, with_kwargs=True).remove)
            yield

    def interface(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **kwargs: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Run the module's own eager attention function under a recorder."""
        eager = self._eager_function(module)
        with Recorder(self.differentiable) as recorder:
            result: tuple[Tensor, Tensor | None] = eager(module, query, key, value, mask, **kwargs)
        first, last = self._two_products(module, recorder)
        scaling = kwargs.get("scaling")
        problem = AttentionProblem(
            module=self._names[module],
            role=self._role(module, kwargs),
            scores=first.result.detach(),
            scaling=query.shape[-1] ** -0.5 if scaling is None else float(scaling),
            bias=_detached(kwargs.get("position_bias")),
            mask=_detached(mask),
            probabilities=last.left.detach(),
            values=last.right.detach(),
            output=last.result.detach(),
        )
        self._append(_Call(problem, first.result, 1.0, last.result), first, recorder)
        return result

    def _fused_forward(self, module: nn.Module) -> Callable[..., Any]:
        forward = module.forward

        def recorded(*args: Any, **kwargs: Any) -> Any:
            with Recorder(self.differentiable) as recorder:
                result = forward(*args, **kwargs)
            first, last = self._two_products(module, recorder)
            batch_and_heads = recorder.softmaxes[0][0].shape[:2]

            def split(tensor: Tensor) -> Tensor:
                return tensor.detach().reshape(batch_and_heads + tensor.shape[1:])

            addend = torch.zeros_like(first.result) if first.addend is None else first.addend
            problem = AttentionProblem(
                module=self._names[module],
                role="decoder",
                scores=split(first.left @ first.right),
                scaling=first.alpha,
                bias=split(first.beta * addend),
                mask=_detached(inspect.signature(forward).bind(*args, **kwargs).arguments["attention_mask"]),
                probabilities=split(last.left),
                values=split(last.right),
                output=split(last.result),
            )
            self._append(_Call(problem, first.result, first.alpha, last.result), first, recorder)
            return result

        return recorded

    def _append(self, call: _Call, first: Product, recorder: Recorder) -> None:
        problem = call.problem
        logits, probabilities = recorder.softmaxes[0]
        if logits.shape != problem.scores.shape:
            raise self._refused(problem.module, "its softmax runs over more than its scores")
        magnitude = (first.left.abs() @ first.right.abs()).reshape(logits.shape) * abs(problem.scaling)
        for term in (problem.bias, problem.mask):
            if term is not None:
                magnitude = magnitude + term.abs()
        rebuilt = problem.logits
        error = (rebuilt - logits).abs()
        if not bool(((rebuilt == logits) | (error <= 8 * torch.finfo(rebuilt.dtype).eps * magnitude)).all()):
            raise self._refused(problem.module, "its logits are not scores·scaling + bias + mask")
        if not torch.equal(probabilities.to(problem.probabilities.dtype), problem.probabilities):
            raise self._refused(problem.module, "the weights on its values are not the softmax of its logits")
        self.calls.append(call)

    def _two_products(self, module: nn.Module, recorder: Recorder) -> tuple[Product, Product]:
        if len(recorder.products) != 2 or len(recorder.softmaxes) != 1:
            counts = f"{len(recorder.products)} matrix products and {len(recorder.softmaxes)} softmaxes"
            raise self._refused(self._names[module], f"it has {counts} where an attention layer has 2 and 1")
        first, last = recorder.products
        return first, last

    def _eager_function(self, module: nn.Module) -> Callable[..., Any]:
        for cls in type(module).__mro__:
            eager: Callable[..., Any] | None = getattr(sys.modules[cls.__module__], "eager_attention_forward", None)
            if eager is not None:
                return eager
        raise self._refused(self._names[module], "its modelling code has no eager_attention_forward")

    def _note_source(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        arguments = inspect.signature(module.forward).bind(*args, **kwargs).arguments
        if any(arguments.get(name) is not None for name in _SOURCE_ARGUMENTS):
            self._attends_elsewhere.add(module)

    def _role(self, module: nn.Module, kwargs: Mapping[str, Any]) -> Role:
        if module in self._attends_elsewhere:
            return "cross"
        causal = kwargs.get("is_causal")
        if causal is None:
            # The library's own default: a module without the attribute is causal.
            causal = getattr(module, "is_causal", True)
        return "decoder" if causal else "encoder"

    def _refused(self, module: str, reason: str) -> CaptureError:
        return CaptureError(_refusal(self.model, f"in module {module}, {reason}"))


_active_tape: ContextVar[_Tape] = ContextVar("_active_tape")


def _recorded_attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **kwargs: Any
) -> tuple[Tensor, Tensor | None]:
    return _active_tape.get().interface(module, query, key, value, attention_mask, **kwargs)


AttentionInterface.register(_IMPLEMENTATION, _recorded_attention)
# Without a mask function of the same name the library passes no mask at all.
AttentionMaskInterface.register(_IMPLEMENTATION, eager_mask)


def _differentiate(calls: list[_Call], loss: Tensor) -> list[AttentionProblem]:
    if not isinstance(loss, Tensor) or loss.ndim != 0 or not loss.requires_grad:
        raise ValueError("loss: expected a scalar tensor computed from the model's output, got another value")
    leaves = [tensor for call in calls for tensor in (call.product, call.output)]
    gradients = torch.autograd.grad(loss, leaves, allow_unused=True)
    if all(gradient is None for gradient in gradients):
        raise ValueError("loss: expected a value that depends on an attention layer, got one that depends on none")
    dense = [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, gradients, strict=True)]
    return [
        replace(
            call.problem,
            score_gradient=(call.factor * product).reshape(call.problem.scores.shape),
            output_gradient=output.reshape(call.problem.output.shape),
        )
        for call, product, output in zip(calls, dense[::2], dense[1::2], strict=True)
    ]


def _require_same_outputs(model: PreTrainedModel, reference: ModelOutput, output: ModelOutput) -> None:
    pairs = zip(_tensors(reference), _tensors(output), strict=True)
    if not all(torch.equal(expected, actual) for expected, actual in pairs):
        raise CaptureError(_refusal(model, "its output with eager attention differs from its output in the recorded run"))


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)


def _select(model: PreTrainedModel, implementation: str) -> None:
    if model._can_set_attn_implementation():
        model.set_attn_implementation(implementation)


@contextmanager
def _state_restored(model: PreTrainedModel) -> Iterator[None]:
    training = [(module, module.training) for module in model.modules()]
    implementations = [(config, config._attn_implementation_internal) for config in _configurations(model)]
    try:
        yield
    finally:
        for module, flag in training:
            module.training = flag
        for config, implementation in implementations:
            config._attn_implementation_internal = implementation


def _configurations(model: PreTrainedModel) -> list[Any]:
    configurations: dict[int, Any] = {}
    pending = [module.config for module in model.modules() if isinstance(module, PreTrainedModel)]
    while pending:
        config = pending.pop()
        if config is not None and id(config) not in configurations:
            configurations[id(config)] = config
            pending += [getattr(config, name) for name in config.sub_configs]
    return list(configurations.values())


@contextmanager
def _forward_replaced(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    # An instance attribute hides the method of the class; deleting it brings the method back.
    module.forward = forward
    try:
        yield
    finally:
        del module.forward


def _detached(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.detach()


def _refusal(model: PreTrainedModel, reason: str) -> str:
    return f"cannot capture attention of {type(model).__name__}: {reason}"

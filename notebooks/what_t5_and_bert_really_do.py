# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What T5 and BERT really do
#
# A paper writes a formula and says: this is what BERT computes, and this is what T5 computes. Nobody will check. We will.
# We take a pretrained BERT and a small trained T5, record what goes in and what comes out of every attention layer, and
# put the formula beside it: with its biases and without, with the square root and without, with the positions and without.
#
# The formula is generalized attention: weights p_i ∝ u_i exp⟨t_i, z⟩, where t_i are templates (the words), z is evidence
# (the query), and u is a prior: what the layer would look at if the words said nothing.

# %%
import copy

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import PowerNorm

from derivations.run.notebooks import show
from numerics import tolerances
from numerics.attention import GeneralizedAttention
from numerics.models import tiny
from numerics.models.capture import capture
from numerics.models.encoder import load_encoder, load_model
from numerics.priors import RelativePositions


def recorded(language_model, text):
    """Every attention call of a model with its module, the words that ask, and the words that are asked."""
    model, inputs = language_model.model.double(), language_model.encode(text)
    problems, entered, hooks = capture(model, inputs), {}, []
    for name in {problem.module for problem in problems}:

        def listen(module, args, kwargs, name=name):
            hidden = args[0] if args else kwargs["hidden_states"]
            source = kwargs.get("key_value_states")
            entered[name] = (hidden, hidden if source is None else source)

        hooks.append(model.get_submodule(name).register_forward_pre_hook(listen, with_kwargs=True))
    with torch.no_grad():
        model(**inputs)
    for hook in hooks:
        hook.remove()
    tokens = language_model.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
    return [(p, model.get_submodule(p.module), *entered[p.module]) for p in problems], tokens


@torch.no_grad()
def misfit(weights, layer, problem, hidden, source):
    """Largest difference of a weight from the model's, in units of what rounding explains."""
    query = hidden.abs() @ layer.query.weight.abs().T
    if layer.query.bias is not None:
        query = query + layer.query.bias.abs()
    magnitude = float((query @ layer.key.weight.abs() @ source.abs().mT).max()) * max(layer.scale, problem.scaling)
    logits = tolerances.rounding("float64", 2 * hidden.shape[-1] + layer.head_width, magnitude)
    seen = problem.logits[problem.logits > torch.finfo(torch.float64).min / 2]
    allowed = 2 * logits + tolerances.plan("float64", source.shape[-2], float(seen.abs().max()))
    return float((weights - problem.probabilities).abs().max()) / allowed


@torch.no_grad()
def layer_misfit(layer, problem, hidden, source):
    """The same for the weights that a layer of ours computes."""
    return misfit(layer.weights(hidden, source), layer, problem, hidden, source)


def maps(pictures, tokens, heads):
    """Heat maps of weights, one row of panels for each picture, the same colours throughout."""
    figure, axes = plt.subplots(
        len(pictures),
        len(heads),
        figsize=(2.6 * len(heads) + 1.6, 2.5 * len(pictures) + 0.5),
        layout="constrained",
        squeeze=False,
    )
    for line, (label, weights) in zip(axes, pictures.items(), strict=True):
        for axis, head in zip(line, heads, strict=True):
            image = axis.imshow(weights[0, head].numpy(), cmap="magma", norm=PowerNorm(0.5, 0, 1))
            axis.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=6)
            axis.set_yticks(range(len(tokens)), tokens, fontsize=6)
            axis.set_title(f"head {head + 1}", fontsize=8)
        line[0].set_ylabel(label, fontsize=9)
    figure.colorbar(image, ax=axes, label="weight", shrink=0.7)
    plt.show()


def bars(misfits, title):
    """How far each version of the formula is from the model, on a logarithmic scale."""
    axis = plt.figure(figsize=(7, 0.45 * len(misfits) + 0.9), layout="constrained").subplots()
    colours = ["tab:green" if value <= 1 else "tab:red" for value in misfits.values()]
    axis.barh(list(misfits), list(misfits.values()), color=colours)
    axis.axvline(1, color="black", linewidth=1)
    axis.set(xscale="log", xlabel="largest difference of a weight, in units of rounding", title=title)
    axis.invert_yaxis()
    plt.show()


# %% [markdown]
# ## BERT
#
# The document's formula for BERT has no biases. The shipped layers have them. Three biases, three different fates:

# %%
show("deciphering.21")

# %%
calls, words = recorded(load_encoder(), "The ferryman refused to cross because the river was rising.")
problem, module, hidden, source = calls[3]
bert = GeneralizedAttention.from_bert(module)
with torch.no_grad():
    ours = bert.weights(hidden)
maps({"the model": problem.probabilities, "the formula": ours}, words, (0, 4, 9))

# %% [markdown]
# Our layer has no place for the key's bias at all, and misses nothing. Leave out the query's bias, or the square root, and
# it is another model.


# %%
def without_bias(linear):
    """A copy of a linear map that has none."""
    changed = copy.deepcopy(linear)
    changed.bias = None
    return changed


versions = {
    "as shipped": {},
    "without the query's bias": {"query": without_bias(module.query)},
    "without 1/√d′": {"scale": 1.0},
}
worst = {}
for name, changes in versions.items():
    layers = [copy.copy(GeneralizedAttention.from_bert(m)) for _, m, *_ in calls]
    worst[name] = 0.0
    for layer, (p, m, x, y) in zip(layers, calls, strict=True):
        layer.query = without_bias(m.query) if "query" in changes else m.query
        layer.scale = changes.get("scale", layer.scale)
        worst[name] = max(worst[name], layer_misfit(layer, p, x, y))
bars(worst, "BERT, all layers and heads")
print({name: f"{value:.2g}" for name, value in worst.items()})
assert worst.pop("as shipped") <= 1
assert min(worst.values()) > 1e6

# %% [markdown]
# ## T5
#
# T5 has no biases, and its positions enter the scores as a number for every distance: a prior. For T5, the document prints
# a square root that is not there, and loses a prior in the denominator.

# %%
show("deciphering.22")

# %%
t5 = load_model(str(tiny.folder("tiny-t5")))
calls, letters = recorded(t5, "The river was rising")
tables = {
    role: RelativePositions.from_t5(getattr(t5.model, role).block[0].layer[0].SelfAttention) for role in ("encoder", "decoder")
}


def layer_of(problem, module, **changes):
    """T5's attention as generalized attention, with some of its parts changed."""
    position = None if module.has_relative_attention_bias or problem.role == "cross" else tables[problem.role]
    layer = GeneralizedAttention.from_t5(module, position)
    for name, value in changes.items():
        setattr(layer, name, value)
    return layer


versions = {"as shipped": {}, "with the printed 1/√d′": {"scale": calls[0][1].key_value_proj_dim ** -0.5}}
worst = {
    name: max(layer_misfit(layer_of(p, m, **changes), p, x, y) for p, m, x, y in calls) for name, changes in versions.items()
}
selves = [call for call in calls if call[0].role != "cross"]
worst["without positions"] = min(layer_misfit(layer_of(p, m, position=None), p, x, y) for p, m, x, y in selves)
crosses = [call for call in calls if call[0].role == "cross"]
worst["positions in cross-attention"] = min(
    layer_misfit(layer_of(p, m, position=tables["decoder"]), p, x, y) for p, m, x, y in crosses
)
bars(worst, "T5, all layers and heads")
print({name: f"{value:.2g}" for name, value in worst.items()})
assert worst.pop("as shipped") <= 1
assert min(worst.values()) > 1e6

# %% [markdown]
# The last bar is a claim of its own. The document says that positions make the prior of T5's cross-attention, too. The
# shipped layer adds zeros there (`deciphering.s8.cross-prior`).
#
# Below, in the decoder: what a head would do from positions alone, from the words alone, and what it does. The last is the
# first two multiplied, and normalized again.

# %%
problem, module, hidden, source = next(call for call in calls if call[0].role == "decoder")
layer = layer_of(problem, module)
with torch.no_grad():
    later = torch.ones(len(letters), len(letters)).triu(1).bool()
    prior = layer.position(len(letters), len(letters)).masked_fill(later, -torch.inf).softmax(-1)[None]
    content = layer_of(problem, module, position=None).weights(hidden, source)
    product = prior * content
    product = product / product.sum(-1, keepdim=True)
maps({"prior u": prior, "words alone": content, "both: the model": problem.probabilities}, letters, (0, 1, 2, 3))
assert misfit(product, layer, problem, hidden, source) <= 4  # two softmaxes, a product and a quotient of them

# %% [markdown]
# The prior is a function of distance alone, one curve for each head (`deciphering.19`). Near words are not always preferred.

# %%
reach = torch.arange(-60, 61)
with torch.no_grad():
    curves = {role: table(61, 61) for role, table in tables.items()}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
for axis, (role, bias) in zip(axes, curves.items(), strict=True):
    biases = torch.cat([bias[:, 60, :60], bias[:, 0, :]], -1)  # distances −60 … −1, then 0 … 60
    for head, curve in enumerate(biases):
        axis.plot(reach, curve, drawstyle="steps-mid", label=f"head {head + 1}")
    axis.set(title=role, xlabel="position of the template less that of the query")
axes[0].set_ylabel("log prior, up to a constant")
axes[0].legend(fontsize=8)
plt.show()

# %% [markdown]
# In the decoder the word itself and all later ones share one bucket. That never matters: a causal mask hides the later ones.
#
# ## Try yourself
#
# - Which of BERT's layers changes least without the query's bias? Print `layer_misfit` for each call.
# - `show("deciphering.s7.mask-function")`: does a masked word get no weight? It depends on which mask.
# - Load a T5 of your own with `load_model` and look at its curves.

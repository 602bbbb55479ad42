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
# # Attention by optimal transport
#
# Softmax attention can only look at what is in the input. You wrote "cat"; it will never think of "kitten". The reason is
# the divergence in its problem: where the prior is zero, the weights are zero. Put transport in its place, with a cost of
# carrying weight from one word to another, and the weight may walk to a neighbour.
#
# We watch it walk, see which of the printed formulas survive, and learn how far one pass is from the exact solution.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from derivations.run.notebooks import show
from numerics import mem, ot_attention, tolerances
from numerics.ot_attention import OTAttention
from numerics.primal import optimal_transport as primal

names = ["cat", "kitten", "dog", "puppy", "car", "truck"]
t = torch.tensor([[-1.0, -0.1], [-0.8, 0.5], [-0.3, -0.5], [0.0, 0.1], [1.0, -0.3], [1.2, -0.9]], dtype=torch.float64)
u = torch.tensor([0.6, 0.0, 0.0, 0.0, 0.4, 0.0], dtype=torch.float64)  # the input has "cat" and "car"
z, alpha = torch.tensor([-0.3, 1.2], dtype=torch.float64), 0.5  # and the query asks for something young
cost = ot_attention.squared_distance(t)

# %% [markdown]
# ## Weight that walks
#
# The circles are weights. On the left, softmax attention stays on the two words of the input. With transport the
# neighbours get a share; the larger γ, the farther it goes. The arrow is half of z, drawn from the mean of the prior.

# %%
gammas = (0.1, 0.5, 3.0)
pictures = {"softmax attention": mem.tilt(alpha * z, t, u)}
pictures |= {f"transport, γ = {gamma}": ot_attention.weights(t, z, u, cost, alpha, gamma) for gamma in gammas}
figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained", sharex=True, sharey=True)
for axis, (title, weights) in zip(axes, pictures.items(), strict=True):
    axis.scatter(*t.T.numpy(), s=(1500 * weights + 1).tolist(), color="tab:purple", alpha=0.6)
    for name, position, weight in zip(names, t.tolist(), weights.tolist(), strict=True):
        axis.annotate(f"{name}\n{weight:.2f}", position, xytext=(0, -22), textcoords="offset points", fontsize=7, ha="center")
    axis.annotate("", xy=tuple((u @ t + z / 2).tolist()), xytext=tuple((u @ t).tolist()), arrowprops={"arrowstyle": "->"})
    axis.set(title=title, xlim=(-1.6, 1.8), ylim=(-1.6, 1.2), xlabel="first coordinate")
    assert abs(float(weights.sum()) - 1) <= tolerances.rounding("float64", 12)
axes[0].set_ylabel("second coordinate")
plt.show()
assert all(float(pictures["softmax attention"][i]) == 0.0 for i in (1, 2, 3, 5))

# %% [markdown]
# Who gave how much to whom? Each column below belongs to one word of the input, and sums to its prior. Rows sum to the
# weights. There is no iteration in this: one marginal is free, so every column is a softmax of its own.

# %%
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
for axis, gamma in zip(axes, gammas, strict=True):
    plan = ot_attention.coupling(alpha * t @ z, u, cost, gamma)
    allowed = tolerances.rounding("float64", 12)
    torch.testing.assert_close(plan.sum(-2), u, rtol=0.0, atol=allowed)
    torch.testing.assert_close(plan.sum(-1), pictures[f"transport, γ = {gamma}"], rtol=0.0, atol=allowed)
    image = axis.imshow(plan.numpy(), cmap="magma", vmin=0, vmax=0.6)
    axis.set_xticks(range(6), names, rotation=60)
    axis.set_yticks(range(6), names)
    axis.set(title=f"γ = {gamma}", xlabel="from", ylabel="to")
figure.colorbar(image, ax=axes, label="mass X_ij")
plt.show()

# %% [markdown]
# ## Is it the solution?
#
# The closed form is printed as the solution of the problem. It is its first-order approximation:

# %%
show("deciphering.25")

# %% [markdown]
# The exact solution comes from Newton's method on the dual, with a certificate. The conic solver solves the primal problem
# and has never seen the dual. They must agree; the closed form must not.

# %%
gamma = 0.5
exact = ot_attention.solve(t, z, u, cost, alpha, gamma)
mu = ot_attention.true_preference(u, cost, gamma) @ t
by_cone = primal.solve(t.numpy(), u.numpy(), z.numpy(), cost.numpy(), alpha, gamma, centre=mu.numpy())
apart = np.linalg.norm(by_cone.mean - exact.mean.numpy())
allowed = by_cone.mean_error + float(exact.residual) + tolerances.rounding("float64", 64, 4.0)
distance = float((pictures[f"transport, γ = {gamma}"] @ t - exact.mean).norm())
print(f"conic − dual: {apart:.1e} of {allowed:.1e} allowed; closed form − dual: {distance:.1e}")
assert by_cone.certified
assert apart <= allowed < distance

# %% [markdown]
# How fast does the closed form become right? The correction says: with the square of α/γ, and names the coefficient.

# %%
alphas = 4.0 * 0.5 ** torch.arange(13, dtype=torch.float64)
solved = ot_attention.solve(t, z.expand(13, 2), u, cost, alphas, gamma)
errors = (ot_attention.weights(t, z.expand(13, 2), u, cost, alphas, gamma) - solved.weights).abs().sum(-1)
q = ot_attention.kernel(cost, gamma)  # q(i|j), columns that sum to one
means = q.T @ t
within = torch.einsum("j,ij,ija,ijb->ab", u, q, t[:, None] - means, t[:, None] - means)
leading = (q * ((t[:, None] - means) @ (within @ z))) @ u / gamma**2
constant = float(leading.abs().sum())
scaled = errors / alphas**2
extrapolated = float(2 * scaled[-1] - scaled[-2])
figure, axis = plt.subplots(figsize=(6.2, 3.8), layout="constrained")
slope = float((errors[-2] / errors[-1]).log() / (alphas[-2] / alphas[-1]).log())
axis.loglog(alphas / gamma, errors, "o-", label=f"‖closed form − solution‖₁, order {slope:.2f} at the end")
axis.loglog(alphas / gamma, constant * alphas**2, "k--", label="predicted from the correction")
axis.set(xlabel="α/γ", ylabel="error of the weights")
axis.legend()
plt.show()
print(f"constant: predicted {constant:.6f}, measured {float(scaled[-1]):.6f}, without its O(α) {extrapolated:.6f}")
noise = 4 * tolerances.rounding("float64", 12) / float(alphas[-1]) ** 2
assert abs(extrapolated - constant) <= abs(extrapolated - float(scaled[-1])) + noise

# %% [markdown]
# ## One pass knows how wrong it is
#
# The mean moves from the preference's mean by some distance. That distance bounds the error in everything
# (`deciphering.s9.one-pass-bound`). Random problems, with costs that are neither symmetric nor zero on the diagonal:

# %%
generator = torch.Generator().manual_seed(0)
count, n, d = 400, 6, 3
templates = torch.randn(count, n, d, generator=generator, dtype=torch.float64)
evidence = torch.randn(count, d, generator=generator, dtype=torch.float64)
prior = torch.rand(count, n, generator=generator, dtype=torch.float64)
prior = prior / prior.sum(-1, keepdim=True)
costs = 3 * torch.rand(count, n, n, generator=generator, dtype=torch.float64)
strength = 10 ** (3 * torch.rand(count, generator=generator, dtype=torch.float64) - 2.5)
solutions = ot_attention.solve(templates, evidence, prior, costs, strength)
bounds = ot_attention.approximation_bound(templates, evidence, prior, costs, strength)
estimate = ot_attention.attend(templates, evidence, prior, costs, strength)
error = (estimate - solutions.mean).norm(dim=-1)
figure, axis = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
dots = axis.scatter(bounds.mean, error, c=strength.log10(), s=8, cmap="viridis")
axis.plot([1e-5, 10], [1e-5, 10], "k-", linewidth=1)
axis.set(xscale="log", yscale="log", xlabel="certified bound", ylabel="true error of the estimate")
figure.colorbar(dots, label="log₁₀ α/γ")
plt.show()
assert bool((error <= bounds.mean + solutions.residual + tolerances.rounding("float64", n, 8.0)).all())

# %% [markdown]
# With costs that are not symmetric it matters which index is normalized over: the destination. Some lines of the document
# normalize over the other one. Those weights do not even sum to one:

# %%
logits = strength[:, None, None] * (templates @ evidence[:, :, None]) - costs
wrong = (logits.softmax(-1) * prior[:, None]).sum(-1)
right = ot_attention.weights(templates, evidence, prior, costs, strength)
print(
    f"sums of the weights: right {float(right.sum(-1).min()):.3f} … {float(right.sum(-1).max()):.3f}, "
    f"over the other index {float(wrong.sum(-1).min()):.3f} … {float(wrong.sum(-1).max()):.3f}"
)
torch.testing.assert_close(right.sum(-1), torch.ones_like(strength), rtol=0.0, atol=tolerances.rounding("float64", 2 * n))
assert float((wrong.sum(-1) - 1).abs().max()) > tolerances.rounding("float64", 2 * n)

# %% [markdown]
# ## As a layer, and the promise about synonyms
#
# Four words are in the input; beside each, a near-synonym is not. Does a synonym get a similar weight? Only if it is
# *as far from every word of the input*, compared with γ; similar templates alone do not suffice (`deciphering.s9.synonyms`).

# %%
torch.manual_seed(0)
layer = OTAttention(6, temperature=0.1, alpha=1.0, cost="squared_distance", bias=False).double()
solver = OTAttention(6, temperature=0.1, alpha=1.0, cost="squared_distance", exact=True, bias=False).double()
solver.load_state_dict(layer.state_dict())
tokens, query = 1.5 * torch.randn(4, 6, dtype=torch.float64), torch.randn(4, 6, dtype=torch.float64)
synonyms = tokens + 0.1 * torch.randn(4, 6, dtype=torch.float64)
with torch.no_grad():
    closed, exact_weights = (module.weights(query, tokens, synonyms)[0][0] for module in (layer, solver))
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for axis, (title, weights) in zip(axes, {"closed form": closed, "exact": exact_weights}.items(), strict=True):
    image = axis.imshow(weights.numpy(), cmap="magma", vmin=0, vmax=float(closed.max()))
    axis.set_xticks(range(8), [f"word {k + 1}" for k in range(4)] + [f"synonym {k + 1}" for k in range(4)], rotation=60)
    axis.set(title=title, ylabel="query", yticks=range(4))
figure.colorbar(image, ax=axes, label="weight")
plt.show()
ratio = (closed[:, :4].log() - closed[:, 4:].log()).abs().max().item()
words, others = layer.to_templates(tokens), layer.to_templates(synonyms)
gain = (layer.to_evidence(query) @ (words - others).T)[:, :, None]  # what the query gives a word more
far = ot_attention.squared_distance(words, words) - ot_attention.squared_distance(others, words)
limit = ((gain - far[None]) / layer.temperature).abs().max().item()
print(f"largest log-ratio of a word and its synonym {ratio:.3f}, proved to be at most {limit:.3f}")
assert ratio <= limit
show("deciphering.s9.synonyms")

# %% [markdown]
# ## Try yourself
#
# - Forbid the way from "cat" to "dog" with a cost of `inf`. Where does the weight go?
# - `show("deciphering.s9.group-sharing")`, and use `group_cost` to share weight within groups only.
# - Make γ tiny. Which claim says that the preference then becomes the prior, and what does it ask of the diagonal?

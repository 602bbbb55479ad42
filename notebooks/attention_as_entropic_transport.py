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
# # Attention as entropic transport
#
# One query, three keys. Attention weights are the only minimizer of expected cost less τ times entropy. We look at the
# proof, at the landscape, and at what an optimization solver that knows nothing of softmax finds.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from derivations.catalogue import entries, examine
from numerics import one_sided
from numerics.primal import one_sided as primal

scores = np.array([1.0, 0.4, -0.3])

# %% [markdown]
# ## The proof
#
# Each step is checked for every number of keys m and every width d; a step that does not hold would be marked ✗.

# %%
theorem = entries()["eot.thm3.3"]
found = examine(theorem)
print(theorem.claim.statement.text)
for step in found.steps:
    print("✓" if step.holds else "✗", step.statement, "—", step.reason)
print("scope:", found.evidence.scope)

# %% [markdown]
# A check that could not fail would be worth nothing. These wrong versions of the theorem are refuted, each by a plan
# that is certifiably better:

# %%
for name, make in theorem.twins.items():
    witness = make().refute()
    assert witness is not None
    print(f"{name}: {witness.text}")

# %% [markdown]
# ## The landscape
#
# Level sets of the objective on the simplex, for three temperatures. The dot is softmax, the circle is the solver's plan.

# %%
corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
grid = np.random.default_rng(0).dirichlet(np.ones(3), 6000)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6))
for axis, tau in zip(axes, (0.1, 0.5, 2.0), strict=True):
    heights = -grid @ scores + tau * np.sum(grid * np.log(grid), axis=1)
    x, y = (grid @ corners).T
    axis.tricontourf(x, y, heights, levels=24)
    closed = one_sided.plan(torch.tensor(scores), tau).numpy()
    solution = primal.solve(scores, tau)
    axis.plot(*(closed @ corners), "k.", *(solution.plan @ corners), "wo", fillstyle="none", markersize=9)
    axis.set_title(f"τ = {tau}, gap {solution.gap:.0e}")
    axis.set_aspect("equal")
    axis.axis("off")
plt.show()

# %% [markdown]
# ## What the temperature trades
#
# Entropy rises with τ at the rate Var(s)/τ³, and the expected similarity falls at the rate Var(s)/τ² (`eot.s3.trade-off`).

# %%
temperatures = np.geomspace(0.05, 20, 200)
plans = np.stack([one_sided.plan(torch.tensor(scores), float(tau)).numpy() for tau in temperatures])
entropies = -np.sum(np.where(plans > 0, plans * np.log(np.where(plans > 0, plans, 1.0)), 0.0), axis=1)
figure, axis = plt.subplots(figsize=(6, 3.4))
axis.semilogx(temperatures, plans @ scores, label="expected similarity")
axis.semilogx(temperatures, entropies, label="entropy")
axis.set_xlabel("τ")
axis.legend()
plt.show()

# %% [markdown]
# ## A line that is not so
#
# The document says of the baseline E[u] that it reduces the variance of a policy-gradient estimate. With two keys of
# weights 1/4 and 3/4, and utilities 0 and 1, it makes the variance four times as large:

# %%
baseline = entries()["eot.s5.baseline-variance"]
found = examine(baseline)
assert found.evidence.witness is not None
assert baseline.correction is not None
print("printed:", baseline.claim.statement.text)
print("fails", found.evidence.witness.text)
print("correct:", baseline.correction.statement.text)

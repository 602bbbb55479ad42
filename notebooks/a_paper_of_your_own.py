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
# # A paper of your own
#
# Here is a short paper about the evidence lower bound, `examples/evidence_bound.tex`. It has 27 equations, and some of them are
# wrong on purpose. `python -m derivations new examples/evidence_bound.tex examples/evidence_bound` made the folder beside it,
# in which every equation is a claim. We look at what was read, at a false equation and the point where it fails, at a
# correction that the machine found, and at a proof. Then we look at the bound itself, in numbers that know no proof.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

from derivations.run.notebooks import FOLDER

EXAMPLES = FOLDER.parent / "examples"
os.environ["ATTENTION_PROOFS_DOCUMENTS"] = str(EXAMPLES / "evidence_bound")

from derivations.reader.meaning.statements import read  # noqa: E402
from derivations.reader.syntax.tree import LatexError  # noqa: E402
from derivations.reader.tex.paper import read_paper  # noqa: E402
from derivations.records.documents import package  # noqa: E402
from derivations.register.catalogue import entries  # noqa: E402
from derivations.run.notebooks import show  # noqa: E402
from numerics import tolerances  # noqa: E402

# %% [markdown]
# ## What was read
#
# A paper is its formulas, with numbers, labels and lines. Macros are expanded, so `\KL{q}{p}` of the author's is a divergence.

# %%
paper = read_paper(EXAMPLES / "evidence_bound.tex")
numbered = [formula for formula in paper.formulas if formula.number]
print(f"{paper.title}: {len(numbered)} equations")
for formula in numbered[5:8]:
    print(f"({formula.number}) line {formula.line}: {formula.latex}")
assert len(numbered) == len([id for id in entries() if id.startswith("evidence_bound.")])

# %% [markdown]
# `notation.py` says what each symbol is taken for, and which line of the paper says so. In this paper nothing had to be
# corrected; in yours something will. A formula and a notation make relations, which can prove or refute themselves.

# %%
package("evidence_bound")
from evidence_bound.notation import NOTATION  # noqa: E402

for symbol, meaning in list(NOTATION.declarations.items())[:6]:
    print(f"{symbol:18} {meaning}")
(gap,) = read(numbered[5].latex, NOTATION)
print("(6) states:", gap)
assert gap.prove()

# %% [markdown]
# What could be read in two ways is not read at all: the error shows both readings.

# %%
try:
    read(r"\log Z q_k = 1", NOTATION)
except LatexError as error:
    print(error)
else:
    raise AssertionError("expected an error for an ambiguous formula")

# %% [markdown]
# ## A false equation
#
# Equation (10) has the divergence the wrong way round. It looks so much like (6) that a reader may well pass over it. The
# machine found a point of exact numbers at which its two sides differ. The record ends with wrong versions of the claim:
# a checker that could not tell them from the print would have no vote.

# %%
show("evidence_bound.10")

# %% [markdown]
# At a point of our own, in plain NumPy:

# %%
ell, q = np.array([-2.0, 3.0]), np.array([0.375, 0.625])
p = np.exp(ell) / np.exp(ell).sum()


def divergence(one, other):
    """KL(one ‖ other)."""
    return float((one * np.log(one / other)).sum())


def bound(weights):
    """The evidence lower bound."""
    return float(weights @ ell - weights @ np.log(weights))


evidence = float(np.log(np.exp(ell).sum()))
print(f"bound {bound(q):.4f}, evidence less KL(p ‖ q) {evidence - divergence(p, q):.4f}")
print(f"bound {bound(q):.4f}, evidence less KL(q ‖ p) {evidence - divergence(q, p):.4f}")
allowed = tolerances.rounding("float64", 8, 20.0)
assert abs(bound(q) - (evidence - divergence(p, q))) > 0.5
assert abs(bound(q) - (evidence - divergence(q, p))) <= allowed

# %% [markdown]
# ## A correction
#
# In (24) a temperature was lost. Here one edit makes the statement true, and the machine has proved it. It offers that as a
# correction; whether it is what the author meant, only the author knows.

# %%
show("evidence_bound.24")

# %% [markdown]
# ## A proof
#
# (6) says how far the bound is from the evidence, for every number of states and every q. Both sides get one normal form, in
# which q log q is a function of its own that is continuous where q is 0.

# %%
show("evidence_bound.6")

# %% [markdown]
# With two states the whole of (6) and (7) is one picture: the bound touches the evidence at the posterior, and the gap is the
# divergence from it.

# %%
first = np.linspace(0.001, 0.999, 400)
bounds = np.array([bound(np.array([x, 1 - x])) for x in first])
gaps = np.array([divergence(np.array([x, 1 - x]), p) for x in first])
assert np.abs(evidence - bounds - gaps).max() <= allowed
assert bounds.max() <= evidence + allowed

figure, axes = plt.subplots(figsize=(6, 3.4))
axes.plot(first, bounds, label="bound")
axes.plot(first, evidence - gaps, "--", label="evidence − KL(q ‖ p)")
axes.axhline(evidence, color="gray", linewidth=1)
axes.axvline(p[0], color="gray", linewidth=1, linestyle=":")
axes.set_xlabel("q of the first state")
axes.legend()
plt.show()

# %% [markdown]
# ## Try yourself
#
# - Copy the paper, lose a sign in (7), and run `python -m derivations new` on it. Which verdict does the line get, and where?
# - Take one line out of a copy of `notation.py`, and run `python -m derivations --document FOLDER read evidence_bound`.
# - Give it a section of a paper of yours: `docs/a_document_of_your_own.md`.

"""Print beside proof: what the LaTeX of a claim says, read by a table of the document's symbols, and what was proved."""

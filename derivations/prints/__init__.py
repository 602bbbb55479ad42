"""Compare the LaTeX of each claim, read with a table of the document's symbols, with the relation that was proved."""

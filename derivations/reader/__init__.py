"""LaTeX in and out: formulas are read into relations, and relations are written as formulas.

`tex` finds the formulas of a paper, `syntax` gives brackets, scripts and operators their structure and precedence, and
`meaning` gives every symbol what a `Notation` declares, entry by entry, and makes relations of formulas.  `writing` is the
way back.
"""

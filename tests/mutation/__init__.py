"""Mutants of our own sources: one small edit each, which a test has to notice.

`python -m tests.mutation` makes every single edit of the modules (``edits``), runs the tests that mirror the module and reach
the edited line (``trial``), and lists what survives. A survivor wants a test, or an entry in ``equivalent.toml`` with the
reason why no test can tell it from the original.

Why not a tool: cosmic-ray starts a process for each mutant, which here imports torch or SymPy for seconds; mutmut edits neither
constants of modules nor defaults of arguments. Here tests are collected once and a mutant is a fork that exchanges the code of
functions which are already imported; it costs the tests that notice it.
"""

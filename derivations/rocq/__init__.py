"""An independent proof kernel: relations exported to Rocq, and its answers.

`terms` writes an expression in Rocq's syntax, `statements` a relation; `certificate` finds the intermediate forms by which the
fixed script (formal/theories/Script.v) proves it, and nobody has to believe them; `readback` reads an exported statement again
and compares its values with those of the relation; `library` compiles formal/, `checking` runs Rocq by way of `toplevel`;
`layer` turns what it accepted into evidence.
"""

"""The table of hostile inputs: functions with independent references, classes of inputs, and the judge.

A reference is the definition, in NumPy's extended precision, of the numbers that are given. The judge allows what the input's
own rounding would move the reference by; beyond that a finite number is wrong. What is not finite is right where the reference
is not either, where the input is not, or where a product of what is given leaves the range of the dtype: these are the limits
of docs/conventions.md.
"""

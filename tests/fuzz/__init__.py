"""A fuzzer for the symbolic kernel: random statements, and an evaluator that shares no code with `derivations.calculus`."""

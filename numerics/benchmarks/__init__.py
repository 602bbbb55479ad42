"""How fast closed forms and solvers are beside their peers, and how much memory they take.

Modules     ``closed_forms``, ``mem`` with its ``peers``, ``sinkhorn``: what is measured; ``timing``: medians of computations
            that take turns; ``peak_memory``: the bytes of the tensors that live at a time
"""

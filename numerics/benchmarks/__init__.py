"""Speed and memory of closed forms and solvers compared with their peers.

Modules     ``closed_forms``, ``mem`` with its ``peers``, ``sinkhorn``: what is measured; ``timing``: medians of computations
            that take turns; ``peak_memory``: the bytes of the tensors that live at a time
"""

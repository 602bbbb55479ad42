"""How far closed forms and solvers are from fifty digits, in units of what conditioning allows.

``exact``: numbers with all their digits and a running error analysis; ``rows``, ``attention`` and ``solutions``: the references,
which know neither torch nor what they are compared with; ``functions``: what is compared; ``cells``: the comparison.
"""

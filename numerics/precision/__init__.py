"""How far closed forms and solvers are from fifty digits, in units of what conditioning allows.

``exact``: numbers with all their digits and a running error analysis; ``rows``, ``sparse``, ``attention``, ``solutions``: the
references, which know neither torch nor what they are compared with; the modules named ``functions``: what is compared, and
where; ``cells``: the comparison; ``study``: all of it.
"""

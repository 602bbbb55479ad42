"""The transport chapter's sections 5 and 7 in torch: temperature, principles, stability, and the summary's claims."""

COLD, HOT = 1e-3, 1e12

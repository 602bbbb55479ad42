"""A prediction model with attention from a summary f_t(x) = θ(x)ᵀφ(t), trained end to end, compared with fixed weights."""

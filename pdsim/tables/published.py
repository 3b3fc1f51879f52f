"""Numbers published by Heiden et al. (2022) for the real double pendulum, Tables I and II.

Their absolute size depends on choices the paper does not state (noise scale, how sets are pooled),
so orderings and ratios compare, not values.
"""

# (method, shooting) → metric → value; SVGD with multiple shooting is CSVGD.
DOUBLE_PENDULUM: dict[tuple[str, str], dict[str, float]] = {
    ("svgd", "single"): {"kl_real_sim": 8803.5683, "kl_sim_real": 10283.6659, "mmd": 0.7177},
    ("csvgd", "multiple"): {"kl_real_sim": 5204.5336, "kl_sim_real": 2773.1751, "mmd": 0.0366},
}

"""Numbers published by Heiden et al. (2022) for the real double pendulum, Tables I and II.

Their absolute size depends on choices the paper does not state (noise scale, how sets are pooled),
so orderings and ratios compare, not values.
"""


def _row(kl_real_sim: float, kl_sim_real: float | None, mmd: float | None) -> dict[str, float]:
    values = {"kl_real_sim": kl_real_sim, "kl_sim_real": kl_sim_real, "mmd": mmd}
    return {name: value for name, value in values.items() if value is not None}


# (method, shooting) → metric → value; SVGD with multiple shooting is CSVGD. Values the paper gives
# as not available are left out.
DOUBLE_PENDULUM: dict[tuple[str, str], dict[str, float]] = {
    ("emcee", "single"): _row(8542.2466, 4060.6312, 1.1365),
    ("emcee", "multiple"): _row(8950.4574, None, None),
    ("cem", "single"): _row(8911.1798, 8549.5927, 0.9687),
    ("cem", "multiple"): _row(8860.5115, None, 0.5682),
    ("sgld", "single"): _row(8788.0962, 7876.0310, 2.1220),
    ("sgld", "multiple"): _row(5863.2728, 2187.2825, 0.0759),
    ("nuts", "single"): _row(9196.7461, 6432.2131, 0.5371),
    ("nuts", "multiple"): _row(8785.5326, 4935.8983, 1.1642),
    ("svgd", "single"): _row(8803.5683, 10283.6659, 0.7177),
    ("bayessim", "single"): _row(8818.1830, 3794.9873, 0.6110),
    ("csvgd", "multiple"): _row(5204.5336, 2773.1751, 0.0366),
}

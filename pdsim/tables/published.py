"""Numbers published by Heiden et al. (2022), Tables I to III: double pendulum, arm with a box.

Their absolute size depends on choices the paper does not state (noise scale, how sets are pooled),
so orderings and ratios compare, not values.
"""

from collections.abc import Mapping
from typing import NamedTuple


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

# Table III: BayesSim's variants.
BAYESSIM: dict[str, dict[str, float]] = {
    "downsampled_mdn": _row(8817.9222, 4050.4666, 0.6748),
    "difference_mdn": _row(8919.2463, 4633.2637, 0.6285),
    "summary_mdn": _row(9092.5575, 5093.8851, 0.5664),
    "signature_mdn": _row(8985.8056, 4610.5438, 0.5807),
    "downsampled_mdrff_rbf": _row(9027.9474, 5091.5283, 0.5593),
    "difference_mdrff_rbf": _row(8936.3823, 4282.8599, 0.5988),
    "summary_mdrff_rbf": _row(9063.1753, 4884.1398, 0.5672),
    "signature_mdrff_rbf": _row(8980.9080, 4081.1160, 0.6016),
    "downsampled_mdrff_matern52": _row(8818.1830, 3794.9873, 0.6110),
    "difference_mdrff_matern52": _row(8859.2156, 4349.9971, 0.6176),
    "summary_mdrff_matern52": _row(8962.0501, 4241.4551, 0.5999),
    "signature_mdrff_matern52": _row(9036.9626, 4620.9517, 0.5715),
}


# The arm with the box, of which Tables I and III have the log likelihood alone.
PANDA: dict[tuple[str, str], dict[str, float]] = {
    ("emcee", "single"): {"log_likelihood": -16.1185},
    ("cem", "single"): {"log_likelihood": -17.3331},
    ("sgld", "single"): {"log_likelihood": -17.3869},
    ("nuts", "single"): {"log_likelihood": -17.9809},
    ("svgd", "single"): {"log_likelihood": -17.7611},
    ("bayessim", "single"): {"log_likelihood": -17.6395},
    ("csvgd", "multiple"): {"log_likelihood": -15.1671},
}
PANDA_BAYESSIM: dict[str, dict[str, float]] = {
    "downsampled_mdn": {"log_likelihood": -17.4039},
    "difference_mdn": {"log_likelihood": -17.1646},
    "summary_mdn": {"log_likelihood": -18.3481},
    "signature_mdn": {"log_likelihood": -19.3432},
    "downsampled_mdrff_rbf": {"log_likelihood": -17.2335},
    "difference_mdrff_rbf": {"log_likelihood": -18.4892},
    "summary_mdrff_rbf": {"log_likelihood": -19.5430},
    "signature_mdrff_rbf": {"log_likelihood": -18.3458},
    "downsampled_mdrff_matern52": {"log_likelihood": -17.6395},
    "difference_mdrff_matern52": {"log_likelihood": -17.2752},
    "summary_mdrff_matern52": {"log_likelihood": -19.6672},
    "signature_mdrff_matern52": {"log_likelihood": -18.1652},
}


class Published(NamedTuple):
    """What the paper's tables have of one system.

    Attributes:
        runs: (method, shooting) → metric → value.
        variants: of BayesSim, name → metric → value.
        metrics: those the tables have.
    """

    runs: Mapping[tuple[str, str], Mapping[str, float]]
    variants: Mapping[str, Mapping[str, float]]
    metrics: tuple[str, ...]


def published_of(system: bool | str) -> Published:
    """What is published of a system, as the config's ``paper_table`` names it."""
    if system == "panda":
        return Published(PANDA, PANDA_BAYESSIM, ("log_likelihood",))
    return Published(DOUBLE_PENDULUM, BAYESSIM, ("kl_real_sim", "kl_sim_real", "mmd"))

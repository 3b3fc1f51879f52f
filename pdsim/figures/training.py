"""Losses of density models over their training."""

import matplotlib.pyplot as plt
import numpy as np

from pdsim.figures import style


def draw(histories: dict[str, tuple[np.ndarray, np.ndarray]], title: str, stem: str) -> None:
    """Draw the losses of every variant, one panel per density model.

    Args:
        histories: ``<statistic>_<density>`` → loss and held-out loss by epoch [nat].
    """
    style.apply()
    densities = list(dict.fromkeys(name.partition("_")[2] for name in histories))
    figure, axes = plt.subplots(
        1, len(densities), figsize=(3.6 * len(densities) + 0.6, 3.4), sharey=True, squeeze=False
    )
    handles = {}
    for axis, model in zip(axes[0], densities, strict=True):
        chosen = {n.partition("_")[0]: h for n, h in histories.items() if n.endswith(f"_{model}")}
        for number, (statistic, (loss, held_out)) in enumerate(chosen.items()):
            epoch, colour = np.arange(1, len(loss) + 1), f"C{number}"
            axis.plot(epoch, loss, color=colour, linewidth=0.5, alpha=0.7)
            (line,) = axis.plot(epoch, held_out, color=colour, linewidth=1.3)
            best = int(np.argmin(held_out))
            axis.plot(epoch[best], held_out[best], "o", color=colour, markersize=4)
            handles[statistic] = line
        axis.set_xscale("log")
        axis.set(title=model.replace("_", " "), xlabel="epoch")
    ends = [h[k][-1] for h in histories.values() for k in (0, 1)]
    starts = [h[1][0] for h in histories.values()]
    span = max(starts) - min(ends)
    axes[0, 0].set_ylim(min(ends) - 0.1 * span, max(*starts, *ends) + 0.1 * span)
    axes[0, 0].set_ylabel("negative log density [nat]")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    figure.suptitle(title)
    style.save(figure, stem)

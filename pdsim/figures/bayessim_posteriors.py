"""Posteriors of BayesSim's variants over two parameters."""

from pdsim.figures import posteriors
from pdsim.figures.figure import Figure, trains

FIGURE = Figure(
    needs=posteriors.NEEDS,
    sections=posteriors.SECTIONS,
    caption=posteriors.CAPTION,
    draw=posteriors.draw,
    members="variants",
    applies=lambda experiment, budget, identity: (
        trains(experiment, budget, identity) and posteriors.has_two(experiment)
    ),
)

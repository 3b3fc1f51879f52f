"""Densities of the roll-outs of BayesSim's variants on one window."""

from pdsim.figures import densities
from pdsim.figures.figure import Figure, trains

FIGURE = Figure(
    needs=densities.NEEDS,
    sections=densities.SECTIONS,
    caption=densities.CAPTION,
    draw=densities.draw,
    members="variants",
    applies=trains,
)

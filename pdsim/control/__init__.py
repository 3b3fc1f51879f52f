"""Control with parameters that are uncertain and learnt on the way.

Parameter-Robust MPPI: a belief over the simulator's parameters (``belief``), a score of how safe a
sequence of inputs is under it (``conformal``), a planner with a nominal and a robust trajectory
(``mppi``), and the loop that closes them over a plant (``closed_loop``). "The document" in this
room is the paper on it, whose equation numbers stand in brackets.
"""

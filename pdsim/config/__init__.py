"""What a config file may say: its sections, how it is read, and what a user reads when it is wrong.

A section that belongs to a room (a system, a recording, an estimator) stands in that room.
"""

"""Where the arm and the flexible loop are during a simulated recording, for pictures of them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Request
from pdsim.posterior import read_draws
from pdsim.recordings.trajectories import inputs_of, select
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.systems.flexible_loop import FlexibleLoop
from pdsim.systems.loop_mechanics import ARM
from pdsim.systems.simulator import Simulator, build_simulator
from pdsim.variational.simulate import simulate

# Colours of the two sides of the loop.
SIDES = (style.DRAWS, "#d95f02")


class Shapes(NamedTuple):
    """Lines of the arm and of the loop at every frame of a recording, the start included.

    Attributes:
        arm: from the first hinge to the grip, (frame, 8, 3) [m].
        sides: from the grip to the clamp, (frame, 2, n/2 + 1, 3) [m].
        wrist: angle of the arm's last hinge, which twists the loop, (frame,) [rad].
        time: (frame,) [s].
        run: of the recording.
    """

    arm: np.ndarray
    sides: np.ndarray
    wrist: np.ndarray
    time: np.ndarray
    run: str

    @property
    def height(self) -> np.ndarray:
        """From the clamp to the grip, (frame,) [m]."""
        ends = self.sides[:, :, -1].mean(axis=1)
        return np.linalg.norm(self.arm[:, -1] - ends, axis=1)


def lines(system: FlexibleLoop, q: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Lines of the arm (8, 3) and of the loop's sides (2, n/2 + 1, 3) at a configuration q."""
    points, links = system.mechanics.tree.follow(q).points, system.mechanics.links
    # Hinges come first, two for each link; then centres of mass, the grip, and the two ends.
    arm = jnp.concatenate([points[:ARM], points[-3:-2]])
    starts = points[ARM : ARM + 2 * links : 2].reshape(2, links // 2, 3)
    return arm, jnp.concatenate([starts, points[-2:, None]], axis=1)


def configurations(simulator: Simulator, data: Any, physical: np.ndarray) -> np.ndarray:
    """Configurations q (frame, 7 + 2n) of the first training recording, simulated.

    Args:
        data: trajectories file.
        physical: parameters (M,).
    """
    system, space, substeps = simulator
    assert isinstance(system, FlexibleLoop)
    one = select(data, "train").isel(trajectory=slice(0, 1))
    steps = (int(one["length"].values[0]) - 1) * substeps
    dt = float(data.attrs["frame_time"]) / substeps
    inputs = np.repeat(inputs_of(one)[0], substeps, axis=0)[:steps]
    start = jnp.asarray(one["start"].values[0])
    prepared = system.prepare(space.system_parameters(space.to_coordinates(jnp.asarray(physical))))
    q, p = jnp.split(start, 2)

    @jax.jit
    def run(inputs, prepared):
        drive = jax.vmap(lambda row: system.drive(row, prepared))(inputs)
        motion, _ = simulate(system.mechanics, q, p, drive, prepared.rho, dt, steps=steps)
        return jnp.concatenate([q[None], motion.q])

    return np.asarray(run(jnp.asarray(inputs), prepared))[::substeps]


def shapes(request: Request) -> Shapes:
    """Simulate the first training recording with the median draw of the first posterior."""
    device.configure()
    simulator = build_simulator(request.sections["simulator"])
    data = read_dataset(request.files["trajectories"][0])
    draws = read_draws(request.files["posterior"][0], simulator.space)
    q = configurations(simulator, data, np.median(draws, axis=0))
    system = simulator.system
    assert isinstance(system, FlexibleLoop)
    arm, sides = jax.jit(jax.vmap(lambda q: lines(system, q)))(jnp.asarray(q))
    time = float(data.attrs["frame_time"]) * np.arange(len(q))
    run = str(select(data, "train")["run"].values[0])
    return Shapes(np.asarray(arm), np.asarray(sides), q[:, ARM - 1], time, run)


def stage(axes: Any, found: Shapes) -> None:
    """Set limits, labels and view of 3-D axes, so that all of the motion is seen, undistorted."""
    seen = np.concatenate([found.arm.reshape(-1, 3), found.sides.reshape(-1, 3)])
    seen = seen[np.isfinite(seen).all(axis=1)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = 0.05 * (high - low).max()
    axes.set(
        xlabel="x [m]", ylabel="y [m]", zlabel="z [m]",
        xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room),
        zlim=(low[2] - room, high[2] + room),
    )  # fmt: skip
    axes.set_box_aspect(high - low + 2 * room, zoom=0.93)
    axes.locator_params(nbins=3)
    axes.tick_params(pad=0)
    axes.view_init(elev=15, azim=-30)


def paint(axes: Any, found: Shapes, frame: int) -> list[Any]:
    """Draw the arm and the loop of one frame; returns what was drawn."""
    drawn = axes.plot(*found.arm[frame].T, "o-", color="0.5", linewidth=3, markersize=3)
    for side, colour in zip(found.sides[frame], SIDES, strict=True):
        drawn += axes.plot(*side.T, "o-", color=colour, linewidth=1.6, markersize=2.5)
    clamp = found.sides[frame, :, -1].mean(axis=0)
    return drawn + axes.plot(*clamp[:, None], "s", color="black", markersize=5)

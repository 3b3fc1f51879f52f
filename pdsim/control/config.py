"""An experiment of kind ``control``: a task, the controllers that are compared, how many times."""

from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from pdsim import registry
from pdsim.control.conformal import rank, sample_count
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name
from pdsim.settings.section import Name, Positive, Section
from pdsim.systems.config import PosteriorOf


class TaskConfig(Section):
    """What is to be done."""

    name: str = Field(
        description="a task of pdsim/control/tasks",
        json_schema_extra={"enum": list(registry.NAMES["control.tasks"])},
    )
    options: dict[str, Any] = Field({}, description="keys of the task's own table below")
    vehicle: dict[str, Positive] | None = Field(
        None,
        description="true value of each learnt parameter, in all simulations; default: each "
        "simulation draws its own from the prior",
    )

    @model_validator(mode="after")
    def _check(self) -> "TaskConfig":
        known = registry.NAMES["control.tasks"]
        if self.name not in known:
            raise ValueError(
                f"name: no such task (got {self.name!r}){close_name(self.name, known)}"
            )
        model = registry.load("control.tasks", self.name).Options
        for key in self.options:
            if key not in model.model_fields:
                raise ValueError(
                    f"options.{key}: {self.name} has no such option"
                    f"{close_name(key, model.model_fields)}"
                )
        try:
            model.model_validate(self.options)
        except ValidationError as error:
            told = error.errors()[0]
            key = ".".join(["options", *map(str, told["loc"])])
            raise ValueError(f"{key}: {told['msg'].removeprefix('Value error, ')}") from None
        return self

    def build(self):
        """The task.

        Raises:
            PdsimError: ``vehicle`` names other parameters than the learnt ones.
        """
        module = registry.load("control.tasks", self.name)
        task = module.build(module.Options.model_validate(self.options))
        if self.vehicle is None:
            return task
        if set(self.vehicle) != set(task.names):
            raise PdsimError(
                f"task.vehicle: {self.name} learns {', '.join(task.names)}, each needs a value "
                f"(got {', '.join(self.vehicle) or 'none'})"
            )
        return replace(task, vehicle=tuple(self.vehicle[name] for name in task.names))


class PublishedConfig(Section):
    """The document's numbers of a controller, mean and standard deviation."""

    rmse: tuple[float, float] | None = Field(None, description="in the unit of ours")
    success: float | None = Field(None, description="success rate [%]")
    accuracy: tuple[float, float] | None = Field(None, description="parameter accuracy [%]")
    milliseconds: float | None = Field(None, description="of a control step, on its machine")


class ControllerConfig(Section):
    """One controller."""

    name: Name = Field(description="its folder and its row")
    belief: Literal["truth", "nominal", "prior", "svgd", "ukf", "gp"] = Field(
        description="what it knows: the true or the nominal parameters, their prior, or what the "
        "particle filter or the Kalman filter learns; gp: the nominal model and a Gaussian process "
        "on what it lacks"
    )
    samples: int = Field(
        10, ge=1, le=100_000, description="P, parameters drawn at each control step"
    )
    sequences: int = Field(
        500, ge=1, le=10_000_000, description="M, sequences of inputs about each plan"
    )
    robust_trajectory: bool = Field(True, description="keep a robust plan to fall back on")
    risk: float = Field(0.1, gt=0, lt=1, description="δ of the conformal score")
    verify_fresh: bool = Field(
        False, description="test the chosen plan with parameters that did not choose it"
    )
    robust_min_from: Literal[0, 1] = Field(
        0, description="first step of the smallest distance that the robust plan maximises"
    )
    horizon: int | None = Field(
        None, ge=1, le=100_000, description="K, control steps; null: the task's"
    )
    temperature: Positive | None = Field(
        None, description="β that costs are divided by; null: the task's"
    )
    particles: int = Field(64, ge=4, le=1_000_000, description="N of the particle filter")
    iterations: int = Field(
        20, ge=1, le=100_000, description="of the particle filter at each control step"
    )
    step: Positive = Field(1.0, description="ε of the particle filter")
    density: Literal["silverman", "liu_west", "null_drift"] = Field(
        "null_drift", description="of the particles as the next prior; null_drift holds, see docs"
    )
    grid: int = Field(
        4, ge=2, le=8, description="points of the Gaussian process along each of its inputs"
    )
    prior_from: PosteriorOf | None = Field(
        None,
        description="posterior of an identification experiment that the particles start from, in "
        "place of the task's prior",
    )
    published: PublishedConfig | None = Field(
        None, description="the document's numbers, printed beside ours"
    )

    @model_validator(mode="after")
    def _check(self) -> "ControllerConfig":
        if rank(self.samples, self.risk) is None:
            raise ValueError(
                f"samples: {self.samples} are too few for a risk of {self.risk:g}, no plan would "
                f"count as safe; give {sample_count(self.risk)} or more, or, where the parameters "
                "are certain, one sample and risk: 0.5"
            )
        if self.prior_from is not None and self.belief != "svgd":
            raise ValueError(
                f"prior_from: belief {self.belief} has no particles; only svgd starts from draws"
            )
        return self

    @property
    def learns(self) -> bool:
        """Whether it learns parameters."""
        return self.belief in ("svgd", "ukf")

    @property
    def choice(self) -> "ControllerConfig":
        """What its simulations depend on."""
        return self.model_copy(update={"published": None})

    def build(self, task, first: tuple[tuple[float, ...], ...] | None = None):
        """The controller of a task.

        Args:
            first: y of the particles at the start, where ``prior_from`` gives it.
        """
        from pdsim.control.belief import Fixed, Particles, Unscented  # JAX for real work only
        from pdsim.control.closed_loop import Controller
        from pdsim.control.gaussian_process import GaussianProcess
        from pdsim.control.mppi import Planner

        if self.belief == "svgd":
            belief: Any = Particles(
                task, self.particles, self.iterations, self.step, self.density, first
            )
        elif self.belief == "ukf":
            belief = Unscented(task)
        elif self.belief == "gp":
            belief = GaussianProcess(task, self.grid)
        else:
            belief = Fixed(task, self.belief)
        planner = Planner(
            task,
            sequences=self.sequences,
            risk=self.risk,
            robust=self.robust_trajectory,
            verify_fresh=self.verify_fresh,
            robust_min_from=self.robust_min_from,
            horizon=self.horizon,
            temperature=self.temperature,
            learnt=belief.model if self.belief == "gp" else None,
        )
        return Controller(planner, belief, self.samples)


class ControlBudgetConfig(Section):
    """How much is simulated."""

    simulations: int = Field(
        ge=1, le=1_000_000, description="vehicles, the same for every controller"
    )
    laps: int = Field(ge=1, le=100_000, description="consecutive runs of each, the belief kept")
    steps: int | None = Field(
        None,
        ge=1,
        le=100_000_000,
        description="control steps of each, to end within a lap; null: whole laps",
    )
    chunk_size: int = Field(50, ge=1, le=1_000_000, description="control steps between checkpoints")
    timed_steps: int = Field(
        60, ge=1, le=1_000_000, description="of one simulation alone, to time a control step"
    )
    film: bool = Field(True, description="draw a film of one simulation")


class ControlRun(Section):
    """What the simulations of one controller depend on: the slice of stage ``control``."""

    task: TaskConfig
    controller: ControllerConfig
    work: ControlBudgetConfig
    seed: int
    precision: Literal["float64", "float32"]


class ControlConfig(Section):
    """An experiment of kind ``control``."""

    kind: Literal["control"] = Field(description="what kind of experiment the file is")
    title: str = Field(description="heading of the report")
    description: str = Field("", description="what the reader should know first")
    notes: tuple[str, ...] = Field((), description="paragraphs for the report's discussion")
    task: TaskConfig
    controllers: tuple[ControllerConfig, ...] = Field(min_length=1, description="what is compared")
    shown: Name | None = Field(
        None, description="controller of the path's figure and the film; null: the last that learns"
    )
    seed: int = Field(0, ge=0, lt=2**31, description="of vehicles, starts and all random numbers")
    budgets: dict[Name, ControlBudgetConfig] = Field(
        min_length=1, description="by name: smoke, small, full"
    )
    precision: Literal["float64", "float32"] = Field("float32", description="of all arithmetic")

    @model_validator(mode="after")
    def _check(self) -> "ControlConfig":
        names = [controller.name for controller in self.controllers]
        lowered = [name.lower() for name in names]
        twice = [name for i, name in enumerate(names) if lowered[i] in lowered[:i]]
        if twice:
            raise ValueError(
                f"controllers: {twice[0]!r} is there twice; give each a name of its own"
            )
        process = next((one.name for one in self.controllers if one.belief == "gp"), None)
        if process is not None:
            try:
                task = self.task.build()
            except PdsimError as error:
                raise ValueError(str(error)) from None
            if not task.residual_inputs:
                raise ValueError(
                    f"controllers: {process} has belief gp, and task {task.name} does not say what "
                    "the residual of its model depends on (residual_inputs); choose svgd or ukf"
                )
        if self.shown is not None and self.shown not in names:
            raise ValueError(
                f"shown: no controller is called {self.shown!r}{close_name(self.shown, names)}"
            )
        return self

    def controller(self, name: str) -> ControllerConfig:
        """The controller of that name, or say which there are."""
        known = {controller.name: controller for controller in self.controllers}
        if name not in known:
            raise PdsimError(
                f"no controller is called {name!r} in experiment {self.title!r}"
                f"{close_name(name, known)}"
            )
        return known[name]

    def budget(self, name: str) -> ControlBudgetConfig:
        """The budget of that name, or say which there are."""
        if name not in self.budgets:
            raise PdsimError(
                f"no budget is called {name!r} in experiment {self.title!r}; "
                f"there are: {', '.join(self.budgets)}"
            )
        return self.budgets[name]

    def run(self, controller: str, budget: str) -> ControlRun:
        """The slice of one controller's simulations."""
        return ControlRun(
            task=self.task,
            controller=self.controller(controller).choice,
            work=self.budget(budget).model_copy(update={"film": False}),
            seed=self.seed,
            precision=self.precision,
        )

    @property
    def pictured(self) -> str:
        """Name of the controller that the path's figure and the film show."""
        if self.shown is not None:
            return self.shown
        learning = [one.name for one in self.controllers if one.learns]
        return (learning or [self.controllers[-1].name])[-1]

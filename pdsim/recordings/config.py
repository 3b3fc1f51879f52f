"""Section ``recording`` of an experiment: one of the sources, told apart by the key ``source``."""

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Field

from pdsim import registry

if TYPE_CHECKING:
    RecordingConfig = Any
else:
    RecordingConfig = Annotated[
        Union[  # noqa: UP007, made of what the registry holds
            tuple(registry.load("recordings", name).Config for name in registry.NAMES["recordings"])
        ],
        Field(discriminator="source"),
    ]

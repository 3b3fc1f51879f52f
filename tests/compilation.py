"""How programs of tests are compiled, which run once and briefly: fast, not to be fast."""

from importlib.metadata import version

from packaging.version import Version

OPTIONS: dict[str, int | bool] = {"xla_backend_optimization_level": 0}
# Gone in 0.11, where XLA ends the process at a flag that it does not know.
if Version(version("jaxlib")) < Version("0.11"):
    OPTIONS["xla_cpu_use_fusion_emitters"] = False

# As XLA compiles without these options.
FAST: dict[str, int | bool] = dict.fromkeys(OPTIONS, True) | {"xla_backend_optimization_level": 3}
FLAGS = " ".join(f"--{name}={str(value).lower()}" for name, value in OPTIONS.items())

import pytest
import yaml


@pytest.fixture
def demo(root):
    return yaml.safe_load((root / "config/experiments/demo.yaml").read_text())

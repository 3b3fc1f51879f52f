"""``python -m pdsim``."""

from pdsim.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())

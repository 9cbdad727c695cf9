"""Makes `toy_linux` and `toy_ethtool` importable by their names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

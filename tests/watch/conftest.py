"""A toy lab of two switches, and batches as sources make them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

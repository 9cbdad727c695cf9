"""Write every generated page; run in the checkout's folder, or give it as the argument."""

import sys
from pathlib import Path

from eee_testbed.eeectl.reference.pages import PAGES

if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    for name, page in PAGES.items():
        (root / name).write_text(page(), encoding="utf-8")
        print(name)

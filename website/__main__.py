"""`python -m website` writes the site to `site/`; `make site` runs it with what it needs."""

import sys

from website.build import ROOT, SiteError, build

SITE = ROOT / "site"

if __name__ == "__main__":
    try:
        build(SITE, ROOT / ".tools" / "site")
    except SiteError as error:
        sys.exit(f"{error}\nsite: not built, for the reasons above.")
    print(f"site: {SITE.relative_to(ROOT)}/index.html")

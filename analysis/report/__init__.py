"""Reports on runs: one page that opens offline, and its figures as SVG and PDF."""

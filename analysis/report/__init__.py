"""A report on runs: one page that opens offline, and its drawings as SVG and PDF."""

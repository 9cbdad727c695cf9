"""Experiments: what is run on a lab, in which order, and how it is judged and kept."""

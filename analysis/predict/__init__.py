"""Predictions, with intervals, of a measured program under settings and on networks that were not measured."""

"""Predictions with intervals, of a measured program under settings and networks that were not measured."""

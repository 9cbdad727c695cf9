"""A run's folder: its clock, tables, writer and readers."""

"""Views of a run for others: they are told of every batch, and never hold the sampling up."""

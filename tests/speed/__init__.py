"""How fast the tool itself is, side by side with an alternative, in one run."""

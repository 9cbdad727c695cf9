"""A switch: configuration, boot, and their effect on frames."""

"""A switch: configuration, boot, and what it means for frames."""

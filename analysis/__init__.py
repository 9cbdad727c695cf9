"""From runs to models."""

"""The lab's true parameters, known to the twin alone."""

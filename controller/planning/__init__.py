"""From a lab and its state to a plan that is proved step by step: pure."""

"""A study: the experiments that measure a whole lab, made from its inventory."""

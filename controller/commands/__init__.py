"""The verbs that change, show and check a lab; those at the edge that know a twin."""

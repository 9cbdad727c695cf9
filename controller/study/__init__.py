"""The main job in one command: what EEE, links that are off and slower ones cost and save in a lab, as a report."""

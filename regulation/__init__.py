"""Which links a network needs: Koibuchi's selection, least power, TCEP's decisions, deadlock. Pure.

It knows networks, traffic and trees, and neither devices nor files, so that the controller, the analysis and the
simulation can ask it alike.
"""

"""Switches with ROS firmware: Dell PowerConnect 55xx, Cisco SG, SF and CBS."""

"""Monitoring: Prometheus and Grafana with their files; dashboards are made by `dashboards.py`."""

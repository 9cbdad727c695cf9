"""Monitoring: files for Prometheus and Grafana; `dashboards.py` generates the dashboards."""

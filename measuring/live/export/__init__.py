"""Exporters: live samples for Prometheus and InfluxDB."""

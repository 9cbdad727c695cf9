"""A run or a lab while it runs: in a terminal, for Prometheus and for InfluxDB."""

"""Live views of a run or a lab: in a terminal, for Prometheus and for InfluxDB."""

"""Live views of a run or a lab: in a terminal, in a browser, for Prometheus and for InfluxDB."""

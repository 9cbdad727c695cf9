//! Holds the benchmarks of the fabric: `cargo bench -p fabric_speed`.

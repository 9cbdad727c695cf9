//! A cable: its link, the ports it joins and its delay.

use crate::link::Link;
use crate::time::Ps;

/// Light and electric signals in a cable: 5 ns a metre, two thirds of the speed of light.
const PROPAGATION_PS_PER_M: f64 = 5_000.0;

/// A cable and the ports at its ends.
#[derive(Debug)]
pub(crate) struct Cable {
    pub(crate) link: Link,
    /// Indices of the two ports.
    pub(crate) ports: [u32; 2],
    /// One-way delay.
    pub(crate) propagation: Ps,
}

impl Cable {
    pub(crate) fn new(link: Link, ports: [u32; 2], length_m: f64) -> Self {
        Self {
            link,
            ports,
            propagation: (length_m * PROPAGATION_PS_PER_M).round() as Ps,
        }
    }
}

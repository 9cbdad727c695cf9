//! How bytes get from one node to another: over a simulated network, or by LogGOPS without one.

use interconnect::PacketEngine;
use interconnect::packet::{Acknowledgements, Signal};

use crate::costs::{Costs, behind_first, whole};
use crate::error::ReplayError;

/// LogGOPS without a network (Hoefler et al. 2010): the same latency between any two nodes. Times are in ticks.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LogGops {
    /// L: latency.
    pub latency: f64,
    /// g: time of a node's adapter for each message.
    pub gap: f64,
    /// G: time of a node's adapter for each byte behind the first.
    pub gap_byte: f64,
}

impl LogGops {
    /// How long a message occupies an adapter.
    pub(crate) fn occupies(&self, bytes: u64) -> u64 {
        whole(self.gap + behind_first(self.gap_byte, bytes))
    }

    /// From leaving the processor to the first byte's arrival.
    pub(crate) fn latency(&self) -> u64 {
        whole(self.latency)
    }
}

/// A simulated network.
#[derive(Clone, Debug)]
pub struct Wires {
    /// The network.
    pub engine: PacketEngine,
    /// Bytes of a flit.
    pub flit_bytes: u32,
}

impl Wires {
    /// Flits of so many bytes; a message of none has one.
    pub(crate) fn flits(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.flit_bytes.into()).max(1)
    }

    /// Let nodes acknowledge packets, if acknowledgements have bytes, and take turns, if adapters do.
    pub(crate) fn follow(&mut self, costs: &Costs) -> Result<(), ReplayError> {
        let how = Acknowledgements {
            packets: costs.ack_packets,
            flits: u16::try_from(self.flits(costs.ack_bytes)).unwrap_or(u16::MAX),
        };
        let mut done = Ok(());
        if costs.ack_bytes > 0 {
            done = self.engine.acknowledge_messages(how);
        }
        if costs.in_turn {
            done = done.and_then(|()| self.engine.take_turns());
        }
        done.or_else(|error| ReplayError::parameter(error.to_string()))
    }

    /// Simulate one cycle; what happened to messages in it is appended.
    pub(crate) fn cycle(&mut self, signals: &mut Vec<Signal>) {
        self.engine.cycle();
        self.engine.take_signals(signals);
    }
}

/// Either way.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Packets over links.
    Network(Box<Wires>),
    /// A formula.
    LogGops(LogGops),
}

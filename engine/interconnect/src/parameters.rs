//! Parameters of routers and packets.

use crate::error::SimulationError;

/// How a packet goes on while its tail is still behind.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Switching {
    /// Flit by flit: flits of different packets interleave on a channel, and a packet may be spread over many routers.
    #[default]
    Wormhole,
    /// Virtual cut-through: a packet starts only if the next buffer has room for all of it, and holds the output from its
    /// head to its tail.
    CutThrough,
    /// As most Ethernet switches do it: as cut-through, but a packet asks for an output once its tail is in the buffer.
    StoreAndForward,
}

impl Switching {
    /// Whether a packet holds its output from its head to its tail, and starts only into room for all of it.
    #[must_use]
    pub const fn keeps_together(self) -> bool {
        !matches!(self, Self::Wormhole)
    }

    /// Flits of a packet of so many that have come before a router looks at it.
    #[must_use]
    pub fn seen_from(self, flits: u64) -> u64 {
        match self {
            Self::StoreAndForward => flits,
            Self::Wormhole | Self::CutThrough => 1,
        }
    }
}

/// An input-queued router with virtual channels and credits, and the nodes around it.
///
/// A flit passes three stages: virtual-channel allocation (heads only), switch allocation, switch traversal. Each takes
/// one internal step, and a cycle has `speedup` of them. So an empty router takes t_r = ⌈3 / speedup⌉ +
/// `traversal_delay` - 1 cycles, if routes are known when a packet arrives (lookahead). A `routing_delay` d is a stage
/// before these, a step long and d - 1 cycles: t_r = ⌈4 / speedup⌉ + `traversal_delay` + d - 2.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct RouterParameters {
    /// Virtual channels of every channel.
    pub vcs: u8,
    /// Flits that fit into the buffer of one virtual channel.
    pub buffer_flits: u16,
    /// Internal steps in a cycle.
    pub speedup: u8,
    /// Cycles of the routing of a packet that has come to the front; 0 is lookahead.
    pub routing_delay: u8,
    /// Cycles of the switch traversal; at least 1.
    pub traversal_delay: u8,
    /// Whether a stage of several cycles takes others in meanwhile. In BookSim2 it does not: what comes while somebody is in
    /// the stage begins when all have left.
    pub pipelined: bool,
    /// Cycles from a credit's arrival to its use.
    pub credit_delay: u8,
    /// Flits of a packet.
    pub packet_flits: u32,
    /// How packets go on.
    pub switching: Switching,
    /// UGAL: how many flits' worth of congestion the detour must save.
    pub threshold: u32,
    /// UGAL: flits sent within so many cycles count as under way, not as waiting (the history window of Won et al. 2015);
    /// 0 counts every flit whose credit has not come back, as BookSim2 does.
    pub history_window: u32,
}

impl Default for RouterParameters {
    /// TCEP's network: 6 virtual channels of 32 flits, single-flit packets; two internal steps a cycle.
    fn default() -> Self {
        Self {
            vcs: 6,
            buffer_flits: 32,
            speedup: 2,
            routing_delay: 0,
            traversal_delay: 1,
            pipelined: true,
            credit_delay: 2,
            packet_flits: 1,
            switching: Switching::Wormhole,
            threshold: 2,
            history_window: 0,
        }
    }
}

impl RouterParameters {
    /// Cycles that a flit takes through an empty router.
    #[must_use]
    pub fn router_cycles(&self) -> u64 {
        let stages = 3 + u8::from(self.routing_delay > 0);
        u64::from(stages.div_ceil(self.speedup))
            + u64::from(self.routing_delay.saturating_sub(1))
            + u64::from(self.traversal_delay)
            - 1
    }

    /// Refuse what cannot be simulated.
    ///
    /// # Errors
    /// If a number is 0, or a packet does not fit where it must.
    pub fn check(&self) -> Result<(), SimulationError> {
        for (name, value) in [
            ("buffer_flits", u32::from(self.buffer_flits)),
            ("speedup", u32::from(self.speedup)),
            ("traversal_delay", u32::from(self.traversal_delay)),
            ("packet_flits", self.packet_flits),
        ] {
            if value == 0 {
                return SimulationError::parameter(format!("{name} is at least 1"));
            }
        }
        if self.switching.keeps_together() && self.packet_flits > u32::from(self.buffer_flits) {
            return SimulationError::parameter(format!(
                "cut-through and store-and-forward need buffers for a whole packet: {} flits do not fit into {}",
                self.packet_flits, self.buffer_flits
            ));
        }
        Ok(())
    }
}

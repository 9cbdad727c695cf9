//! SLaC in the flit engine: links are turned off and on in stages (Demir, Hardavellas 2016), as TCEP's paper describes it
//! for its comparison (Kim, Choi, Kim 2018, section V).
//!
//! Stage i of a flattened butterfly of two dimensions is all links of row i and the column links from row i to higher rows.
//! The first stage is always on. A router in which an input buffer fills beyond a high threshold triggers the next
//! stage; when all buffers of the router that triggered the last stage stay below a low threshold, that stage is turned
//! off. Packets take the direct way where its links are on, else a column link to the row of the destination if
//! that is on, else one to the first row: there is no balancing of loads.
//!
//! What the paper leaves open, and how it is filled here:
//! - The buffers of the router must be below the low threshold for a time. Where stages were turned off as soon as
//!   they are, they would be off a moment after they have come on, and on again: queues are short in a network that has
//!   enough links.
//! - An input buffer is that of a port, over all its virtual channels, those of the nodes' ports included.
//! - A stage that is to be turned off is used by the packets that were routed before, and is off when the last of them
//!   has arrived; that this is known everywhere costs nothing. Meanwhile it can be used again without delay.
//! - Routers know of changes at once and without control packets. Both favour SLaC.

use crate::consolidation::ConsolidationCounts;
use crate::error::SimulationError;
use crate::network::{Network, Peer, PortId, RouterId};
use crate::routing::{Header, Request as Hop};
use crate::tcep::LinkState;
use crate::topology::Shape;

/// SLaC's parameters.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Stages {
    /// Cycles that turning a stage on takes for each of its links.
    pub cycles_per_link: u64,
    /// Share of a buffer above which the next stage is turned on.
    pub high: f64,
    /// Share of a buffer below which the last stage is turned off.
    pub low: f64,
    /// Cycles for which the buffers are below that before.
    pub off_after: u64,
}

impl Default for Stages {
    /// As in TCEP's section V, which does not say after what time a stage is turned off: about as long as turning all
    /// stages of its network on takes.
    fn default() -> Self {
        Self {
            cycles_per_link: 100,
            high: 0.75,
            low: 0.25,
            off_after: 50_000,
        }
    }
}

/// A stage.
#[derive(Clone, Debug)]
struct Stage {
    links: u64,
    /// The router that triggered it.
    trigger: RouterId,
    off_since: u64,
    off_cycles: u64,
}

/// The state of SLaC in a network.
#[derive(Clone, Debug)]
pub(super) struct Slac {
    parameters: Stages,
    stages: Vec<Stage>,
    /// By port: stage of the link, and row of the router at the other end; `None` at nodes.
    ends: Vec<Option<(u32, u32)>>,
    rows: Vec<u32>,
    /// First port of each router, and one more.
    first_port: Vec<PortId>,
    /// Stages in use, and stages that are electrically on or waking.
    on: u32,
    lit: u32,
    /// When the next stage can be used.
    waking: Option<u64>,
    /// Packets under way, by the number of stages in use when they were routed.
    users: Vec<u64>,
    /// Flits in each port's input buffers.
    stored: Vec<u32>,
    high: u32,
    low: u32,
    /// The router that triggered the last stage has had low buffers from here on.
    low_since: u64,
    /// A router in which a buffer is above the high threshold.
    pressed: Option<RouterId>,
    counts: ConsolidationCounts,
}

impl Slac {
    /// `capacity`: flits in the buffers of a port.
    pub(super) fn new(
        network: &Network,
        parameters: Stages,
        capacity: u32,
        now: u64,
    ) -> Result<Self, SimulationError> {
        let Shape::HyperX(shape) = network.shape() else {
            return SimulationError::parameter("SLaC is for hyperx networks");
        };
        if shape.sizes.len() != 2 || shape.trunk != 1 || shape.sizes[1] > u32::from(u8::MAX) {
            return SimulationError::parameter(
                "SLaC is for two dimensions, at most 255 rows, and single links",
            );
        }
        let Stages { high, low, .. } = parameters;
        if !(0.0..=1.0).contains(&low) || !(low..=1.0).contains(&high) {
            return SimulationError::parameter(
                "SLaC's thresholds are shares of a buffer, the low one below the high one",
            );
        }
        let row = |router| shape.coordinate(router, 1);
        let (columns, rows) = (u64::from(shape.sizes[0]), shape.sizes[1]);
        let stages = (0..rows).map(|stage| Stage {
            links: columns * (columns - 1) / 2 + columns * u64::from(rows - 1 - stage),
            trigger: 0,
            off_since: now,
            off_cycles: 0,
        });
        let end = |port: &crate::network::Port| match port.peer {
            Peer::Node(_) => None,
            Peer::Port(peer) => {
                let far = row(network.port(peer).router);
                Some((far.min(row(port.router)), far))
            }
        };
        Ok(Self {
            parameters,
            stages: stages.collect(),
            ends: network.ports().iter().map(end).collect(),
            rows: (0..network.routers()).map(row).collect(),
            first_port: (0..network.routers())
                .map(|router| network.port_of(router, 0))
                .chain([network.ports().len() as PortId])
                .collect(),
            on: 1,
            lit: 1,
            waking: None,
            users: vec![0; rows as usize + 1],
            stored: vec![0; network.ports().len()],
            high: (high * f64::from(capacity)) as u32,
            low: (low * f64::from(capacity)).ceil() as u32,
            low_since: now,
            pressed: None,
            counts: ConsolidationCounts::default(),
        })
    }

    pub(super) fn on(&self) -> u32 {
        self.on
    }

    pub(super) fn counts(&self) -> ConsolidationCounts {
        self.counts
    }

    pub(super) fn state(&self, port: PortId) -> Option<LinkState> {
        let (stage, _) = self.ends[port as usize]?;
        Some(if stage < self.on {
            LinkState::Active
        } else if stage >= self.lit {
            LinkState::Off
        } else if self.waking.is_some() {
            LinkState::Waking
        } else {
            LinkState::Shadow
        })
    }

    pub(super) fn off_cycles(&self, port: PortId, now: u64) -> u64 {
        let Some((stage, _)) = self.ends[port as usize] else {
            return 0;
        };
        let own = &self.stages[stage as usize];
        let present = if stage >= self.lit {
            now - own.off_since
        } else {
            0
        };
        own.off_cycles + present
    }

    /// A flit has come into a port's buffers.
    pub(super) fn came(&mut self, router: RouterId, port: PortId) {
        let stored = &mut self.stored[port as usize];
        *stored += 1;
        if *stored > self.high {
            self.pressed = Some(router);
        }
    }

    /// A flit has left a port's buffers.
    pub(super) fn left(&mut self, port: PortId) {
        self.stored[port as usize] -= 1;
    }

    /// A packet that was routed over so many stages has arrived.
    pub(super) fn arrived(&mut self, stages: u8) {
        if stages > 0 {
            self.users[usize::from(stages)] -= 1;
        }
    }

    /// The index of the hop to take, and the number of stages in use if the packet is routed now. `hops` are the direct
    /// one and, where the packet comes from its node, the column links.
    pub(super) fn choose(&mut self, hops: &[Hop], header: &Header) -> (usize, Option<u8>) {
        let direct = hops.first().and_then(|hop| self.ends[hop.port as usize]);
        let Some((stage, _)) = direct else {
            return (0, None); // the node's own port
        };
        if header.phase != 0 {
            return (0, None);
        }
        self.users[self.on as usize] += 1;
        let routed = Some(self.on as u8);
        if stage < self.on {
            return (0, routed);
        }
        let wanted = self.rows[header.target as usize];
        let row = if wanted < self.on { wanted } else { 0 };
        let over = |hop: &Hop| self.ends[hop.port as usize].is_some_and(|(_, far)| far == row);
        let detour = hops.iter().skip(1).position(over);
        (detour.map_or(0, |index| index + 1), routed)
    }

    /// Stages that change.
    pub(super) fn step(&mut self, now: u64) {
        if self.waking.is_some_and(|at| at <= now) {
            self.waking = None;
            self.on = self.lit;
            self.low_since = now;
        }
        let pressed = self.pressed.take();
        if self.waking.is_some() {
            return;
        }
        let top = self.on as usize;
        if self.lit > self.on && self.users[top + 1..].iter().all(|&users| users == 0) {
            for stage in &mut self.stages[top..self.lit as usize] {
                stage.off_since = now;
                self.counts.deactivations += stage.links;
            }
            self.lit = self.on;
        }
        if let Some(router) = pressed.filter(|_| top < self.stages.len()) {
            let stage = &mut self.stages[top];
            stage.trigger = router;
            if self.lit > self.on {
                self.on += 1;
                self.low_since = now;
                self.counts.reactivations += stage.links;
                return;
            }
            stage.off_cycles += now - stage.off_since;
            self.counts.activations += stage.links;
            self.waking = Some(now + stage.links * self.parameters.cycles_per_link);
            self.lit += 1;
        } else if top > 1 {
            let trigger = self.stages[top - 1].trigger as usize;
            let ports = self.first_port[trigger] as usize..self.first_port[trigger + 1] as usize;
            if self.stored[ports].iter().any(|&stored| stored >= self.low) {
                self.low_since = now;
            } else if now - self.low_since >= self.parameters.off_after {
                self.on -= 1;
                self.low_since = now;
            }
        }
    }
}

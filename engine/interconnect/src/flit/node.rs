//! Nodes: when they make packets, and how they send them.

use crate::network::NodeId;
use crate::rng::{Rng, Trials};
use crate::wheel::Wheel;

/// Cycles that a node's next packet may lie ahead before the node is looked at again.
const AHEAD: u64 = 1023;

#[derive(Copy, Clone, Debug)]
struct Node {
    /// When the next packet is due.
    next: u64,
    /// The packet that is being sent, and the next of its flits.
    packet: Option<(u32, u32)>,
    /// The virtual channel of the packet that is being sent.
    vc: Option<u8>,
    last_vc: u8,
    /// Listed among the busy ones.
    busy: bool,
    /// When a resting node is looked at.
    look_at: u64,
}

/// All nodes.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// By node and virtual channel.
    credits: Vec<u16>,
    vcs: u8,
    /// Probability of a packet in a cycle, by node.
    trials: Vec<Trials>,
    /// Nodes that have something to send.
    busy: Vec<NodeId>,
    /// Nodes whose next packet is due at a cycle, or that are looked at again then.
    resting: Wheel<NodeId>,
}

impl Nodes {
    pub(super) fn new(
        nodes: u32,
        vcs: u8,
        buffer: u16,
        probabilities: &[f64],
        rng: &mut Rng,
    ) -> Self {
        let trials: Vec<Trials> = probabilities.iter().map(|&p| Trials::new(p)).collect();
        let mut resting = Wheel::new(AHEAD);
        let nodes: Vec<Node> = (0..nodes)
            .map(|node| {
                let next = rng.trials(&trials[node as usize]).saturating_sub(1);
                resting.put(next.min(AHEAD), node);
                Node {
                    next,
                    packet: None,
                    vc: None,
                    last_vc: u8::MAX,
                    busy: false,
                    look_at: next.min(AHEAD),
                }
            })
            .collect();
        Self {
            credits: vec![buffer; nodes.len() * usize::from(vcs)],
            nodes,
            vcs,
            trials,
            busy: Vec::new(),
            resting,
        }
    }

    pub(super) fn credit(&mut self, node: NodeId, vc: u8) {
        self.credits[node as usize * usize::from(self.vcs) + usize::from(vc)] += 1;
    }

    /// Look at the nodes whose time has come.
    pub(super) fn rouse(&mut self, now: u64) {
        let list = self.resting.take(now);
        for &id in &list {
            let node = &mut self.nodes[id as usize];
            if node.busy || node.look_at != now {
                continue; // It was offered a packet in between.
            }
            if node.next <= now {
                node.busy = true;
                self.busy.push(id);
            } else {
                self.rest(id, now);
            }
        }
        self.resting.put_back(list);
    }

    fn rest(&mut self, id: NodeId, now: u64) {
        let node = &mut self.nodes[id as usize];
        node.look_at = node.next.min(now + self.resting.reach());
        if node.next != u64::MAX {
            self.resting.put(node.look_at, id);
        }
    }

    pub(super) fn is_free(&self, node: NodeId) -> bool {
        self.nodes[node as usize].packet.is_none()
    }

    pub(super) fn offer(&mut self, id: NodeId, packet: u32) {
        let node = &mut self.nodes[id as usize];
        node.packet = Some((packet, 0));
        if !node.busy {
            node.busy = true;
            self.busy.push(id);
        }
    }

    pub(super) fn busy(&self, index: usize) -> Option<NodeId> {
        self.busy.get(index).copied()
    }

    /// The time at which the packet to be made now was due.
    pub(super) fn due(&self, node: NodeId, now: u64) -> Option<u64> {
        let node = &self.nodes[node as usize];
        (node.packet.is_none() && node.next <= now).then_some(node.next)
    }

    pub(super) fn begin(&mut self, node: NodeId, packet: u32, rng: &mut Rng) {
        let trials = self.trials[node as usize];
        let node = &mut self.nodes[node as usize];
        node.packet = Some((packet, 0));
        node.next = node.next.saturating_add(rng.trials(&trials));
    }

    /// Send the next flit, if there is one and a credit for it: its packet, its number in the packet, and the VC.
    pub(super) fn send(&mut self, id: NodeId, length: u32) -> Option<(u32, u32, u8)> {
        let base = id as usize * usize::from(self.vcs);
        let node = &mut self.nodes[id as usize];
        let (packet, sequence) = node.packet?;
        let credits = &mut self.credits[base..base + usize::from(self.vcs)];
        if node.vc.is_none() {
            // The next one with a credit, from the one after the last on.
            let from = if node.last_vc < self.vcs {
                node.last_vc + 1
            } else {
                0
            };
            node.vc = (0..self.vcs)
                .map(|i| ((u16::from(from) + u16::from(i)) % u16::from(self.vcs)) as u8)
                .find(|&vc| credits[usize::from(vc)] > 0);
        }
        let vc = node.vc?;
        let credit = &mut credits[usize::from(vc)];
        if *credit == 0 {
            return None;
        }
        *credit -= 1;
        node.last_vc = vc;
        node.packet = Some((packet, sequence + 1));
        if sequence + 1 == length {
            node.packet = None;
            node.vc = None;
        }
        Some((packet, sequence, vc))
    }

    /// Nothing to send now or in the next cycle.
    pub(super) fn rests(&self, node: NodeId, now: u64) -> bool {
        let node = &self.nodes[node as usize];
        node.packet.is_none() && node.next > now + 1
    }

    /// Take a node from the busy ones.
    pub(super) fn retire(&mut self, index: usize, now: u64) {
        let node = self.busy.swap_remove(index);
        self.nodes[node as usize].busy = false;
        self.rest(node, now);
    }

    pub(super) fn backlog(&self, now: u64) -> u64 {
        self.nodes
            .iter()
            .map(|node| now.saturating_sub(node.next))
            .max()
            .unwrap_or(0)
    }

    /// The largest of all nodes' probabilities of a packet in a cycle.
    pub(super) fn probability(&self) -> f64 {
        self.trials
            .iter()
            .map(Trials::probability)
            .fold(0.0, f64::max)
    }

    /// A node makes no packet any more.
    pub(super) fn cease(&mut self, node: NodeId) {
        self.nodes[node as usize].next = u64::MAX;
    }

    pub(super) fn stop(&mut self) {
        self.trials.fill(Trials::new(0.0));
        for node in &mut self.nodes {
            node.next = u64::MAX;
        }
    }
}

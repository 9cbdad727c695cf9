//! The nodes' side: packets are made, sent flit by flit, and received.

use super::{Flit, FlitEngine, Packet, Queued};
use crate::network::NodeId;

impl FlitEngine {
    /// Have a node send a packet now. False, and nothing is sent, if it is sending one already.
    pub fn offer(&mut self, source: NodeId, dest: NodeId) -> bool {
        if !self.nodes.is_free(source) {
            return false;
        }
        let packet = self.make_packet(source, dest, self.now);
        self.nodes.offer(source, packet);
        true
    }

    /// No packet is made from now on.
    pub fn stop_traffic(&mut self) {
        self.nodes.stop();
    }

    /// Flits leave the network, and credits reach nodes.
    pub(super) fn serve_nodes(&mut self) {
        let list = self.node_credits.take(self.now);
        for &(node, vc) in &list {
            self.nodes.credit(node, vc);
        }
        self.node_credits.put_back(list);
        let list = self.ejections.take(self.now);
        for &(node, vc, flit) in &list {
            self.eject(node, vc, flit);
        }
        self.ejections.put_back(list);
    }

    fn eject(&mut self, node: NodeId, vc: u8, flit: Flit) {
        let port = self.network.node_port(node);
        let at = self.now + 2 + u64::from(self.parameters.credit_delay);
        self.credits.put(at, self.inputs.numbering.number(port, vc));
        self.ejected += 1;
        self.measurement.interval.flits += 1;
        let packet = &mut self.packets[flit.packet];
        assert!(
            packet.header.dest == node && packet.arrived == flit.sequence,
            "flit {} of a packet to node {} arrived at node {node} as number {}",
            flit.sequence,
            packet.header.dest,
            packet.arrived
        );
        packet.arrived += 1;
        if packet.arrived < self.parameters.packet_flits {
            return;
        }
        if let Some(slac) = &mut self.slac {
            slac.arrived(packet.stages);
        }
        let latency = self.now - packet.created;
        self.measurement
            .arrived(latency, u64::from(packet.hops), packet.measured);
        self.packets.free(flit.packet);
    }

    /// Nodes send.
    pub(super) fn inject(&mut self) {
        self.nodes.rouse(self.now);
        let mut index = 0;
        while let Some(node) = self.nodes.busy(index) {
            let due = self.nodes.due(node, self.now);
            let made = due.filter(|_| {
                self.batches
                    .as_mut()
                    .is_none_or(|batches| batches.take(node))
            });
            if made.is_none() && due.is_some() {
                self.nodes.cease(node);
            }
            if let Some(created) = made {
                let dest = self.destinations.draw(node, &mut self.rng);
                let packet = self.make_packet(node, dest, created);
                self.nodes.begin(node, packet, &mut self.rng);
            }
            if let Some((packet, sequence, vc)) =
                self.nodes.send(node, self.parameters.packet_flits)
            {
                self.injected += 1;
                let port = self.network.node_port(node);
                let flit = Flit { packet, sequence };
                if sequence == 0 {
                    // UGAL looks at the router's queues when the packet leaves the node.
                    let queued = Queued {
                        used: &self.outputs.used,
                        recent: &self.outputs.recent,
                    };
                    let header = self.packets[packet].header;
                    self.packets[packet].header = self.routing.start(
                        header,
                        &queued,
                        self.parameters.threshold,
                        &mut self.rng,
                    );
                }
                let at = self.now + 1 + u64::from(self.network.port(port).latency);
                self.flits
                    .put(at, (self.inputs.numbering.number(port, vc), flit));
            }
            if self.nodes.rests(node, self.now) {
                self.nodes.retire(index, self.now);
            } else {
                index += 1;
            }
        }
    }

    fn make_packet(&mut self, source: NodeId, dest: NodeId, created: u64) -> u32 {
        let packet = Packet {
            header: self.routing.header(source, dest),
            created,
            arrived: 0,
            hops: 0,
            measured: self.measurement.made(),
            stages: 0,
        };
        self.packets.put(packet)
    }
}

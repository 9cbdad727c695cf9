//! A router's cycle: flits and credits arrive, packets ask for a way, granted flits cross the switch and leave.

use super::state::FREE;
use super::{Flit, FlitEngine, Queued};
use crate::link::Ready;
use crate::network::{Peer, Port, PortId, RouterId};
use crate::parameters::Switching;
use crate::routing::Request;
use crate::tcep::LinkState;

impl FlitEngine {
    /// Credits and flits reach routers: what is routed in a cycle knows all credits of it.
    pub(super) fn receive(&mut self) {
        let list = self.credits.take(self.now);
        for &output in &list {
            self.outputs.credit(output);
        }
        self.credits.put_back(list);
        let list = self.forgets.take(self.now);
        for &port in &list {
            self.outputs.recent[port as usize] -= 1;
        }
        self.forgets.put_back(list);
        let list = self.flits.take(self.now);
        for &(input, flit) in &list {
            let port = self.inputs.numbering.port(input);
            let router = self.network.port(port).router;
            self.wake(router);
            if self.takes_control(router, input, flit) {
                continue;
            }
            if let Some(slac) = &mut self.slac {
                slac.came(router, port);
            }
            if self.inputs.push(input as usize, flit) || self.completes(input as usize) {
                self.front(router, input as usize);
            }
        }
        self.flits.put_back(list);
    }

    /// A place in an input VC is free again.
    pub(super) fn return_credit(&mut self, input: u32) {
        let (port, vc) = (
            self.inputs.numbering.port(input),
            self.inputs.numbering.vc(input),
        );
        let Port { peer, latency, .. } = self.network.port(port);
        let at = self.inputs.credit_leaves(port, self.now) + 1 + u64::from(latency);
        match peer {
            Peer::Node(node) => self.node_credits.put(at, (node, vc)),
            Peer::Port(port) => self.credits.put(
                at + u64::from(self.parameters.credit_delay),
                self.inputs.numbering.number(port, vc),
            ),
        }
    }

    /// A flit crosses the switch from cycle `begins` on, and leaves through an output when the channel is ready.
    pub(super) fn cross(
        &mut self,
        router: RouterId,
        flit: Flit,
        (port, vc): (PortId, u8),
        begins: u64,
    ) {
        if !self.foreseen {
            self.routers[router as usize].cross(flit, port, vc);
            return;
        }
        let queued = begins + u64::from(self.parameters.traversal_delay) - 1;
        let leaves = match &mut self.links {
            None => self.outputs.flit_leaves(port, queued),
            Some(links) => {
                let link = &mut links[port as usize];
                let Ready::At(at) = link.request(queued, 1) else {
                    unreachable!("it does not coalesce");
                };
                link.send(at);
                at
            }
        };
        self.depart(port, vc, flit, leaves);
    }

    /// A flit leaves for the other end of a channel.
    fn depart(&mut self, port: PortId, vc: u8, flit: Flit, leaves: u64) {
        let off = [Some(LinkState::Off), Some(LinkState::Waking)];
        let tcep = self.tcep.as_ref().and_then(|tcep| tcep.state(port));
        let slac = self.slac.as_ref().and_then(|slac| slac.state(port));
        assert!(
            !off.contains(&tcep.or(slac)),
            "a flit for a link that is off"
        );
        self.outputs.sent[port as usize] += 1;
        let Port { peer, latency, .. } = self.network.port(port);
        let at = leaves + 1 + u64::from(latency);
        match peer {
            Peer::Node(node) => self.ejections.put(at, (node, vc, flit)),
            Peer::Port(port) => self
                .flits
                .put(at, (self.inputs.numbering.number(port, vc), flit)),
        }
    }

    pub(super) fn wake(&mut self, router: RouterId) {
        let state = &mut self.routers[router as usize];
        if !state.active {
            state.active = true;
            self.active.push(router);
        }
    }

    /// Flits of a packet that have come before it asks for anything.
    fn seen_from(&self, input: usize) -> usize {
        if self.is_control(input) {
            return 1;
        }
        let flits = self.parameters.packet_flits.into();
        self.parameters.switching.seen_from(flits) as usize
    }

    /// Whether a flit that has come behind others is the last that the packet in front waits for.
    fn completes(&self, input: usize) -> bool {
        if self.parameters.switching != Switching::StoreAndForward {
            return false;
        }
        let is_head = |flit: Flit| flit.sequence == 0;
        self.inputs.length(input) == self.seen_from(input)
            && self.inputs.first(input).is_some_and(is_head)
    }

    /// A flit has come to the front of an input VC, or the last one that the packet in front waits for.
    fn front(&mut self, router: RouterId, input: usize) {
        let Some(flit) = self.inputs.first(input) else {
            return;
        };
        if flit.sequence > 0 {
            self.routers[router as usize].switching.push(input as u32);
            return;
        }
        if self.inputs.length(input) < self.seen_from(input) {
            return;
        }
        if self.parameters.routing_delay > 0 {
            self.routers[router as usize].route(input as u32);
        } else {
            self.ask(router, input, flit);
        }
    }

    /// Choose where the packet in front goes, and ask for it.
    fn ask(&mut self, router: RouterId, input: usize, flit: Flit) {
        if self.tcep.is_some() {
            self.choose_by_tcep(router, input, flit);
        } else if self.slac.is_some() {
            self.choose_by_slac(router, input, flit);
        } else if let Some(only) = self.choose_by_routing(router, input, flit) {
            self.inputs.ask_only(input, only);
            self.routers[router as usize].waiting.push(input as u32);
            return;
        }
        self.inputs.ask(input, &self.requests);
        self.routers[router as usize].waiting.push(input as u32);
    }

    /// The request of a packet that has one way only; else `None`, and its requests are in `self.requests`.
    fn choose_by_routing(&mut self, router: RouterId, input: usize, flit: Flit) -> Option<Request> {
        let header = &self.packets[flit.packet].header;
        let only = if router == header.target {
            Some(self.routing.to_node(header))
        } else {
            self.routing.only(router, header)
        };
        if only.is_some() {
            return only;
        }
        let queued = Queued {
            used: &self.outputs.used,
            recent: &self.outputs.recent,
        };
        self.routing.choose(
            (router, self.inputs.port(input)),
            header,
            &queued,
            self.parameters.threshold,
            &mut self.rng,
            &mut self.requests,
        );
        if let Some(links) = &self.links {
            let now = self.now;
            self.routing.prefer_awake(&mut self.requests, |port| {
                links[port as usize].is_asleep(now)
            });
        }
        let at = (router, header.phase);
        self.routing
            .keep_one_direction(at, &mut self.requests, &queued, &mut self.rng);
        None
    }

    pub(super) fn internal_step(&mut self, router: RouterId, begins: u64) {
        let (numbering, data) = (self.inputs.numbering, self.parameters.vcs);
        let has_control = self.channels != data;
        let state = &mut self.routers[router as usize];
        let delay = self.parameters.routing_delay;
        if delay > 0 {
            state.begin_routing(self.now, delay, self.parameters.pipelined);
        }
        self.allocator.allocate_vcs(
            router,
            &state.waiting,
            &self.inputs,
            &self.outputs,
            &self.parameters,
        );
        self.allocator
            .allocate_switch(router, &state.switching, &self.inputs, &self.outputs);
        state.traverse(self.now, &self.parameters, &mut self.outputs);
        for &(input, request, output) in &self.allocator.vc_grants {
            let request = self.inputs.request(input as usize, request);
            let is_control = has_control && numbering.vc(input) == data;
            if let Some(flit) = self.inputs.first(input as usize) {
                if !is_control {
                    let packet = &mut self.packets[flit.packet];
                    if let Some(tcep) = &mut self.tcep {
                        let detour = packet.header.phase != 0 || request.phase != 0;
                        tcep.track(input as usize, detour);
                    }
                    packet.header.phase = request.phase;
                    packet.header.via = request.via;
                    packet.hops += u16::from(self.links_to_router[request.port as usize]);
                }
            }
            self.outputs.owner[output as usize] = input;
            self.inputs.set_output(input as usize, output);
            state.switching.push(input);
        }
        if !self.allocator.vc_grants.is_empty() {
            let inputs = &self.inputs;
            state
                .waiting
                .retain(|&input| inputs.output(input as usize) == FREE);
        }
        for grant in 0..self.allocator.switch_grants.len() {
            self.switch(router, self.allocator.switch_grants[grant] as usize, begins);
        }
        if !self.allocator.switch_grants.is_empty() {
            let inputs = &self.inputs;
            self.routers[router as usize].settle(|input| inputs.is_switching(input as usize));
        }
        if delay > 0 {
            while let Some(input) = self.routers[router as usize].routed(self.now) {
                if let Some(flit) = self.inputs.first(input as usize) {
                    self.ask(router, input as usize, flit);
                }
            }
        }
    }

    /// A flit leaves an input VC.
    fn switch(&mut self, router: RouterId, input: usize, begins: u64) {
        let output = self.inputs.output(input) as usize;
        let flit = self.inputs.pop(input);
        let is_control = self.is_control(input);
        let tail = is_control || flit.sequence + 1 == self.parameters.packet_flits;
        let (port, vc) = self.outputs.send(output);
        self.remember(port);
        let in_port = self.inputs.port(input);
        if let Some(tcep) = &mut self.tcep {
            if !is_control {
                tcep.count(input, port, 1);
            }
        }
        if let Some(slac) = &mut self.slac {
            slac.left(in_port);
        }
        self.outputs
            .hold(output, input as u32, tail, self.parameters.switching);
        self.cross(router, flit, (port, vc), begins);
        self.return_credit(input as u32);
        if tail {
            self.inputs.set_output(input, FREE);
            // The next packet asks for a virtual channel in the next step.
            self.front(router, input);
        }
    }

    /// One flit a cycle from each output queue, if there are any.
    pub(super) fn send(&mut self, router: RouterId) {
        if self.routers[router as usize].sending.is_empty() {
            return;
        }
        let now = self.now;
        let mut sending = std::mem::take(&mut self.routers[router as usize].sending);
        sending.retain(|&port| {
            let queue = &mut self.outputs.queues[port as usize];
            if let Some(links) = &mut self.links {
                let link = &mut links[port as usize];
                match link.request(now, queue.len() as u32) {
                    Ready::At(at) if at <= now => link.send(now),
                    _ => return true,
                }
            }
            let first = queue.pop_front();
            let more = !queue.is_empty();
            if let Some((flit, vc)) = first {
                self.depart(port, vc, flit, now);
            }
            more
        });
        self.routers[router as usize].sending = sending;
    }

    /// A flit has been sent to a port: for a while it is no sign of congestion.
    pub(super) fn remember(&mut self, port: PortId) {
        if self.parameters.history_window > 0 {
            self.outputs.recent[port as usize] += 1;
            let at = self.now + u64::from(self.parameters.history_window);
            self.forgets.put(at, port);
        }
    }
}

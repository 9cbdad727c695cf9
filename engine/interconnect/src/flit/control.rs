//! TCEP and SLaC beside the traffic: links that change, and TCEP's control packets.

use super::{Flit, FlitEngine, Queued};
use crate::consolidation::Tcep;
use crate::consolidation::control::Mail;
use crate::network::{PortId, RouterId};
use crate::routing::Request;

impl FlitEngine {
    /// Links that change, TCEP's epochs, and its control packets.
    pub(super) fn consolidate(&mut self) {
        if let Some(slac) = &mut self.slac {
            slac.step(self.now);
        }
        let Some(mut tcep) = self.tcep.take() else {
            return;
        };
        tcep.step(self.now, |port| self.is_unused(port));
        if !tcep.mail.is_idle() {
            self.send_control(&mut tcep);
        }
        self.tcep = Some(tcep);
    }

    /// Routers put control packets into their output queues.
    fn send_control(&mut self, tcep: &mut Tcep) {
        let vc = tcep.mail.vc;
        let mut mail = std::mem::replace(&mut tcep.mail, Mail::new(0, vc));
        let sent = mail.send(|control| {
            let port = tcep.way_to(control.from, control.to);
            self.outputs.has_room(port, vc, vc)
        });
        for (router, packet) in sent {
            let port = tcep.way_to(router, mail.packets[packet].to);
            let output = self.inputs.numbering.number(port, vc);
            self.outputs.send(output as usize);
            self.remember(port);
            self.injected += 1;
            let flit = Flit {
                packet,
                sequence: 0,
            };
            self.cross(router, flit, (port, vc), self.now);
            self.wake(router);
        }
        tcep.mail = mail;
    }

    /// A control packet that has come to its router is taken from its channel at once.
    pub(super) fn takes_control(&mut self, router: RouterId, input: u32, flit: Flit) -> bool {
        let Some(tcep) = &mut self.tcep else {
            return false;
        };
        let vc = self.inputs.numbering.vc(input);
        if vc != tcep.mail.vc || tcep.mail.packets[flit.packet].to != router {
            return false;
        }
        let control = tcep.mail.take(flit.packet);
        tcep.receive(control);
        self.ejected += 1;
        self.return_credit(input);
        true
    }

    pub(super) fn is_control(&self, input: usize) -> bool {
        self.channels != self.parameters.vcs
            && self.inputs.numbering.vc(input as u32) == self.parameters.vcs
    }

    /// Whether no packet is in a port's channel or the buffer behind it, or asks for it.
    fn is_unused(&self, port: PortId) -> bool {
        let router = self.network.port(port).router;
        self.outputs.is_unused(port)
            && self.routers[router as usize].waiting.iter().all(|&input| {
                self.inputs
                    .requests(input as usize)
                    .all(|(_, request)| request.port != port)
            })
    }

    /// The one request of a packet in front, or of a control packet, by TCEP.
    pub(super) fn choose_by_tcep(&mut self, router: RouterId, input: usize, flit: Flit) {
        let is_control = self.is_control(input);
        let Some(tcep) = &mut self.tcep else {
            return;
        };
        if is_control {
            let vc = tcep.mail.vc;
            let port = tcep.way_to(router, tcep.mail.packets[flit.packet].to);
            self.requests.clear();
            self.requests.push(Request {
                port,
                first_vc: vc,
                last_vc: vc,
                priority: 0,
                phase: 0,
                via: 0,
            });
            return;
        }
        let queued = Queued {
            used: &self.outputs.used,
            recent: &self.outputs.recent,
        };
        let header = &self.packets[flit.packet].header;
        let in_port = self.inputs.port(input);
        self.routing
            .requests(router, in_port, header, &mut self.requests);
        let outputs = &self.outputs;
        let chosen = tcep.choose(
            (router, input),
            &self.requests,
            header,
            (&queued, self.parameters.threshold),
            |hop| outputs.has_room(hop.port, hop.first_vc, hop.last_vc),
            &mut self.rng,
        );
        self.requests.swap(0, chosen);
        self.requests.truncate(1);
    }

    /// The one request of a packet in front, by SLaC, whose stages it notes.
    pub(super) fn choose_by_slac(&mut self, router: RouterId, input: usize, flit: Flit) {
        let Some(slac) = &mut self.slac else {
            return;
        };
        let packet = &mut self.packets[flit.packet];
        let in_port = self.inputs.port(input);
        self.routing
            .requests(router, in_port, &packet.header, &mut self.requests);
        let (chosen, stages) = slac.choose(&self.requests, &packet.header);
        packet.stages = stages.unwrap_or(packet.stages);
        self.requests.swap(0, chosen);
        self.requests.truncate(1);
    }
}

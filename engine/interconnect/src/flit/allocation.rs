//! Separable allocation, input first, with round-robin arbiters.

use super::state::{FREE, Inputs, Numbering, Outputs};
use crate::network::{Network, PortId, RouterId};
use crate::parameters::RouterParameters;
use crate::routing::Request;

/// The best claim so far on an input or output: the one with the lowest key.
#[derive(Copy, Clone, Debug)]
struct Claim {
    key: u32,
    input: u32,
    request: u32,
}

/// Nobody claims it. So are all between two rounds.
const NOBODY: Claim = Claim {
    key: u32::MAX,
    input: FREE,
    request: 0,
};

/// The arbiters of all routers, and room for one router's claims.
#[derive(Clone, Debug)]
pub(super) struct Allocator {
    numbering: Numbering,
    first_port: Vec<PortId>,
    /// Next output VC for an input VC, and next input VC for an output VC; numbers within the router.
    vc_in: Vec<u32>,
    vc_out: Vec<u32>,
    /// Next output for an input, next VC for an input, next input for an output.
    switch_in: Vec<u32>,
    switch_vc: Vec<u32>,
    switch_out: Vec<u32>,
    claims: Vec<Claim>,
    second: Vec<Claim>,
    claimed: Vec<u32>,
    claimed_outputs: Vec<u32>,
    /// Input VC, number of its request, output VC.
    pub(super) vc_grants: Vec<(u32, u32, u32)>,
    /// Input VCs.
    pub(super) switch_grants: Vec<u32>,
}

/// Steps from a pointer to a position on a ring.
fn steps(position: u32, pointer: u32, size: u32) -> u32 {
    if position >= pointer {
        position - pointer
    } else {
        position + size - pointer
    }
}

/// The position after this one on a ring.
fn next(position: u32, size: u32) -> u32 {
    if position + 1 == size {
        0
    } else {
        position + 1
    }
}

/// The number of the request that an input VC makes, and the open output VC that it is for: the next one from the
/// pointer on, on a ring of a size, within the highest priority.
fn best_request<'a>(
    numbering: Numbering,
    requests: impl Iterator<Item = (u32, &'a Request)>,
    (pointer, size): (u32, u32),
    is_open: impl Fn(u32) -> bool,
) -> Option<(u32, u32)> {
    let mut best: Option<(u8, u32, u32, u32)> = None;
    for (number, request) in requests {
        let priority = 255 - request.priority;
        if best.is_some_and(|(least, ..)| least < priority) {
            continue;
        }
        let low = numbering.number(request.port, request.first_vc);
        let high = numbering.number(request.port, request.last_vc);
        let from = if (low..=high).contains(&pointer) {
            pointer
        } else {
            low
        };
        let Some(output) = (from..=high).chain(low..from).find(|&own| is_open(own)) else {
            continue;
        };
        let rank = (priority, steps(output, pointer, size), number, output);
        if best.is_none_or(|best| rank < best) {
            best = Some(rank);
        }
    }
    best.map(|(_, _, request, output)| (request, output))
}

impl Allocator {
    pub(super) fn new(network: &Network, vcs: u8) -> Self {
        let ports = network.ports().len();
        let numbering = Numbering::new(vcs);
        let channels = numbering.end(network);
        let degree = (0..network.routers())
            .map(|router| network.degree(router))
            .max()
            .unwrap_or(0);
        Self {
            numbering,
            first_port: (0..network.routers())
                .map(|router| network.port_of(router, 0))
                .chain([ports as PortId])
                .collect(),
            vc_in: vec![0; channels],
            vc_out: vec![0; channels],
            switch_in: vec![0; ports],
            switch_vc: vec![0; ports],
            switch_out: vec![0; ports],
            claims: vec![NOBODY; (degree * numbering.width()) as usize],
            second: vec![NOBODY; degree as usize],
            claimed: Vec::new(),
            claimed_outputs: Vec::new(),
            vc_grants: Vec::new(),
            switch_grants: Vec::new(),
        }
    }

    /// First port of a router and number of its ports.
    fn span(&self, router: RouterId) -> (u32, u32) {
        let first = self.first_port[router as usize];
        (first, self.first_port[router as usize + 1] - first)
    }

    /// Keep a claim if it is the first or better; true if it is the first.
    fn claim(slot: &mut Claim, claim: Claim) -> bool {
        let first = slot.input == FREE;
        if claim.key < slot.key {
            *slot = claim;
        }
        first
    }

    pub(super) fn allocate_vcs(
        &mut self,
        router: RouterId,
        waiting: &[u32],
        inputs: &Inputs,
        outputs: &Outputs,
        parameters: &RouterParameters,
    ) {
        self.vc_grants.clear();
        if waiting.is_empty() {
            return;
        }
        self.claimed.clear();
        let (first, degree) = self.span(router);
        let (base, size) = (
            self.numbering.number(first, 0),
            degree * self.numbering.width(),
        );
        let together = parameters.switching.keeps_together();
        let is_open = |output: u32| {
            outputs.owner[output as usize] == FREE
                && (!together
                    || u32::from(outputs.room(output as usize)) >= parameters.packet_flits)
        };
        for &input in waiting {
            let pointer = base + self.vc_in[input as usize];
            let requests = inputs.requests(input as usize);
            let ring = (pointer, size);
            let Some((request, output)) = best_request(self.numbering, requests, ring, is_open)
            else {
                continue;
            };
            let local = output - base;
            let claim = Claim {
                key: steps(input - base, self.vc_out[output as usize], size),
                input,
                request,
            };
            if Self::claim(&mut self.claims[local as usize], claim) {
                self.claimed.push(local);
            }
        }
        for &local in &self.claimed {
            let claim = &mut self.claims[local as usize];
            let Claim { input, request, .. } = std::mem::replace(claim, NOBODY);
            let output = base + local;
            self.vc_in[input as usize] = next(local, size);
            self.vc_out[output as usize] = next(input - base, size);
            self.vc_grants.push((input, request, output));
        }
    }

    pub(super) fn allocate_switch(
        &mut self,
        router: RouterId,
        switching: &[u32],
        inputs: &Inputs,
        outputs: &Outputs,
    ) {
        self.switch_grants.clear();
        if switching.is_empty() {
            return;
        }
        self.claimed.clear();
        self.claimed_outputs.clear();
        let (first, degree) = self.span(router);
        let numbering = self.numbering;
        for &input in switching {
            let output = inputs.output(input as usize);
            let (in_port, out_port) = (numbering.port(input), numbering.port(output));
            let held = outputs.held[out_port as usize];
            if outputs.room(output as usize) == 0 || held != FREE && held != input {
                continue;
            }
            let to = steps(out_port - first, self.switch_in[in_port as usize], degree);
            let pointer = self.switch_vc[in_port as usize];
            let vc = steps(u32::from(numbering.vc(input)), pointer, numbering.width());
            let claim = Claim {
                key: to * numbering.width() + vc,
                input,
                request: 0,
            };
            let local = in_port - first;
            if Self::claim(&mut self.claims[local as usize], claim) {
                self.claimed.push(local);
            }
        }
        for &local in &self.claimed {
            let input = std::mem::replace(&mut self.claims[local as usize], NOBODY).input;
            let output = numbering.port(inputs.output(input as usize));
            let claim = Claim {
                key: steps(local, self.switch_out[output as usize], degree),
                input,
                request: 0,
            };
            if Self::claim(&mut self.second[(output - first) as usize], claim) {
                self.claimed_outputs.push(output - first);
            }
        }
        for &local in &self.claimed_outputs {
            let input = std::mem::replace(&mut self.second[local as usize], NOBODY).input;
            let in_port = numbering.port(input);
            self.switch_in[in_port as usize] = next(local, degree);
            self.switch_vc[in_port as usize] =
                next(u32::from(numbering.vc(input)), numbering.width());
            self.switch_out[(first + local) as usize] = next(in_port - first, degree);
            self.switch_grants.push(input);
        }
    }
}

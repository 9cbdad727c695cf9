//! Separable allocation, input first, with round-robin arbiters.

use super::state::{FREE, Inputs, Outputs};
use crate::network::{Network, PortId, RouterId};
use crate::parameters::{RouterParameters, Switching};

/// The best claim so far on an input or output, in the round that `round` numbers.
#[derive(Copy, Clone, Debug, Default)]
struct Claim {
    round: u64,
    key: u32,
    input: u32,
    request: u32,
}

/// The arbiters of all routers, and room for one router's claims.
#[derive(Clone, Debug)]
pub(super) struct Allocator {
    vcs: u32,
    first_port: Vec<PortId>,
    /// Next output VC for an input VC, and next input VC for an output VC; numbers within the router.
    vc_in: Vec<u32>,
    vc_out: Vec<u32>,
    /// Next output for an input, next VC for an input, next input for an output.
    switch_in: Vec<u32>,
    switch_vc: Vec<u32>,
    switch_out: Vec<u32>,
    round: u64,
    claims: Vec<Claim>,
    second: Vec<Claim>,
    claimed: Vec<u32>,
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

impl Allocator {
    pub(super) fn new(network: &Network, vcs: u8) -> Self {
        let ports = network.ports().len();
        let channels = ports * usize::from(vcs);
        let widest = (0..network.routers())
            .map(|router| network.degree(router))
            .max()
            .unwrap_or(0) as usize
            * usize::from(vcs);
        Self {
            vcs: u32::from(vcs),
            first_port: (0..network.routers())
                .map(|router| network.port_of(router, 0))
                .chain([ports as PortId])
                .collect(),
            vc_in: vec![0; channels],
            vc_out: vec![0; channels],
            switch_in: vec![0; ports],
            switch_vc: vec![0; ports],
            switch_out: vec![0; ports],
            round: 0,
            claims: vec![Claim::default(); widest],
            second: vec![Claim::default(); widest],
            claimed: Vec::new(),
            vc_grants: Vec::new(),
            switch_grants: Vec::new(),
        }
    }

    /// First port of a router and number of its ports.
    fn span(&self, router: RouterId) -> (u32, u32) {
        let first = self.first_port[router as usize];
        (first, self.first_port[router as usize + 1] - first)
    }

    /// Keep a claim if it is the first of the round or better; true if it is the first.
    fn claim(slot: &mut Claim, claim: Claim) -> bool {
        let first = slot.round != claim.round;
        if first || claim.key < slot.key {
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
        self.round += 1;
        self.claimed.clear();
        let (first, degree) = self.span(router);
        let (base, size) = (first * self.vcs, degree * self.vcs);
        let cut_through = parameters.switching == Switching::CutThrough;
        for &input in waiting {
            let pointer = self.vc_in[input as usize];
            let mut best: Option<(u8, u32, u32, u32)> = None;
            for (number, request) in inputs.requests(input as usize) {
                for vc in request.first_vc..=request.last_vc {
                    let output = request.port * self.vcs + u32::from(vc);
                    let free = outputs.owner[output as usize] == FREE;
                    let room = !cut_through
                        || u32::from(outputs.room(output as usize)) >= parameters.packet_flits;
                    if !free || !room {
                        continue;
                    }
                    let key = steps(output - base, pointer, size);
                    let rank = (255 - request.priority, key, number, output);
                    if best.is_none_or(|best| rank < best) {
                        best = Some(rank);
                    }
                }
            }
            let Some((_, _, request, output)) = best else {
                continue;
            };
            let local = output - base;
            let claim = Claim {
                round: self.round,
                key: steps(input - base, self.vc_out[output as usize], size),
                input,
                request,
            };
            if Self::claim(&mut self.claims[local as usize], claim) {
                self.claimed.push(local);
            }
        }
        for &local in &self.claimed {
            let Claim { input, request, .. } = self.claims[local as usize];
            let output = base + local;
            self.vc_in[input as usize] = (local + 1) % size;
            self.vc_out[output as usize] = (input - base + 1) % size;
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
        self.round += 1;
        self.claimed.clear();
        let (first, degree) = self.span(router);
        for &input in switching {
            let output = inputs.output(input as usize);
            let (in_port, out_port) = (input / self.vcs, output / self.vcs);
            let held = outputs.held[out_port as usize];
            if outputs.room(output as usize) == 0 || held != FREE && held != input {
                continue;
            }
            let to = steps(out_port - first, self.switch_in[in_port as usize], degree);
            let vc = steps(input % self.vcs, self.switch_vc[in_port as usize], self.vcs);
            let claim = Claim {
                round: self.round,
                key: to * self.vcs + vc,
                input,
                request: 0,
            };
            let local = in_port - first;
            if Self::claim(&mut self.claims[local as usize], claim) {
                self.claimed.push(local);
            }
        }
        self.round += 1;
        let mut granted = std::mem::take(&mut self.claimed);
        let by_input = granted.len();
        for place in 0..by_input {
            let local = granted[place];
            let input = self.claims[local as usize].input;
            let output = inputs.output(input as usize) / self.vcs;
            let claim = Claim {
                round: self.round,
                key: steps(local, self.switch_out[output as usize], degree),
                input,
                request: 0,
            };
            if Self::claim(&mut self.second[(output - first) as usize], claim) {
                granted.push(output - first);
            }
        }
        for &local in &granted[by_input..] {
            let Claim { input, .. } = self.second[local as usize];
            let in_port = (input / self.vcs) as usize;
            self.switch_in[in_port] = (local + 1) % degree;
            self.switch_vc[in_port] = (input % self.vcs + 1) % self.vcs;
            self.switch_out[(first + local) as usize] = (in_port as u32 - first + 1) % degree;
            self.switch_grants.push(input);
        }
        self.claimed = granted;
    }
}

//! What a network is set up with before traffic: policies of links, TCEP, SLaC, jobs.

use super::batch::{Batches, Stock};
use super::stages::{Slac, Stages};
use super::{Allocator, FlitEngine, Inputs, MOST_AHEAD, Nodes, Numbering, Outputs, flight};
use crate::consolidation::{Consolidation, Tcep};
use crate::error::SimulationError;
use crate::link::{LinkPolicy, LinkTx};
use crate::network::Peer;
use crate::routing::Algorithm;

impl FlitEngine {
    /// Let the channels between routers follow a policy from now on.
    pub fn set_links(&mut self, policy: LinkPolicy) {
        let (now, outputs) = (self.now, &self.outputs);
        let links = (0..).zip(self.network.ports()).map(|(id, port)| {
            let own = match port.peer {
                Peer::Port(_) => policy,
                Peer::Node(_) => LinkPolicy::default(),
            };
            LinkTx::new(outputs.idle_from(id).max(now), own)
        });
        self.links = Some(links.collect());
        let timing = policy.timing;
        let coalesces = timing.coalesce != 0 || timing.coalesce_byte != 0;
        let flight = flight(&self.network, &self.parameters, policy);
        self.foreseen = self.parameters.pipelined && !coalesces && flight <= MOST_AHEAD;
        if self.foreseen {
            self.flits.widen(now, flight);
        }
    }

    /// Refuse links that sleep, where they are turned off too.
    fn check_awake(&self, who: &str) -> Result<(), SimulationError> {
        if self.links.iter().flatten().any(LinkTx::can_sleep) {
            return SimulationError::parameter(format!(
                "links that {who} turns off do not sleep in the flit engine; the packet engine has both, with TCEP"
            ));
        }
        Ok(())
    }

    /// Turn links off and on by TCEP from now on.
    ///
    /// # Errors
    /// If the network is no HyperX with single links, the routing is not PAL, links sleep, or packets are under way.
    pub fn set_consolidation(&mut self, parameters: Consolidation) -> Result<(), SimulationError> {
        if self.routing.algorithm() != Algorithm::PowerAware {
            return SimulationError::routing(
                "TCEP needs the routing pal, which knows links that are off",
            );
        }
        if self.injected != 0 {
            return SimulationError::parameter("TCEP begins before the first packet");
        }
        self.check_awake("TCEP")?;
        // One virtual channel more, for control packets.
        let (vcs, buffer) = (self.parameters.vcs + 1, self.parameters.buffer_flits);
        let inputs = Numbering::new(vcs).end(&self.network);
        let control = (self.parameters.vcs, inputs);
        let tcep = Tcep::new(&self.network, parameters, control, self.now)?;
        self.channels = vcs;
        self.inputs = Inputs::new(&self.network, vcs, buffer);
        self.outputs = Outputs::new(&self.network, vcs, buffer);
        self.allocator = Allocator::new(&self.network, vcs);
        self.tcep = Some(Box::new(tcep));
        Ok(())
    }

    /// Turn links off and on by SLaC from now on.
    ///
    /// # Errors
    /// If the network has not two dimensions and single links, the routing is not SLaC's, links sleep, or packets are under
    /// way.
    pub fn set_stages(&mut self, parameters: Stages) -> Result<(), SimulationError> {
        if self.routing.algorithm() != Algorithm::Staged {
            return SimulationError::routing(
                "SLaC needs the routing slac, which knows stages that are off",
            );
        }
        if self.injected != 0 {
            return SimulationError::parameter("SLaC begins before the first packet");
        }
        self.check_awake("SLaC")?;
        let capacity = u32::from(self.parameters.vcs) * u32::from(self.parameters.buffer_flits);
        let slac = Slac::new(&self.network, parameters, capacity, self.now)?;
        self.slac = Some(Box::new(slac));
        Ok(())
    }

    /// Give each job its own load, as a share of the engine's, and, if `packets` is not empty, a number of packets to be
    /// sent by its nodes together or by each, after which they send no more (batch mode).
    ///
    /// # Errors
    /// If the traffic has no jobs, or another number of them, a load would exceed a flit a cycle, or packets are under
    /// way.
    pub fn set_jobs(
        &mut self,
        shares: &[f64],
        packets: &[u64],
        stock: Stock,
    ) -> Result<(), SimulationError> {
        let Some(job_of) = self.destinations.job_of() else {
            return SimulationError::traffic("only jobs have loads and batches of their own");
        };
        let jobs = job_of.iter().max().map_or(0, |&last| last as usize + 1);
        if shares.len() != jobs || !(packets.is_empty() || packets.len() == jobs) {
            return SimulationError::traffic(format!(
                "{jobs} jobs need {jobs} shares of the load, and as many numbers of packets or none"
            ));
        }
        if self.injected != 0 {
            return SimulationError::parameter("batches begin before the first packet");
        }
        let most = 1.0 / f64::from(self.parameters.packet_flits);
        let probabilities: Vec<f64> = job_of
            .iter()
            .map(|&job| shares[job as usize] * self.nodes.probability())
            .collect();
        if !probabilities.iter().all(|one| (0.0..=most).contains(one)) {
            return SimulationError::traffic("a job's load is from 0 to 1 flits a node and cycle");
        }
        if !packets.is_empty() {
            self.batches = Some(Batches::new(job_of, packets, stock));
        }
        self.nodes = Nodes::new(
            self.network.nodes(),
            self.parameters.vcs,
            self.parameters.buffer_flits,
            &probabilities,
            &mut self.rng,
        );
        Ok(())
    }
}

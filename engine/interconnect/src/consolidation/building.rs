//! TCEP's state of a network before its first cycle.

use super::control::Mail;
use super::knowledge::Knowledge;
use super::link::{Link, Phase};
use super::{Consolidation, ConsolidationCounts, End, Flits, NONE, Tcep, Track};
use crate::error::SimulationError;
use crate::network::{Network, Peer, RouterId};
use crate::tcep::LinkState;
use crate::topology::{HyperX, Shape};

/// Links, and who is in which subnetwork.
struct Subnetworks {
    links: Vec<Link>,
    ends: Vec<Option<End>>,
    members: Vec<Vec<RouterId>>,
    known: Vec<Knowledge>,
}

impl Tcep {
    pub(crate) fn new(
        network: &Network,
        parameters: Consolidation,
        (vc, inputs): (u8, usize),
        now: u64,
    ) -> Result<Self, SimulationError> {
        let Shape::HyperX(shape) = network.shape() else {
            return SimulationError::parameter("TCEP is for hyperx networks");
        };
        check(&parameters, shape)?;
        let (ports, routers) = (network.ports().len(), network.routers());
        let dimensions = shape.sizes.len();
        let subnetworks = lay_out(network, shape, parameters.begins_with_root, now);
        let ports_of = |router| {
            network
                .ports_of(router)
                .filter(|&port| matches!(network.port(port).peer, Peer::Port(_)))
                .collect()
        };
        Ok(Self {
            parameters,
            links: subnetworks.links,
            ends: subnetworks.ends,
            known: subnetworks.known,
            members: subnetworks.members,
            ports: (0..routers).map(ports_of).collect(),
            first_place: (0..dimensions)
                .map(|d| shape.sizes[..d].iter().map(|&size| size as usize - 1).sum())
                .collect(),
            mail: Mail::new(routers, vc),
            tracks: vec![
                Track {
                    detour: false,
                    wanted: NONE,
                };
                inputs
            ],
            short: vec![Flits::default(); ports],
            long: vec![Flits::default(); ports],
            judged: vec![Flits::default(); ports],
            wanted: vec![0; ports],
            before: vec![0.0; ports],
            requests: vec![Vec::new(); routers as usize],
            asked: vec![false; routers as usize],
            last_activated: vec![None; routers as usize],
            changing: Vec::new(),
            switched: Vec::new(),
            now,
            quiet: false,
            counts: ConsolidationCounts::default(),
        })
    }
}

fn check(parameters: &Consolidation, shape: &HyperX) -> Result<(), SimulationError> {
    if shape.trunk != 1 {
        return SimulationError::parameter("TCEP is for single links between routers");
    }
    if parameters.epoch == 0 || parameters.deactivation_epochs == 0 {
        return SimulationError::parameter("TCEP's epochs are at least 1 cycle long");
    }
    if !(0.0..=1.0).contains(&parameters.high_water_mark) {
        return SimulationError::parameter("TCEP's high-water mark is from 0 to 1");
    }
    Ok(())
}

fn lay_out(network: &Network, shape: &HyperX, begins_with_root: bool, now: u64) -> Subnetworks {
    let mut links = Vec::new();
    let mut ends: Vec<Option<End>> = vec![None; network.ports().len()];
    let mut members: Vec<Vec<RouterId>> = Vec::new();
    let mut known: Vec<Knowledge> = (0..network.routers())
        .flat_map(|_| shape.sizes.iter().map(|&size| Knowledge::new(size)))
        .collect();
    let dimensions = shape.sizes.len();
    // A subnetwork is known by its hub and dimension.
    let mut numbers = std::collections::BTreeMap::new();
    for (one, other) in network.links() {
        let router = network.port(one).router;
        let Some((dimension, far)) = shape.leads_to(router, network.local(one)) else {
            continue;
        };
        let near = shape.coordinate(router, dimension);
        let hub = shape.moved(router, dimension, 0);
        let subnetwork = *numbers.entry((hub, dimension)).or_insert_with(|| {
            let size = shape.sizes[dimension];
            members.push((0..size).map(|c| shape.moved(hub, dimension, c)).collect());
            members.len() as u32 - 1
        });
        let link = links.len() as u32;
        for (port, own, other) in [(one, near, far), (other, far, near)] {
            ends[port as usize] = Some(End {
                link,
                subnetwork,
                dimension: dimension as u32,
                own,
                other,
            });
        }
        let root = near == 0 || far == 0;
        let on = root || !begins_with_root;
        for &member in &members[subnetwork as usize] {
            known[member as usize * dimensions + dimension].learn(near, far, on, 0);
        }
        links.push(Link {
            ports: [one, other],
            state: if on {
                LinkState::Active
            } else {
                LinkState::Off
            },
            phase: Phase::Steady,
            root,
            speaker: router,
            version: 0,
            since: now,
            off_cycles: 0,
            turning_on_cycles: 0,
        });
    }
    Subnetworks {
        links,
        ends,
        members,
        known,
    }
}

//! What waits for the owner of the fabric: deliveries, tapped frames, alarms and link changes of NICs.

use std::collections::BTreeMap;

use crate::id::PortId;
use crate::report::{Alarm, Delivery, Tapped};
use crate::time::Ps;

/// Results that have not been collected.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    deliveries: Vec<Delivery>,
    tapped: Vec<Tapped>,
    alarms: Vec<Alarm>,
    nic_links: BTreeMap<PortId, bool>,
}

impl Outbox {
    pub(crate) fn deliver(&mut self, delivery: Delivery) {
        self.deliveries.push(delivery);
    }

    pub(crate) fn tap(&mut self, tapped: Option<Tapped>) {
        self.tapped.extend(tapped);
    }

    pub(crate) fn alarm(&mut self, at: Ps, text: String) {
        self.alarms.push(Alarm { at, text });
    }

    /// The link of a NIC went up or down. A later change replaces an earlier one.
    pub(crate) fn link_changed(&mut self, nic: PortId, up: bool) {
        self.nic_links.insert(nic, up);
    }

    pub(crate) fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }

    pub(crate) fn take_deliveries(&mut self, out: &mut Vec<Delivery>) {
        out.append(&mut self.deliveries);
    }

    pub(crate) fn take_tapped(&mut self, out: &mut Vec<Tapped>) {
        out.append(&mut self.tapped);
    }

    pub(crate) fn take_alarms(&mut self, out: &mut Vec<Alarm>) {
        out.append(&mut self.alarms);
    }

    pub(crate) fn take_nic_links(&mut self, out: &mut Vec<(PortId, bool)>) {
        out.extend(std::mem::take(&mut self.nic_links));
    }

    pub(crate) fn has_nic_links(&self) -> bool {
        !self.nic_links.is_empty()
    }
}

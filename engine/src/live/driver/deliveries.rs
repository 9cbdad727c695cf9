//! Writing deliveries to hosts.

use fabric::frame::is_reserved;
use fabric::time::PS_PER_MS;
use fabric::{Delivery, Frame, Ps};

use super::host::Host;
use super::{Driver, LATE, NO_HOST, WRITE_LEAD};
use crate::live::control::Control;

/// Maximum number of deliveries per turn; more are lost, as in a receive ring that overflows. A turn has hundreds even
/// with every link of a lab busy. A storm has more than the machine can write, and without this limit each turn would
/// last longer than the one before.
const DELIVERIES_A_TURN: usize = 16_384;

impl Driver {
    /// Write the deliveries of this turn, each when it is due.
    pub(super) fn write(&mut self) {
        if self.deliveries.is_empty() {
            return;
        }
        if self.deliveries.len() > DELIVERIES_A_TURN {
            let lost = self.deliveries.len() - DELIVERIES_A_TURN;
            self.deliveries.truncate(DELIVERIES_A_TURN);
            self.alarm_late(
                self.now(),
                format!(
                    "hosts lost {lost} frames on reception: the machine is too slow for this load"
                ),
            );
        }
        let lead = self.pace.on_clock(WRITE_LEAD);
        let traffic = self.deliveries.iter().any(is_traffic);
        self.deliveries.sort_by_key(|delivery| delivery.nic);
        let mut worst = 0;
        for mine in self.deliveries.chunk_by(|a, b| a.nic == b.nic) {
            let number = self
                .by_nic
                .get(mine[0].nic.0 as usize)
                .copied()
                .unwrap_or(NO_HOST);
            let Some(host) = self.hosts.get(number as usize) else {
                continue;
            };
            worst = worst.max(write_to(host, mine, lead, &self.control));
        }
        self.deliveries.clear();
        let now = self.now();
        if traffic {
            self.pace.frame_at(now);
            self.warm = now;
        }
        if worst > LATE {
            let late_ms = worst / PS_PER_MS;
            self.alarm_late(
                now,
                format!("a frame was delivered {late_ms} ms late: the machine is overloaded"),
            );
        }
    }
}

/// Write what one host receives; how late the latest was.
fn write_to(host: &Host, mine: &[Delivery], lead: Ps, control: &Control) -> Ps {
    let mut worst = 0;
    let frames: Vec<&Frame> = mine.iter().map(|delivery| &delivery.frame).collect();
    let last = mine[mine.len() - 1].at;
    let mut done = 0;
    while done < frames.len() {
        let now = control.core.clock().spin_until(last.saturating_sub(lead));
        let count = host.tap.write(&frames[done..]);
        let mut lateness = control.lateness.lock();
        for delivery in mine[done..done + count]
            .iter()
            .filter(|sent| is_traffic(sent))
        {
            let late = (now + lead).saturating_sub(delivery.at);
            lateness.record(late);
            worst = worst.max(late);
        }
        done += count;
    }
    worst
}

fn is_traffic(delivery: &Delivery) -> bool {
    !is_reserved(delivery.frame.destination())
}

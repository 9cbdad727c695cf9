//! The LLDP agent of each port (IEEE 802.1AB): announces at link-up and every interval, keeps what it hears.
//!
//! The agent's timers are events, except ageing, which is computed when somebody reads. A frame goes to the
//! transmitter's queue like any other, also at a blocked port, and is never forwarded. What a NIC receives goes to its
//! host, which may run an agent of its own.
//!
//! Simplifications:
//! - A port that loses its link forgets its neighbours at once; the standard keeps them until their time is over
//!   (9.2.9). A port that was plugged elsewhere within two minutes could show it.
//! - All ports of a lab that came up together announce together: their clocks do not drift apart.

use crate::error::FabricError;
use crate::fabric::agenda::Event;
use crate::fabric::state::Fabric;
use crate::frame::Frame;
use crate::id::PortId;
use crate::lldp::{Announcement, EeeTimes, pdu_of};
use crate::port::{Owner, Port, Queued};
use crate::report::Heard;
use crate::spec::LldpSetting;
use crate::store::NO_PORT;
use crate::time::{PS_PER_S, PS_PER_US, Ps};

/// Least time between announcements whose contents changed (txDelay of 802.1AB-2005).
const TX_DELAY: Ps = 2 * PS_PER_S;

impl Fabric {
    /// Configure the LLDP agent of a port; a NIC's only announces. A port announces at once when it is switched on, and
    /// what has changed as soon as the standard's delay allows; one that is switched off takes its announcement back.
    ///
    /// # Errors
    /// An unknown port, a LAG, or an interval below a second or above an hour (msgTxInterval, 9.2.5.7).
    pub fn set_lldp(
        &mut self,
        now: Ps,
        port: PortId,
        setting: LldpSetting,
    ) -> Result<(), FabricError> {
        let now = self.pass_time(now);
        let p = self
            .topology
            .physical(port, "configure LLDP of its members")?;
        let port = self.topology.port_mut(p);
        if port.lldp.setting() == Some(&setting) {
            return Ok(());
        }
        if !(PS_PER_S..=3_600 * PS_PER_S).contains(&setting.interval) {
            return Err(FabricError::OutOfRange {
                what: "LLDP interval",
                name: port.name.clone(),
                value: format!("{} s", setting.interval as f64 / PS_PER_S as f64),
                allowed: "use 1 to 3600 s",
            });
        }
        let took_back = port
            .lldp
            .transmits()
            .filter(|_| !setting.transmit && port.carrier.up)
            .map(|before| Announcement {
                ttl_s: 0,
                ..before.announcement.clone()
            });
        port.lldp.set(setting);
        if let Some(last) = took_back {
            let frame = last.frame(port.mac);
            port.lldp.took_back();
            self.send_own(now, p, frame);
            return Ok(());
        }
        let from = port.lldp.sent.map_or(now, |sent| sent + TX_DELAY);
        self.announce_at(from.max(now), p);
        Ok(())
    }

    /// The configuration of a port's LLDP agent; `None` if it has none.
    ///
    /// # Errors
    /// An unknown port, or a LAG.
    pub fn lldp_setting(&self, port: PortId) -> Result<Option<LldpSetting>, FabricError> {
        let p = self.topology.physical(port, "read LLDP of its members")?;
        Ok(self.topology.port(p).lldp.setting().cloned())
    }

    /// The neighbours that a port hears now.
    ///
    /// # Errors
    /// An unknown port, or a LAG.
    pub fn lldp_heard(&mut self, now: Ps, port: PortId) -> Result<Vec<Heard>, FabricError> {
        let now = self.pass_time(now);
        let p = self.topology.physical(port, "read LLDP of its members")?;
        Ok(self.topology.port(p).lldp.heard(now).cloned().collect())
    }

    /// Announce at a moment, if the port announces at all and has link.
    pub(crate) fn announce_at(&mut self, at: Ps, p: u32) {
        let port = self.topology.port_mut(p);
        if port.lldp.transmits().is_some() && port.carrier.up {
            port.lldp.due = Some(at);
            self.agenda.enter(at, Event::Announce(p));
        }
    }

    /// An announcement is due.
    pub(crate) fn on_announce(&mut self, now: Ps, p: u32) {
        let port = self.topology.port_mut(p);
        if port.lldp.due != Some(now) {
            return;
        }
        let Some(setting) = port.lldp.transmits() else {
            return;
        };
        let interval = setting.interval;
        let mut announcement = setting.announcement.clone();
        announcement.eee = announcement.eee.and_then(|_| wake_times(now, port));
        let frame = announcement.frame(port.mac);
        port.lldp.sent = Some(now);
        self.send_own(now, p, frame);
        self.announce_at(now + interval, p);
    }

    /// A switch port received a frame to a reserved address.
    pub(crate) fn hear(&mut self, now: Ps, receiver: u32, frame: &Frame) {
        let agent = &mut self.topology.port_mut(receiver).lldp;
        if !agent.setting().is_some_and(|own| own.receive) {
            return;
        }
        if let Some(Ok(announcement)) = pdu_of(frame).map(|pdu| Announcement::parse(&pdu)) {
            agent.hear(now, announcement);
        }
    }

    /// Queue a frame that the port's owner itself makes.
    fn send_own(&mut self, now: Ps, p: u32, frame: Frame) {
        match self.topology.port(p).owner {
            Owner::Nic { .. } => self.tally.offered += 1,
            Owner::Switch { .. } => self.tally.copies += 1,
        }
        let octets = frame.octets() as u32;
        let slot = self.store.keep(frame, 1, NO_PORT, octets);
        let tag = None;
        self.enqueue(now, p, Queued { slot, tag, octets });
    }
}

/// Wake times that a port announces while EEE is in force: its transmitter's, rounded up, and in the echoes those that
/// its partner announced, or before that its own (802.3, 78.4.2.3).
fn wake_times(now: Ps, port: &Port) -> Option<EeeTimes> {
    if !port.carrier.eee {
        return None;
    }
    let wake = port.tx.lpi.timing().wake;
    let own_us = u16::try_from(wake.div_ceil(PS_PER_US)).unwrap_or(u16::MAX);
    let partner = port
        .lldp
        .heard(now)
        .find_map(|heard| heard.announcement.eee);
    Some(EeeTimes {
        tx_us: own_us,
        rx_us: own_us,
        fallback_us: own_us,
        echo_tx_us: partner.map_or(own_us, |times| times.tx_us),
        echo_rx_us: partner.map_or(own_us, |times| times.rx_us),
    })
}

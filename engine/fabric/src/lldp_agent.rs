//! What the LLDP agent of one port knows: its setting, its timers, and the neighbours that it hears.

use crate::lldp::Announcement;
use crate::report::Heard;
use crate::spec::LldpSetting;
use crate::time::{PS_PER_S, Ps};

/// Neighbours that a port keeps; more are ignored. (One at the end of a cable; a host may run two agents.)
const NEIGHBOURS_MAX: usize = 8;

/// A port's agent.
#[derive(Debug, Default)]
pub(crate) struct LldpAgent {
    setting: Option<LldpSetting>,
    /// When it announces next.
    pub(crate) due: Option<Ps>,
    /// When it last announced.
    pub(crate) sent: Option<Ps>,
    heard: Vec<Heard>,
    count: u32,
}

impl LldpAgent {
    pub(crate) const fn setting(&self) -> Option<&LldpSetting> {
        self.setting.as_ref()
    }

    /// An agent that no longer listens has no neighbours.
    pub(crate) fn set(&mut self, setting: LldpSetting) {
        if !setting.receive {
            self.heard.clear();
        }
        self.setting = Some(setting);
    }

    /// Its setting if it announces.
    pub(crate) fn transmits(&self) -> Option<&LldpSetting> {
        self.setting.as_ref().filter(|setting| setting.transmit)
    }

    /// It has taken its announcement back.
    pub(crate) fn took_back(&mut self) {
        (self.due, self.sent) = (None, None);
    }

    /// The neighbours whose time is not over.
    pub(crate) fn heard(&self, now: Ps) -> impl Iterator<Item = &Heard> {
        self.heard.iter().filter(move |heard| valid(heard, now))
    }

    /// The link is lost.
    pub(crate) fn link_lost(&mut self) {
        self.took_back();
        self.heard.clear();
    }

    /// The device has lost its power.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// An announcement came; one without time to live takes the neighbour's back.
    pub(crate) fn hear(&mut self, now: Ps, announcement: Announcement) {
        self.heard.retain(|heard| valid(heard, now));
        let same = |heard: &Heard| {
            heard.announcement.chassis == announcement.chassis
                && heard.announcement.port == announcement.port
        };
        let known = self.heard.iter().position(same);
        match (known, announcement.ttl_s) {
            (Some(at), 0) => drop(self.heard.remove(at)),
            (None, 0) => {}
            (Some(at), _) => {
                let heard = &mut self.heard[at];
                if heard.announcement != announcement {
                    heard.since = now;
                }
                (heard.announcement, heard.at) = (announcement, now);
            }
            (None, _) if self.heard.len() < NEIGHBOURS_MAX => {
                self.count += 1;
                self.heard.push(Heard {
                    announcement,
                    since: now,
                    at: now,
                    index: self.count,
                });
            }
            (None, _) => {}
        }
    }
}

fn valid(heard: &Heard, now: Ps) -> bool {
    heard.at + Ps::from(heard.announcement.ttl_s) * PS_PER_S > now
}

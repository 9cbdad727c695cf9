//! A link: what its two ends negotiate (speed, EEE, PAUSE), and how long it takes to come up.
//!
//! ```text
//!   Down(why) ──both ends ready──> ComingUp until t ──> Up ──a cause of Down, or a new offer──> Down, ComingUp
//! ```
//!
//! Simplifications, and how a measurement could tell the difference:
//! - Every medium negotiates by one rule (highest common speed). Real optical ports from 10 Gb/s on do not negotiate
//!   speed, so a mismatch keeps them down. Here only the lack of a common speed does.
//! - A twisted-pair end forced to 10 or 100 Mb/s does not negotiate; its negotiating partner comes up at the same
//!   speed by parallel detection, if it offers that speed. A real partner would run half duplex. Here links are always
//!   full duplex, so the late collisions and FCS errors of a duplex mismatch are missing.
//! - A link goes down at the instant of its cause. Real PHYs detect the loss up to hundreds of milliseconds later; the
//!   frames sent meanwhile are lost as well.
//! - A changed offer (speeds, flow control, EEE) restarts negotiation and so interrupts the link. Some firmware keeps
//!   a changed EEE offer back until the next link-up; a probe during the change would see no gap.

use crate::phy::{Medium, Phy};
use crate::time::{PS_PER_S, Ps};

/// LPI is not asserted in this time after link-up (802.3 clause 78.1.2).
pub const LPI_AFTER_LINK_UP: Ps = PS_PER_S;

/// The 802.3x flow control that an end advertises, as the two bits of the base page.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PauseOffer {
    /// PAUSE: both directions at once.
    pub symmetric: bool,
    /// ASM_DIR: one direction alone is accepted too.
    pub asymmetric: bool,
}

impl PauseOffer {
    /// No flow control.
    pub const OFF: Self = Self {
        symmetric: false,
        asymmetric: false,
    };
    /// Both directions, or receiving alone.
    pub const BOTH: Self = Self {
        symmetric: true,
        asymmetric: true,
    };
    /// Both directions or none.
    pub const SYMMETRIC: Self = Self {
        symmetric: true,
        asymmetric: false,
    };
    /// Sending alone.
    pub const SEND_ONLY: Self = Self {
        symmetric: false,
        asymmetric: true,
    };

    /// The PAUSE directions of this end by the table of 802.3 annex 28B.3.
    #[must_use]
    pub const fn resolve(self, partner: Self) -> Pause {
        if self.symmetric && partner.symmetric {
            return Pause {
                receives: true,
                sends: true,
            };
        }
        let one_way = self.asymmetric && partner.asymmetric;
        Pause {
            receives: one_way && self.symmetric,
            sends: one_way && partner.symmetric,
        }
    }

    /// The PAUSE directions of this end without negotiation: its own setting.
    #[must_use]
    pub const fn alone(self) -> Pause {
        Pause {
            receives: self.symmetric,
            sends: self.symmetric || self.asymmetric,
        }
    }
}

/// PAUSE directions of one end on the present link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Pause {
    /// Stops sending when a PAUSE frame comes in.
    pub receives: bool,
    /// Sends PAUSE frames when its buffers fill.
    pub sends: bool,
}

/// One end of a cable, as configured.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// PHY of the port.
    pub phy: &'static Phy,
    /// Powered.
    pub powered: bool,
    /// Administratively up.
    pub admin_up: bool,
    /// Autonegotiation; without it, the highest of `advertised_mbps` is forced.
    pub autoneg: bool,
    /// Advertised speeds; those that the PHY does not support are ignored.
    pub advertised_mbps: Vec<u32>,
    /// Flow control offered.
    pub pause: PauseOffer,
    /// Advertises EEE.
    pub eee: bool,
    /// Link-up time: from signal to link. The longer one of the two ends applies.
    pub interruption: Ps,
}

impl End {
    /// A powered port that is up, negotiates and advertises all that its PHY supports except flow control, with the
    /// link-up time of the PHY.
    #[must_use]
    pub fn new(phy: &'static Phy) -> Self {
        Self {
            phy,
            powered: true,
            admin_up: true,
            autoneg: true,
            advertised_mbps: phy.speeds_mbps().collect(),
            pause: PauseOffer::OFF,
            eee: true,
            interruption: phy.interruption,
        }
    }

    /// Speeds that this end would accept, low to high.
    fn offer_mbps(&self) -> Vec<u32> {
        let mut offer: Vec<u32> = self
            .phy
            .speeds_mbps()
            .filter(|speed| self.advertised_mbps.contains(speed))
            .collect();
        if !self.autoneg {
            let forced = offer.pop();
            return forced.into_iter().collect();
        }
        offer
    }

    /// Whether this end takes part in negotiation. 1 Gb/s and more on twisted pair require it (802.3 clause 40 needs
    /// it for master and slave): a forced end then offers its one speed.
    fn negotiates(&self, speed_mbps: u32) -> bool {
        self.autoneg || self.phy.medium == Medium::TwistedPair && speed_mbps >= 1000
    }
}

/// Why a link is down.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The cable is cut or unplugged.
    Cut,
    /// An end is not powered.
    NoPower,
    /// An end is administratively down.
    Shut,
    /// The ends need different media.
    Medium,
    /// The ends have no common speed.
    NoCommonSpeed,
}

/// What the two ends agreed on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agreement {
    /// Speed in Mb/s.
    pub speed_mbps: u32,
    /// Both ends support and advertise EEE at this speed.
    pub eee: bool,
    /// PAUSE at each end.
    pub pause: [Pause; 2],
}

/// State of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// No link, and none in negotiation.
    Down(Reason),
    /// Signal at both ends, negotiating and training.
    ComingUp {
        /// When it comes up.
        until: Ps,
        /// What the ends have agreed on.
        agreement: Agreement,
    },
    /// Carries frames.
    Up {
        /// Since when.
        since: Ps,
        /// What the ends agreed on.
        agreement: Agreement,
    },
}

/// A change of a link that its ends must act on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum LinkChange {
    /// The link went down.
    WentDown,
    /// The link came up.
    CameUp {
        /// What the ends agreed on.
        agreement: Agreement,
        /// LPI is not asserted before.
        lpi_permitted_from: Ps,
    },
}

/// A cable with its two ends.
#[derive(Clone, Debug)]
pub struct Link {
    ends: [End; 2],
    cut: bool,
    state: LinkState,
}

impl Link {
    /// A cable connected at both ends at `now`; it comes up if both ends allow it.
    #[must_use]
    pub fn new(now: Ps, ends: [End; 2]) -> Self {
        let mut link = Self {
            ends,
            cut: false,
            state: LinkState::Down(Reason::Cut),
        };
        link.restart(now);
        link
    }

    /// One end, 0 or 1.
    #[must_use]
    pub fn end(&self, side: usize) -> &End {
        &self.ends[side]
    }

    /// Reconfigure an end. Returns the change that both ports must apply now.
    pub fn set_end(&mut self, now: Ps, side: usize, end: End) -> Option<LinkChange> {
        let restarts = restarts(&self.ends[side], &end);
        self.ends[side] = end;
        if restarts { self.restart(now) } else { None }
    }

    /// Cut the cable (or mend it).
    pub fn set_cut(&mut self, now: Ps, cut: bool) -> Option<LinkChange> {
        if self.cut == cut {
            return None;
        }
        self.cut = cut;
        self.restart(now)
    }

    /// True while the cable is cut.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.cut
    }

    /// State of the link, as of the last call with a time.
    #[must_use]
    pub const fn state(&self) -> LinkState {
        self.state
    }

    /// What the ends agreed on, while the link is up.
    #[must_use]
    pub const fn agreement(&self) -> Option<Agreement> {
        match self.state {
            LinkState::Up { agreement, .. } => Some(agreement),
            _ => None,
        }
    }

    /// When [`Self::poll`] returns the next change.
    #[must_use]
    pub const fn poll_at(&self) -> Option<Ps> {
        match self.state {
            LinkState::ComingUp { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Pass time up to `now`: a link that was coming up is up since the scheduled moment.
    pub fn poll(&mut self, now: Ps) -> Option<LinkChange> {
        match self.state {
            LinkState::ComingUp { until, agreement } if until <= now => {
                self.state = LinkState::Up {
                    since: until,
                    agreement,
                };
                Some(LinkChange::CameUp {
                    agreement,
                    lpi_permitted_from: until + LPI_AFTER_LINK_UP,
                })
            }
            _ => None,
        }
    }

    /// Take the link down if it is up and, if the ends allow it, start negotiation.
    fn restart(&mut self, now: Ps) -> Option<LinkChange> {
        let was_up = matches!(self.state, LinkState::Up { .. });
        self.state = match self.negotiate() {
            Err(reason) => LinkState::Down(reason),
            Ok(agreement) => LinkState::ComingUp {
                until: now + self.ends[0].interruption.max(self.ends[1].interruption),
                agreement,
            },
        };
        was_up.then_some(LinkChange::WentDown)
    }

    fn negotiate(&self) -> Result<Agreement, Reason> {
        let [a, b] = &self.ends;
        if self.cut {
            return Err(Reason::Cut);
        }
        if !(a.powered && b.powered) {
            return Err(Reason::NoPower);
        }
        if !(a.admin_up && b.admin_up) {
            return Err(Reason::Shut);
        }
        if a.phy.medium != b.phy.medium {
            return Err(Reason::Medium);
        }
        let other = b.offer_mbps();
        let speed_mbps = a
            .offer_mbps()
            .into_iter()
            .rfind(|speed| other.contains(speed))
            .ok_or(Reason::NoCommonSpeed)?;
        let negotiated = a.negotiates(speed_mbps) && b.negotiates(speed_mbps);
        let pause = if negotiated {
            [a.pause.resolve(b.pause), b.pause.resolve(a.pause)]
        } else {
            [a.pause.alone(), b.pause.alone()]
        };
        let can = |end: &End| end.eee && end.phy.eee_at(speed_mbps).is_some();
        Ok(Agreement {
            speed_mbps,
            eee: negotiated && can(a) && can(b),
            pause,
        })
    }
}

/// Whether a change of configuration restarts negotiation.
fn restarts(before: &End, after: &End) -> bool {
    // A changed link-up time applies from the next start on; the order of the speeds is irrelevant.
    let offer = |end: &End| {
        let can_sleep = end.phy.rates.iter().any(|rate| rate.eee.is_some());
        (
            end.autoneg,
            end.offer_mbps(),
            end.pause,
            end.eee && can_sleep,
        )
    };
    (before.powered, before.admin_up, before.phy.name)
        != (after.powered, after.admin_up, after.phy.name)
        || offer(before) != offer(after)
}

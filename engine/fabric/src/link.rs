//! A cable and what its two ends agree on: speed, EEE, PAUSE; and how long it takes until the link is there.
//!
//! ```text
//!   Down(why) ──both ends ready──> ComingUp until t ──> Up ──a cause of Down, or a new offer──> Down, ComingUp
//! ```
//!
//! Simplifications, and what a measurement could tell apart:
//! - Every medium negotiates by one rule (highest common speed). Real optical ports from 10 Gb/s on do not negotiate
//!   speed: a mismatch keeps them down, here only a lack of a common speed does.
//! - A twisted-pair end forced to 10 or 100 Mb/s does not negotiate, and its negotiating partner comes up at the same
//!   speed by parallel detection, if it offers it. It would be half duplex there; here links are always full duplex,
//!   so the late collisions and FCS errors of a duplex mismatch are missing.
//! - A link is lost at the instant of its cause. Real PHYs notice after up to hundreds of milliseconds, in which the
//!   frames are lost all the same.
//! - A changed offer (speeds, flow control, EEE) restarts negotiation and so interrupts the link. Some firmware keeps
//!   a changed EEE offer back until the next link-up instead; a probe through the change would see no gap.

use crate::phy::{Medium, Phy};
use crate::time::{PS_PER_S, Ps};

/// LPI is not asserted before the link has been up for so long (802.3 clause 78.1.2).
pub const LPI_AFTER_LINK_UP: Ps = PS_PER_S;

/// What an end offers of 802.3x flow control, as the two bits of the base page.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PauseOffer {
    /// PAUSE: both directions at once.
    pub symmetric: bool,
    /// ASM_DIR: one direction alone is welcome too.
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

    /// What this end may do, by the table of 802.3 annex 28B.3.
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

    /// What this end does when nothing is negotiated: its own setting stands.
    #[must_use]
    pub const fn alone(self) -> Pause {
        Pause {
            receives: self.symmetric,
            sends: self.symmetric || self.asymmetric,
        }
    }
}

/// What an end does about PAUSE frames on the present link.
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
    /// What the port can do.
    pub phy: &'static Phy,
    /// Has electricity.
    pub powered: bool,
    /// Administratively up.
    pub admin_up: bool,
    /// Negotiates; otherwise the highest of `advertised_mbps` is forced.
    pub autoneg: bool,
    /// Speeds offered; those the PHY cannot do are ignored.
    pub advertised_mbps: Vec<u32>,
    /// Flow control offered.
    pub pause: PauseOffer,
    /// Wants EEE.
    pub eee: bool,
    /// Time from signal to link; a link takes the longer of its ends'.
    pub interruption: Ps,
}

impl End {
    /// A powered port that is up, negotiates and offers all its PHY can do but no flow control; it takes the PHY's
    /// usual time to link.
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

    /// Whether this end takes part in negotiation. From 1 Gb/s on twisted pair cannot do without (802.3 clause 40
    /// needs it for master and slave): a forced end then offers its one speed.
    fn negotiates(&self, speed_mbps: u32) -> bool {
        self.autoneg || self.phy.medium == Medium::TwistedPair && speed_mbps >= 1000
    }
}

/// Why there is no link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The cable is cut or unplugged.
    Cut,
    /// An end has no electricity.
    NoPower,
    /// An end is shut.
    Shut,
    /// The ends are made for different media.
    Medium,
    /// No speed that both ends offer.
    NoCommonSpeed,
}

/// What the two ends agreed on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agreement {
    /// Speed in Mb/s.
    pub speed_mbps: u32,
    /// Both ends can and want EEE at this speed.
    pub eee: bool,
    /// PAUSE at each end.
    pub pause: [Pause; 2],
}

/// What a link is now.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// Nothing to be had.
    Down(Reason),
    /// Signal at both ends, negotiating and training.
    ComingUp {
        /// When it will be up.
        until: Ps,
        /// What it will be then.
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
    /// It carried frames and no longer does.
    WentDown,
    /// It carries frames now.
    CameUp {
        /// What the ends agreed on.
        agreement: Agreement,
        /// No LPI before.
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
    /// A cable plugged in at both ends at `now`; it comes up by itself if the ends let it.
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

    /// Put an end into another configuration. Returns what both ports must act on now.
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

    /// What the link is, as of the last call with a time.
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

    /// When [`Self::poll`] will have something to say.
    #[must_use]
    pub const fn poll_at(&self) -> Option<Ps> {
        match self.state {
            LinkState::ComingUp { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Let time pass up to `now`: the link that was coming up is up, since the moment that was foreseen.
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

    /// Lose the link if there is one and, if the ends let it, begin to come up.
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

/// Whether going from one configuration of an end to another makes the link start anew.
fn restarts(before: &End, after: &End) -> bool {
    // The time to link counts from the next start on; the order of the speeds means nothing.
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

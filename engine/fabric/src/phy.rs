//! Physical layers: speeds, and the EEE times of each speed.
//!
//! Times are those of IEEE 802.3-2022 clause 78 (tables 78-2, 78-4 and, for fast wake, 78-5), of the papers, or of a
//! vendor. Each figure carries its [`Source`]. A figure marked [`Source::Memory`] was not checked against the
//! standard; check it before relying on it. Where the standard gives a choice (FEC, "case 1" and "case 2" of a wake)
//! every choice is a named variant.
//!
//! The standard sets no hold time. It is a policy of the device: zero here unless a paper measured one.

mod figures;
mod profile;
mod table;

pub use profile::{DeepSleep, Eee, Figure, Medium, Phy, Rate, Source};

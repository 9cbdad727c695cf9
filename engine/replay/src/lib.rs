//! Replay of MPI programs: what each rank computes, sends and waits for, on a simulated network or without one.
//!
//! | module | contents |
//! | --- | --- |
//! | [`program`] | the calls of each rank |
//! | [`step`], [`collectives`] | which algorithm a library takes for a collective call, and what each rank does in it |
//! | [`costs`] | what messages cost at hosts, and when they need a handshake |
//! | [`matching`] | posted receives and unexpected messages |
//! | [`transport`] | the network, or LogGOPS without one |
//! | [`jobs`] | programs on nodes, and the scheduler |
//! | [`engine`] | the replay |
//! | `running`, `requests`, `stepping` | a rank's calls; what they wait for; the steps of collective calls |
//! | `protocol`, `waiting` | what happens to messages; what ranks wait for |
//! | `scheduling` | jobs begin on nodes, and end |
//! | [`ti`] | SimGrid's time-independent traces |
//! | `ahead` | what the next events need comes into the cache |

mod agenda;
mod ahead;
pub mod collectives;
pub mod costs;
pub mod engine;
pub mod error;
mod hash;
pub mod jobs;
pub mod matching;
pub mod program;
mod protocol;
mod queue;
mod requests;
mod running;
mod scheduling;
mod slots;
mod state;
pub mod step;
mod stepping;
pub mod ti;
pub mod transport;
mod waiting;

pub use engine::{Hosts, Replay, State};
pub use error::ReplayError;
pub use program::Program;
pub use state::{Account, Path};
pub use waiting::WaitingRank;

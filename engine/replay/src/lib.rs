//! Replay of MPI programs: what each rank computes, sends and waits for, on a simulated network or without one.
//!
//! | module | contents |
//! | --- | --- |
//! | [`step`] | what a rank does: the small steps that calls become |
//! | [`collectives`] | which algorithm a library takes for a collective call, and what each rank does in it |

pub mod collectives;
pub mod step;

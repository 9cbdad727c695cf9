//! Scan and exscan: `basic` of Open MPI (coll_base_scan.c, coll_base_exscan.c of 4.1.4), as `tuned` has none.

use super::action::{Action, Actions, Message, list};
use super::{Algorithm, Call, Kind};

/// From the rank before, combined, to the rank after.
pub(super) fn actions(call: &Call) -> Option<Actions> {
    if call.algorithm != Algorithm::Linear {
        return None;
    }
    let (rank, last, bytes) = (call.rank, call.collective.ranks - 1, call.collective.bytes);
    let mut actions = Vec::new();
    if rank > 0 {
        actions.push(Action::Receive(Message::new(rank - 1, bytes, 0)));
        // The last rank of an exscan is not part of anyone's result.
        if rank < last || call.collective.kind == Kind::Scan {
            actions.push(Action::Combine(bytes));
        }
    }
    if rank < last {
        actions.push(Action::Send(Message::new(rank + 1, bytes, 0)));
    }
    Some(list(actions))
}

//! Messages of a node to one other go in order; those to several take turns. Who waits behind whom.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use crate::network::NodeId;

/// The messages from a node to another that wait behind the one that takes turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams(HashMap<(NodeId, NodeId), VecDeque<u32>>);

impl Streams {
    /// A message follows those before it. Whether there are none, and it takes turns itself.
    pub(super) fn join(&mut self, ends: (NodeId, NodeId), message: u32) -> bool {
        match self.0.entry(ends) {
            Entry::Vacant(own) => {
                own.insert(VecDeque::new());
                true
            }
            Entry::Occupied(mut own) => {
                own.get_mut().push_back(message);
                false
            }
        }
    }

    /// The message that took turns has left. The one behind it.
    pub(super) fn leave(&mut self, ends: (NodeId, NodeId)) -> Option<u32> {
        let next = self.0.get_mut(&ends)?.pop_front();
        if next.is_none() {
            self.0.remove(&ends);
        }
        next
    }
}

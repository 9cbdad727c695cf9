//! The steps that MPI calls become: begin a send, begin a receive, wait, combine.

/// What a rank does in a collective call, in this order. Ranks are those of the call's communicator. A message of a
/// collective call matches by sender and `tag` alone: each call has a context of its own, and `tag` tells apart what one rank
/// sends to another in one call.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Begin to send; steps are numbered from 0, and [`Step::WaitFor`] names them by that number.
    Send {
        /// Destination.
        to: u32,
        /// Bytes; 0 is a message, too.
        bytes: u64,
        /// What it is matched by.
        tag: u32,
    },
    /// Post a receive.
    Receive {
        /// Source.
        from: u32,
        /// Bytes.
        bytes: u64,
        /// What it is matched by.
        tag: u32,
    },
    /// Wait until the send or receive that was begun in this step is complete.
    WaitFor {
        /// Number of the step.
        step: u32,
    },
    /// Wait until all sends and receives that were begun in this call are complete.
    Wait,
    /// Combine so many bytes of two vectors (a reduction's operation).
    Combine {
        /// Bytes of one vector.
        bytes: u64,
    },
}

/// The steps of a rank in one collective call, made as they are needed: those of a large communicator are many.
pub type Steps = Box<dyn Iterator<Item = Step> + Send>;

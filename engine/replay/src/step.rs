//! The steps that MPI calls become: begin a send, a receive, or a part of the call; wait, combine.

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
    /// Wait until all that was begun in this call, or in this part of it, is complete.
    Wait,
    /// Begin a part of the call, as a non-blocking collective within it: [`Plan::part`] has its steps, numbered from 0. It is
    /// taken beside the steps that follow here, and complete when they are and all that they began. Its messages match those
    /// of the whole call.
    Begin,
    /// Combine so many bytes of two vectors (a reduction's operation).
    Combine {
        /// Bytes of one vector.
        bytes: u64,
    },
}

/// Steps, made as they are needed: those of a large communicator are many.
pub trait Plan: Iterator<Item = Step> + Send {
    /// The steps of the part that the last step began.
    fn part(&mut self) -> Steps;
}

/// The steps of a rank in one collective call, or in a part of it.
pub type Steps = Box<dyn Plan>;

//! What the algorithms are written in: blocking and begun messages, and waits by request, as in MPI's own sources.

use crate::step::{Plan, Step, Steps};

/// The other rank, bytes, and the tag of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub peer: u32,
    pub bytes: u64,
    pub tag: u32,
}

impl Message {
    pub fn new(peer: u32, bytes: u64, tag: u32) -> Self {
        Self { peer, bytes, tag }
    }
}

/// Which of a rank's begun messages a wait names.
pub(super) type Request = usize;

/// A small step of an algorithm.
pub(super) enum Action {
    /// Send, and wait until the buffer is free.
    Send(Message),
    /// Receive, and wait for the message.
    Receive(Message),
    StartSend(Message, Request),
    StartReceive(Message, Request),
    Wait(Request),
    /// Wait for all that was begun in this call, or in this part of one.
    WaitAll,
    /// Begin a part, which acts beside what follows here.
    Begin(Actions),
    /// A reduction's operation on so many bytes.
    Combine(u64),
}

pub(super) type Actions = Box<dyn Iterator<Item = Action> + Send>;

/// The request of messages that only [`Action::WaitAll`] waits for.
pub(super) const ANY: Request = 0;

/// Post the receive, send, wait for the receive: `ompi_coll_base_sendrecv_actual` (coll_base_util.c of Open MPI 4.1.4).
pub(super) fn exchange(sent: Message, received: Message) -> [Action; 3] {
    [
        Action::StartReceive(received, ANY),
        Action::Send(sent),
        Action::Wait(ANY),
    ]
}

/// Nothing to do.
pub(super) fn nothing() -> Actions {
    Box::new(std::iter::empty())
}

/// A fixed list of actions.
pub(super) fn list(actions: Vec<Action>) -> Actions {
    Box::new(actions.into_iter())
}

/// Parts that are begun, beside them the others, one after the other, and the end of all. What has nothing beside it need not
/// be begun.
pub(super) fn beside(mut begun: Vec<Actions>, blocking: Vec<Actions>) -> Actions {
    if !blocking.is_empty() {
        begun.push(Box::new(blocking.into_iter().flatten()));
    }
    if begun.len() < 2 {
        return begun.pop().unwrap_or_else(nothing);
    }
    let begun = begun.into_iter().map(Action::Begin);
    Box::new(begun.chain([Action::WaitAll]))
}

/// One collective after the other within a call. Tags of `second` follow those of `first`, which are below [`TAGS`].
pub(super) fn then(first: Actions, second: Actions) -> Actions {
    Box::new(first.chain(renamed(second, |peer| peer, TAGS)))
}

/// Tags that an algorithm may use: rounds of a ring, segments of a chain.
pub(super) const TAGS: u32 = 1 << 24;

/// The same actions with other names of ranks, and later tags.
pub(super) fn renamed(
    actions: Actions,
    peer: impl Fn(u32) -> u32 + Clone + Send + 'static,
    later: u32,
) -> Actions {
    let named = peer.clone();
    let message = move |m: Message| Message::new(named(m.peer), m.bytes, m.tag.wrapping_add(later));
    Box::new(actions.map(move |action| match action {
        Action::Send(m) => Action::Send(message(m)),
        Action::Receive(m) => Action::Receive(message(m)),
        Action::StartSend(m, request) => Action::StartSend(message(m), request),
        Action::StartReceive(m, request) => Action::StartReceive(message(m), request),
        Action::Begin(part) => Action::Begin(renamed(part, peer.clone(), later)),
        Action::Wait(_) | Action::WaitAll | Action::Combine(_) => action,
    }))
}

/// Actions as numbered steps.
pub(super) fn steps(actions: Actions) -> Steps {
    Box::new(Numbered {
        actions,
        number: 0,
        blocking: false,
        begun: Vec::new(),
        part: nothing(),
    })
}

struct Numbered {
    actions: Actions,
    /// Of the next step.
    number: u32,
    /// The step before began a message that is waited for at once.
    blocking: bool,
    /// The step that began each request.
    begun: Vec<u32>,
    /// What the last step began.
    part: Actions,
}

impl Numbered {
    fn remember(&mut self, request: Request) {
        if self.begun.len() <= request {
            self.begun.resize(request + 1, 0);
        }
        self.begun[request] = self.number;
    }
}

impl Iterator for Numbered {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = if std::mem::take(&mut self.blocking) {
            Step::WaitFor {
                step: self.number - 1,
            }
        } else {
            let action = self
                .actions
                .by_ref()
                .find(|action| !matches!(action, Action::Combine(0)))?;
            self.blocking = matches!(action, Action::Send(_) | Action::Receive(_));
            if let Action::StartSend(_, request) | Action::StartReceive(_, request) = action {
                self.remember(request);
            }
            match action {
                Action::Send(m) | Action::StartSend(m, _) => Step::Send {
                    to: m.peer,
                    bytes: m.bytes,
                    tag: m.tag,
                },
                Action::Receive(m) | Action::StartReceive(m, _) => Step::Receive {
                    from: m.peer,
                    bytes: m.bytes,
                    tag: m.tag,
                },
                Action::Wait(request) => Step::WaitFor {
                    step: self.begun[request],
                },
                Action::WaitAll => Step::Wait,
                Action::Begin(part) => {
                    self.part = part;
                    Step::Begin
                }
                Action::Combine(bytes) => Step::Combine { bytes },
            }
        };
        self.number += 1;
        Some(step)
    }
}

impl Plan for Numbered {
    fn part(&mut self) -> Steps {
        steps(std::mem::replace(&mut self.part, nothing()))
    }
}

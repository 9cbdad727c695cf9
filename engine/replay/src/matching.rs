//! Which message meets which receive: the two queues of a rank, posted receives and unexpected messages.
//!
//! A message matches by communicator, source and tag, and in the order in which its sender sent it on that communicator,
//! whatever way it took: one that overtakes on the network waits for those before it. Of several receives that a message
//! could match the one posted first takes it; of several messages that a receive could take the first to come, which for
//! any source is that over all sources (MPI 4.1, section 3.5).

use interconnect::prefetch::prefetch_all;

use crate::hash::FastMap;
use crate::program::{Place, Source};
use crate::queue::Queue;

/// A receive that waits for its message.
#[derive(Copy, Clone, Debug)]
struct Posted<R> {
    order: u64,
    tag: Option<i32>,
    receive: R,
}

/// A message that waits for its receive.
#[derive(Copy, Clone, Debug)]
struct Unexpected {
    order: u64,
    tag: i32,
    message: u32,
}

/// What one source sends on one communicator.
#[derive(Clone, Debug)]
struct Lane<R> {
    place: Place,
    /// Number of the message that is to come next.
    expected: u32,
    posted: Queue<Posted<R>>,
    unexpected: Queue<Unexpected>,
    /// How many of the rank's early messages are its own.
    early: u32,
}

/// A message that came before those in front of it.
#[derive(Copy, Clone, Debug)]
struct Early {
    lane: u32,
    number: u32,
    tag: i32,
    message: u32,
}

impl<R> Lane<R> {
    fn new(place: Place) -> Self {
        Self {
            place,
            expected: 0,
            posted: Queue::new(),
            unexpected: Queue::new(),
            early: 0,
        }
    }
}

/// The queues of a rank. `R` says whose a receive is.
#[derive(Clone, Debug)]
pub(crate) struct Matcher<R> {
    lanes: Vec<Lane<R>>,
    numbers: FastMap<Place, u32>,
    /// Apart from their lanes, as there are few.
    early: Vec<Early>,
    /// Receives from any source, by communicator.
    posted_any: FastMap<u32, Queue<Posted<R>>>,
    order: u64,
    depths: Depths,
}

/// How full the queues of a rank were, and how often a message came before its receive.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Depths {
    /// Posted receives now.
    pub posted: u32,
    /// Unexpected messages now.
    pub unexpected: u32,
    /// The most posted receives.
    pub most_posted: u32,
    /// The most unexpected messages.
    pub most_unexpected: u32,
    /// Messages that found their receive posted.
    pub expected_messages: u64,
    /// Messages that came before their receive.
    pub unexpected_messages: u64,
}

impl Depths {
    pub(crate) fn post(&mut self) {
        self.posted += 1;
        self.most_posted = self.most_posted.max(self.posted);
    }

    pub(crate) fn keep(&mut self) {
        self.unexpected += 1;
        self.unexpected_messages += 1;
        self.most_unexpected = self.most_unexpected.max(self.unexpected);
    }

    pub(crate) fn meet_posted(&mut self) {
        self.posted -= 1;
        self.expected_messages += 1;
    }
}

impl<R: Copy + PartialEq> Matcher<R> {
    /// Empty queues; the rank's program receives from these.
    pub(crate) fn new(places: &[Place]) -> Self {
        Self {
            lanes: places.iter().map(|&place| Lane::new(place)).collect(),
            numbers: places.iter().copied().zip(0..).collect(),
            early: Vec::new(),
            posted_any: FastMap::default(),
            order: 0,
            depths: Depths::default(),
        }
    }

    /// The number of what a source sends on a communicator.
    pub(crate) fn lane(&mut self, place: Place) -> u32 {
        let lanes = &mut self.lanes;
        *self.numbers.entry(place).or_insert_with(|| {
            lanes.push(Lane::new(place));
            lanes.len() as u32 - 1
        })
    }

    /// Bring a lane into the cache.
    pub(crate) fn prefetch(&self, lane: u32) {
        prefetch_all(&self.lanes, lane as usize);
    }

    pub(crate) fn depths(&mut self) -> &mut Depths {
        &mut self.depths
    }

    /// Forget all queues, not how full they were; how many receives were in them, and which messages.
    pub(crate) fn clear(&mut self) -> (u32, Vec<u32>) {
        let messages = self.unexpected();
        for lane in &mut self.lanes {
            *lane = Lane::new(lane.place);
        }
        self.early.clear();
        self.posted_any.clear();
        self.depths.unexpected = 0;
        (std::mem::take(&mut self.depths.posted), messages)
    }

    /// The envelope of a message of a lane has come. `met` gets each message that meets a receive by it, in order.
    pub(crate) fn come(
        &mut self,
        own: u32,
        number: u32,
        tag: i32,
        message: u32,
        mut met: impl FnMut(u32, R),
    ) {
        let lane = &mut self.lanes[own as usize];
        if number != lane.expected {
            lane.early += 1;
            self.early.push(Early {
                lane: own,
                number,
                tag,
                message,
            });
            return;
        }
        let communicator = lane.place.0;
        let mut next = Some((tag, message));
        while let Some((tag, message)) = next {
            lane.expected = lane.expected.wrapping_add(1);
            let any = if self.posted_any.is_empty() {
                None
            } else {
                self.posted_any.get_mut(&communicator)
            };
            match take_posted(&mut lane.posted, any, tag) {
                Some(receive) => {
                    self.depths.meet_posted();
                    met(message, receive);
                }
                None => {
                    self.order += 1;
                    self.depths.keep();
                    lane.unexpected.push(Unexpected {
                        order: self.order,
                        tag,
                        message,
                    });
                }
            }
            if lane.early == 0 {
                return;
            }
            let expected = lane.expected;
            let comes = |one: &Early| one.lane == own && one.number == expected;
            next = self.early.iter().position(comes).map(|at| {
                lane.early -= 1;
                let Early { tag, message, .. } = self.early.swap_remove(at);
                (tag, message)
            });
        }
    }

    /// A receive is posted: the message that it takes, if that has come.
    pub(crate) fn post(
        &mut self,
        communicator: u32,
        from: Source,
        tag: Option<i32>,
        receive: R,
    ) -> Option<u32> {
        let wanted = |one: &Unexpected| tag.is_none_or(|tag| tag == one.tag);
        let found = match from {
            Source::Lane(lane) => self.lanes[lane as usize].unexpected.take(wanted),
            _ => self.take_from_any(communicator, wanted),
        };
        if let Some(Unexpected { message, .. }) = found {
            self.depths.unexpected -= 1;
            return Some(message);
        }
        self.order += 1;
        let posted = Posted {
            order: self.order,
            tag,
            receive,
        };
        match from {
            Source::Lane(lane) => self.lanes[lane as usize].posted.push(posted),
            _ => self
                .posted_any
                .entry(communicator)
                .or_insert_with(Queue::new)
                .push(posted),
        }
        self.depths.post();
        None
    }

    /// The first of all messages on a communicator that a receive from any source takes.
    fn take_from_any(
        &mut self,
        communicator: u32,
        wanted: impl Fn(&Unexpected) -> bool,
    ) -> Option<Unexpected> {
        let first = self
            .lanes
            .iter_mut()
            .filter(|lane| lane.place.0 == communicator)
            .filter_map(|lane| {
                let order = lane.unexpected.iter().find(|one| wanted(one))?.order;
                Some((order, lane))
            })
            .min_by_key(|(order, _)| *order);
        let (_, lane) = first?;
        lane.unexpected.take(wanted)
    }

    /// Messages that wait for their receives.
    pub(crate) fn unexpected(&self) -> Vec<u32> {
        let waiting = self.lanes.iter().flat_map(|lane| lane.unexpected.iter());
        let early = self.early.iter().map(|one| one.message);
        waiting.map(|one| one.message).chain(early).collect()
    }

    /// Receives that wait, with what they take, in the order of their posting.
    pub(crate) fn posted(&self) -> Vec<(R, String)> {
        let tag =
            |tag: Option<i32>| tag.map_or_else(|| "any tag".to_owned(), |tag| format!("tag {tag}"));
        let from_one = self.lanes.iter().flat_map(|lane| {
            let (communicator, source) = lane.place;
            lane.posted.iter().map(move |one| {
                let from = format!(
                    "a message from rank {source} of communicator {communicator} with {}",
                    tag(one.tag)
                );
                (one.order, one.receive, from)
            })
        });
        let from_any = self.posted_any.iter().flat_map(|(communicator, queue)| {
            queue.iter().map(move |one| {
                let from = format!(
                    "a message from any rank of communicator {communicator} with {}",
                    tag(one.tag)
                );
                (one.order, one.receive, from)
            })
        });
        let mut all: Vec<_> = from_one.chain(from_any).collect();
        all.sort_by_key(|(order, ..)| *order);
        all.into_iter()
            .map(|(_, receive, text)| (receive, text))
            .collect()
    }

    /// A posted receive is withdrawn; whether it was still posted.
    pub(crate) fn withdraw(&mut self, receive: R) -> bool {
        let lanes = self.lanes.iter_mut().map(|lane| &mut lane.posted);
        for queue in lanes.chain(self.posted_any.values_mut()) {
            if queue.take(|one| one.receive == receive).is_some() {
                self.depths.posted -= 1;
                return true;
            }
        }
        false
    }
}

/// The receive posted first that takes a message of this tag, from its source or from any.
fn take_posted<R: Copy>(
    own: &mut Queue<Posted<R>>,
    any: Option<&mut Queue<Posted<R>>>,
    tag: i32,
) -> Option<R> {
    let takes = |one: &Posted<R>| one.tag.is_none_or(|wanted| wanted == tag);
    if let Some(any) = any {
        let order =
            |queue: &Queue<Posted<R>>| queue.iter().find(|one| takes(one)).map(|one| one.order);
        if let Some(first) = order(any) {
            if order(own).is_none_or(|other| first < other) {
                return any.take(takes).map(|posted| posted.receive);
            }
        }
    }
    own.take(takes).map(|posted| posted.receive)
}

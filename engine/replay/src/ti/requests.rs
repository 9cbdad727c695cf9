//! Which line ends which request of a rank.

use std::collections::VecDeque;

use super::calls::{World, is_begun};
use super::smpi::UNDEFINED;
use super::words::{WITHOUT_TAG, need};
use super::{Line, Refusal, Words};
use crate::hash::FastMap;

/// Sender, receiver and tag.
type Key = (i32, i32, i32);

/// The key of all requests of collective calls: SMPI gives each of them a tag that only its end has.
const OF_COLLECTIVES: Key = (i32::MIN, i32::MIN, i32::MIN);

#[derive(Copy, Clone, Default)]
struct Pending {
    last_test: Option<usize>,
    waited: bool,
}

/// The requests of a rank that have been begun so far.
#[derive(Default)]
struct Open {
    requests: Vec<Pending>,
    /// In the order in which keys came first.
    by_key: Vec<VecDeque<usize>>,
    keys: FastMap<Key, usize>,
    /// Keys that may have open requests.
    used: Vec<usize>,
    /// A line, and a request that it ends.
    ended: Vec<(usize, usize)>,
}

/// Lines that end requests, in order, each with a request by the number of its begin; several times if it ends several.
///
/// # Errors
/// A line whose words are wrong.
pub(super) fn ended(world: World, lines: &[Line<'_>]) -> Result<Vec<(usize, usize)>, Refusal> {
    let mut open = Open::default();
    let mut words = Words::default();
    for (at, line) in lines.iter().enumerate() {
        line.split(&mut words);
        open.follow(world, at, &words.verb, &words.rest)
            .map_err(|sentence| line.refuse(sentence))?;
    }
    for (number, pending) in open.requests.iter().enumerate() {
        if let (false, Some(at)) = (pending.waited, pending.last_test) {
            open.ended.push((at, number));
        }
    }
    open.ended.sort_by_key(|&(at, _)| at);
    Ok(open.ended)
}

impl Open {
    fn follow(
        &mut self,
        world: World,
        at: usize,
        verb: &[u8],
        words: &[&[u8]],
    ) -> Result<(), String> {
        match verb {
            b"irecv" | b"isend" | b"issend" | b"ibsend" if words.len() == 2 => {
                return Err(WITHOUT_TAG.into());
            }
            b"irecv" => {
                need(words, 3, usize::MAX)?;
                let source = world.source_of_request(words[0])?;
                self.begin((source, world.rank as i32, world.tag(words[1])?));
            }
            b"isend" | b"issend" | b"ibsend" => {
                need(words, 3, usize::MAX)?;
                let (target, tag) = (world.target(words[0])?, world.tag(words[1])?);
                self.begin((world.rank as i32, target, tag));
            }
            b"wait" | b"test" => {
                need(words, 3, 3)?;
                let key = if words[..2] == [UNDEFINED; 2] {
                    OF_COLLECTIVES
                } else {
                    (
                        world.source_of_request(words[0])?,
                        world.target(words[1])?,
                        world.tag(words[2])?,
                    )
                };
                let Some(&key) = self.keys.get(&key) else {
                    return Ok(()); // a test before found it complete
                };
                if verb == b"wait" {
                    if let Some(number) = self.by_key[key].pop_front() {
                        self.end(at, number);
                    }
                } else if let Some(&number) = self.by_key[key].front() {
                    self.requests[number].last_test = Some(at);
                }
            }
            b"waitall" => self.end_all(at),
            _ if is_begun(verb) => self.begin(OF_COLLECTIVES),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, key: Key) {
        let next = self.by_key.len();
        let key = *self.keys.entry(key).or_insert(next);
        if key == next {
            self.by_key.push(VecDeque::new());
        }
        if self.by_key[key].is_empty() {
            self.used.push(key);
        }
        self.by_key[key].push_back(self.requests.len());
        self.requests.push(Pending::default());
    }

    fn end(&mut self, at: usize, number: usize) {
        self.requests[number].waited = true;
        self.ended.push((at, number));
    }

    fn end_all(&mut self, at: usize) {
        let mut used = std::mem::take(&mut self.used);
        used.sort_unstable();
        for key in used {
            while let Some(number) = self.by_key[key].pop_front() {
                self.end(at, number);
            }
        }
    }
}

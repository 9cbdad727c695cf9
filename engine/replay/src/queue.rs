//! A queue that is mostly empty or has one item, which then stands in the queue itself: one look into memory, not two.

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    first: Option<T>,
    /// Empty while there is no first.
    others: VecDeque<T>,
}

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self {
            first: None,
            others: VecDeque::new(),
        }
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            self.others.push_back(item);
        }
    }

    /// Take the first item for which it holds.
    pub(crate) fn take(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        if self.first.as_ref().is_some_and(&wanted) {
            let next = if self.others.is_empty() {
                None
            } else {
                self.others.pop_front()
            };
            return std::mem::replace(&mut self.first, next);
        }
        let at = self.others.iter().position(wanted)?;
        self.others.remove(at)
    }

    /// All items, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.others)
    }
}

//! A queue that is mostly empty or has one item, which then stands in the queue itself: one look into memory, not two.

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    first: Option<T>,
    /// None, or empty, while there is no first.
    others: Option<Box<Others<T>>>,
}

/// Apart, so that a queue that never had two items is small.
#[derive(Clone, Debug)]
struct Others<T>(VecDeque<T>);

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self {
            first: None,
            others: None,
        }
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            let others = self
                .others
                .get_or_insert_with(|| Box::new(Others(VecDeque::new())));
            others.0.push_back(item);
        }
    }

    /// Take the first item for which it holds.
    pub(crate) fn take(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        if self.first.as_ref().is_some_and(&wanted) {
            let next = self.others.as_mut().and_then(|others| others.0.pop_front());
            return std::mem::replace(&mut self.first, next);
        }
        let others = &mut self.others.as_mut()?.0;
        let at = others.iter().position(wanted)?;
        others.remove(at)
    }

    /// All items, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let others = self.others.iter().flat_map(|others| &others.0);
        self.first.iter().chain(others)
    }
}

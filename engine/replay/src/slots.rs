//! Values that come and go, each under a number that is used again once it has gone.

use std::ops::{Index, IndexMut};

use interconnect::prefetch::prefetch_all;

#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self {
            values: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Keep a value; its number.
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.values[number as usize] = Some(value);
            number
        } else {
            self.values.push(Some(value));
            self.values.len() as u32 - 1
        }
    }

    /// The value of this number goes.
    pub(crate) fn remove(&mut self, number: u32) {
        if self.values[number as usize].take().is_some() {
            self.free.push(number);
        }
    }

    /// The value of this number, if it is in use.
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)?.as_ref()
    }

    /// Bring the value of this number into the cache.
    pub(crate) fn prefetch(&self, number: u32) {
        prefetch_all(&self.values, number as usize);
    }

    /// All values, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().flatten()
    }
}

impl<T> Index<u32> for Slots<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        match &self.values[number as usize] {
            Some(value) => value,
            None => unreachable!("slot {number} is in use"),
        }
    }
}

impl<T> IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        match &mut self.values[number as usize] {
            Some(value) => value,
            None => unreachable!("slot {number} is in use"),
        }
    }
}

//! Values that come and go, each under a number that is used again once it has gone.

use std::ops::{Index, IndexMut};

use crate::prefetch::prefetch;

/// Values by number; the numbers of those that have gone are used first.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    /// No value.
    pub(crate) const fn new() -> Self {
        Self {
            values: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Keep a value; its number.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.values[number as usize] = value;
            number
        } else {
            self.values.push(value);
            self.values.len() as u32 - 1
        }
    }

    /// Bring a value into the cache, if there is one of this number.
    pub(crate) fn prefetch(&self, number: u32) {
        prefetch(&self.values, number as usize);
    }

    /// The value of this number has gone.
    pub(crate) fn free(&mut self, number: u32) {
        self.free.push(number);
    }
}

impl<T> Index<u32> for Slots<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

impl<T> IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.values[number as usize]
    }
}

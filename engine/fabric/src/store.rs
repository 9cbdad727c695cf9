//! Storage of the frames in switches and rings. Each frame is stored once, however many copies of it wait.

use crate::frame::Frame;

/// A place in the store.
pub(crate) type Slot = u32;

/// Ingress port of frames that no switch buffer holds.
pub(crate) const NO_PORT: u32 = u32::MAX;

#[derive(Debug)]
struct Held {
    frame: Frame,
    /// Copies whose first bit has not been sent.
    unsent: u32,
    /// Copies whose last bit has not been sent: until then the buffer stays occupied.
    unfinished: u32,
    ingress: u32,
    octets: u32,
}

/// Buffer space that the last copy of a frame frees, and the ingress port that was charged for it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    pub(crate) ingress: u32,
    pub(crate) octets: u32,
}

/// The frames of all switches and rings.
#[derive(Debug, Default)]
pub(crate) struct Store {
    held: Vec<Held>,
    free: Vec<Slot>,
}

impl Store {
    /// Store a frame of which `copies` will be sent.
    pub(crate) fn keep(&mut self, frame: Frame, copies: u32, ingress: u32, octets: u32) -> Slot {
        let held = Held {
            frame,
            unsent: copies,
            unfinished: copies,
            ingress,
            octets,
        };
        if let Some(slot) = self.free.pop() {
            self.held[slot as usize] = held;
            slot
        } else {
            self.held.push(held);
            (self.held.len() - 1) as Slot
        }
    }

    /// The frame of a copy whose transmission begins. The last copy takes the original.
    pub(crate) fn begin(&mut self, slot: Slot) -> Frame {
        let held = &mut self.held[slot as usize];
        held.unsent -= 1;
        if held.unsent == 0 {
            std::mem::take(&mut held.frame)
        } else {
            held.frame.clone()
        }
    }

    /// A copy has been sent.
    pub(crate) fn finish(&mut self, slot: Slot) -> Option<Freed> {
        let held = &mut self.held[slot as usize];
        held.unfinished -= 1;
        if held.unfinished > 0 {
            return None;
        }
        held.frame = Frame::default();
        self.free.push(slot);
        Some(Freed {
            ingress: held.ingress,
            octets: held.octets,
        })
    }

    /// A copy will not be sent.
    pub(crate) fn discard(&mut self, slot: Slot) -> Option<Freed> {
        self.held[slot as usize].unsent -= 1;
        self.finish(slot)
    }
}

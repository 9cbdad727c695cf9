//! Bring into the cache what is about to be read.

/// Bytes of a line of the cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Begin to load the cache line in which an item begins; nothing waits for it. Does nothing where it is not known how.
#[inline(always)]
pub fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is that of an item, and a prefetch changes nothing that a program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

/// As [`prefetch`], all lines of the cache that an item occupies.
#[inline(always)]
pub fn prefetch_all<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin = std::ptr::from_ref(item).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: the address lies in the item, and a prefetch changes nothing that a program can see.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.add(offset)) }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

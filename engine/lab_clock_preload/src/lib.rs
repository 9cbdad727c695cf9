//! Preloaded into a process of a lab (`LD_PRELOAD`), with the lab's page in `LAB_CLOCK`: its clocks, sleeps, timeouts
//! and timers follow lab time. Without a page, or one that cannot be read, everything is as without this library.
//!
//! * [`raw`]: system calls that bypass every library, this one included.
//! * [`now`]: the lab's timeline, and conversions.
//! * [`waits`]: until a moment of lab time. [`idle`]: programs that spin. [`work`]: processors that are slower than this machine's.
//! * [`clocks`], [`sleeps`], [`polls`], [`locks`], [`timers`], [`sockets`], [`rings`], [`syscalls`]: functions of libc by kind.
//!
//! A change of rate must not be visible from inside. A slower rate takes effect at once: a wait that ends too soon in
//! lab time is taken up again. A faster one is announced [`lab_clock::ANNOUNCED_NS`] ahead, and earlier where it is beyond
//! the wall's pace ([`lab_clock::DOUBLED_NS`]): whoever waits with a timeout looks at the page before any such rate could
//! pass its time. Sleepers wait on the page itself as a futex; timers are set anew by a thread that waits there too.
//!
//! Not reached: statically linked programs, raw system calls by instruction (Go), set-user-ID programs and programs with
//! file capabilities (the loader ignores `LD_PRELOAD`), `SO_RCVTIMEO` of `read`. CPU clocks are the kernel's. Functions here are no cancellation points of POSIX threads.

#![allow(
    clippy::missing_safety_doc,
    reason = "each function has the contract of libc's of its name"
)]

mod clocks;
mod idle;
mod locks;
mod now;
mod polls;
mod raw;
mod rings;
mod sleeps;
mod sockets;
mod syscalls;
mod timers;
mod waits;
mod work;

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn at_start() {
        now::page();
        idle::at_start();
        work::at_start();
    }
    at_start
};

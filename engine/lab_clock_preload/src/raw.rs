//! System calls with libc's conventions, and the next definition of a function of libc.

use core::ffi::{CStr, c_int, c_long, c_void};

pub use lab_clock::raw::call;

/// How many ranks of its job run on this host, as Open MPI tells each.
pub const RANKS_HERE: &CStr = c"OMPI_COMM_WORLD_LOCAL_SIZE";

/// The same with libc's convention: -1 and `errno`.
pub unsafe fn libc_call(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> isize {
    // SAFETY: passed on.
    returned(unsafe { call(number, a, b, c, d, e, f) })
}

/// A variable of the environment, read before the program begins.
pub fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: a string of the environment, which nobody changes this early.
    unsafe {
        let found = libc::getenv(name.as_ptr());
        (!found.is_null()).then(|| CStr::from_ptr(found))
    }
}

/// Whether a kernel's result is minus an error number.
pub fn is_error(result: isize) -> bool {
    (-4095..0).contains(&result)
}

/// A kernel's result as libc returns it.
pub fn returned(result: isize) -> isize {
    if is_error(result) {
        set_errno(-result as c_int);
        -1
    } else {
        result
    }
}

pub fn set_errno(number: c_int) {
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() = number }
}

pub fn errno() -> c_int {
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() }
}

/// The definition of a function after this library's, in a version if it has several; null if it has none.
pub fn next_definition(name: &CStr, version: Option<&CStr>) -> *mut c_void {
    // SAFETY: strings that end in NUL.
    unsafe {
        if let Some(version) = version {
            let found = libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr());
            if !found.is_null() {
                return found;
            }
        }
        libc::dlsym(libc::RTLD_NEXT, name.as_ptr())
    }
}

/// `next!(NAME, VERSION => TYPE)`: the next definition of a function, looked up once; the version may be left out.
macro_rules! next {
    ($name:literal => $type:ty) => {
        $crate::raw::next!(@ $name, None, $type)
    };
    ($name:literal, $version:literal => $type:ty) => {
        $crate::raw::next!(@ $name, Some($version), $type)
    };
    (@ $name:literal, $version:expr, $type:ty) => {{
        static FOUND: core::sync::atomic::AtomicPtr<core::ffi::c_void> =
            core::sync::atomic::AtomicPtr::new(core::ptr::null_mut());
        let mut found = FOUND.load(core::sync::atomic::Ordering::Relaxed);
        if found.is_null() {
            found = $crate::raw::next_definition($name, $version);
            FOUND.store(found, core::sync::atomic::Ordering::Relaxed);
        }
        // SAFETY: libc's function of this name has this type.
        #[allow(unused_unsafe)]
        unsafe { core::mem::transmute::<*mut core::ffi::c_void, $type>(found) }
    }};
}
pub(crate) use next;

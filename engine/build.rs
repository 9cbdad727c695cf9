//! Builds the library that is preloaded into a lab's processes, so that the module can carry it.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    // One build for every profile: `target/PROFILE/build/PACKAGE/out` is this folder.
    let target = Path::new(&out)
        .ancestors()
        .nth(4)
        .expect("a target folder")
        .join("preload");
    for folder in ["lab_clock", "lab_clock_preload"] {
        println!("cargo::rerun-if-changed={root}/{folder}/src");
        println!("cargo::rerun-if-changed={root}/{folder}/Cargo.toml");
    }
    let mut cargo = Command::new(env::var("CARGO").expect("cargo sets it"));
    let triple = env::var("TARGET").expect("cargo sets it");
    let mut built = target.join("release");
    if triple != env::var("HOST").expect("cargo sets it") {
        cargo.env("CARGO_BUILD_TARGET", &triple);
        built = target.join(&triple).join("release");
    }
    let status = cargo
        .args([
            "build",
            "--release",
            "--quiet",
            "--package",
            "lab_clock_preload",
            "--manifest-path",
        ])
        .arg(Path::new(&root).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .env_remove("RUSTC_WORKSPACE_WRAPPER") // clippy's, which builds nothing
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("CARGO_PROFILE_RELEASE_STRIP", "true")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the library of lab time did not build");
    let library = built.join("liblab_clock_preload.so");
    println!("cargo::rustc-env=LAB_CLOCK_LIBRARY={}", library.display());
}

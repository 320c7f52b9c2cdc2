//! Passes the compiler's version and the build profile to the crate, so that every result can record them.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|said| String::from_utf8(said.stdout).ok());
    println!(
        "cargo::rustc-env=SSDLAB_RUSTC={}",
        version.as_deref().unwrap_or("unknown").trim()
    );
    println!(
        "cargo::rustc-env=SSDLAB_PROFILE={}",
        env::var("PROFILE").unwrap_or_default()
    );
}

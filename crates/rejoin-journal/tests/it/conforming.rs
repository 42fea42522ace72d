//! Every promise of `conformance`, tried on each of our stores.

use rejoin_journal::{FileStore, Locks, MemoryLeases, MemoryStore};

use crate::conformance::{CHECKS, Check};

fn on_a_file(check: Check) {
    let directory = tempfile::tempdir().unwrap();
    check(&Locks::new(directory.path().join("locks")), &FileStore::new(directory.path()));
}

fn in_memory(check: Check) {
    check(&MemoryLeases::new(), &MemoryStore::new());
}

fn check(name: &str) -> Check {
    CHECKS.iter().find(|(known, _)| *known == name).unwrap().1
}

macro_rules! tests {
    ($($module:ident: $($name:ident),*;)*) => {
        mod file {
            $(mod $module {
                $(#[test] fn $name() {
                    let name = concat!(stringify!($module), "::", stringify!($name));
                    super::super::on_a_file(super::super::check(name));
                })*
            })*
        }
        mod memory {
            $(mod $module {
                $(#[test] fn $name() {
                    let name = concat!(stringify!($module), "::", stringify!($name));
                    super::super::in_memory(super::super::check(name));
                })*
            })*
        }
    };
}

for_each_check!(tests);

//! What files keep beside the journals: bytes by their hash, and logs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rejoin_journal::{BlobError, LogKind, Store};
use uuid::Uuid;

use crate::support::Disk;

const RUN: LogKind = LogKind::FlowRun;

#[test]
fn damaged_bytes_are_not_handed_out_and_are_mended_by_keeping_them_anew() {
    let disk = Disk::new();
    let (blobs, bytes) = (disk.store.blobs(), b"attached to a prompt");
    let id = blobs.put(&mut &bytes[..]).unwrap();
    let path = disk.home.root().join("blobs").join(id.to_string());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    for damaged in [&bytes[1..], b"", b"attached to a prompT", b"attached to a prompt "] {
        fs::write(&path, damaged).unwrap();
        let error = blobs.get(&id).unwrap_err();
        assert!(matches!(error, BlobError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    blobs.put(&mut &bytes[..]).unwrap();
    assert_eq!(disk.home.store().blobs().get(&id).unwrap(), bytes, "also in the next process");
    let names = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(names, 1, "nothing else is left there");
}

/// As all versions before have kept them.
#[test]
fn the_log_of_a_run_lies_where_it_always_did() {
    let disk = Disk::new();
    let id = Uuid::from_u128(7);
    disk.store.logs().open(RUN, id).unwrap().append(b"x\n").unwrap();
    let path = disk.home.root().join("flows").join(format!("{id}.jsonl"));
    assert_eq!(std::fs::read(&path).unwrap(), b"x\n");
    assert_eq!(disk.store.logs().place(RUN, id), path);
}

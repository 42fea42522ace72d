//! Where conversations came from, kept outside of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rejoin_core::{Origin, Permissions, SaidHere};
use rejoin_journal::KnownOrigin::{Before, Noted, Nothing};

use crate::support::{Disk, conversation};

#[test]
fn what_nobody_noted_is_unknown_but_for_what_was_there_before() {
    let disk = Disk::new();
    let origins = disk.home.origins();
    assert_eq!(origins.known(disk.id).unwrap(), Before);
    origins.note_here(conversation(1)).unwrap();
    assert_eq!(origins.known(conversation(1)).unwrap(), Noted(Origin::Here));
    assert_eq!(origins.known(disk.id).unwrap(), Before, "in the inventory");
    assert_eq!(origins.known(conversation(2)).unwrap(), Nothing);
}

#[test]
fn elsewhere_outweighs_here_and_is_forgotten_with_it() {
    let disk = Disk::new();
    let (origins, id) = (disk.home.origins(), conversation(1));
    let said = SaidHere { permissions: Some(Permissions::Edit), home: "h".into(), ..SaidHere::default() };
    origins.note_here(id).unwrap();
    origins.note_elsewhere(id, &said).unwrap();
    assert_eq!(origins.known(id).unwrap(), Noted(Origin::Elsewhere(said)));
    let directory = disk.home.root().join("origins");
    for entry in fs::read_dir(&directory).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    origins.forget(id);
    assert_eq!(origins.known(id).unwrap(), Nothing);
}

#[test]
fn a_damaged_note_says_nothing() {
    let disk = Disk::new();
    let (origins, id) = (disk.home.origins(), conversation(1));
    origins.note_elsewhere(id, &SaidHere::default()).unwrap();
    let file = disk.home.root().join(format!("origins/{id}.json"));
    for damaged in [&b""[..], b"{", b"\xff", b"{\"permissions\":\"everything\",\"dir\":\"/etc\"}"] {
        fs::write(&file, damaged).unwrap();
        assert_eq!(origins.known(id).unwrap(), Noted(Origin::Elsewhere(SaidHere::default())));
    }
}

#[test]
fn one_inventory_is_taken_however_many_come_at_once() {
    let disk = Disk::new();
    std::thread::scope(|scope| {
        for number in 1..9 {
            let disk = &disk;
            scope.spawn(move || disk.home.origins().note_here(conversation(number)).unwrap());
        }
    });
    let inventory = fs::read_to_string(disk.home.root().join("origins/inventory")).unwrap();
    assert_eq!(inventory, disk.id.to_string());
}

//! Whoever asks for a turn has it run no wider than he may.

use rejoin_core::Permissions;

use super::scripted::Place;
use crate::{CancelWatch, Order, TurnError};

#[test]
fn a_level_beyond_the_callers_ceiling_is_refused_before_anything_is_written() {
    let place = Place::new();
    let ask = |named: Option<Permissions>, ceiling: Permissions| {
        let order = Order { permissions: named, ceiling: Some(ceiling), ..place.order("echo end") };
        place.engine().start(order, CancelWatch::pair().unwrap().1)
    };
    match ask(Some(Permissions::Full), Permissions::Edit).err() {
        Some(TurnError::Permission(text)) => {
            assert!(text.contains("full") && text.contains("edit"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    assert!(place.store.ids().unwrap().is_empty());
    ask(Some(Permissions::Agent), Permissions::Full).unwrap().join().unwrap();
}

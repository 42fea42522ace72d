//! What was attached to a prompt that waits.

use rejoin_journal::FileStore;
use std::sync::Arc;

use super::scripted::Place;
use crate::{CancelWatch, KeptAttachment, Order, TurnError};

#[test]
fn what_was_attached_is_sent_after_a_restart_whatever_became_of_the_file() {
    let home = tempfile::tempdir().unwrap();
    let mut place = Place::on(Arc::new(FileStore::new(home.path())));
    let file = place.path().join("note.txt");
    std::fs::write(&file, "tea").unwrap();
    let kept = place.engine().keep_attachments(&[&file, &file]).unwrap();
    std::fs::write(&file, "coffee").unwrap();
    let queued = serde_json::to_string(&kept).unwrap();

    // Another process on the same store, which knows what was queued.
    place.store = Arc::new(FileStore::new(home.path()));
    let kept_attachments: Vec<KeptAttachment> = serde_json::from_str(&queued).unwrap();
    let script = "echo say $(cat $COPIES/note.txt $COPIES/_note.txt); echo end";
    let order = Order { kept_attachments, ..place.order(script) };
    let turn = place.engine().start(order, CancelWatch::pair().unwrap().1).unwrap();
    let outcome = turn.join().unwrap();
    assert_eq!(outcome.text(), "teatea");
    let sent = &outcome.receipt().attachments[0];
    assert_eq!((sent.name.as_str(), sent.size, &sent.sha256), ("note.txt", 3, &kept[0].blob.to_string()));
    assert!(place.journal().contains(&sent.sha256));
}

#[test]
fn what_is_no_longer_kept_is_refused_before_anything_is_written() {
    let place = Place::new();
    let file = place.path().join("note.txt");
    std::fs::write(&file, "tea").unwrap();
    let kept_attachments = place.engine().keep_attachments(&[&file]).unwrap();
    place.store.blobs().remove(&kept_attachments[0].blob).unwrap();
    let order = Order { kept_attachments, ..place.order("echo end") };
    let refused = place.engine().start(order, CancelWatch::pair().unwrap().1).err();
    assert!(matches!(refused, Some(TurnError::NotFound(_))), "{refused:?}");
    assert_eq!(place.journal(), "");
}

//! Lists by page, and bytes by their hash, as every store promises them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rejoin_core::ConversationId;
use rejoin_journal::{BlobError, BlobId, LONGEST_BLOB, Leases, Mark, PageToken, Store, Writer};

use super::support::{PROJECT, conversation, first, info, user};

fn begin(store: &dyn Store, number: u128, project: &str) -> ConversationId {
    let id = conversation(number);
    store.create(id, &info(project), &[first(id, project)], Writer::Label).unwrap();
    id
}

/// All pages of a list, one after the other.
fn pages(store: &dyn Store, project: Option<&str>, limit: usize) -> Vec<Vec<ConversationId>> {
    let mut pages = Vec::new();
    let mut after: Option<PageToken> = None;
    loop {
        let page = store.list_page(project, limit, after.as_ref()).unwrap();
        pages.push(page.heads.iter().map(|head| head.id).collect());
        let Some(next) = page.next else { return pages };
        after = Some(next.to_string().parse().unwrap());
    }
}

pub(super) fn pages_make_up_the_list(_: &dyn Leases, store: &dyn Store) {
    assert_eq!(pages(store, None, 3), [vec![]]);
    for number in 0..10 {
        begin(store, number, ["/a", "/b"][number as usize % 2]);
    }
    let all: Vec<_> = store.list(None).unwrap().into_iter().map(|head| head.id).collect();
    assert_eq!(all.len(), 10);
    for limit in 1..12 {
        let pages = pages(store, None, limit);
        assert_eq!(pages.concat(), all, "{limit}");
        assert!(pages[..pages.len() - 1].iter().all(|page| page.len() == limit), "{pages:?}");
        assert_eq!(pages.len(), 10_usize.div_ceil(limit), "no empty page at the end");
    }
    for text in ["", "x", "1.2", "1.ffffffff.4f1c2a9e-0000-4000-8000-000000000001", &"1".repeat(999)] {
        assert!(text.parse::<PageToken>().is_err(), "{text}");
    }
}

/// Names of directories may be the same.
pub(super) fn a_page_is_of_one_project(_: &dyn Leases, store: &dyn Store) {
    let mut ours: Vec<_> =
        (0..6).map(|number| begin(store, number, ["/a-b", "/a/b"][number as usize % 2])).collect();
    ours = ours.into_iter().step_by(2).collect();
    let mut listed = pages(store, Some("/a-b"), 2).concat();
    listed.sort_unstable();
    assert_eq!(listed, ours);
}

pub(super) fn pages_stay_true_while_somebody_writes(_: &dyn Leases, store: &dyn Store) {
    const CONVERSATIONS: u128 = 40;
    for number in 0..CONVERSATIONS {
        begin(store, number, PROJECT);
    }
    let quiet: HashSet<_> = (0..CONVERSATIONS).filter(|number| number % 4 != 0).map(conversation).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0..CONVERSATIONS).step_by(4).cycle() {
                let id = conversation(number);
                store.appender(id, Writer::Label).unwrap().append(&[user(id, 1, None, "x")]).unwrap();
                thread::sleep(Duration::from_micros(300));
                if done.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        let mut whole = Vec::new();
        for limit in [1, 3, 7, 100] {
            let mark = store.changes(&Mark::BEGINNING).unwrap().mark;
            let listed = pages(store, Some(PROJECT), limit).concat();
            let once: HashSet<_> = listed.iter().copied().collect();
            assert_eq!(once.len(), listed.len(), "none comes twice");
            assert!(once.is_superset(&quiet), "whoever is not written is there");
            let changed = store.changes(&mark).unwrap();
            let all: HashSet<_> = changed.written.iter().map(|state| state.id).chain(listed).collect();
            whole.push(all.len());
        }
        done.store(true, Ordering::SeqCst);
        assert_eq!(whole, [CONVERSATIONS as usize; 4], "and the others are told");
    });
}

pub(super) fn bytes_are_kept_by_their_hash(_: &dyn Leases, store: &dyn Store) {
    let blobs = store.blobs();
    let large = vec![7; 300_000];
    for bytes in [&b""[..], b"hello", b"\0\xff\n", &large] {
        let id = blobs.put(&mut { bytes }).unwrap();
        assert_eq!(id, BlobId::of(bytes));
        assert_eq!(blobs.put(&mut { bytes }).unwrap(), id, "twice is once");
        let carried: BlobId = serde_json::from_str(&serde_json::to_string(&id).unwrap()).unwrap();
        assert_eq!(blobs.get(&carried).unwrap(), bytes);
    }
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!(BlobId::of(b"hello").to_string(), hello);
    for text in
        ["", "2cf2", &hello.to_uppercase(), &format!("{hello}0"), &hello.replace('c', "/"), &"é".repeat(32)]
    {
        assert!(text.parse::<BlobId>().is_err(), "{text}");
    }
    assert_eq!(store.ids().unwrap(), [], "they are no conversations");
    assert_eq!(store.list(None).unwrap(), []);
}

pub(super) fn bytes_are_forgotten(_: &dyn Leases, store: &dyn Store) {
    let blobs = store.blobs();
    let id = blobs.put(&mut &b"hello"[..]).unwrap();
    assert!(blobs.remove(&id).unwrap());
    assert!(!blobs.remove(&id).unwrap());
    let error = blobs.get(&id).unwrap_err();
    assert!(matches!(error, BlobError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("attach them anew"), "{error}");
}

pub(super) fn too_many_bytes_are_refused(_: &dyn Leases, store: &dyn Store) {
    let endless = &mut std::io::Read::take(std::io::repeat(0), LONGEST_BLOB + 1);
    let refused = store.blobs().put(endless);
    assert!(matches!(refused, Err(BlobError::TooLong { .. })), "{refused:?}");
}

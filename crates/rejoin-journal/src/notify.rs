//! The system's notice that journals were written: one watcher for all who follow journals of a store.
//!
//! Directories are watched, not files: a project's directory tells of each write to each journal in it, and also when
//! one is replaced, moved or deleted. A notice only means that it is worth looking; who waits looks from time to time
//! without one as well, because it does not come from every file system.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rejoin_core::ConversationId;

use crate::Waker;

/// More directories than these are not watched; those who wait for journals in them look from time to time. It stays
/// below what systems allow a user as a whole.
const MOST_DIRECTORIES: usize = 4096;
/// More written journals are not told apart.
const MOST_WRITTEN: usize = 4096;

/// Who wants to know what.
#[derive(Debug, Default)]
struct State {
    /// Watched directories, and how the system calls them.
    directories: HashMap<Arc<Path>, i32>,
    /// Those who follow a journal.
    followers: HashMap<ConversationId, Vec<Waker>>,
    /// Those who want to know of any.
    watchers: Vec<Waker>,
    /// Journals that were written since somebody asked; `None` if it may be any.
    written: Option<HashSet<ConversationId>>,
}

impl State {
    fn written(&mut self, id: ConversationId) {
        for follower in self.followers.get(&id).into_iter().flatten() {
            follower.stir();
        }
        if let Some(written) = &mut self.written {
            written.insert(id);
            if written.len() > MOST_WRITTEN {
                self.written = None;
            }
        }
        self.watchers.iter().for_each(Waker::stir);
    }

    fn anything_may_be_written(&mut self) {
        self.written = None;
        self.followers.values().flatten().chain(&self.watchers).for_each(Waker::stir);
    }
}

/// Watches directories until it is dropped.
#[derive(Debug)]
pub(crate) struct Notifier {
    state: Arc<Mutex<State>>,
    #[cfg(target_os = "linux")]
    watch: linux::Watch,
}

/// Somebody who wants to know, until this is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    state: Arc<Mutex<State>>,
    id: Option<ConversationId>,
    waker: Waker,
}

impl Registered {
    /// Whether it is this one who wants to know of that journal.
    pub(crate) fn is(&self, id: ConversationId, waker: &Waker) -> bool {
        self.id == Some(id) && self.waker.is(waker)
    }
}

impl Notifier {
    /// `None` where the system cannot, or has no more of them for us.
    #[cfg(target_os = "linux")]
    pub(crate) fn start() -> Option<Self> {
        let state = Arc::default();
        Some(Self { watch: linux::Watch::start(&state)?, state })
    }

    /// Other systems have no such notice, or another one.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn start() -> Option<Self> {
        None
    }

    /// Watches a directory; says whether it could.
    pub(crate) fn watch(&self, directory: &Arc<Path>) -> bool {
        let mut state = self.state();
        if state.directories.contains_key(directory) {
            return true;
        }
        if state.directories.len() >= MOST_DIRECTORIES {
            return false;
        }
        #[cfg(target_os = "linux")]
        if let Some(number) = self.watch.add(directory) {
            state.directories.insert(Arc::clone(directory), number);
            return true;
        }
        false
    }

    /// Stirs `waker` whenever that journal, or any, is written in a watched directory.
    pub(crate) fn register(&self, id: Option<ConversationId>, waker: &Waker) -> Registered {
        let mut state = self.state();
        match id {
            Some(id) => state.followers.entry(id).or_default().push(waker.clone()),
            None => state.watchers.push(waker.clone()),
        }
        drop(state);
        Registered { state: Arc::clone(&self.state), id, waker: waker.clone() }
    }

    /// The journals that were written since this was asked last; `None` if it may be any.
    pub(crate) fn take_written(&self) -> Option<HashSet<ConversationId>> {
        self.state().written.replace(HashSet::new())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let remove = |wakers: &mut Vec<Waker>| {
            // One waker may be there for several.
            if let Some(at) = wakers.iter().position(|waker| waker.is(&self.waker)) {
                wakers.swap_remove(at);
            }
        };
        match self.id {
            None => remove(&mut state.watchers),
            Some(id) => {
                if let Some(wakers) = state.followers.get_mut(&id) {
                    remove(wakers);
                    if wakers.is_empty() {
                        state.followers.remove(&id);
                    }
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CStr;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::sync::{Arc, Mutex, PoisonError};

    use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
    use rustix::io::Errno;

    use super::State;

    #[derive(Debug)]
    pub(super) struct Watch {
        inotify: Arc<OwnedFd>,
        /// Ends the thread.
        end: Arc<OwnedFd>,
    }

    impl Watch {
        pub(super) fn start(state: &Arc<Mutex<State>>) -> Option<Self> {
            let inotify = Arc::new(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?);
            let end = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).ok()?);
            let watch = Self { inotify: Arc::clone(&inotify), end: Arc::clone(&end) };
            let state = Arc::clone(state);
            let thread = std::thread::Builder::new().name("journal-notices".into()).stack_size(128 << 10);
            thread.spawn(move || pass_on(&inotify, &end, &state)).ok()?;
            Some(watch)
        }

        pub(super) fn add(&self, directory: &Path) -> Option<i32> {
            let written = WatchFlags::MODIFY;
            let named =
                WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM;
            add_watch(&*self.inotify, directory, written | named | WatchFlags::ONLYDIR).ok()
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            let _ = rustix::io::write(&*self.end, &1_u64.to_ne_bytes());
        }
    }

    fn pass_on(inotify: &OwnedFd, end: &OwnedFd, state: &Mutex<State>) {
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        loop {
            let mut ready = [PollFd::new(inotify, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
            match poll(&mut ready, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return,
                Ok(_) if !ready[1].revents().is_empty() => return,
                Ok(_) => {}
            }
            let mut events = Reader::new(inotify, &mut buffer);
            loop {
                let event = match events.next() {
                    Ok(event) => event,
                    Err(Errno::WOULDBLOCK | Errno::INTR) => break,
                    Err(_) => return,
                };
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                let flags = event.events();
                if flags.contains(ReadFlags::IGNORED) {
                    // The directory is gone.
                    state.directories.retain(|_, number| *number != event.wd());
                }
                let journal = event
                    .file_name()
                    .map(CStr::to_bytes)
                    .and_then(|name| std::str::from_utf8(name).ok()?.strip_suffix(".jsonl")?.parse().ok());
                let anything = ReadFlags::IGNORED | ReadFlags::QUEUE_OVERFLOW | ReadFlags::ISDIR;
                match journal {
                    Some(id) if !flags.intersects(anything) => state.written(id),
                    _ if flags.intersects(anything) => state.anything_may_be_written(),
                    _ => {}
                }
            }
        }
    }
}

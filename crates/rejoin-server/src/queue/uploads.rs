//! Files that were sent ahead of the prompt they go along with. Their bytes are blobs of the store; what they are called
//! is a small log beside it.

use std::collections::HashSet;
use std::io::Read;
use std::time::Duration;

use rejoin::{BlobId, KeptAttachment, Rejoin, TurnId};
use rejoin_journal::{BlobError, LogKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::all_queues::Queue;
use super::look::RunLook;
use super::state::Phase;
use super::{ago, now};
use crate::app::Shared;
use crate::problem::{Code, Problem};

const KIND: LogKind = LogKind::Upload;

/// So long they are kept if no turn that used them completed.
const KEPT: Duration = Duration::from_hours(24);

/// A file that was sent.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Upload {
    /// The SHA-256 of its bytes: what `attachments` of a run names.
    #[schema(value_type = String)]
    pub(crate) id: BlobId,
    /// Its name, without a directory.
    pub(crate) name: String,
    /// Its media type, as it was sent.
    #[serde(rename = "type")]
    pub(crate) media_type: String,
    /// In bytes.
    pub(crate) size: usize,
    /// When it was sent last.
    pub(crate) time: String,
}

/// Where what is known of an upload is kept.
fn log_of(id: &BlobId) -> Uuid {
    let digits = id.to_string();
    Uuid::from_u128(u128::from_str_radix(digits.get(..32).unwrap_or_default(), 16).unwrap_or_default())
}

/// Keeps bytes that were sent.
pub(crate) fn keep_upload(
    rejoin: &Rejoin,
    name: String,
    media_type: String,
    bytes: &[u8],
) -> Result<Upload, Problem> {
    if bytes.is_empty() {
        return Err(Problem::bad_request("the file is empty: there is nothing to attach"));
    }
    rejoin.make_home()?;
    let id = rejoin.store().blobs().put(&mut &*bytes).map_err(refused)?;
    let upload = Upload { id, name, media_type, size: bytes.len(), time: now() };
    let line = serde_json::to_vec(&upload).unwrap_or_default();
    rejoin.store().logs().rewrite(KIND, log_of(&id), &line)?;
    Ok(upload)
}

fn refused(error: BlobError) -> Problem {
    match error {
        BlobError::Journal(error) => error.into(),
        BlobError::NotFound { .. } => Problem::not_found(error.to_string()),
        _ => Problem::new(Code::TooLarge, error.to_string()),
    }
}

fn known(rejoin: &Rejoin, log: Uuid) -> Option<Upload> {
    let mut bytes = Vec::new();
    rejoin.store().logs().read(KIND, log).ok()?.read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// What was sent under this id, for a turn.
pub(super) fn attachment(rejoin: &Rejoin, id: &str) -> Result<KeptAttachment, Problem> {
    let found =
        id.parse().ok().and_then(|id: BlobId| known(rejoin, log_of(&id)).filter(|upload| upload.id == id));
    match found {
        Some(upload) => Ok(KeptAttachment { name: upload.name, blob: upload.id }),
        None => Err(Problem::not_found(format!("nothing was uploaded as {id:?}, or it is not kept any more"))
            .hint("send it to POST /api/v1/uploads; it is kept for a day, or until the turn that uses it has completed")),
    }
}

/// Whether all of them are still there.
pub(crate) fn are_kept(rejoin: &Rejoin, attachments: &[KeptAttachment]) -> bool {
    attachments.iter().all(|kept| known(rejoin, log_of(&kept.blob)).is_some())
}

fn forget(rejoin: &Rejoin, id: &BlobId) {
    let removed = rejoin.store().blobs().remove(id).map_err(refused);
    let removed = removed.and_then(|_| Ok(rejoin.store().logs().remove(KIND, log_of(id))?));
    if let Err(problem) = removed {
        tracing::warn!(upload = %id, detail = problem.detail(), "an upload could not be removed");
    }
}

/// What runs that are not over use.
fn in_use(queue: &Queue) -> HashSet<BlobId> {
    let over = |look: &RunLook| matches!(look.phase, Phase::Ended { .. });
    let all = queue.look_at_all().into_iter().filter(|look| !over(look));
    all.flat_map(|look| look.asked.request.attach_kept.clone()).map(|kept| kept.blob).collect()
}

/// The turn that used them completed: nobody needs them any more, unless they were sent again since.
pub(super) async fn release(app: &Shared, run: TurnId) {
    let Some(asked) = app.queue.look(run).map(|look| look.asked) else { return };
    if asked.request.attach_kept.is_empty() {
        return;
    }
    let app = app.clone();
    let released = tokio::task::spawn_blocking(move || {
        let (rejoin, in_use) = (app.rejoin(), in_use(&app.queue));
        for kept in asked.request.attach_kept.iter().filter(|kept| !in_use.contains(&kept.blob)) {
            if known(&rejoin, log_of(&kept.blob)).is_some_and(|upload| upload.time <= asked.time) {
                forget(&rejoin, &kept.blob);
            }
        }
    });
    let _ = released.await;
}

/// Forgets what was sent long ago.
pub(super) fn tidy(queue: &Queue, rejoin: &Rejoin) {
    let (limit, in_use) = (ago(KEPT), in_use(queue));
    for log in rejoin.store().logs().ids(KIND).unwrap_or_default() {
        if let Some(upload) =
            known(rejoin, log).filter(|upload| upload.time < limit && !in_use.contains(&upload.id))
        {
            forget(rejoin, &upload.id);
        }
    }
}

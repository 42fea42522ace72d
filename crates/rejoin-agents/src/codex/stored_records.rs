//! The records of a stored session, as far as reading all of it needs them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::sessions::{Base, Git, Part};
use super::wire::Tokens;
use crate::loose::{Flag, List, Number, Object, Text, Texts};

/// One line; which fields are filled depends on its kind.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct StoredRecord<'a> {
    pub(super) timestamp: Text<'a>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) payload: Object<Payload<'a>>,
    pub(super) ordinal: Number,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Payload<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) forked_from_id: Text<'a>,
    pub(super) cwd: Text<'a>,
    pub(super) git: Object<Git<'a>>,
    pub(super) source: Object<IgnoredAny>,
    pub(super) thread_source: Text<'a>,
    pub(super) history_base: Object<Base<'a>>,
    pub(super) thread_id: Text<'a>,
    pub(super) thread_name: Text<'a>,
    pub(super) turn_id: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) message: Text<'a>,
    pub(super) text: Text<'a>,
    pub(super) images: Texts<'a>,
    pub(super) local_images: Texts<'a>,
    pub(super) item: Object<StoredItem<'a>>,
    pub(super) error: Value,
    pub(super) last_agent_message: Text<'a>,
    pub(super) num_turns: Number,
    pub(super) info: Object<TokenInfo>,
    pub(super) name: Text<'a>,
    pub(super) call_id: Text<'a>,
    pub(super) arguments: Text<'a>,
    pub(super) input: Value,
    pub(super) action: Value,
    pub(super) output: Value,
    pub(super) status: Text<'a>,
    pub(super) exit_code: Number,
    pub(super) success: Flag,
}

/// What the timeline shows from 0.166 on.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct StoredItem<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) content: List<Part<'a>>,
    pub(super) summary_text: Texts<'a>,
    pub(super) raw_content: Texts<'a>,
    pub(super) status: Text<'a>,
    pub(super) exit_code: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct TokenInfo {
    pub(super) total_token_usage: Object<Tokens>,
    pub(super) last_token_usage: Object<Tokens>,
}

/// Whether a call is over and did not do what it should.
pub(super) fn has_failed(status: &str, exit_code: Number) -> bool {
    matches!(status, "failed" | "declined") || exit_code.0.is_some_and(|code| code != 0.0)
}

/// Events that say nothing a reader needs, or what other records say as well.
pub(super) fn is_known_event(kind: &str) -> bool {
    matches!(
        kind,
        "agent_message_delta"
            | "agent_reasoning_raw_content"
            | "agent_reasoning_section_break"
            | "collab_agent_spawn_begin"
            | "collab_agent_spawn_end"
            | "collab_waiting_begin"
            | "collab_waiting_end"
            | "context_compacted"
            | "entered_review_mode"
            | "exec_command_begin"
            | "exited_review_mode"
            | "image_generation_end"
            | "item_started"
            | "mcp_tool_call_begin"
            | "mcp_tool_call_end"
            | "patch_apply_begin"
            | "plan_update"
            | "thread_goal_updated"
            | "thread_settings_applied"
            | "undo_completed"
            | "view_image_tool_call"
            | "warning"
            | "web_search_begin"
            | "web_search_end"
    )
}

/// Items that other records tell of as well.
pub(super) fn is_known_item(kind: &str) -> bool {
    matches!(
        kind,
        "CollabAgentToolCall"
            | "CommandExecution"
            | "ContextCompaction"
            | "DynamicToolCall"
            | "EnteredReviewMode"
            | "ExitedReviewMode"
            | "FileChange"
            | "HookPrompt"
            | "ImageGeneration"
            | "ImageView"
            | "McpToolCall"
            | "Plan"
            | "WebSearch"
    )
}

/// What is sent to the model, and told by events as well or by nobody typed.
pub(super) fn is_known_response(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "ghost_snapshot" | "compaction" | "compaction_summary" | "other")
}

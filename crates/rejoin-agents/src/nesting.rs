use crate::words::Names;

/// What the agents leave in the environment of the commands they run, seen in the
/// children of real ones: marks of an outer session, never configuration. An agent that inherits
/// them takes itself for a part of that session (Claude may then store nothing at all).
pub(crate) const MARKERS: Names = "AI_AGENT CLAUDECODE CLAUDE_CODE_CHILD_SESSION \
                                   CLAUDE_CODE_COORDINATOR_MODE CLAUDE_CODE_ENTRYPOINT \
                                   CLAUDE_CODE_EXECPATH CLAUDE_CODE_INVOKED_SKILLS \
                                   CLAUDE_CODE_REMOTE_SESSION_ID CLAUDE_CODE_RESUME_FROM_SESSION \
                                   CLAUDE_CODE_RESUME_INTERRUPTED_TURN CLAUDE_CODE_RESUME_PROMPT \
                                   CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SESSION_KIND \
                                   CLAUDE_CODE_SESSION_NAME CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SUPERVISED \
                                   CLAUDE_CODE_TASK_LIST_ID CLAUDE_CODE_WORKER_EPOCH CLAUDE_EFFORT \
                                   CLAUDE_ENV_FILE CLAUDE_JOB_DIR CLAUDE_PLUGIN_DATA CLAUDE_PLUGIN_ROOT \
                                   CLAUDE_PROJECT_DIR CLAUDE_SESSION_ID CLAUDE_SKILL_DIR \
                                   CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS CODEX_CI CODEX_SANDBOX \
                                   CODEX_SANDBOX_NETWORK_DISABLED CODEX_SESSION_ID CODEX_THREAD_ID \
                                   CODEX_TOOL_CALL_ID GEMINI_CLI OPENCODE OPENCODE_PID PI_CODING_AGENT \
                                   PI_SESSION_FILE PI_SESSION_ID QWEN_CODE QWEN_CODE_AGENT_ID \
                                   QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE QWEN_CODE_PROJECT_DIR \
                                   QWEN_CODE_PROMPT_ID QWEN_CODE_SESSION_ID";

//! A model that answers by rule, so that its answer proves what an agent remembered.
//!
//! Every answer is `SEEN n=<user messages that hold a mark> marks=<every mark of the conversation>`, a mark being
//! `MARK-` and lower-case letters or digits. A resumed session gives `n=2` on its second turn, a history replayed
//! in one prompt gives `n=1` with both marks, and a loss gives `n=1` with the new mark alone.
//!
//! Words in the prompt, after its last mark, change the answer:
//!
//! | word | what happens |
//! |---|---|
//! | `TOOL-ECHO x` | a shell call `echo x`, then the normal answer with `tool=<output>` |
//! | `TOOL-RUN [cmd]` | a shell call `cmd` |
//! | `TOOL-SLEEP n` | a shell call `sleep n; echo slept` |
//! | `TOOL-WRITE path` | a file with the line `written`, by the agent's writing tool or its shell |
//! | `NEWS` | the normal answer with `news=<digits>` that nobody said before |
//! | `ASKUSER` | a question with two options, if the agent offers a tool for that |
//! | `SLOW` | a hundred small pieces over ten seconds before the answer |
//! | `HANG` | the answer begins, then silence for a minute |
//! | `MIDFAIL` / `CUT` | three pieces, then an error event / a closed connection |
//! | `FAIL500`, `OVERLOAD`, `RATE429`, `AUTH401`, `BAD400` | that failure, every time |
//! | `ONCE500`, `ONCE429` | HTTP 500 or 429 the first time this very text is seen |
//!
//! `OVERLOAD` is 529 for Claude Code, 429 for Codex and 503 for the others. What an agent asks on its own behalf (a
//! title, a classification, a memory) gets a fitting answer, whatever words the prompt holds, and is no call.
//!
//! A wire protocol is one file that implements [`protocol::Protocol`] and one line in [`protocol::all`].

mod anthropic;
mod cache;
mod chat;
mod errand;
mod files;
mod gemini;
mod http;
mod log;
mod protocol;
mod responses;
mod script;
mod server;
mod tools;

pub use cache::Tokens;
pub use files::File;
pub use log::Request;
pub use server::ScriptedModel;

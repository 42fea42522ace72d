//! The rules of the command, one by one.

mod agents;
mod config;
mod conversations;
mod dry_run;
mod help;
mod indexed;
mod names;
mod output;
mod privacy;
mod project_config;
mod prompt;
mod shown;
mod terminal;
mod tour;

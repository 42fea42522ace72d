//! The rules of the command, one by one.

mod agents;
mod chat;
mod completions;
mod config;
mod conversations;
mod doctor;
mod dry_run;
mod help;
mod hostile;
mod indexed;
mod names;
mod output;
mod pick;
mod privacy;
mod project_config;
mod prompt;
mod shown;
mod terminal;
mod tour;

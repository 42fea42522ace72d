//! Turns on an agent that is a shell script, in an engine whose store is in memory.

mod answered;
mod ceiling;
mod faults;
mod handles;
mod hooked;
mod idle;
mod kept_attachments;
mod large;
mod leased;
mod leftovers;
mod limited;
mod pumped;
mod repeated;
mod scripted;
mod settling;
mod shown;
mod turns_of_a_process;
mod watched;

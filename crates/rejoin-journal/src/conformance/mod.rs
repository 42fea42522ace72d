//! What every store and every place of leases promises, as checks to be run on each of them.
//!
//! For the crates that bring a store of their own (feature `conformance`): make a new, empty one for each of
//! [`CHECKS`] and run it. A check that fails panics.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "checks are tests")]
#![allow(unreachable_pub, reason = "it is a part of the library, and of its own tests")]

mod following;
mod journals;
mod leases;
mod logs;
mod pages;
pub(crate) mod support;

use rejoin_journal::{Leases, Store};

/// A promise, to be tried on an empty store and the leases beside it.
pub type Check = fn(&dyn Leases, &dyn Store);

/// Hands the names of all checks to a macro.
macro_rules! for_each_check {
    ($take:ident) => {
        $take! {
            journals: an_append_says_where_it_ended,
                a_cursor_brings_back_its_place,
                a_cursor_of_the_beginning_fits_every_journal,
                a_cursor_of_another_conversation_is_refused,
                a_cursor_of_a_journal_that_was_replaced_is_refused,
                a_cursor_of_a_journal_that_was_put_back_is_refused,
                a_cursor_of_a_journal_that_went_another_way_is_refused,
                a_long_record_does_not_hide_that_it_is_another_one,
                no_cursor_stands_inside_of_a_record,
                a_cursor_before_a_torn_line_goes_on_with_what_comes_after_it,
                glued_records_have_cursors_between_them,
                what_was_appended_is_read_in_order,
                a_cursor_goes_on_where_it_stopped,
                records_are_fetched_by_their_place,
                a_place_without_a_record_is_told,
                what_is_not_there_is_an_error,
                a_conversation_is_created_once,
                two_appenders_take_turns,
                a_list_is_newest_first_and_knows_projects,
                a_conversation_appears_with_its_first_records_or_not_at_all,
                a_search_stops_when_told,
                a_journal_is_read_back_from_its_end,
                an_adopted_conversation_is_the_same_to_the_byte,
                only_a_continuation_is_adopted_over_what_is_there,
                a_moved_conversation_belongs_to_its_new_project,
                a_removed_conversation_is_gone,
                a_record_that_nobody_could_read_is_refused,
                an_empty_batch_writes_nothing,
                a_reader_may_append_while_it_reads,
                a_cursor_behind_the_end_is_an_error,
                a_conversation_loads;
            following: what_stands_there_is_handed_out_at_once,
                a_follower_stops_where_it_has_enough,
                a_follower_waits_until_something_is_written,
                a_wait_ends_when_the_time_is_up,
                a_wait_ends_when_it_is_woken,
                two_followers_see_all_that_a_writer_writes,
                an_unfinished_line_is_nothing_until_it_is_sealed,
                a_follower_goes_on_in_a_longer_version,
                a_follower_is_told_that_another_journal_took_the_place,
                a_follower_is_told_that_the_journal_is_gone,
                changes_are_told_once,
                a_mark_of_another_run_is_answered_with_everything,
                a_wait_for_changes_ends_with_one,
                a_list_stays_true_while_somebody_writes;
            leases: one_holds_it_and_the_others_are_told_who,
                a_wait_ends_when_it_is_free,
                one_of_many_gets_it_at_a_time,
                what_a_killed_holder_left_is_told_to_the_next,
                a_turn_appends_as_long_as_it_holds_the_lease,
                the_lease_on_something_else_is_no_right_to_append,
                a_label_is_appended_while_a_turn_runs,
                a_conversation_is_begun_by_who_holds_its_lease;
            pages: pages_make_up_the_list,
                a_page_is_of_one_project,
                pages_stay_true_while_somebody_writes,
                bytes_are_kept_by_their_hash,
                bytes_are_forgotten,
                too_many_bytes_are_refused;
            logs: what_was_appended_is_read,
                a_log_that_ends_in_a_line_says_so,
                a_log_is_rewritten_as_a_whole_and_removed,
                logs_of_one_kind_are_not_those_of_another,
                no_list_takes_a_log_for_a_conversation;
        }
    };
}

macro_rules! table {
    ($($module:ident: $($name:ident),*;)*) => {
        /// All of them, by their names.
        pub const CHECKS: &[(&str, Check)] =
            &[$($((concat!(stringify!($module), "::", stringify!($name)), $module::$name)),*),*];
    };
}

for_each_check!(table);

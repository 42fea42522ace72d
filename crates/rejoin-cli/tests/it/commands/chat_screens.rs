//! What stands on the screen of `rejoin chat`, narrow and wide.

use super::status_line::settled;
use crate::support::{Bench, Screen};

#[test]
fn the_screen_of_a_conversation_that_goes_on_is_tidy_at_every_width() {
    for columns in [40, 80, 200] {
        let bench = Bench::new();
        bench.first("hello MARK-a TOOL-RUN [echo fine] TOOL-RUN [ls /nowhere]").done();
        let env = [("NO_COLOR", "1")];
        let Some(mut screen) = Screen::sized(&bench, "chat -c", &env, (columns, 50)) else { return };
        let _guards = settled(&bench);
        screen.shows("next turn on demo").shows("demo › ").types("half a sen").shows("half a sen");
        bench.next("from elsewhere MARK-b").done();
        screen.shows("marks=MARK-a,MARK-b").shows("demo › half a sen").types("tence ASK\r");
        screen.shows("? Tea or coffee?").shows("Esc declines");
        insta::assert_snapshot!(format!("chat_at_{columns}_columns"), screen.picture());
        screen.types("2").shows("✓").shows("demo › ").types("/cost\r").shows("this path").shows("demo › ");
        screen.types("/help\r").shows("leaves.\n").shows("demo › ").types("/quit\r").shows("kept");
        assert_eq!(screen.overlong(), [""; 0]);
        let picture = screen.picture();
        let after = picture.split_once("answered: coffee").unwrap().1;
        insta::assert_snapshot!(format!("chat_help_at_{columns}_columns"), after);
        screen.ends(0);
    }
}

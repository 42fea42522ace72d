use super::stage::Stage;
on_both!(look);
fn look(stage: &Stage) {
    let session = stage.first("first MARK-one").with(["--permissions", "full"]).go().done().session();
    stage.next("second MARK-two TOOL-SLEEP 517").start().until_this_runs("sleep 517").kill();
    std::fs::copy(stage.session_file(&session), format!("/tmp/look-{}-killed.jsonl", stage.who.name())).unwrap();
    let t = stage.next("third MARK-three").go();
    std::fs::copy(stage.session_file(&session), format!("/tmp/look-{}-after.jsonl", stage.who.name())).unwrap();
    println!("{t}");
    println!("{:#}", stage.show()["pins"]);
    let session = stage.first("first MARK-one").go().done().session();
    stage.next("second MARK-two BAD400").go();
    std::fs::copy(stage.session_file(&session), format!("/tmp/look-{}-failed.jsonl", stage.who.name())).unwrap();
    let t = stage.next("third MARK-three").go();
    let messages = if stage.who.name() == "codex" { "input" } else { "messages" };
    println!("FAILED: {:#}", t.calls[0].body[messages]);
}

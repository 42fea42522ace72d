use std::collections::BTreeMap;

use rejoin_flow::Source;

/// Whatever a file says, reading it ends with a flow or with problems that have a place in it.
#[test]
fn fuzz() {
    let corpus = rejoin_testkit::fuzz::corpus(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus"));
    rejoin_testkit::fuzz::fuzz(corpus, |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let source = Source { file: "x.flow.yaml".into(), text, prompts: BTreeMap::new() };
        match source.flow() {
            Ok(flow) => {
                assert!(!flow.steps.is_empty());
                assert!(flow.mermaid().starts_with("flowchart TD\n"));
                let _ = flow.inputs_from(&[("area".into(), "src".into())]);
            }
            Err(problems) => {
                assert!(!problems.problems.is_empty());
                assert!(problems.problems.iter().all(|problem| problem.place.line > 0));
            }
        }
    });
}

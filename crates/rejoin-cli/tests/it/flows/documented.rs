//! Every example of docs/flows.md is run.

use crate::support::Bench;

#[test]
fn every_example_runs() {
    let bench = Bench::new();
    let text = include_str!("../../../../../docs/flows.md");
    let mut count = 0;
    for block in text.split("```yaml\n").skip(1) {
        let yaml = block.split("```").next().unwrap();
        let name = yaml.lines().next().unwrap().trim_start_matches("# ");
        assert!(name.ends_with(".flow.yaml"), "an example says its file first: {name}");
        bench.file("ask.md", "Look at the whole project.");
        bench.file(name, yaml);
        bench.rejoin(&["flow", "validate", name]).done();
        bench.rejoin(&["flow", "run", name, "-i", "agent=demo"]).done();
        count += 1;
    }
    assert!(count >= 4, "{count} examples");
}

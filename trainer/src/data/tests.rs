//! Which tokens are trained, and lines that cannot be used.

use super::{Dataset, NO_TARGET, Sample, load_jsonl};
use crate::text::TextModel;
use crate::text::tiny::{CHATML, model};
use std::io::Write;

fn load_bytes(text: Option<&TextModel>, bytes: &[u8], max_tokens: usize) -> Result<Dataset, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    load_jsonl(file.path(), text, 101, max_tokens).map_err(|error| error.to_string())
}

fn load(lines: &str) -> Result<Dataset, String> {
    load_bytes(Some(&model(CHATML)), lines.as_bytes(), 512)
}

#[track_caller]
fn refused(lines: &str, parts: &[&str]) {
    let error = load(lines).unwrap_err();
    for part in parts {
        assert!(error.contains(part), "`{error}` does not name `{part}`");
    }
}

/// What is trained of a sample, as text.
fn trained(sample: &Sample) -> String {
    let targets: Vec<u32> = sample
        .labels
        .iter()
        .zip(&sample.ids)
        .filter(|&(&label, _)| label != NO_TARGET)
        .map(|(&label, &id)| {
            assert_eq!(label, id as i32);
            id
        })
        .collect();
    model(CHATML).decode(&targets).unwrap()
}

#[test]
fn every_assistant_turn_is_trained_with_its_end() {
    let data = load(concat!(
        r#"{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},"#,
        r#"{"role":"user","content":"three"},{"role":"assistant","content":"four"}]}"#,
        "\n\n",
        r#"{"id":7,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#,
    ))
    .unwrap();
    assert_eq!(trained(&data.samples[0]), "two<|im_end|>four<|im_end|>");
    assert_eq!(trained(&data.samples[1]), "b<|im_end|>");
    assert_eq!(data.samples[0].line, 1);
    assert_eq!(data.samples[1].line, 3);
    assert_eq!(data.samples[1].targets(), 2);
    assert_eq!(data.untargeted, 0);
    let whole = model(CHATML).decode(&data.samples[1].ids).unwrap();
    assert_eq!(whole, "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n");
}

#[test]
fn a_completion_is_trained_with_eos_behind_it() {
    let data = load("\u{feff}{\"prompt\":\"ask:\",\"completion\":\" yes\"}\r\n").unwrap();
    assert_eq!(trained(&data.samples[0]), " yes<|im_end|>");
    let whole = model(CHATML).decode(&data.samples[0].ids).unwrap();
    assert_eq!(whole, "ask: yes<|im_end|>");
    // Already there: not twice.
    let data = load(r#"{"prompt":"q","completion":"a<|im_end|>"}"#).unwrap();
    assert_eq!(trained(&data.samples[0]), "a<|im_end|>");
}

#[test]
fn token_rows_are_taken_as_they_are() {
    let text = "{\"input_ids\":[5,6,7],\"labels\":[-100,6,-100]}\n{\"input_ids\":[5],\"labels\":[-100]}\n{\"input_ids\":[5],\"labels\":[5]}";
    let data = load_bytes(None, text.as_bytes(), 8).unwrap();
    assert_eq!(data.samples[0].ids, [5, 6, 7]);
    assert_eq!(data.samples[0].labels, [-100, 6, -100]);
    // A label at position 0 has no output that could score it.
    assert_eq!(data.untargeted, 2);
}

#[test]
fn a_token_across_the_seam_is_refused() {
    // The template prompts with "\n"; an answer that begins with line feeds joins it to one token.
    refused(
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"\n\nb"}]}"#,
        &["line 1", "answer cannot be told from its prompt", "white space"],
    );
    refused(r#"{"prompt":"th","completion":"en"}"#, &["line 1", "token reaches across", "`completion`"]);
}

#[test]
fn a_template_that_rewrites_earlier_turns_is_refused() {
    let last_only = "{% for message in messages %}[{{ message.role }}:{% if loop.last or message.role == 'user' %}{{ message.content }}{% endif %}]{% endfor %}{% if add_generation_prompt %}[assistant:{% endif %}";
    let row = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}"#;
    let error = load_bytes(Some(&model(last_only)), row.as_bytes(), 512).unwrap_err();
    assert!(error.contains("a row of its own"), "{error}");
}

#[test]
fn a_malformed_line_is_named_once_by_its_number_in_the_file() {
    let good = r#"{"prompt":"a","completion":"b"}"#;
    let error = load_bytes(Some(&model(CHATML)), format!("{good}\n{{\"prompt\":").as_bytes(), 512).unwrap_err();
    assert!(error.contains("line 2: not a valid row") && error.contains("at column 10"), "{error}");
    assert!(!error.contains("line 1"), "{error}");
}

#[test]
fn malformed_lines_are_named() {
    let good = r#"{"prompt":"a","completion":"b"}"#;
    refused(&format!("{good}\n\n{{\"prompt\":"), &["line 3", "not a valid row"]);
    refused(&format!("{good}\n{{\"prompt\":\"a\"}}"), &["line 2", "exactly one", "`prompt`"]);
    refused(r#"{"text":"a"}"#, &["line 1", "none of these"]);
    refused(
        r#"{"prompt":"a","completion":"b","input_ids":[1],"labels":[1]}"#,
        &["`prompt`, `completion`, `input_ids`, `labels`"],
    );
    refused(r#"{"input_ids":[1,2]}"#, &["has `input_ids`"]);
    refused(r#"{"input_ids":[-1],"labels":[1]}"#, &["line 1", "-1"]);
    refused(r#"{"messages":[{"role":"user"}]}"#, &["line 1", "content"]);
    refused("[1,2]", &["line 1", "not a valid row"]);
    let error = load_bytes(None, b"\"\xff\"", 8).unwrap_err();
    assert!(error.contains("line 1") && error.contains("UTF-8"), "{error}");
}

#[test]
fn rows_that_train_nothing_are_refused_when_text() {
    refused(r#"{"messages":[{"role":"user","content":"a"}]}"#, &["line 1", "nothing to train", "assistant"]);
    refused(r#"{"messages":[]}"#, &["line 1"]);
    refused(r#"{"prompt":"a","completion":""}"#, &["nothing to train", "`completion`"]);
}

#[test]
fn ids_and_labels_are_held_against_the_vocabulary() {
    refused(r#"{"input_ids":[1,101],"labels":[1,1]}"#, &["line 1", "token 1 has id 101", "vocabulary has 101"]);
    refused(r#"{"input_ids":[1,2],"labels":[1,101]}"#, &["label 1 is 101", "below 101"]);
    refused(r#"{"input_ids":[1,2],"labels":[1,-1]}"#, &["label 1 is -1", "-100"]);
    refused(r#"{"input_ids":[1,2],"labels":[1]}"#, &["2 `input_ids` but 1 `labels`"]);
    refused(r#"{"input_ids":[],"labels":[]}"#, &["no tokens"]);
}

#[test]
fn over_long_rows_say_what_to_do() {
    let ids = vec!["5"; 513].join(",");
    refused(
        &format!(r#"{{"input_ids":[{ids}],"labels":[{ids}]}}"#),
        &["line 1", "513 tokens", "at most 512", "--max-tokens"],
    );
    let long = "a".repeat(600);
    refused(&format!(r#"{{"prompt":"a","completion":"{long}"}}"#), &["--max-tokens"]);
    // With the EOS token it is one too many.
    let exact = "a".repeat(511);
    refused(&format!(r#"{{"prompt":"a","completion":"{exact}"}}"#), &["513 tokens"]);
}

#[test]
fn row_12_a_huge_line_is_refused_by_its_number() {
    let mut text = br#"{"prompt":"a","completion":"b"}"#.to_vec();
    text.push(b'\n');
    text.resize(text.len() + super::lines::LONGEST_LINE + 1, b'x');
    let error = load_bytes(Some(&model(CHATML)), &text, 512).unwrap_err();
    assert!(error.contains("line 2") && error.contains("longer than"), "{error}");
}

#[test]
fn files_without_rows_and_text_without_tokenizer() {
    refused("", &["no rows"]);
    refused("\n  \n", &["no rows"]);
    let row = br#"{"prompt":"a","completion":"b"}"#;
    let error = load_bytes(None, row, 8).unwrap_err();
    assert!(error.contains("line 1") && error.contains("tokenizer.json"), "{error}");
    let missing = load_jsonl("/nowhere/rows.jsonl".as_ref(), None, 8, 8).unwrap_err();
    assert!(missing.to_string().contains("cannot be read"));
}

//! Tokenizer and template behaviour, and files that try to break either.

use super::tiny::{CHATML, model, parts};
use super::{ChatTemplate, Message, TextError, tokenizer_json};
use serde_json::json;

fn rendered(template: &str, messages: &[Message]) -> Result<String, TextError> {
    ChatTemplate::new(template, Some("<s>"), Some("</s>"))?.render(messages, false)
}

#[track_caller]
fn fails(template: &str, parts: &[&str]) {
    let error = rendered(template, &[]).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "`{error}` does not name `{part}`");
    }
}

#[test]
fn special_tokens_are_parsed_only_when_asked() {
    let model = model(CHATML);
    assert_eq!(model.encode("<|im_end|>he", true).unwrap(), [2, model.token_id("he").unwrap()]);
    let literal = model.encode("<|im_end|>", false).unwrap();
    assert_eq!(literal.len(), "<|im_end|>".len());
    assert!(!literal.contains(&2));
    assert_eq!(model.decode(&[1, 2]).unwrap(), "<|im_start|><|im_end|>");
    let text = "the other one\n\n 42";
    let ids = model.encode(text, true).unwrap();
    assert_eq!(model.decode(&ids).unwrap(), text);
    assert_eq!(model.size(), parts().tokens.len());
}

#[test]
fn template_has_what_hugging_face_gives_it() {
    let messages = [Message::new("user", "  a<b & 'c'  ")];
    let template = "{{ bos_token }}\n    {% if true %}\nx{% endif %}\n{{ messages[0].content.strip() }}{{ eos_token }}";
    // The block's own line leaves no trace; no HTML escapes.
    assert_eq!(rendered(template, &messages).unwrap(), "<s>\nxa<b & 'c'</s>");
    let mut message = Message::new("user", "é");
    message.extra.insert("tools".into(), json!([{"b": 1, "c": [true, null]}]));
    assert_eq!(
        rendered("{{ messages[0].tools | tojson }}|{{ messages[0].content | tojson }}", &[message]).unwrap(),
        r#"[{"b": 1, "c": [true, null]}]|"é""#
    );
    assert_eq!(rendered("{{ {'a': 1} | tojson(indent=2) }}", &[]).unwrap(), "{\n  \"a\": 1\n}");
    assert_eq!(rendered("{{ strftime_now is defined }}", &[]).unwrap(), "False");
}

#[test]
fn template_refusals_carry_their_reason() {
    let error = rendered("{{ raise_exception('roles must alternate') }}", &[]).unwrap_err();
    assert!(matches!(&error, TextError::TemplateRefused { reason } if reason == "roles must alternate"));
}

#[test]
fn row_13_templates_as_bombs_run_out_of_budget() {
    let budget = "ran out of its budget";
    fails("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", &[budget]);
    fails("{% for a in range(10000000000) %}{% endfor %}", &["range"]);
    fails("{{ 'x' * 2000000000 }}", &[budget]);
    let doubling = "{% set x = x ~ x %}".repeat(60);
    fails(&format!("{{% set x = 'xxxxxxxxxxxxxxxx' %}}{doubling}{{{{ x }}}}"), &[budget]);
    fails("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", &["recursion"]);
}

#[test]
fn row_13_templates_reach_nothing_outside() {
    fails("{{ ''.__class__.__mro__[1].__subclasses__() }}", &["chat template failed"]);
    fails("{{ cycler.__init__.__globals__.os.popen('id').read() }}", &["chat template failed"]);
    fails("{% include '/etc/passwd' %}", &["chat template failed"]);
}

/// A tokenizer.json around the small tokenizer, spoiled by `change`.
fn spoiled(change: impl FnOnce(&mut serde_json::Value)) -> Result<(), String> {
    let sound = parts().build().unwrap().to_string(false).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&sound).unwrap();
    change(&mut value);
    tokenizer_json::from_bytes(value.to_string().as_bytes()).map(drop).map_err(|error| error.to_string())
}

#[test]
fn row_11_tokenizer_files_that_panic_the_crate() {
    spoiled(|_| {}).unwrap();
    let error = spoiled(|json| json["model"]["merges"] = json!([["h", "e".repeat(1 << 16)]]));
    assert!(error.unwrap_err().contains("tokenizer cannot be used"));
    // Both sides are tokens, but together longer than any token.
    let error = spoiled(|json| {
        json["model"]["vocab"]["xxxxxxxxxxxxxxx"] = json!(101);
        json["model"]["vocab"]["yyyyyyyyyyyyyyy"] = json!(102);
        json["model"]["merges"] = json!([["xxxxxxxxxxxxxxx", "yyyyyyyyyyyyyyy"]]);
    });
    assert!(error.unwrap_err().contains("tokenizer cannot be used"));
    let error = spoiled(|json| json["pre_tokenizer"] = json!({"type": "FixedLength", "length": 0}));
    assert!(error.unwrap_err().contains("tokenizer cannot be used"));
    let error = spoiled(|json| json["model"] = json!({"type": "Nothing"}));
    assert!(error.unwrap_err().contains("tokenizer cannot be used"));
}

/// A stride as long as the window panics the crate when it cuts; it is never asked to cut.
#[test]
fn row_11_truncation_of_the_file_is_not_used() {
    let sound = parts().build().unwrap().to_string(false).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&sound).unwrap();
    value["truncation"] = json!({"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 2});
    match tokenizer_json::from_bytes(value.to_string().as_bytes()) {
        Ok(tokenizer) => {
            let text = "a text longer than two tokens";
            assert_eq!(tokenizer.encode_fast(text, false).unwrap().len(), text.len());
        }
        Err(error) => assert!(error.to_string().contains("tokenizer cannot be used")),
    }
}

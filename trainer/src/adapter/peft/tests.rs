use super::*;
use crate::adapter::AdapterOptions;
use std::fs;

fn shapes() -> Vec<ProjectionShape> {
    let shape = |name: &str, out, input| ProjectionShape { name: format!("model.layers.0.{name}"), out, input };
    vec![shape("self_attn.q_proj", 6, 4), shape("self_attn.o_proj", 4, 6), shape("mlp.up_proj", 9, 4)]
}

fn base() -> BaseModel {
    BaseModel { name: "tiny".into(), fingerprint: "abc".into() }
}

fn adapter() -> Adapter {
    let options = AdapterOptions { rank: Some(2), alpha: Some(8.0), seed: 3, ..AdapterOptions::default() };
    let mut adapter = Adapter::fresh(&shapes(), &options).unwrap();
    let b = adapter.pairs()[1].b.clone();
    adapter.values[b].fill(0.25);
    adapter
}

#[test]
fn a_fresh_adapter_starts_as_peft_does() {
    let adapter = Adapter::fresh(&shapes(), &AdapterOptions::default()).unwrap();
    assert_eq!((adapter.rank, adapter.scaling()), (16, 2.0));
    for pair in adapter.pairs() {
        let bound = 1.0 / (pair.shape.input as f32).sqrt();
        let a = &adapter.values[pair.a.clone()];
        assert!(a.iter().all(|v| v.abs() <= bound) && a.iter().any(|v| v.abs() > 0.8 * bound));
        assert!(adapter.values[pair.b.clone()].iter().all(|v| *v == 0.0));
    }
    let other = Adapter::fresh(&shapes(), &AdapterOptions { seed: 1, ..AdapterOptions::default() }).unwrap();
    assert_ne!(adapter.values, other.values);
}

#[test]
fn what_is_saved_is_loaded_and_saving_again_replaces_it() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("run/adapter");
    let mut adapter = adapter();
    adapter.save(&folder, &base()).unwrap();
    let loaded = Adapter::load(&folder, &shapes(), &base()).unwrap();
    assert_eq!((loaded.rank, loaded.alpha), (2, 8.0));
    assert_eq!((loaded.pairs(), &loaded.values), (adapter.pairs(), &adapter.values));
    adapter.values.fill(1.5);
    adapter.save(&folder, &base()).unwrap();
    assert_eq!(Adapter::load(&folder, &shapes(), &base()).unwrap().values, adapter.values);
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [CONFIG, WEIGHTS]);
    assert_eq!(fs::read_dir(home.path().join("run")).unwrap().count(), 1);
}

#[test]
fn another_base_is_refused() {
    let home = tempfile::tempdir().unwrap();
    adapter().save(home.path(), &base()).unwrap();
    let other = BaseModel { fingerprint: "xyz".into(), ..base() };
    let error = Adapter::load(home.path(), &shapes(), &other).unwrap_err();
    assert!(matches!(error, AdapterError::OtherBase { .. }), "{error}");

    let mut wider = shapes();
    wider[1].input = 7;
    let text = Adapter::load(home.path(), &wider, &base()).unwrap_err().to_string();
    assert!(text.contains("o_proj.lora_A.weight") && text.contains("[2, 6]") && text.contains("[2, 7]"), "{text}");

    let text = Adapter::load(home.path(), &wider[..1], &base()).unwrap_err().to_string();
    assert!(text.contains("has no place"), "{text}");
}

#[test]
fn another_kind_of_adapter_is_refused() {
    let home = tempfile::tempdir().unwrap();
    adapter().save(home.path(), &base()).unwrap();
    let path = home.path().join(CONFIG);
    let text = fs::read_to_string(&path).unwrap();
    let changes = [
        ("\"use_dora\": false", "\"use_dora\": true"),
        ("\"use_rslora\": false", "\"use_rslora\": true"),
        ("\"LORA\"", "\"IA3\""),
        ("\"rank_pattern\": {}", "\"rank_pattern\": {\"q_proj\": 4}"),
        ("\"bias\": \"none\"", "\"bias\": \"all\""),
        ("\"r\": 2", "\"r\": 0"),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replace(from, to)).unwrap();
        assert!(Adapter::load(home.path(), &shapes(), &base()).is_err(), "{to}");
    }
    fs::write(&path, text).unwrap();
    let weights = home.path().join(WEIGHTS);
    let whole = fs::read(&weights).unwrap();
    fs::write(&weights, &whole[..whole.len() - 5]).unwrap();
    assert!(matches!(Adapter::load(home.path(), &shapes(), &base()), Err(AdapterError::Damaged { .. })));
}

#[test]
fn flags_that_contradict_the_start_are_refused() {
    let home = tempfile::tempdir().unwrap();
    adapter().save(home.path(), &base()).unwrap();
    let resume = |options| Adapter::resume_from(home.path(), &shapes(), &base(), &options);
    let plain = AdapterOptions::default();
    assert_eq!(resume(plain.clone()).unwrap().rank, 2);
    assert!(resume(AdapterOptions { rank: Some(2), alpha: Some(8.0), ..plain.clone() }).is_ok());
    assert!(matches!(resume(AdapterOptions { rank: Some(4), ..plain.clone() }), Err(AdapterError::Conflict { .. })));
    assert!(matches!(resume(AdapterOptions { alpha: Some(4.0), ..plain.clone() }), Err(AdapterError::Conflict { .. })));
    let targets = Some(vec!["q_proj".to_owned()]);
    assert!(matches!(resume(AdapterOptions { targets, ..plain }), Err(AdapterError::Conflict { .. })));
}

#[test]
fn targets_choose_projections() {
    let options = |t: &str| AdapterOptions { targets: Some(vec![t.into()]), ..AdapterOptions::default() };
    let adapter = Adapter::fresh(&shapes(), &options("up_proj")).unwrap();
    assert_eq!(adapter.pairs().len(), 1);
    let text = Adapter::fresh(&shapes(), &options("w_proj")).unwrap_err().to_string();
    assert!(text.contains("w_proj") && text.contains("q_proj, o_proj, up_proj"), "{text}");
}

#[test]
fn a_failed_save_keeps_the_old_adapter() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, b"not a folder").unwrap();
    let error = adapter().save(&file.join("adapter"), &base()).unwrap_err().to_string();
    assert!(error.contains("nothing was lost"), "{error}");
}

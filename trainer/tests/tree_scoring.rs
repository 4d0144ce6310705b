//! Scores from the tree of shared prompts equal those of separate runs over whole conversations.

mod tiny_model;

use hexagon_runtime::{DeviceKind, Precision, Runtime, RuntimeBuilder, RuntimeConfig};
use tiny_model::TinyModel;
use trainer::adapter::Adapter;
use trainer::architecture::Decoder;
use trainer::eval::{Question, Subject, choice_scores, token_nll};
use trainer::model_file::ModelFile;
use trainer::registry::PrecisionPolicy;
use trainer::text::TextModel;

fn open(device: DeviceKind, precision: Precision) -> (TextModel, Decoder, Runtime) {
    let folder = tempfile::tempdir().unwrap();
    let model = ModelFile::open(&TinyModel::new(7).write(folder.path())).unwrap();
    let config = RuntimeConfig { device, precision, threads: 2, ..RuntimeConfig::default() };
    let mut builder = RuntimeBuilder::new(config);
    let decoder = Decoder::load(&model, &mut builder, PrecisionPolicy::uniform(precision)).unwrap();
    (model.text.unwrap(), decoder, builder.start().unwrap())
}

/// An adapter that really changes the outputs: no pair is zero.
fn adapter(decoder: &Decoder) -> Adapter {
    let mut adapter = Adapter::zeros(decoder.projections().to_vec(), 4, 8.0, 0.0);
    for (index, value) in adapter.values.iter_mut().enumerate() {
        *value = ((index * 37 % 101) as f32 - 50.0) / 500.0;
    }
    adapter
}

fn questions(text: &TextModel) -> Vec<Question> {
    let answers = ["mail", "web", "mailbox", "w", "x-ray"].map(str::to_owned);
    let users = ["Which tag fits? A browser.", "Which tag fits? A mail reader for a terminal.", "Which tag fits? ?"];
    users.iter().map(|user| Question::new(text, user, &answers).unwrap()).collect()
}

/// Each conversation by itself, from its first token on.
fn one_by_one(subject: &mut Subject<'_>, questions: &[Question]) -> Vec<Vec<f64>> {
    let score = |subject: &mut Subject<'_>, question: &Question, choice: usize| {
        let nll = token_nll(subject, &question.sample(choice, 1).ids).unwrap();
        // The first number belongs to the second token.
        -nll[question.prompt.len() - 1..].iter().sum::<f64>()
    };
    let scores = |question: &Question| (0..question.choices.len()).map(|c| score(subject, question, c)).collect();
    questions.iter().map(scores).collect()
}

#[test]
fn on_the_cpu_with_and_without_adapter() {
    let (text, decoder, mut runtime) = open(DeviceKind::Cpu, Precision::F32);
    let (questions, adapter) = (questions(&text), adapter(&decoder));
    let mut all = Vec::new();
    for adapter in [None, Some(&adapter)] {
        let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter };
        let separate = one_by_one(&mut subject, &questions);
        let mut finished = 0;
        let tree = choice_scores(&mut subject, &questions, &mut |done| finished = done).unwrap();
        assert_eq!(finished, questions.len());
        for (tree, separate) in tree.iter().flatten().zip(separate.iter().flatten()) {
            assert!((tree - separate).abs() < 1e-4, "{tree} in the tree, {separate} separately");
        }
        all.push(tree);
    }
    assert_ne!(all[0], all[1], "the adapter changes nothing");
}

#[test]
fn on_the_npu_model() {
    let (text, decoder, mut runtime) = open(DeviceKind::Model { checked: false }, Precision::F16);
    let questions = questions(&text);
    let mut subject = Subject { decoder: &decoder, runtime: &mut runtime, adapter: None };
    let separate = one_by_one(&mut subject, &questions);
    let tree = choice_scores(&mut subject, &questions, &mut |_| ()).unwrap();
    for (tree, separate) in tree.iter().flatten().zip(separate.iter().flatten()) {
        assert!((tree - separate).abs() < 2e-3, "{tree} in the tree, {separate} separately");
    }
    let counters = runtime.counters();
    assert!(counters.forward_f16 > 0 && counters.fallbacks == 0, "{counters:?}");
}

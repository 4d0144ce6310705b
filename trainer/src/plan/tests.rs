//! The plan against the published sizes of real models, to the byte.

use std::collections::HashMap;

use hexagon_runtime::{Arch, Precision, SESSION_BYTES};

use super::{PlanFailure, PlanRequest, Report};
use crate::memory::ActivationBudget;
use crate::registry::{ModelConfig, PrecisionPolicy, preset_names};

const PUBLISHED: &str = include_str!("published.tsv");

fn request(preset: &str, tokens: usize) -> PlanRequest {
    let (name, config) = ModelConfig::preset(preset).unwrap();
    PlanRequest {
        name: name.to_owned(),
        config,
        policy: PrecisionPolicy::NPU,
        arch: Arch::V79,
        tokens,
        rank: 16,
        session_bytes: SESSION_BYTES,
        budget: ActivationBudget::Recompute,
        threads: 8,
        available: None,
    }
}

#[test]
fn every_published_figure_comes_out_exactly() {
    let reports: HashMap<&str, Report> =
        preset_names().into_iter().map(|name| (name, Report::of(&request(name, 32)).unwrap())).collect();
    let (mut rows, mut totals) = (HashMap::new(), 0);
    for line in PUBLISHED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let report = &reports[fields[0]];
        let numbers = |from: usize| -> Vec<u64> { fields[from..].iter().map(|n| n.parse().unwrap()).collect() };
        if fields[1] == "total" {
            let (r, a) = (&report.resident, &report.adapters);
            let counts = [r.projections as u64, r.parameters, r.f16_bytes, r.q8_bytes, r.bytes, r.all_f16_bytes];
            let others = [r.embedding_parameters, r.other_parameters, r.model_parameters, a.parameters];
            assert_eq!([&counts[..], &others, &[a.tensors as u64]].concat(), numbers(2), "{line}");
            totals += 1;
            continue;
        }
        let product = report.products.iter().find(|product| product.name == fields[1]).expect(line);
        let found = [product.rows as u64, product.cols as u64, product.count as u64, product.parameters];
        let published: Vec<u64> = fields[2..6].iter().map(|n| n.parse().unwrap()).collect();
        assert_eq!((&found[..], product.precision.as_str()), (&published[..], fields[6]), "{line}");
        assert_eq!([product.bytes], numbers(7)[..], "{line}");
        *rows.entry(fields[0]).or_insert(0) += 1;
    }
    assert_eq!(totals, preset_names().len());
    for (name, report) in &reports {
        assert_eq!(report.products.len(), rows[name], "{name}");
    }
}

#[test]
fn sessions_hold_every_projection_once_and_are_as_few_as_can_be() {
    for (name, sessions) in
        [("qwen3.5-0.8b", 1), ("qwen3.5-4b", 2), ("qwen3.5-9b", 3), ("qwen3-4b", 2), ("llama-3.2-3b", 1)]
    {
        let report = Report::of(&request(name, 32)).unwrap();
        let shares = &report.sessions.sessions;
        assert_eq!(shares.len(), sessions, "{name}");
        assert!(shares.iter().all(|share| share.bytes <= SESSION_BYTES), "{name}");
        assert_eq!(shares.iter().map(|share| share.bytes).sum::<u64>(), report.resident.bytes, "{name}");
        assert_eq!(shares.iter().map(|share| share.projections).sum::<usize>(), report.resident.projections, "{name}");
    }
    let small = PlanRequest { session_bytes: 10_000_000, ..request("qwen3.5-0.8b", 32) };
    let Err(PlanFailure::Session(error)) = Report::of(&small) else { panic!("12.6 MB fit 10 MB") };
    assert!(error.to_string().contains("12582912 bytes"), "{error}");
}

#[test]
fn a_budget_decides_what_is_computed_again_and_what_that_costs() {
    let plan = |budget| Report::of(&PlanRequest { budget, ..request("qwen3.5-4b", 1000) });
    let (least, most) = (plan(ActivationBudget::Recompute).unwrap(), plan(ActivationBudget::Store).unwrap());
    assert_eq!(least.activations.recomputed.len(), 32);
    assert_eq!((most.activations.recomputed.len(), most.flops.recompute.total()), (0, 0));
    assert_eq!(most.npu.recompute.in_order, 0.0);
    let half = (least.activations.bytes + most.activations.bytes) / 2;
    let some = plan(ActivationBudget::Bytes(half)).unwrap();
    assert!((1..32).contains(&some.activations.recomputed.len()), "{:?}", some.activations.recomputed);
    assert!(some.activations.bytes <= half);
    assert!(some.flops.recompute.projections < least.flops.recompute.projections);
    assert!(some.npu.total.in_order < least.npu.total.in_order && some.npu.total.in_order > most.npu.total.in_order);
    assert!(some.peak_bytes < most.peak_bytes && some.peak_bytes > least.peak_bytes);
    let error = plan(ActivationBudget::Bytes(1000)).unwrap_err().to_string();
    assert!(error.contains(&least.activations.bytes.to_string()) && error.contains("--activation-bytes"), "{error}");
}

#[test]
fn a_product_is_planned_for_the_requests_its_rows_become() {
    let report = Report::of(&request("qwen3.5-4b", 3431)).unwrap();
    for product in &report.products {
        for plan in [&product.forward, &product.input_grad] {
            let rows: Vec<(usize, usize)> = plan.requests.iter().map(|r| (r.bucket, r.rows)).collect();
            assert_eq!(rows, [(2048, 2048), (2048, 1383)], "{}", product.name);
            assert_eq!(plan.buckets.len(), 4);
            assert!(plan.seconds.in_order >= plan.seconds.overlapped && plan.seconds.overlapped > 0.0);
            assert!(plan.buckets.iter().all(|bucket| bucket.vtcm_bytes <= report.vtcm_bytes));
        }
    }
    // Layer 0 is recurrent: its four input projections need no input gradient.
    assert_eq!(report.products.iter().map(|product| product.without_input_grad).sum::<usize>(), 4);
}

#[test]
fn what_no_kernel_reads_is_planned_for_the_cpu_with_the_reason() {
    let policy = PrecisionPolicy { recurrent: Precision::F32, ..PrecisionPolicy::NPU };
    let report = Report::of(&PlanRequest { policy, ..request("qwen3.5-0.8b", 100) }).unwrap();
    let recurrent = report.products.iter().find(|product| product.kind == "recurrent").unwrap();
    assert!(recurrent.forward.requests.is_empty());
    assert_eq!(recurrent.forward.buckets[0].unsupported.as_deref(), Some("no kernel reads f32 weights"));
    let text = report.to_string();
    assert!(text.contains("bucket   all  CPU: no kernel reads f32 weights"), "{text}");
}

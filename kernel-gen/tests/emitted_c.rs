//! The emitted C of every library kernel, to be read in review.

use std::collections::HashSet;

use kernel_gen::{Arch, Kernel, emit_c, emit_library, kernel, library, verify};

#[test]
fn emitted_c_of_the_library() {
    for kernel in library::all().into_iter().chain(library::extra()) {
        let verified = verify(&kernel).unwrap();
        let c = emit_c(&verified, Arch::V79);
        assert_eq!(c, emit_c(&verified, Arch::V81), "{} has no part that differs by architecture", kernel.name);
        insta::assert_snapshot!(kernel.name.clone(), c);
    }
}

kernel! {
    /// `forward_q8` and `input_grad_q8` of the library from one text, in other names.
    kernel pair for forward, input_grad {
        axes { m: token, f: free, r: contracted }

        operand x: activation f32 row_major[m, r] in ddr_stream;
        operand w: weight q8_0_tiles[out, in] in ddr_resident;
        operand y: output f32 row_major[m, f] in ddr_stream;

        tunable mc in 32..=2048;
        when forward {
            tunable fc in 32..=512;
            tunable rc in 32..=16384;
        } else {
            tunable rc in 32..=16384;
            tunable fc in 32..=512;
        }

        when forward {
            window xt: activation_tiles f16[mc, rc];
        } else {
            window xt: weight_tiles f16[mc, rc];
        }
        window wq: q8_0_tiles[out, in] stages 2;
        when forward {
            window wt: weight_tiles f16[fc, rc];
            window yt: output_tiles f16[mc, fc];
        } else {
            window wt: activation_tiles f16[fc, rc];
            window yt: output_tiles f16[fc, mc];
        }

        schedule {
            for mo in tiles(m, mc) {
                for ro in tiles(r, rc) {
                    when forward {
                        pack_rows xt <- x[mo, ro] scale(row) split(m);
                    } else {
                        pack_cols xt <- x[mo, ro] scale(row) split(m);
                    }
                    for fo in tiles(f, fc) pipeline(wq) {
                        load wq <- w[out, in];
                        dequantise wt <- wq split(out);
                        when forward {
                            multiply yt <- xt * wt;
                            unpack_rows y[mo, fo] += yt unscale(row) guard(60000) split(m);
                        } else {
                            multiply yt <- swap(xt, wt);
                            unpack_cols y[mo, fo] += yt unscale(row) guard(60000) split(m);
                        }
                    }
                }
            }
        }

        when forward {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(j, r)).sum()
        } else {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(r, j)).sum()
        }
    }

    /// One stage on V79, two on V81.
    kernel by_arch {
        axes { m: token, n: out, k: in }
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        tunable mc in 32..=2048;
        tunable nc in 32..=512;
        tunable kc in 32..=16384;
        window xa: activation_tiles f16[mc, kc];
        when v81 {
            window wr: row_major f16[nc, kc] stages 2;
        } else {
            window wr: row_major f16[nc, kc];
        }
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];
        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    when v79 {
                        for no in tiles(n, nc) {
                            load wr <- w[no, ko];
                            scatter_words wb <- wr;
                            multiply yc <- xa * wb;
                            unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                        }
                    } else {
                        for no in tiles(n, nc) pipeline(wr) {
                            load wr <- w[no, ko];
                            scatter_words wb <- wr;
                            multiply yc <- xa * wb;
                            unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                        }
                    }
                }
            }
        }
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

/// The C as a list of words, without positions, doc comments and the kernel's id, names as `names` has them.
fn words(kernel: &Kernel, names: &[(&str, &str)]) -> Vec<String> {
    let c = emit_c(&verify(kernel).unwrap(), Arch::V79);
    let mut words = Vec::new();
    for line in c.lines().filter(|line| !line.starts_with(" *")) {
        for word in line.split(|c: char| c.is_whitespace() || "\"".contains(c)).filter(|word| !word.is_empty()) {
            if word.contains(".rs:") || word.starts_with("0x") {
                continue;
            }
            words.push(renamed(word, names));
        }
    }
    words
}

/// Every part of a C name that `names` lists, replaced.
fn renamed(word: &str, names: &[(&str, &str)]) -> String {
    let part =
        |part: &str| names.iter().find(|(from, _)| *from == part).map_or(part.to_string(), |(_, to)| (*to).into());
    let (mut out, mut name) = (String::new(), String::new());
    for c in word.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            out.push_str(&part(&name));
            out.push(c);
            name.clear();
        }
    }
    out + &part(&name)
}

/// The first words in which two texts differ.
fn difference(ours: &[String], theirs: &[String]) -> Option<(String, String)> {
    let differs = (0..ours.len().max(theirs.len())).find(|&i| ours.get(i) != theirs.get(i))?;
    let around = |words: &[String]| words[differs.saturating_sub(5)..words.len().min(differs + 5)].join(" ");
    Some((around(ours), around(theirs)))
}

#[test]
fn a_kernel_for_two_directions_emits_what_two_kernels_do() {
    let forward = [
        ("pair", "q8"),
        ("f", "n"),
        ("r", "k"),
        ("fc", "nc"),
        ("rc", "kc"),
        ("fo", "no"),
        ("ro", "ko"),
        ("xt", "xa"),
        ("wt", "wb"),
        ("yt", "yc"),
    ];
    let theirs = words(&library::forward_q8(), &[]);
    assert!(theirs.len() > 800, "{}", theirs.len());
    assert_eq!(difference(&words(&forward_pair(), &forward), &theirs), None);
    let input_grad = [
        ("pair", "q8"),
        ("f", "k"),
        ("r", "n"),
        ("fc", "kc"),
        ("rc", "nc"),
        ("fo", "ko"),
        ("ro", "no"),
        ("x", "dy"),
        ("y", "dx"),
        ("xt", "dyb"),
        ("wt", "wa"),
        ("yt", "dxc"),
    ];
    assert_eq!(difference(&words(&input_grad_pair(), &input_grad), &words(&library::input_grad_q8(), &[])), None);
}

#[test]
fn a_library_carries_every_architecture() {
    let kernel = verify(&by_arch()).unwrap();
    let (v79, v81) = (emit_c(&kernel, Arch::V79), emit_c(&kernel, Arch::V81));
    assert!(!v79.contains("wr_tickets") && v81.contains("wr_tickets[2]"));
    assert!(v79.contains("static int by_arch_entry(") && !v79.contains("_on_v"));
    let c = emit_library(std::slice::from_ref(&kernel));
    let from = c.find("/* by_arch differs by architecture").unwrap();
    insta::assert_snapshot!("dispatch_by_arch", &c[from..]);
    for entry in ["static int by_arch_on_v79_entry(", "static int by_arch_on_v81_entry("] {
        assert_eq!(c.matches(entry).count(), 1);
    }
}

/// C without comments and strings.
fn code(c: &str) -> String {
    let (mut out, mut rest) = (String::new(), c);
    while let Some(at) = rest.find(['"', '/']) {
        let (end, inside) = if rest[at..].starts_with("/*") {
            ("*/", at + 2)
        } else if rest[at..].starts_with('"') {
            ("\"", at + 1)
        } else {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        out.push_str(&rest[..at]);
        rest = &rest[inside + rest[inside..].find(end).expect("an end") + end.len()..];
    }
    out + rest
}

/// Whatever emitted C calls its own things, an operand cannot be called as well: it would be one of its locals.
#[test]
fn words_of_the_emitted_c_are_no_names() {
    let (mut words, mut own) = (HashSet::new(), HashSet::new());
    for kernel in library::all().into_iter().chain(library::extra()) {
        let c = emit_c(&verify(&kernel).unwrap(), Arch::V79);
        // Functions before the kernel's see none of its names.
        let c = code(&c[c.find("/* ----").expect("the head of the kernel")..]);
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut before = "";
        let mut rest = c.as_str();
        while let Some(at) = rest.find(word) {
            let (skipped, from) = rest.split_at(at);
            let (found, behind) = from.split_at(from.find(|c| !word(c)).unwrap_or(from.len()));
            // Fields stand in a name space of their own.
            let field = skipped.ends_with("->") || skipped.ends_with('.');
            if !field && before != "struct" && !found.starts_with(&kernel.name) && !found.starts_with(char::is_numeric)
            {
                words.insert(found.to_string());
            }
            (before, rest) = (found, behind);
        }
        own.extend(kernel.axes.iter().map(|a| a.name.clone()));
        own.extend(kernel.operands.iter().map(|o| o.name.clone()));
        own.extend(kernel.tunables.iter().map(|t| t.name.clone()));
        own.extend(kernel.windows.iter().map(|w| w.name.clone()));
        own.extend(["no", "jo"].map(String::from));
    }
    let free = |word: &String| {
        let mut kernel = library::forward_q8();
        kernel.operands[1].name.clone_from(word);
        verify(&kernel).is_ok()
    };
    words.retain(|word| !own.contains(word));
    assert!(words.len() > 100, "{words:?}");
    let free: Vec<_> = words.iter().filter(|&word| free(word)).collect();
    assert!(free.is_empty(), "emitted C uses {free:?}, and so may a kernel");
}

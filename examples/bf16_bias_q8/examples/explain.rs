//! Shows the kernel on both architectures for a shape and writes their C and a picture of VTCM.

use std::error::Error;

use bf16_bias_q8::bf16_bias_q8;
use kernel_gen::{Arch, emit_c, explain::explain, plan, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let shape = std::env::args().skip(1).map(|extent| extent.parse()).collect::<Result<Vec<u32>, _>>()?;
    let kernel = verify(&bf16_bias_q8()).map_err(|broken| broken[0].to_string())?;
    let folder = std::env::temp_dir();
    for arch in [Arch::V79, Arch::V81] {
        let plan = plan::solve(&kernel, arch, &shape, arch.vtcm_bytes())?;
        let explanation = explain(&kernel, &plan, 0..shape[0]);
        println!("{explanation}");
        let name = format!("bf16_bias_q8_{arch}").to_lowercase();
        for (ending, text) in [("c", emit_c(&kernel, arch)), ("svg", explanation.svg())] {
            let file = folder.join(&name).with_extension(ending);
            std::fs::write(&file, text)?;
            println!("{} written", file.display());
        }
    }
    Ok(())
}

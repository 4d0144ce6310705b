//! Shows the kernel for a shape and writes its C: `cargo run --example explain -- 512 2560 2560`

use std::error::Error;

use kernel_gen::{Arch, emit_c, explain::explain, plan, verify};

use my_kernel::my_kernel;

fn main() -> Result<(), Box<dyn Error>> {
    let shape = std::env::args().skip(1).map(|extent| extent.parse()).collect::<Result<Vec<u32>, _>>()?;
    let kernel = verify(&my_kernel()).map_err(|broken| broken[0].to_string())?;
    let plan = plan::solve(&kernel, Arch::V79, &shape, Arch::V79.vtcm_bytes())?;
    let explanation = explain(&kernel, &plan, 0..shape[0]);
    println!("{explanation}");
    std::fs::write("my_kernel.c", emit_c(&kernel, plan.arch))?;
    std::fs::write("my_kernel.svg", explanation.svg())?;
    println!("my_kernel.c and my_kernel.svg written");
    Ok(())
}

//! Functions of the C library that Rust's has not, or computes otherwise.
//!
//! Kernels of C call these; evaluators that call them too give the same bits.

#![allow(unsafe_code)]

/// Functions of one float, as the C library computes them. Their names are those of C.
pub trait Elementary {
    /// 2/√π times the integral of exp(-t²) from 0 to the number.
    #[must_use]
    fn c_erf(self) -> Self;
    /// The number whose hyperbolic sine is this one.
    #[must_use]
    fn c_asinh(self) -> Self;
    /// The number from 0 on whose hyperbolic cosine is this one.
    #[must_use]
    fn c_acosh(self) -> Self;
    /// The number whose hyperbolic tangent is this one.
    #[must_use]
    fn c_atanh(self) -> Self;
}

// SAFETY: the C library has functions of these names and types on every platform with Rust's
// standard library; they read and write nothing but `errno`.
unsafe extern "C" {
    safe fn erf(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn acosh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
    safe fn erff(x: f32) -> f32;
    safe fn asinhf(x: f32) -> f32;
    safe fn acoshf(x: f32) -> f32;
    safe fn atanhf(x: f32) -> f32;
}

macro_rules! elementary {
    ($ty:ident, $erf:ident, $asinh:ident, $acosh:ident, $atanh:ident) => {
        impl Elementary for $ty {
            fn c_erf(self) -> Self {
                $erf(self)
            }

            fn c_asinh(self) -> Self {
                $asinh(self)
            }

            fn c_acosh(self) -> Self {
                $acosh(self)
            }

            fn c_atanh(self) -> Self {
                $atanh(self)
            }
        }
    };
}

elementary!(f64, erf, asinh, acosh, atanh);
elementary!(f32, erff, asinhf, acoshf, atanhf);

#[cfg(test)]
mod tests {
    use super::Elementary;

    /// Abramowitz and Stegun, "Handbook of Mathematical Functions", tables 7.1 and 4.6.
    #[test]
    fn functions_have_their_known_values() {
        let near = |found: f64, known: f64| assert!((found - known).abs() < 1e-15, "{found}");
        near(0.5.c_erf(), 0.520_499_877_813_046_5);
        near((-2.0).c_erf(), -0.995_322_265_018_952_7);
        near(1.0.c_asinh(), 0.881_373_587_019_543);
        near(2.0.c_acosh(), 1.316_957_896_924_816_7);
        near(0.5.c_atanh(), 0.549_306_144_334_054_8);
        assert_eq!(0.5f32.c_erf(), 0.520_499_9);
    }
}

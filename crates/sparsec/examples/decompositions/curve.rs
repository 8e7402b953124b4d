//! The fits of a decomposition as a picture.
//!
//! ```text
//! fit by iteration      a polyline of a point for each iteration, in a frame
//! 0.42 ┌──────────┐     with the least and the largest fit at its side
//!      │  .─────  │
//! 0.00 └──────────┘
//! ```

use std::fmt::Write as _;

/// The size of the picture, and of the margin for labels.
const SIZE: [f64; 2] = [640.0, 360.0];
const MARGIN: f64 = 56.0;

/// The fits by iteration as SVG. The lower edge is a fit of 0, or the least one if that is
/// below.
pub(crate) fn svg(title: &str, fits: &[f64]) -> String {
    let least = fits.iter().copied().fold(0.0, f64::min);
    let most = fits.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let last = fits.len().saturating_sub(1).max(1);
    let [width, height] = SIZE;
    let x = |n: usize| MARGIN + (width - 2.0 * MARGIN) * n as f64 / last as f64;
    let y = |fit: f64| height - MARGIN - (height - 2.0 * MARGIN) * (fit - least) / (most - least);
    let points: Vec<String> = fits
        .iter()
        .enumerate()
        .map(|(n, fit)| format!("{:.1},{:.1}", x(n), y(*fit)))
        .collect();
    let escaped = title.replace('&', "&amp;").replace('<', "&lt;");
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let mut label = |at: [f64; 2], anchor: &str, words: &str| {
        let [x, y] = at;
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
        );
    };
    label([width / 2.0, MARGIN / 2.0], "middle", &escaped);
    label([width / 2.0, height - 12.0], "middle", "iteration");
    for fit in [least, (least + most) / 2.0, most] {
        label([MARGIN - 6.0, y(fit) + 4.0], "end", &format!("{fit:.3}"));
    }
    for n in [0, last] {
        label([x(n), height - MARGIN + 18.0], "middle", &n.to_string());
    }
    let [left, right, top, bottom] = [x(0), x(last), y(most), y(least)];
    let _ = writeln!(
        text,
        "<path d=\"M{left:.1},{top:.1} V{bottom:.1} H{right:.1}\" fill=\"none\" stroke=\"gray\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/>\n</svg>",
        points.join(" ")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_rise_from_the_lower_edge_to_the_upper_one() {
        let text = svg("CP of <T>", &[0.0, 0.25, 0.5]);
        assert!(
            text.contains("points=\"56.0,304.0 320.0,180.0 584.0,56.0\""),
            "{text}"
        );
        assert!(text.contains("CP of &lt;T>"), "{text}");
    }

    #[test]
    fn one_fit_is_a_picture_too() {
        for fits in [&[][..], &[0.0], &[-0.5]] {
            let text = svg("", fits);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}

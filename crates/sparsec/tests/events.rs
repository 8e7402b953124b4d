//! Events of the slow steps. A process of its own: `tracing` keeps for the whole
//! process whether anybody listens to an event, and a thread without a listener
//! that comes first would answer for all.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use sparsec::{Backend, Format, Options, Program, Session, Tensor};

/// Listens for the events of this thread.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Listener {
    fn enabled(&self, of: &tracing::Metadata<'_>) -> bool {
        of.target().starts_with("sparsec")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = String::new();
        event.record(
            &mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                if field.name() != "time" {
                    let _ = write!(text, "{field}={value:?} ");
                }
            },
        );
        self.0.lock().unwrap().push(text.trim_end().to_owned());
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn slow_steps_are_events() {
    let listener = Listener::default();
    let a = Tensor::builder("csr", &[3, 3])
        .unwrap()
        .push([0, 1], 2.0)
        .push([2, 0], 3.0)
        .build()
        .unwrap();
    let session = Session::new(Options::new().backend(Backend::Interpreter));
    let evaluated = || {
        let program = Program::parse("s = A(i,j)").unwrap().like("A", &a).unwrap();
        let kernel = session.plan(&program).unwrap();
        kernel.bind("A", &a).unwrap().evaluate().unwrap();
        session.convert(&a, &Format::csc()).unwrap();
    };
    let heard = || std::mem::take(&mut *listener.0.lock().unwrap());
    tracing::subscriber::with_default(listener.clone(), || {
        evaluated();
        let first = heard();
        assert!(
            first[0].contains("planned") && first[0].contains("s = A(i,j)"),
            "{first:?}"
        );
        assert!(first.iter().any(|it| it.contains("converted")), "{first:?}");
        // What is kept is no event.
        evaluated();
        let again = heard();
        assert!(again.iter().all(|it| it.contains("converted")), "{again:?}");
    });
}

/// A matrix of 2^14 rows with four entries each, so many columns apart.
fn striding(columns: u64) -> Tensor {
    let n = 1 << 14;
    let coords = (0..n).flat_map(|i| {
        let mut row = [0, 1, 2, 3].map(|number| (i + number * columns) % n);
        row.sort_unstable();
        row.into_iter().flat_map(move |j| [i, j])
    });
    let coords: Vec<u64> = coords.collect();
    let values = vec![1.0; coords.len() / 2];
    Tensor::pack(&Format::csr(), &[n, n], &coords, &values).unwrap()
}

#[test]
fn operands_that_store_elsewhere_are_planned_for() {
    let listener = Listener::default();
    let session = Session::new(Options::new().backend(Backend::Interpreter));
    let [banded, scattered] = [1, 4099].map(striding);
    let x = Tensor::pack(&Format::dense(1), &[1 << 14], &[0], &[1.0]).unwrap();
    let program = Program::parse("y(i) = A(i,j) * x(j)").unwrap();
    let program = program.like("A", &banded).unwrap().like("x", &x).unwrap();
    let kernel = session.plan(&program).unwrap();
    let plans = |a: &Tensor| {
        listener.0.lock().unwrap().clear();
        let bound = kernel.bind("A", a).unwrap().bind("x", &x).unwrap();
        bound.evaluate().unwrap();
        let heard = listener.0.lock().unwrap();
        let planned = heard
            .iter()
            .filter(|it| it.contains("planned for operands"));
        planned.count()
    };
    tracing::subscriber::with_default(listener.clone(), || {
        let of = [&banded, &banded, &scattered, &scattered, &banded];
        assert_eq!(of.map(plans), [1, 0, 1, 0, 0]);
    });
}

//! Laws of the whole fabric on random topologies, configurations and traffic, loops included.

use crate::steps::{Bed, Step, any_step, any_wiring, quick};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(quick(200))]

    #[test]
    fn frames_and_time_add_up_at_every_moment(wiring in any_wiring(), steps in vec(any_step(), 1..80)) {
        let mut bed = Bed::new(&wiring, true);
        for step in &steps {
            bed.take(step);
            bed.check_conserved()?;
            bed.check_times()?;
            bed.check_buffers()?;
        }
    }

    #[test]
    fn same_calls_same_results_however_often_the_state_is_read(
        wiring in any_wiring(), steps in vec(any_step(), 1..60)
    ) {
        let (mut once, mut again, mut eager) =
            (Bed::new(&wiring, true), Bed::new(&wiring, true), Bed::new(&wiring, true));
        for step in &steps {
            once.take(step);
            again.take(step);
            if let Step::Wait(time) = step {
                let until = eager.now + time;
                while let Some(at) = eager.fabric.poll_at().filter(|at| *at <= until) {
                    eager.fabric.poll(at, &mut eager.out);
                }
            }
            eager.take(step);
        }
        let account = once.account();
        prop_assert_eq!(&account, &again.account());
        prop_assert_eq!(&account, &eager.account());
    }
}

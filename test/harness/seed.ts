/**
 * The seed of every random choice in the tests. It is fixed, so that runs are repeatable. `npm run test:random` sets
 * PENSTOCK_TEST_SEED to another seed.
 */
export const seed = Number(process.env.PENSTOCK_TEST_SEED || 20_260_131)
if (!Number.isSafeInteger(seed)) throw new Error('PENSTOCK_TEST_SEED takes a whole number.')

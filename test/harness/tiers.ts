/**
 * The tests have two tiers. `npm test` runs the tests that guard every change. `npm run test:all` runs all tests, and with
 * `--rest` the tests that `npm test` skips. A file that is named `*.large.test.ts` belongs to the second tier, and so does a
 * test that `large` marks. Naming a file runs all of it.
 */
export type Tier = 'guard' | 'rest' | 'all'

/** The variable with the tier to run. All tests run without it. */
export const tierVariable = 'PENSTOCK_TEST_TIER'

export const isLarge = (file: string): boolean => file.endsWith('.large.test.ts')

/** Options of a test that only `npm run test:all` runs: `test('…', large, async () => {…})`. */
export const large: { readonly skip: string | false } = {
  skip: process.env[tierVariable] === 'guard' ? 'npm run test:all runs it' : false,
}

/**
 * The processor time that the tests which guard every change can take by their records (`durations.ts`), in seconds, without
 * PostgreSQL: about 4 minutes of two processors with it.
 */
export const guardProcessorSecondsMax = 340

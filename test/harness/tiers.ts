/**
 * The tests have two tiers. `npm test` runs the tests that guard every change; `npm run test:all` runs all, and with
 * `--rest` the tests that `npm test` leaves out. A file that is named `*.large.test.ts` belongs to the second tier, and
 * so does a test that `large` marks. Naming a file runs all of it.
 */
export type Tier = 'guard' | 'rest' | 'all'

/** The variable with the tier that runs; all tests run without it. */
export const tierVariable = 'PENSTOCK_TEST_TIER'

export const isLarge = (file: string): boolean => file.endsWith('.large.test.ts')

/** Options of a test that only `npm run test:all` runs: `test('…', large, async () => {…})`. */
export const large: { readonly skip: string | false } = {
  skip: process.env[tierVariable] === 'guard' ? 'npm run test:all runs it' : false,
}

/**
 * The processor time that a whole tier may take, in seconds, with PostgreSQL and browsers: 4 minutes of two processors for
 * what guards every change, 25 for everything. On a slower machine they are higher (`machine-speed.ts`).
 */
export const budgets: Readonly<Record<Tier, number>> = { guard: 480, rest: 2520, all: 3000 }

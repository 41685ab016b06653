/**
 * Runs test files as `node --test` does, but in the order in which they are named, which sorts them: where the longest ones
 * come last, one processor is idle while they end.
 *
 *     node test/harness/run-files.ts <how many at once> <file> …
 */
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const [concurrency, ...files] = process.argv.slice(2)

const tests = run({ files, concurrency: Number(concurrency), execArgv: process.execArgv })
tests.on('test:fail', ({ todo, skip }) => {
  if (todo === undefined && skip === undefined) process.exitCode = 1
})
tests.compose(spec).pipe(process.stdout)

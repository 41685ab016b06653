import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'

/** Which tests of the suite fail for a connector with this defect. */
async function failuresOf(defect: string): Promise<string[]> {
  const file = join(dirname(dirname(import.meta.dirname)), 'test', 'defective.ts')
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const output = await new Promise<string>((resolve) => {
    const options = { env: { ...env, DEFECT: defect } }
    execFile(process.execPath, ['--test-reporter=tap', file], options, (_error, stdout) => resolve(stdout))
  })
  assert.match(output, /^# tests \d\d/m, output)
  return [...output.matchAll(/^ +not ok \d+ - (.*)$/gm)].map(([, title = '']) => title)
}

describe('the acceptance suite', () => {
  test('passes a connector that does what it should', async () => {
    assert.deepEqual(await failuresOf(''), [])
  })

  for (const [defect, title] of [
    ['resumes one row too late', /resumes after the checkpoint/],
    ['changes its columns', /reads all rows in order/],
    ['throws at closing', /closes without an error/],
    ['throws what is no connector error', /refuses to (read|deliver)/],
    ['leaks a secret in a cause', /refuses to (read|deliver)/],
    ['leaks a secret in a message', /refuses to (read|deliver)/],
    ['takes bad credentials for a transient error', /refuses to (read|deliver)/],
    ['lets anyone pass the check', /checks wrong credentials/],
    ['loses a row', /delivers all rows/],
    ['keeps a batch twice', /crash between a delivery and its confirmation/],
    ['says that it delivered what it did not', /where the server is busy/],
    ['forgets how long to wait', /where the server is busy/],
    ['names the wrong row', /names the rows that are rejected/],
    ['quotes a value in a reason', /names the rows that are rejected/],
    ['does not report rejected rows', /names the rows that are rejected/],
  ] as const) {
    test(`finds a connector that ${defect}`, async () => {
      const failures = await failuresOf(defect)
      assert.ok(
        failures.some((failure) => title.test(failure)),
        JSON.stringify(failures),
      )
    })
  }
})

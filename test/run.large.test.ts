import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

/** The test runner itself. */

const root = dirname(import.meta.dirname)
const endless = ['busy', 'open-server', 'open-test'].map((name) => `test/harness/endless/${name}.ts`)

async function run(args: readonly string[], env: Record<string, string>): Promise<{ code: unknown; text: string }> {
  // Node runs no tests in a process that believes to be a test file.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const child = spawn(process.execPath, [join(root, 'test/run.ts'), ...args], {
    cwd: root,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part))
  const [code] = await once(child, 'close')
  return { code, text }
}

test('kills a file that does not end by its deadline, with its children, and fails with its name', async () => {
  // `close` also waits for each child that holds the output.
  const { code, text } = await run([...endless, 'packages/connector/src/values.test.ts'], {
    PENSTOCK_TEST_FILE_SECONDS: '10',
  })
  assert.equal(code, 1, text)
  for (const file of endless) assert.match(text, new RegExp(`^${file} did not end within 10 s and was killed`, 'm'))
  assert.doesNotMatch(text, /values\.test\.ts did not end/)
})

test('finds the test of a subtest, and of an error that nobody caught', async () => {
  const { code, text } = await run(['test/harness/stray-errors.ts'], {})
  assert.equal(code, 1, text)
  assert.match(text, /^ {2}▶ a suite\n {4}▶ a test\n {6}✔ a subtest .*\n {6}✔ a subtest that names no parent /m)
  for (const [name, error] of [
    ['rejects nearby', 'a rejection'],
    ['throws nearby', 'an exception'],
  ])
    assert.match(text, new RegExp(`^✖ ${name} .*\n +Error: ${error}$`, 'm'))
  assert.match(text, /^ {2}✔ passes /m)
  assert.match(text, /^ℹ fail 2$/m)
})

test('refuses to hide a program that no test looks for', async () => {
  const { code, text } = await run(['packages/connector/src/values.test.ts'], { PENSTOCK_TEST_HIDE: 'sshd,chrome' })
  assert.equal(code, 1, text)
  assert.match(text, /PENSTOCK_TEST_HIDE names chrome\. It takes (?:[\w-]+, )+mmdebstrap\./)
})

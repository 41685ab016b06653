import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { isPermissive, makeNotices, noticesFile, productionPackages } from '../scripts/notices.ts'

/** What is installed to run the service, and under which licenses. */

const root = dirname(import.meta.dirname)
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('production dependencies', () => {
  test('are under licenses that are on the list', () => {
    const packages = productionPackages()
    assert(packages.length > 100 && packages.some(({ name }) => name === 'fastify'))
    const others = packages.filter(({ license }) => !isPermissive(license))
    assert.deepEqual(
      others.map(({ name, version, license }) => `${name} ${version}: ${license || 'none named'}`),
      [],
    )
  })

  test('are judged by each part of an expression', () => {
    for (const [expression, expected] of [
      ['MIT', true],
      ['(MIT OR GPL-3.0-only)', true],
      ['MIT AND ISC', true],
      ['MIT AND GPL-3.0-only', false],
      ['GPL-3.0-only', false],
      ['MPL-2.0', false],
      ['MIT OR (ISC AND GPL-2.0)', false],
      ['', false],
    ] as const) {
      assert.equal(isPermissive(expression), expected, expression)
    }
  })

  test('hold nothing that only builds or checks', () => {
    const names = productionPackages().map(({ name }) => name)
    for (const name of ['vite', '@vitejs/plugin-react', 'rolldown', 'esbuild', '@biomejs/biome']) {
      assert(!names.includes(name), `${name} is a production dependency`)
    }
  })
})

test('THIRD_PARTY_NOTICES.md is what is installed', () => {
  const written = read(noticesFile)
  assert.match(written, /^\| fastify \| \d+\.\d+\.\d+ \| MIT \|$/m)
  assert.match(written, /The MIT License/)
  assert(written === makeNotices(), `${noticesFile} is not what is installed: run npm run notices and commit it`)
})

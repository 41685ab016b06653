import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isPermissive, makeNotices, productionPackages } from '../scripts/notices.ts'

/** Packages that are installed to run the service, and their licenses. */

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

test('the notices have each package with its license and the text of it', () => {
  const written = makeNotices()
  assert.match(written, /^\| fastify \| \d+\.\d+\.\d+ \| MIT \|$/m)
  assert.match(written, /\bfastify \d+\.\d+\.\d+\b[^`]*`{5}text\n(?:The )?MIT License/)
})

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { diagrams } from '../scripts/diagrams/diagrams.ts'
import { drawDiagram } from '../scripts/diagrams/draw.ts'

const docs = join(import.meta.dirname, '../docs')

describe('the pictures of the guides', () => {
  test('the diagrams are what `npm run diagrams` draws', () => {
    const files = globSync('diagrams/*', { cwd: docs }).map((file) => basename(file))
    assert.deepEqual(files.sort(), diagrams.map(({ name }) => `${name}.svg`).sort())
    for (const diagram of diagrams) {
      assert.equal(readFileSync(join(docs, 'diagrams', `${diagram.name}.svg`), 'utf8'), drawDiagram(diagram))
    }
  })

  test('each has a title and a description, and no script or anything from elsewhere', () => {
    for (const diagram of diagrams) {
      const svg = drawDiagram(diagram)
      assert.match(svg, /<title id="title">[^<]+<\/title>\n<desc id="description">[^<]+<\/desc>/)
      assert.doesNotMatch(svg, /<script|href|url\(|@import|\son\w+=/)
    }
    const unknown = { name: 'x', title: 'x', lanes: ['a'], steps: [{ from: 'a', to: 'b', label: 'c' }] }
    assert.throws(() => drawDiagram(unknown), /has no lane b/)
  })

  test('each is in a guide, and each picture of a guide is there, with a text alternative', () => {
    const shown = globSync('*.md', { cwd: docs }).flatMap((file) =>
      [...readFileSync(join(docs, file), 'utf8').matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(
        ([, alt = '', path = '']) => {
          assert(alt.length > 20, `${file}: ${path} has no text alternative`)
          readFileSync(join(docs, path))
          return path
        },
      ),
    )
    for (const { name } of diagrams) assert(shown.includes(`diagrams/${name}.svg`), `no guide shows ${name}`)
  })
})

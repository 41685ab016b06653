/**
 * `npm run check:prose` counts wordings that make sentences hard to read, in comments and in documents. Their number may only
 * fall: when you remove some, lower the bound here.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** At most so many of each kind. */
const kinds: readonly { readonly name: string; readonly pattern: RegExp; readonly max: number }[] = [
  {
    name: '“where” for “if”',
    pattern: /\bwhere (?=(?:it|there|that|this|one|nothing|something|none|no|they|we|you|everything|anything)\b)/gi,
    max: 26,
  },
  { name: 'a sentence that begins with “What”', pattern: /(?:^|[.:;] )What (?![^.?]*\?)/gm, max: 69 },
  { name: 'a sentence that begins with “Who”', pattern: /(?:^|[.:;] )Who(?:ever)? (?![^.?]*\?)/gm, max: 2 },
  { name: '“that which”, “those that”', pattern: /\bthat which\b|\bthose (?:that|which|who)\b/gi, max: 22 },
  { name: '“as good as”, “be it”, “nothing but”', pattern: /\bas good as\b|\bbe it\b|\bnothing but\b/gi, max: 1 },
]
const root = dirname(import.meta.dirname)
const skipped = /^(CHANGELOG\.md|docs\/(errors|glossary|upgrading)\.md|docs\/connectors\/|scripts\/prose\.ts)/

/** The comments of a program, or a document without its code. */
const proseOf = (file: string, text: string): string =>
  file.endsWith('.md')
    ? text.replaceAll(/^```[\s\S]*?^```/gm, '')
    : [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|^\s*\/\/(.*)$/gm)]
        .map(([, block = '', line = '']) => (block + line).replaceAll(/^\s*\* ?/gm, '').trim())
        .join('\n')

const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.md'], { cwd: root, encoding: 'utf8' })
const found = new Map(kinds.map(({ name }) => [name, 0]))
for (const file of files
  .trim()
  .split('\n')
  .filter((one) => !skipped.test(one))) {
  const prose = proseOf(file, readFileSync(join(root, file), 'utf8'))
  for (const { name, pattern } of kinds) {
    const count = [...prose.matchAll(pattern)].length
    found.set(name, (found.get(name) ?? 0) + count)
    if (count > 0 && process.argv.includes('--list')) console.log(`${file}: ${count} × ${name}`)
  }
}
for (const { name, max } of kinds) {
  const count = found.get(name) ?? 0
  console.log(`${count} × ${name}, of at most ${max}`)
  if (count > max) process.exitCode = 1
}

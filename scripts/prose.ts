/**
 * `npm run check:prose` counts wordings that make sentences hard to read, in comments and in documents, and long sentences in
 * the guides. Their number may only fall: when you remove some, lower the bound here. `--list` names the files and the sentences.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** At most so many of each kind. */
const kinds: readonly { readonly name: string; readonly pattern: RegExp; readonly max: number }[] = [
  {
    name: '“where” for “if”',
    pattern: /\bwhere (?=(?:it|there|that|this|one|nothing|something|none|no|they|we|you|everything|anything)\b)/gi,
    max: 23,
  },
  { name: 'a sentence that begins with “What”', pattern: /(?:^|[.:;] )What (?![^.?]*\?)/gm, max: 66 },
  { name: 'a sentence that begins with “Who”', pattern: /(?:^|[.:;] )Who(?:ever)? (?![^.?]*\?)/gm, max: 2 },
  { name: '“that which”, “those that”', pattern: /\bthat which\b|\bthose (?:that|which|who)\b/gi, max: 20 },
  { name: '“as good as”, “be it”, “nothing but”', pattern: /\bas good as\b|\bbe it\b|\bnothing but\b/gi, max: 1 },
]
/** A guide has at most so many sentences with more words than this. */
const longSentences = { words: 34, max: 0 }
const guides = /^docs\/[^/]+\.md$/
const root = dirname(import.meta.dirname)
const skipped = /^(CHANGELOG\.md|docs\/(errors|glossary|upgrading)\.md|docs\/connectors\/|scripts\/prose\.ts)/

/** The comments of a program, or a document without its code. */
const proseOf = (file: string, text: string): string =>
  file.endsWith('.md')
    ? text.replaceAll(/^```[\s\S]*?^```/gm, '')
    : [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|^\s*\/\/(.*)$/gm)]
        .map(([, block = '', line = '']) => (block + line).replaceAll(/^\s*\* ?/gm, '').trim())
        .join('\n')

/** The sentences of a guide that have too many words. Code in it is one word, and rows of tables are none. */
function longSentencesOf(prose: string): string[] {
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) )/).filter((block) => !/^\s*\|/.test(block))
  const sentences = blocks.flatMap((block) => block.replaceAll(/\s+/g, ' ').split(/(?<=[.?!:;]) (?=[A-Z*`[“])/))
  const plain = sentences.map((one) => one.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/`[^`]*`/g, 'code'))
  return plain.filter((one) => one.split(' ').filter((word) => /\w/.test(word)).length > longSentences.words)
}

const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.md'], { cwd: root, encoding: 'utf8' })
const found = new Map(kinds.map(({ name }) => [name, 0]))
let longCount = 0
for (const file of files
  .trim()
  .split('\n')
  .filter((one) => !skipped.test(one))) {
  const prose = proseOf(file, readFileSync(join(root, file), 'utf8'))
  const long = guides.test(file) ? longSentencesOf(prose) : []
  longCount += long.length
  if (process.argv.includes('--list')) for (const sentence of long) console.log(`${file}: ${sentence}`)
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
console.log(
  `${longCount} sentences of guides with more than ${longSentences.words} words, of at most ${longSentences.max}`,
)
if (longCount > longSentences.max) process.exitCode = 1

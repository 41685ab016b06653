/**
 * `npm run check:prose` counts wordings that make sentences hard to read, in comments and in documents, and long sentences in
 * the guides. Their number may only fall: when you remove some, lower the bound here. `--list` names the files and the sentences.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The wordings, each with the maximum number of its occurrences. */
const kinds: readonly { readonly name: string; readonly pattern: RegExp; readonly max: number }[] = [
  {
    name: '“where” for “if”',
    pattern: /\bwhere (?=(?:it|there|that|this|one|nothing|something|none|no|they|we|you|everything|anything)\b)/gi,
    max: 15,
  },
  { name: 'a sentence that begins with “What”', pattern: /(?:^|[.:;] )What (?![^.?]*\?)/gm, max: 9 },
  { name: 'a sentence that begins with “Who”', pattern: /(?:^|[.:;] )Who(?:ever)? (?![^.?]*\?)/gm, max: 2 },
  { name: '“that which”, “those that”', pattern: /\bthat which\b|\bthose (?:that|which|who)\b/gi, max: 4 },
  { name: '“alone” for “only”', pattern: /(?<!\b(?:let|left|leave|leaves|leaving) )\balone\b/gi, max: 51 },
  { name: '“is none”, “are none”', pattern: /\b(?:is|are|was|were) none\b/gi, max: 95 },
  { name: '“those of”, “that of”', pattern: /\b(?:those|that) of\b/gi, max: 131 },
  { name: '“beside”', pattern: /(?<![:\w-])beside\b(?!-)/gi, max: 45 },
  {
    name: '“so many”, “as many” without a second “as”',
    pattern: /\bso many\b|(?<!times )\bas many\b(?! (?:\w+ ){0,3}as\b)/gi,
    max: 59,
  },
  { name: '“of its own”, “of their own”', pattern: /\bof (?:its|their) own\b/gi, max: 60 },
  { name: '“as good as”, “be it”, “nothing but”', pattern: /\bas good as\b|\bbe it\b|\bnothing but\b/gi, max: 1 },
]
/** Maximum words of a sentence of a guide, and the number of sentences that can exceed it. */
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

/** The sentences of a guide that have too many words. Code is counted as one word, and rows of tables are ignored. */
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

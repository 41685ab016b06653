/** The sections of the guide that are written from the facts of the operators and functions. */

import { type Facts, facts } from './functions/facts.ts'

function table(heading: string, rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
  return `${heading}\n${heading.replaceAll(/[^|]+/g, '---')}\n${lines.join('')}`
}

const shown = (examples: Facts['examples']): string =>
  examples.map(([text, value]) => `\`${text}\` is \`${JSON.stringify(value)}\``).join(', ')

function tableOf(wanted: string): string {
  const found = facts.filter(({ subject }) => subject === wanted)
  return table(
    `| ${wanted} | Value | Example |`,
    found.map((one) => [`\`${one.shown}\``, one.says, shown(one.examples)]),
  )
}

/** The sections about operators and functions, and the differences in definitions, in Markdown. */
export function expressionTables(): string {
  const [operators = '', ...subjects] = [...new Set(facts.map(({ subject }) => subject))].map(tableOf)
  const differences = facts.flatMap(({ shown: name, inDefinitions }) =>
    inDefinitions ? [[`\`${name}\``, inDefinitions.says, shown(inDefinitions.examples)]] : [],
  )
  const only = facts.flatMap(({ shown: name, only }) => (only ? [[`\`${name}\``, only.in, only.because]] : []))
  return `## Operators

${operators}
Write a text between \`"\` or \`'\`, with \`\\"\` and \`\\n\` as in JSON.

## Functions

You can call each function as \`lower(x)\` or \`x.lower()\`. Arguments with \`?\` are optional.

${subjects.join('\n')}
## In definitions of HTTP sources

[Definitions](http-api.md) use the same language for JSON values. A value that is missing or cannot be computed is \`null\`
there, where a mapping rejects the record. Texts that are numbers are also read as numbers, and every value as a text. These
meanings differ:

${table('| Operator or function | In definitions | Example |', differences)}
These functions exist in one place only:

${table('| Function | Only in | Because |', only)}`
}

import { type Facts, facts } from '@penstock/expressions/facts'

/** The functions that mappings have, from the table of the language. */
export const functionsOfMappings: readonly Facts[] = facts.filter(
  ({ subject, only }) => subject !== 'Operators' && only?.in !== 'definitions',
)

export const functionNamed: ReadonlyMap<string, Facts> = new Map(functionsOfMappings.map((one) => [one.name, one]))

/** An example of a function with its value, as JSON. */
export function exampleOf({ examples, name, shown }: Facts): { text: string; value: string } {
  const [text, value] = examples[0] ?? [shown, null]
  // The value of the keyed hash depends on a secret.
  return { text, value: name === 'hmac' ? '…' : JSON.stringify(value) }
}

/** The call around a place in the text: its function, and the index of the argument that is typed. */
export function callAt(text: string, caret: number): { function: Facts; argument: number } | undefined {
  const open: { name: string; commas: number; isMethod: boolean }[] = []
  for (const { 0: token, index } of text
    .slice(0, caret)
    .matchAll(/"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[()[\]{},]/gs)) {
    if (token === ',') {
      const last = open.at(-1)
      if (last) last.commas++
    } else if (/^[([{]$/.test(token)) {
      const [, dot = '', name = ''] = /(\.?)(\w*)$/.exec(text.slice(0, index)) ?? []
      open.push({ name: token === '(' ? name : '', commas: 0, isMethod: dot !== '' })
    } else if (/^[)\]}]$/.test(token)) open.pop()
  }
  const call = open.findLast(({ name }) => functionNamed.has(name))
  const found = call && functionNamed.get(call.name)
  return found && { function: found, argument: call.commas + (call.isMethod ? 1 : 0) }
}

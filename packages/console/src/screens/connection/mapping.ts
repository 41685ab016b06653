import { connection as say } from '../../strings/connection.ts'
import { type MappingChoice, readMapping } from '../new-connection/mapping/mapping.ts'
import { wordsOfReading } from '../new-connection/mapping/words.ts'

/** One line of a mapping, in words; `from` is empty if the field stays empty. */
type MappingLine = { field: string; from: string; form: string }

/** Reads the text of a mapping for people. Undefined if it is no mapping of the present rules. */
export const linesOfMapping = (text: string): MappingLine[] | undefined =>
  readMapping(text)?.map(({ field, entry }) => ({ field, ...inWords(entry) }))

function inWords(entry: MappingChoice): { from: string; form: string } {
  if (entry.kind === 'empty') return { from: '', form: '' }
  if (entry.kind === 'value') return { from: say.always(entry.value), form: '' }
  const { normalise, hash } = entry
  const form = [normalise, hash && say.hashedBy(hash), ...wordsOfReading(entry)].filter(Boolean).join(', ')
  return { from: entry.kind === 'column' ? say.column(entry.column) : entry.expression, form: form || say.asIs }
}

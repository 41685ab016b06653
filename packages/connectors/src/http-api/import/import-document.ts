import { type ImportedOperation, ImportRefused, importOperation } from '@penstock/wire/import-operation'
import { stringify } from 'yaml'
import { parseDefinition, readYaml } from '../definition/parse-definition.ts'

/** Levels of lists and objects in a document. */
const levelsMax = 100

/** An operation of a document as the text of a definition; or what is wrong, a phrase to follow the name of the file. */
export type ImportedDefinition = (ImportedOperation & { readonly definition: string }) | { readonly wrong: string }

/**
 * Imports an operation of OpenAPI (3.0, 3.1), or the JSON Schema of a body, from JSON or YAML. Never throws.
 * @param wanted `POST /people`, or the ID of the operation; empty: the only one
 * @param name name for the operation; undefined: as in the document
 */
export function importDocument(text: string, wanted: string, name?: string): ImportedDefinition {
  const read = readYaml(text, levelsMax)
  if ('wrong' in read) return read
  try {
    const imported = importOperation(read.value, wanted)
    const named = { ...imported, name: name ?? imported.name }
    const definition = stringify(
      { operations: { [named.name]: named.operation } },
      { lineWidth: 0, aliasDuplicateObjects: false },
    )
    const parsed = parseDefinition(definition)
    return 'wrong' in parsed
      ? { wrong: `has an operation that a definition cannot have: it ${parsed.wrong}` }
      : { ...named, definition }
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error
    return { wrong: `cannot be imported at ${read.placeOf(error.place)}: ${error.message}` }
  }
}

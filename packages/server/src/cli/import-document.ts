import { importDocument } from '@penstock/connectors/import-document'
import { ConfigError } from '../config.ts'
import { readInput } from './inputs.ts'
import { printable, tell } from './print.ts'

/**
 * `penstock connector import`: an operation of OpenAPI, or the JSON Schema of a body, as a definition of the connector HTTP API. Prints
 * the definition, and on standard error the values of the configuration and parts to look at. Without a database.
 * The exit code is 2 if nothing was imported.
 * @throws ConfigError if the file cannot be read or imported
 */
export async function importDocumentCommand(
  file: string,
  { operation = '', name }: { readonly operation?: string; readonly name?: string },
): Promise<void> {
  const imported = importDocument(await readInput(file, 'document'), operation, name)
  if ('wrong' in imported) throw new ConfigError([printable(`${file} ${imported.wrong.replace(/\.$/, '')}.`)])
  for (const one of imported.notes) tell(printable(one))
  for (const [key, value] of Object.entries(imported.values)) tell(printable(`Set ${key} to ${value}.`))
  process.stdout.write(imported.definition)
}

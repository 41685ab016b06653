import { type ConnectorDefinition, select, text } from '@penstock/connector'
import type { ProgramForm } from './form.ts'

/** A program that is a source, in the form in which it is stored with its definition. */
export type Program = {
  readonly protocol: 'airbyte' | 'singer' | 'singer with properties'
  readonly command: readonly string[]
  readonly form: ProgramForm
}

/** How a stream is read. */
export const modes = { all: 'Everything', new: 'New rows' } as const

/** The definition of the connector of a program. */
export const definitionOfProgram = (
  { protocol, form }: Program,
  { slug, name }: { readonly slug: string; readonly name: string },
): ConnectorDefinition => ({
  slug,
  name,
  platform: { slug, name, type: 'Data Provider' },
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: `Reads data with a program of ${protocol === 'airbyte' ? 'the Airbyte protocol' : 'Singer'}, a stream at a time.`,
  notes:
    'The program is no part of Penstock, and its requests are not bound by the network policy. If a transfer ends within the rows of the program, the next one begins at the last state that was confirmed, so rows can come twice.',
  secrets: form.fields,
  source: {
    fields: {
      stream: text({
        asked: true,
        label: 'Stream',
        description: 'The stream that is read, as the program calls it',
        required: true,
      }),
      mode: select({
        label: 'Read',
        description: 'Everything each time, or what is new since the last transfer if the stream says so',
        options: Object.values(modes),
        default: modes.all,
      }),
      cursorField: text({
        label: 'Cursor field',
        description: 'The column by which new rows are found, if the stream leaves that open',
      }),
    },
  },
})

import { Text } from '@mantine/core'
import { buildOperation as say } from '../../strings/build-operation.ts'
import { buildSource as sayRequest } from '../../strings/build-source.ts'
import { isObject } from './answer-json.ts'
import { WholeNumber } from './code-input.tsx'
import { DeletePart } from './delete-part.tsx'
import { JsonInput } from './json-input.tsx'
import { Panel } from './panel.tsx'
import { RequestFields } from './request-fields.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

/** Keys of an operation that only the text shows. */
const textKeys = ['server', 'form', 'lines', 'parameters', 'values', 'later', 'errors']

/** The request of an operation. */
export function OperationPanel({
  name,
  operation,
  url,
  edit,
  onDelete,
}: {
  name: string
  operation: PartSettings
  /** The address of the API, to which the path is added. */
  url: string
  edit: EditPart
  onDelete: () => void
}) {
  const batch = isObject(operation.batch) ? operation.batch : {}
  const more = textKeys.filter((key) => operation[key] !== undefined)
  return (
    <Panel
      step={1}
      title={sayRequest.ask}
      actions={
        <DeletePart
          label={say.deleteOperation}
          title={say.deleteOperationTitle(name)}
          help={say.deleteOperationHelp}
          onDelete={onDelete}
        />
      }
    >
      <RequestFields
        name={name}
        part={operation}
        url={url}
        methods={['POST', 'PUT', 'PATCH', 'DELETE']}
        method={String(operation.method ?? 'POST')}
        templates={say.templates}
        edit={edit}
      />
      <WholeNumber
        label={say.batch}
        value={batch.rows ?? 1}
        onChange={(rows) => edit.set(['batch', 'rows'], rows === '' || rows === 1 ? undefined : rows)}
      />
      <JsonInput
        key={`row of ${name}`}
        label={say.row}
        description={say.rowHelp}
        value={operation.row}
        onChange={(row) => edit.set(['row'], row)}
      />
      <JsonInput
        key={`body of ${name}`}
        label={say.body}
        description={say.bodyHelp}
        value={operation.body}
        onChange={(body) => edit.set(['body'], body)}
      />
      {more.length > 0 && (
        <Text size="xs" c="dimmed">
          {say.inText(more.join(', '))}
        </Text>
      )}
    </Panel>
  )
}

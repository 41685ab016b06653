import { Text } from '@mantine/core'
import type { FieldDefinition } from '@penstock/wire'
import type { ReactNode } from 'react'
import { connection as say } from '../strings/connection.ts'
import { isUpload, UploadName } from './upload-name.tsx'
import { useFirst } from './use-first.tsx'

/** The setting with the types of a created table, as a JSON object. */
const typesField = 'columnTypes'
const typesShown = 8

/** A value of a setting as people know it: a file by its name, a choice as the form calls it, column types as a list. */
export function SettingValue({
  accountId,
  connectorId,
  field,
  value,
}: {
  accountId: string
  connectorId: string
  field: Pick<FieldDefinition, 'name' | 'type' | 'optionLabels'>
  value: unknown
}): ReactNode {
  if (isUpload(connectorId, value)) return <UploadName accountId={accountId} id={value} />
  if (field.type === 'Boolean') return String(value) === 'true' ? say.yes : say.no
  const types = field.name === typesField ? typesOf(value) : undefined
  if (types) return <Types types={types} />
  return [value]
    .flat()
    .map((one) => field.optionLabels?.[String(one)] ?? String(one ?? ''))
    .join(', ')
}

type ColumnTypes = readonly (readonly [column: string, type: string])[]

function Types({ types }: { types: ColumnTypes }) {
  const { shown, more } = useFirst(types, typesShown)
  return (
    <>
      {shown.map(([column, type]) => (
        <Text key={column} span inherit display="block">
          {column}{' '}
          <Text span inherit c="dimmed">
            {type}
          </Text>
        </Text>
      ))}
      {more}
    </>
  )
}

/** The types by column; undefined if the text is of another form. */
function typesOf(text: unknown): ColumnTypes | undefined {
  try {
    const parsed: unknown = JSON.parse(String(text))
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
    return Object.entries(parsed).map(([column, type]) => [column, String(type)])
  } catch {
    return undefined
  }
}
